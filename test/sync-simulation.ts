/** A deterministic simulator of everything that can happen to the synchronisation. */
import { randomFrom } from '../bench/record-world.ts'
import type { Keccak } from '../src/crypto/primitives.ts'
import { CheckpointMoved, type SyncStore } from '../src/sync/chain-position.ts'
import { type RpcClient, RpcError } from '../src/sync/rpc.ts'
import { RpcList } from '../src/sync/rpc-list.ts'
import { createChainTasks } from '../src/sync/sync-records.ts'
import type { ChainTasks } from '../src/sync/sync-worker.ts'
import { StoreFault } from '../src/wire/store-messages.ts'
import { createMemorySyncStore } from './memory-sync-store.ts'
import { type Faults, MODEL_CHAIN, MODEL_SCHEMA, ModelChain, modelEndpoint, NO_FAULTS } from './model-chain.ts'

const STEPS = 24

interface Clock {
  ms: number
}

function open(
  keccak: Keccak,
  store: SyncStore,
  clients: readonly RpcClient[],
  random: () => number,
  clock: Clock,
): ChainTasks {
  return createChainTasks({
    chain: MODEL_CHAIN,
    schemas: new Map([[MODEL_SCHEMA, 'nine-fields']]),
    limits: { maxRangeBlocks: 16, blocksAtOnce: 4, logsAtOnce: 6, maxDataBytes: 10_000, maxBumps: 24 },
    rpcs: new RpcList({
      chainId: MODEL_CHAIN.id,
      clients,
      now: () => clock.ms,
      random,
      maxSuspensionMs: 60_000,
    }),
    store,
    keccak,
    nowSeconds: () => Math.floor(clock.ms / 1000),
    onProblem: () => {},
    onContradictions: () => {},
  })
}

/** Runs work and catches the errors that may end it; any other error is a bug. */
async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    if (error instanceof RpcError || error instanceof StoreFault || error instanceof CheckpointMoved) return false
    throw error
  }
}

/** Returns a store whose connection breaks at random, before or after a step took effect. */
function shaky(store: SyncStore, random: () => number, chance: () => number): SyncStore {
  return {
    ...store,
    async apply(range) {
      const isCut = random() < chance()
      if (isCut && random() < 0.5) throw new StoreFault('unavailable', 'cut off before')
      const applied = await store.apply(range)
      if (isCut) throw new StoreFault('unavailable', 'cut off after')
      return applied
    },
  }
}

/** Runs all due work until none is due, as the service does over time. */
async function settle(opened: ChainTasks, clock: Clock): Promise<void> {
  for (let round = 0; round < 40; round++) {
    clock.ms += 90_000_000 // endpoints come back, and what was set aside is due
    let isDone = await attempt(async () => {
      while (!(await opened.sync.pass(50)).isCaughtUp);
      await opened.comparison.step()
    })
    let missed: number | undefined
    isDone &&= await attempt(async () => {
      do missed = await opened.audit.step()
      while (missed !== undefined)
    })
    isDone &&= await attempt(async () => {
      let after: `0x${string}` | null = null
      do after = (await opened.sweep.piece(after)).next
      while (after !== null)
    })
    if (isDone && round > 1) return
  }
  throw new Error('does not come to rest')
}

/** A store that a run fills, and its whole content as text. */
export interface SimulatedStore {
  readonly store: SyncStore
  dump(): string | Promise<string>
}

/**
 * Simulates one run: a chain that grows, reorganises and becomes shorter, endpoints that fail and one that lies, a store whose
 * connection breaks, processes that end and take over from each other; then a phase without faults.
 *
 * @returns the final content of the store, and that of a clean synchronisation of the same chain
 */
export async function simulate(
  seed: number,
  keccak: Keccak,
  { store: kept, dump }: SimulatedStore,
): Promise<{ readonly found: string; readonly wanted: string }> {
  const random = randomFrom(seed)
  const below = (count: number) => Math.floor(random() * count)
  const clock = { ms: 1_750_000_000_000 }
  const chain = new ModelChain(keccak, random)
  let isStormy = true
  // One endpoint may lie; the others fail only in detectable ways.
  const chances = (isLiar: boolean): Faults => {
    const chance = () => (random() < 0.5 ? 0 : random() * 0.25)
    const lies = isLiar
      ? { partial: chance(), inventive: chance() / 2, corrupt: chance() }
      : { partial: 0, inventive: 0, corrupt: 0 }
    return { silent: chance(), stale: chance(), jumbled: chance(), narrow: chance(), elsewhere: chance() / 4, ...lies }
  }
  const endpoints = Array.from({ length: 2 + below(2) }, (_, index) => {
    const faults = chances(index === 0)
    return modelEndpoint(chain, random, () => (isStormy ? faults : NO_FAULTS))
  })
  const cut = random() < 0.5 ? 0 : random() * 0.2
  const store = shaky(kept, random, () => (isStormy ? cut : 0))
  const start = () => open(keccak, store, endpoints, random, clock)
  let opened = start()
  let other = start()
  for (let step = 0; step < STEPS; step++) {
    clock.ms += below(5000)
    const dice = random()
    if (dice < 0.3) for (let count = 1 + below(3); count > 0; count--) chain.mine(below(3), below(2))
    else if (dice < 0.34) chain.mine(12, 0)
    else if (dice < 0.44) {
      const depth = 1 + below(random() < 0.2 ? chain.blocks.length : 6)
      chain.drop(depth)
      for (let count = below(depth + 3); count > 0; count--) chain.mine(below(3), below(2))
    } else if (dice < 0.8) await attempt(() => opened.sync.pass(1 + below(8)))
    else if (dice < 0.84) await attempt(() => opened.comparison.step())
    else if (dice < 0.88) await attempt(() => opened.audit.step())
    else if (dice < 0.91) await attempt(() => opened.sweep.piece(null))
    else if (dice < 0.95) opened = start()
    else [opened, other] = [other, opened]
  }
  isStormy = false
  for (let count = 0; count < 12; count++) chain.mine(below(2), below(2))
  await settle(start(), clock)
  mineUntilFinal(chain)
  await settle(start(), clock)

  const clean = createMemorySyncStore()
  await settle(open(keccak, clean, [modelEndpoint(chain, random, () => NO_FAULTS)], random, clock), clock)
  return { found: await dump(), wanted: clean.dump() }
}

