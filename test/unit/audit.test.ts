import { beforeAll, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { type RpcCall, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import { RpcList } from '../../src/sync/rpc-list.ts'
import { createChainTasks } from '../../src/sync/sync-records.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createMemorySyncStore, type MemorySyncStore } from '../memory-sync-store.ts'
import { MODEL_CHAIN, MODEL_SCHEMA, ModelChain, modelEndpoint, NO_FAULTS } from '../model-chain.ts'

let keccak: Keccak
beforeAll(async () => {
  keccak = await createKeccak()
})

const LAST_BLOCK = 30
/** The block that the lies are about. It has three attestations, and a block before it has three older ones. */
const BLOCK = 10

/** Creates a chain. All chains are equal, so a liar's chain is one of them with changes. */
function createChain(change: (chain: ModelChain) => void = () => {}): ModelChain {
  const chain = new ModelChain(keccak, randomFrom(11))
  while (chain.head.number < LAST_BLOCK) {
    const next = chain.head.number + 1
    chain.mine(next === 5 || next === BLOCK ? 3 : 0, next === 15 ? 1 : 0)
  }
  change(chain)
  return chain
}

const attested = (chain: ModelChain, block: number): Hex[] =>
  chain.blocks[block]!.logs.filter(({ kind }) => kind === 'attested').map(({ uid }) => uid)

/** Creates an endpoint of a chain. */
const endpoint = (chain: ModelChain): RpcClient => modelEndpoint(chain, Math.random, () => NO_FAULTS)

/** Creates an endpoint whose logs are those of another chain than what its contract says. */
function endpointWithLogsOf(logs: ModelChain, chain: ModelChain): RpcClient {
  const [first, second] = [endpoint(logs), endpoint(chain)]
  return change(second, async (call) => {
    if (call.method !== 'eth_getLogs') return undefined
    return first.request(call.method, call.params)
  })
}

/** Creates an endpoint with other results where `answer` returns one. */
function change(client: RpcClient, answer: (call: RpcCall) => unknown): RpcClient {
  const request = async (method: string, params: readonly unknown[]) =>
    (await answer({ method, params })) ?? client.request(method, params)
  return {
    request,
    requestAll: (calls) =>
      Promise.all(
        calls.map(async ({ method, params }) => ({ ok: true, value: await request(method, params) }) as const),
      ),
  }
}

/** Opens the synchronisation with these endpoints. The first is read before the others while it is not suspended. */
const open = (...clients: RpcClient[]) => resume(createMemorySyncStore(), ...clients)

/** Does what `open` does, with a store that may have been filled before. */
function resume(store: MemorySyncStore, ...clients: RpcClient[]) {
  const clock = { ms: 1_750_000_000_000 }
  const problems: string[] = []
  const suspended: number[] = []
  const contradictions: number[] = []
  const { sync, audit, sweep } = createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 100, blocksAtOnce: 4, logsAtOnce: 50, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients,
      now: () => clock.ms,
      random: () => 0.5,
      maxSuspensionMs: 60_000,
      onSuspend: (index) => suspended.push(index),
    }),
    store,
    keccak,
    nowSeconds: () => Math.floor(clock.ms / 1000),
    onProblem: (message) => problems.push(message),
    onContradictions: (logs) => contradictions.push(logs),
  })
  const opened = {
    store,
    problems,
    suspended,
    contradictions,
    auditedTo: async () => (await store.syncState({ chainId: MODEL_CHAIN.id })).auditedTo,
    audit: () => audit.step(),
    sweep: () => sweep.piece(null),
    async read() {
      while (!(await sync.pass(50)).isCaughtUp);
    },
    /** Reads and audits several times. Between two audits, suspended endpoints come back. */
    async finish() {
      for (let round = 0; round < 10; round++) {
        await opened.read()
        clock.ms += 120_000
        while ((await audit.step()) !== undefined);
        clock.ms += 120_000
      }
    },
  }
  return opened
}

/** Returns what a synchronisation with an endpoint of this chain stores. */
async function recordsOf(chain: ModelChain): Promise<string> {
  const { read, store } = open(endpoint(chain))
  await read()
  return store.dump()
}

