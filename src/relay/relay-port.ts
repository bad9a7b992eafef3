/**
 * The relay in the sync thread: one relay for each chain, each polling for work. Talks to the main thread over a port.
 */
import type { MessagePort } from 'node:worker_threads'
import type { Chain } from '../attest/chains.ts'
import type { ChainAccessConfig } from '../config/config.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { ChainAccess } from '../sync/chain-access.ts'
import { HttpRpc } from '../sync/rpc.ts'
import { RpcList } from '../sync/rpc-list.ts'
import type { StoreConnection } from '../sync/sync-records.ts'
import type { RelayOperations, RelayReply, RelayState } from '../wire/relay-messages.ts'
import { Requester } from '../wire/request-port.ts'
import type { RelayPayload, RelaySigningResult } from '../wire/signing-messages.ts'
import { StoreFault } from '../wire/store-messages.ts'
import type { ChainRequest } from '../wire/sync-messages.ts'
import { Relay } from './relay.ts'

interface ServedChain {
  readonly chain: Chain
  readonly access: Pick<ChainAccess, 'state'>
}

const NOT_OPEN: RelayState = { state: 'unknown', reason: 'the store is opening' }
/** A signature takes microseconds. Without a reply in this time, the signer thread is probably restarting. */
const SIGN_TIMEOUT_MS = 10_000
const MAX_SUSPENSION_MS = 60_000

/** Runs until the thread ends. */
export function serveRelay(
  { sender, port }: Extract<ChainRequest, { type: 'relay' }>,
  config: ChainAccessConfig,
  chains: ReadonlyMap<number, ServedChain>,
  keccak: Keccak,
  connection: StoreConnection,
): void {
  const post = (reply: RelayReply) => port.postMessage(reply)
  const sign = createSign(port)
  for (const served of chains.values()) void run(served)

  async function run({ chain, access }: ServedChain): Promise<void> {
    const settings = config.submission!
    const relay = new Relay({
      chain,
      sender,
      keccak,
      settings,
      sign,
      store: connection.store,
      rpcs: new RpcList({
        chainId: chain.id,
        clients: chain.rpcUrls.map(
          (url) =>
            new HttpRpc({ url, timeoutMs: settings.rpcTimeoutMs, maxResponseBytes: config.limits.maxRpcResponseBytes }),
        ),
        now: () => performance.now(),
        random: Math.random,
        maxSuspensionMs: MAX_SUSPENSION_MS,
      }),
      nowMs: Date.now,
      note: (event, facts) => post({ type: 'note', event, facts }),
    })
    let last = ''
    for (;;) {
      const state = connection.wasConnected ? await runTick(relay, access) : NOT_OPEN
      if (JSON.stringify(state) !== last) post({ type: 'state', chainId: chain.id, state })
      last = JSON.stringify(state)
      await new Promise((resolve) => setTimeout(resolve, settings.pollMs))
    }
  }
}

/** Runs one tick of a relay. Never rejects, because an error now may be gone at the next tick. */
async function runTick(relay: Relay, access: Pick<ChainAccess, 'state'>): Promise<RelayState> {
  // The contracts are not the expected ones, or a clock is wrong, so nothing is sent to this chain.
  if (access.state.state === 'refused') return { state: 'waiting', reason: access.state.reason }
  try {
    return await relay.tick()
  } catch (error) {
    const reason = error instanceof StoreFault ? `the store: ${error.message}` : String((error as Error).stack ?? error)
    return { state: 'waiting', reason }
  }
}

/** Creates a function that requests a signature from the main thread, which passes it to the signer. Never rejects. */
export function createSign(port: MessagePort): (payload: RelayPayload) => Promise<RelaySigningResult> {
  const requests = new Requester<RelayOperations>({
    notConnected: 'there is no main thread',
    ended: 'the main thread ended',
    toError: ({ type }) => new Error(type),
  })
  requests.connect(port)
  return (payload) =>
    requests.ask('sign', payload, { timeoutMs: SIGN_TIMEOUT_MS }).catch(() => ({ ok: false, problem: NO_REPLY }))
}

const NO_REPLY = { type: 'overloaded', detail: 'the signer does not answer' } as const
