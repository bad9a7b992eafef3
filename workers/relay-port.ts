/** The relay's end of its line to main: one relay a chain, each looking for work by itself. */
import type { MessagePort } from 'node:worker_threads'
import type { Chain } from '../src/attest/chains.ts'
import type { ChainAccessConfig } from '../src/config.ts'
import type { Keccak } from '../src/crypto/keccak.ts'
import type { RelayPayload, RelayReply, RelayRequest, RelaySigningResult, RelayState } from '../src/relay-messages.ts'
import { connectRecords } from '../src/store/record-line.ts'
import { type RecordStore, StoreFault } from '../src/store-messages.ts'
import type { ChainAccess } from '../src/sync/chain-access.ts'
import { createRelay } from '../src/sync/relay.ts'
import { createRpc } from '../src/sync/rpc.ts'
import { createRpcList } from '../src/sync/rpc-list.ts'
import type { ChainRequest } from '../src/sync-messages.ts'

interface ServedChain {
  readonly chain: Chain
  readonly access: Pick<ChainAccess, 'state'>
}

const NOT_OPEN: RelayState = { state: 'unknown', reason: 'the store is being opened' }
/** A signature takes microseconds; one that does not come is of a thread that starts again. */
const SIGN_TIMEOUT_MS = 10_000
const MAX_BENCH_MS = 60_000

/** Runs until the thread ends. */
export function serveRelay(
  { sender, port }: Extract<ChainRequest, { type: 'relay' }>,
  config: ChainAccessConfig,
  chains: ReadonlyMap<number, ServedChain>,
  keccak: Keccak,
): void {
  const post = (reply: RelayReply) => port.postMessage(reply)
  const sign = createSignatures(port, post)
  let store: RecordStore | undefined
  port.on('message', (request: RelayRequest) => {
    if (request.type === 'store') store = connectRecords(request.port)
  })
  for (const served of chains.values()) void run(served)

  async function run({ chain, access }: ServedChain): Promise<void> {
    const settings = config.submission!
    const relay = createRelay({
      chain,
      sender,
      keccak,
      settings,
      sign,
      store: {
        relayWork: (argument) => store!.relayWork(argument),
        relayStep: (argument) => store!.relayStep(argument),
      },
      rpcs: createRpcList({
        chainId: chain.id,
        clients: chain.rpcUrls.map((url) =>
          createRpc({ url, timeoutMs: settings.rpcTimeoutMs, maxResponseBytes: config.limits.maxRpcResponseBytes }),
        ),
        now: () => performance.now(),
        random: Math.random,
        maxBenchMs: MAX_BENCH_MS,
      }),
      nowMs: Date.now,
      note: (event, facts) => post({ type: 'note', event, facts }),
    })
    let last = ''
    for (;;) {
      const state = store === undefined ? NOT_OPEN : await look(relay.tick, access)
      if (JSON.stringify(state) !== last) post({ type: 'state', chainId: chain.id, state })
      last = JSON.stringify(state)
      await new Promise((resolve) => setTimeout(resolve, settings.pollMs))
    }
  }
}

/** Never rejects: whatever is wrong now may be over when the relay looks again. */
async function look(tick: () => Promise<RelayState>, access: Pick<ChainAccess, 'state'>): Promise<RelayState> {
  // Other contracts than ours, or a clock that is wrong: nothing is sent there.
  if (access.state.state === 'refused') return { state: 'waiting', reason: access.state.reason }
  try {
    return await tick()
  } catch (error) {
    const reason = error instanceof StoreFault ? `the store: ${error.message}` : String((error as Error).stack ?? error)
    return { state: 'waiting', reason }
  }
}

/** Asks main, which asks the signer. */
function createSignatures(port: MessagePort, post: (reply: RelayReply) => void) {
  const waiting = new Map<number, (result: RelaySigningResult) => void>()
  let nextId = 0
  const settle = (id: number, result: RelaySigningResult) => {
    waiting.get(id)?.(result)
    waiting.delete(id)
  }
  port.on('message', (request: RelayRequest) => {
    if (request.type === 'signed') settle(request.id, request.result)
  })
  return (payload: RelayPayload): Promise<RelaySigningResult> =>
    new Promise((resolve) => {
      const id = nextId++
      waiting.set(id, resolve)
      setTimeout(() => settle(id, { ok: false, problem: SILENT }), SIGN_TIMEOUT_MS)
      post({ type: 'sign', id, payload })
    })
}

const SILENT = { type: 'overloaded', detail: 'the signer does not answer' } as const