const revoked = (chain: ModelChain): Hex => chain.blocks[15]!.logs.find(({ kind }) => kind === 'revoked')!.uid

/** Moves the log of an attestation. What the contract says stays the same. */
function move(chain: ModelChain, uid: Hex, from: number, to: number): void {
  chain.forgeLogs(from, (logs) => logs.filter((log) => log.uid !== uid))
  chain.forgeLogs(to, (logs) => [...logs, { kind: 'attested', uid }])
}

type Lie = (chain: ModelChain) => void

/** Lies that no endpoint can prove alone: the contract of the liar says the same as its logs. */
const CONSISTENT_LIES: readonly [string, Lie][] = [
  ['invents an attestation', (chain) => chain.forgeAttestation(BLOCK)],
  ['invents the revocation of an attestation', (chain) => chain.forgeRevocation(attested(chain, BLOCK)[0]!, 20)],
  ['denies an attestation', (chain) => chain.forget(attested(chain, BLOCK)[1]!, 'attested')],
  ['denies a revocation', (chain) => chain.forget(revoked(chain), 'revoked')],
  [
    'has a log with another UID',
    (chain) => {
      chain.forget(attested(chain, BLOCK)[2]!, 'attested')
      chain.forgeAttestation(BLOCK)
    },
  ],
  [
    'moves an attestation to another block of the same second',
    (chain) => {
      expect(chain.blocks[BLOCK + 1]!.time).toBe(chain.blocks[BLOCK]!.time)
      move(chain, attested(chain, BLOCK)[0]!, BLOCK, BLOCK + 1)
    },
  ],
]

/** Lies in logs that contradict what the contract of the same endpoint says. */
const CONTRADICTORY_LIES: readonly [string, Lie][] = [
  ...CONSISTENT_LIES.slice(0, -1),
  [
    'moves an attestation to another block',
    (chain) => {
      expect(chain.blocks[20]!.time).toBeGreaterThan(chain.blocks[BLOCK]!.time)
      move(chain, attested(chain, BLOCK)[0]!, BLOCK, 20)
    },
  ],
  ['revokes an attestation that nobody knows', (chain) => chain.forgeRevocation(`0x${'77'.repeat(32)}`, BLOCK)],
]

describe('the audit of two endpoints, one of which lies consistently and', () => {
  it.each(CONSISTENT_LIES)('%s, changes nothing and suspends nobody, whichever is read first', async (_, lie) => {
    const [honest, liar] = [createChain(), createChain(lie)]
    for (const [first, second] of [
      [honest, liar],
      [liar, honest],
    ] as const) {
      const { finish, auditedTo, store, suspended, problems, contradictions } = open(endpoint(first), endpoint(second))
      await finish()
      // The endpoint that is read first decides what is stored, and the audit waits before the first contradiction.
      expect(store.dump()).toBe(await recordsOf(first))
      expect(await auditedTo()).toBe(firstDifference(honest, liar) - 1)
      expect(suspended).toEqual([])
      expect(contradictions).not.toContain(0)
      expect(problems).toEqual([expect.stringMatching(/^the endpoints contradict each other about \d logs/)])
    }
  })

  it('keeps a record that was read in a wrong block, and gives it its own block when it gets there', async () => {
    const honest = createChain()
    const [uid] = attested(honest, BLOCK)
    expect(honest.blocks[6]!.time).toBeLessThan(honest.blocks[BLOCK]!.time)
    const moved = createChain((chain) => move(chain, uid!, BLOCK, 6))
    let served = createChain((chain) => chain.forgeAttestation(8))
    const turncoat = change(endpoint(honest), ({ method, params }) => endpoint(served).request(method, params))
    const { finish, auditedTo, store } = open(endpointWithLogsOf(moved, honest), turncoat)
    const blockOf = async () => {
      const logs = await store.storedLogs({ chainId: MODEL_CHAIN.id, from: 0, to: LAST_BLOCK })
      return logs.filter((log) => log.kind === 'attested' && log.uid === uid).map(({ blockNumber }) => blockNumber)
    }
    await finish()
    expect(await auditedTo()).toBe(7)
    expect(await blockOf()).toEqual([6])
    served = honest
    await finish()
    expect(await auditedTo()).toBe(LAST_BLOCK - 8)
    expect(await blockOf()).toEqual([BLOCK])
    expect(store.dump()).toBe(await recordsOf(honest))
  })

  it('goes on as soon as the endpoints agree', async () => {
    const [honest, liar] = [createChain(), createChain((chain) => chain.forgeAttestation(BLOCK))]
    let served = liar
    const turncoat = change(endpoint(honest), ({ method, params }) => endpoint(served).request(method, params))
    const { finish, auditedTo, store, contradictions } = open(endpoint(honest), turncoat)
    await finish()
    expect(await auditedTo()).toBe(BLOCK - 1)
    served = honest
    await finish()
    expect(await auditedTo()).toBe(LAST_BLOCK - 8)
    expect(contradictions.at(-1)).toBe(0)
    expect(store.dump()).toBe(await recordsOf(honest))
  })
})