/** Enough empty blocks to make all earlier ones final, with their seconds. */
const BLOCKS_UNTIL_FINAL = 20

/** Makes everything final that happened so far. A log that was stored with a wrong block gets its own only then. */
function mineUntilFinal(chain: ModelChain): void {
  for (let count = 0; count < BLOCKS_UNTIL_FINAL; count++) chain.mine(0, 0)
}

/** Returns the last block that endpoints of a chain call final. */
const lastFinalBlock = (chain: ModelChain) => chain.head.number - MODEL_CHAIN.finalityDepth

/** Tells lies about final blocks of a chain, of which the honest endpoints have an equal copy. */
function lie(chain: ModelChain, random: () => number): void {
  const lastFinal = lastFinalBlock(chain) - 1
  const anyBlock = () => 1 + Math.floor(random() * lastFinal)
  for (let count = 1 + Math.floor(random() * 4); count > 0; count--) {
    const block = anyBlock()
    const logs = chain.blocks.slice(1, lastFinal + 1).flatMap((each) => each.logs)
    const log = logs[Math.floor(random() * logs.length)]
    const dice = random()
    if (log === undefined || dice < 0.2) chain.forgeAttestation(block)
    else if (dice < 0.4) chain.forgeRevocation(log.uid, block)
    else if (dice < 0.6) chain.forget(log.uid, log.kind)
    else if (dice < 0.7) chain.forgeHashes(block)
    else if (dice < 0.85) chain.forgeLogs(block, () => [])
    else chain.forgeLogs(block, (own) => [...own, log])
  }
}

/** Serves the logs of one chain and everything else of another: a liar that contradicts itself. */
function withLogsOf(logs: RpcClient, rest: RpcClient): RpcClient {
  const pick = (method: string) => (method === 'eth_getLogs' ? logs : rest)
  return {
    request: (method, params) => pick(method).request(method, params),
    requestAll: async (calls) => (await Promise.all(calls.map((call) => pick(call.method).requestAll([call])))).flat(),
  }
}

/** Returns the facts that a store has about final blocks, without order: records and quarantined attestations, and whether they are revoked. */
async function readFacts(store: SyncStore, to: number): Promise<Set<string>> {
  const logs = await store.storedLogs({ chainId: MODEL_CHAIN.id, from: 0, to })
  return new Set(logs.map(({ kind, uid, blockNumber }) => `${kind} ${uid} ${blockNumber}`))
}

/**
 * Simulates a chain on which nothing new happens, with endpoints that always tell the same lies, in any order among honest ones. The
 * honest ones are silent at times during the first rounds.
 *
 * @returns the stored facts at the end, those of the chain, and those that comparisons, audits and sweeps added and removed
 */