/** Returns the first block whose logs differ. */
function firstDifference(left: ModelChain, right: ModelChain): number {
  const logs = ({ blocks }: ModelChain, number: number) => JSON.stringify(blocks[number]!.logs)
  return left.blocks.findIndex(({ number }) => logs(left, number) !== logs(right, number))
}

describe('the audit of three endpoints, one of which lies consistently and', () => {
  it.each([...CONSISTENT_LIES, ...CONTRADICTORY_LIES])(
    '%s, ends with what the chain has and suspends only the liar',
    async (_, lie) => {
      const [honest, liar] = [createChain(), createChain(lie)]
      for (const place of [0, 1, 2]) {
        const chains = [honest, honest, honest]
        chains[place] = liar
        const { finish, auditedTo, store, suspended } = open(...chains.map(endpoint))
        await finish()
        expect(await auditedTo()).toBe(LAST_BLOCK - 8)
        expect(store.dump()).toBe(await recordsOf(honest))
        for (const index of suspended) expect(index).toBe(place + 1)
      }
    },
  )
})

describe('the audit of two endpoints, one of which has other logs than its contract says and', () => {
  it.each(CONTRADICTORY_LIES)('%s, ends with what the chain has and suspends only that one', async (_, lie) => {
    const [honest, liar] = [createChain(), createChain(lie)]
    for (const place of [0, 1]) {
      const clients = [endpoint(honest), endpoint(honest)]
      clients[place] = endpointWithLogsOf(liar, honest)
      const { finish, auditedTo, store, suspended } = open(...clients)
      await finish()
      expect(await auditedTo()).toBe(LAST_BLOCK - 8)
      expect(store.dump()).toBe(await recordsOf(honest))
      expect(suspended).toContain(place + 1)
      expect(suspended).not.toContain(2 - place)
    }
  })
})

describe('the audit', () => {
  it('suspends nobody when an endpoint calls blocks final that are not', async () => {
    const chain = createChain()
    const hasty = change(endpoint(chain), ({ method, params: [block] }) =>
      method === 'eth_getBlockByNumber' && block === 'finalized' ? toBlock(chain, LAST_BLOCK) : undefined,
    )
    for (const clients of [
      [hasty, endpoint(chain)],
      [endpoint(chain), hasty],
    ]) {
      const { finish, auditedTo, suspended } = open(...clients)
      await finish()
      expect(suspended).toEqual([])
      expect(await auditedTo()).toBe(LAST_BLOCK - 8)
    }
  })

  it('goes on with the other endpoints when one calls no block final', async () => {
    const chain = createChain()
    const slow = change(endpoint(chain), ({ method, params: [block] }) =>
      method === 'eth_getBlockByNumber' && block === 'finalized' ? toBlock(chain, 1) : undefined,
    )
    const { finish, auditedTo, suspended } = open(endpoint(chain), slow, endpoint(chain))
    await finish()
    expect(suspended).toEqual([])
    expect(await auditedTo()).toBe(LAST_BLOCK - 8)
  })

  it.each([3, 5])('of %i endpoints gets at the truth while all but a minority tell the same lies', async (count) => {
    const lie = (chain: ModelChain) => {
      chain.forgeAttestation(BLOCK)
      chain.forgeRevocation(attested(chain, BLOCK)[0]!, 20)
      chain.forget(attested(chain, 5)[0]!, 'attested')
    }
    const [honest, liar] = [createChain(), createChain(lie)]
    const chains = Array.from({ length: count }, (_, index) => (index < Math.floor(count / 2) ? liar : honest))
    const { finish, auditedTo, store, suspended } = open(...chains.map(endpoint))
    await finish()
    expect(await auditedTo()).toBe(LAST_BLOCK - 8)
    expect(store.dump()).toBe(await recordsOf(honest))
    for (const index of suspended) expect(chains[index - 1]).toBe(liar)
  })

  it('is not slowed down by one endpoint of three that rejects ranges or fails after reporting its head', async () => {
    const chain = createChain()
    for (const message of ['limited to 1', 'server error, rate limited']) {
      const broken = change(endpoint(chain), ({ method, params: [filter] }) => {
        if (method !== 'eth_getLogs' || !('fromBlock' in (filter as object))) return undefined
        throw new RpcError('eth_getLogs: error -32005', { code: -32005, endpointMessage: message })
      })
      const { read, audit, auditedTo } = open(endpoint(chain), broken, endpoint(chain))
      await read()
      await audit()
      expect(await auditedTo()).toBe(LAST_BLOCK - 8)
    }
  })
})

describe('one endpoint of three', () => {
  it('cannot add an old attestation with a revocation of it', async () => {
    const honest = createChain()
    const liar = createChain((chain) => chain.forgeRevocation(chain.forgeAttestation(BLOCK), LAST_BLOCK))
    const { read, audit, store } = open(endpoint(honest), endpoint(honest), endpoint(liar))
    await read()
    await audit()
    const second = resume(store, endpoint(liar), endpoint(honest), endpoint(honest))
    for (const chain of [honest, liar]) chain.mine(0, 0)
    await second.read()
    expect(store.dump()).not.toContain(`0x${'66'.repeat(20)}`)
  })

  it('cannot revoke through the sweep', async () => {
    const honest = createChain()
    const liar = createChain((chain) => chain.forgeRevocation(attested(chain, BLOCK)[0]!, 20))
    const { read, audit, store, sweep } = open(endpoint(liar), endpoint(honest), endpoint(honest))
    const before = await recordsOf(honest)
    await resume(store, endpoint(honest)).read()
    await sweep()
    expect(store.dump()).toBe(before)
    await read()
    await audit()
    expect(store.dump()).toBe(before)
  })

  it('cannot remove a record by claiming it again in a later block', async () => {
    const honest = createChain()
    const { read, audit, store } = open(endpoint(honest), endpoint(honest), endpoint(honest))
    await read()
    await audit()
    for (let count = 0; count < 20; count++) honest.mine(0, 0)
    const liar = createChain()
    while (liar.head.number < honest.head.number) liar.mine(0, 0)
    const [uid] = attested(liar, BLOCK)
    liar.forgeLogs(LAST_BLOCK + 2, (logs) => [...logs, { kind: 'attested', uid: uid! }])
    const { finish } = resume(store, endpoint(liar), endpoint(honest), endpoint(honest))
    await finish()
    expect(store.dump()).toBe(await recordsOf(honest))
  })

  it('cannot keep the others away by false hashes of blocks', async () => {
    const [honest, liar] = [createChain(), createChain((chain) => chain.forgeHashes(12))]
    const { read, store } = open(endpoint(liar), endpoint(honest), endpoint(honest))
    await read()
    await resume(store, endpoint(honest), endpoint(liar), endpoint(honest)).finish()
    expect(store.dump()).toBe(await recordsOf(honest))
  })
})

function toBlock(chain: ModelChain, number: number) {
  const { hash, parentHash, time } = chain.blocks[number]!
  return { number: `0x${number.toString(16)}`, hash, parentHash, timestamp: `0x${time.toString(16)}` }
}