export async function simulateLiars(
  seed: number,
  keccak: Keccak,
  { liars, honest }: { readonly liars: number; readonly honest: number },
) {
  const random = randomFrom(seed)
  const clock = { ms: 1_750_000_000_000 }
  const chains: ModelChain[] = []
  const createChain = () => {
    const ofChain = randomFrom(seed + 0.5)
    const chain = new ModelChain(keccak, ofChain)
    while (chain.head.number < 40) chain.mine(ofChain() < 0.3 ? Math.floor(ofChain() * 4) : 0, ofChain() < 0.3 ? 1 : 0)
    chains.push(chain)
    return chain
  }
  const chain = createChain()
  const faults = { ...NO_FAULTS, silent: random() < 0.5 ? 0 : 0.1, jumbled: 0.2, narrow: 0.1 }
  let isStormy = true
  const truth = () => modelEndpoint(chain, random, () => (isStormy ? faults : NO_FAULTS))
  const endpoints = [
    ...Array.from({ length: honest }, truth),
    ...Array.from({ length: liars }, () => {
      const falseChain = createChain()
      lie(falseChain, random)
      const liar = modelEndpoint(falseChain, random, () => NO_FAULTS)
      const dice = random()
      if (dice < 0.3) return withLogsOf(liar, truth())
      return dice < 0.5 ? withLogsOf(truth(), liar) : liar
    }),
  ]
  for (let index = endpoints.length - 1; index > 0; index--) {
    const other = Math.floor(random() * (index + 1))
    ;[endpoints[index], endpoints[other]] = [endpoints[other]!, endpoints[index]!]
  }
  const final = lastFinalBlock(chain) + BLOCKS_UNTIL_FINAL
  const store = createMemorySyncStore()
  const tasks = open(keccak, store, endpoints, random, clock)
  const [added, removed] = [new Set<string>(), new Set<string>()]
  for (let round = 0; round < 60; round++) {
    clock.ms += 30_000
    if (round === 30) for (const each of chains) mineUntilFinal(each)
    isStormy = round < 40
    await attempt(async () => {
      while (!(await tasks.sync.pass(50)).isCaughtUp);
    })
    const before = await readFacts(store, final)
    await attempt(() => tasks.comparison.step())
    if (round % 8 === 7) await attempt(() => tasks.sweep.piece(null))
    await attempt(async () => {
      for (let missed: number | undefined = 0; missed !== undefined; ) missed = await tasks.audit.step()
    })
    const after = await readFacts(store, final)
    for (const fact of after) if (!before.has(fact)) added.add(fact)
    for (const fact of before) if (!after.has(fact)) removed.add(fact)
  }
  const clean = createMemorySyncStore()
  await settle(open(keccak, clean, [modelEndpoint(chain, random, () => NO_FAULTS)], random, clock), clock)
  const { auditedTo } = await store.syncState({ chainId: MODEL_CHAIN.id })
  return {
    added,
    removed,
    found: await readFacts(store, final),
    wanted: await readFacts(clean, final),
    auditedTo,
    final,
  }
}

/** Returns the logs of a chain from one block on, as `readFacts` does. */
function factsOf(chain: ModelChain, from: number): Set<string> {
  const blocks = chain.blocks.slice(from)
  return new Set(blocks.flatMap(({ number, logs }) => logs.map(({ kind, uid }) => `${kind} ${uid} ${number}`)))
}

/**
 * Simulates a chain that grows and reorganises, of whose logs one endpoint drops most. Of three endpoints, another may be silent. A poll
 * reads what is new and compares it with a second endpoint. No audit and no sweep runs.
 *
 * @returns how many logs were dropped when they were read, how many polls each log took until it was stored, and the stored facts at
 *   the end with those of the chain
 */
export async function simulateDroppedLogs(seed: number, keccak: Keccak) {
  const random = randomFrom(seed)
  const below = (count: number) => Math.floor(random() * count)
  const clock = { ms: 1_750_000_000_000 }
  const chain = new ModelChain(keccak, random)
  const size = 2 + below(2)
  const dropper = below(size)
  const silent = size === 3 && random() < 0.5 ? (dropper + 1) % size : undefined
  const endpoints = Array.from({ length: size }, (_, index) => {
    const faults = {
      ...NO_FAULTS,
      jumbled: 0.2,
      partial: index === dropper ? 0.8 : 0,
      silent: index === silent ? 1 : 0,
    }
    return modelEndpoint(chain, random, () => faults)
  })
  const store = createMemorySyncStore()
  const tasks = open(keccak, store, endpoints, random, clock)
  /** Logs that are not stored yet, with the poll before which they were mined. */
  const waiting = new Map<string, number>()
  const pollsUntilStored: number[] = []
  let dropped = 0
  for (let poll = 1; poll <= 40; poll++) {
    clock.ms += 2000
    const replaced = poll > 1 && random() < 0.1 ? 1 + below(Math.min(4, chain.head.number)) : 0
    if (replaced > 0) chain.drop(replaced)
    const mined = chain.blocks.length
    // No new logs before the last two polls.
    for (let count = replaced + below(5); count > 0; count--)
      chain.mine(poll < 38 ? below(3) : 0, poll < 38 ? below(2) : 0)
    for (const fact of factsOf(chain, mined)) waiting.set(fact, poll)
    while (!(await tasks.sync.pass(50)).isCaughtUp);
    const read = await readFacts(store, chain.head.number)
    dropped += [...waiting].filter(([fact, since]) => since === poll && !read.has(fact)).length
    await tasks.comparison.step()
    const stored = await readFacts(store, chain.head.number)
    const onChain = factsOf(chain, 0)
    for (const [fact, since] of waiting) {
      if (stored.has(fact)) pollsUntilStored.push(poll - since + 1)
      if (stored.has(fact) || !onChain.has(fact)) waiting.delete(fact)
    }
  }
  return { dropped, pollsUntilStored, found: await readFacts(store, chain.head.number), wanted: factsOf(chain, 0) }
}
