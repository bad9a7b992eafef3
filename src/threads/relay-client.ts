import { MessageChannel, type MessagePort } from 'node:worker_threads'
import type { Log } from '../log.ts'
import type { Hex } from '../messages.ts'
import type { RelayFacts, RelayReply, RelayRequest, RelayState } from '../relay-messages.ts'
import type { ChainClient } from './chain-client.ts'
import type { SignerClient } from './signer-client.ts'
import type { StoreClient } from './store-client.ts'

/** Main's side of the relay, which runs in the chain thread and submits what the store holds. */
export interface RelayClient {
  /** How the relay of a chain does; undefined for a chain without one. */
  state(chainId: number): RelayState | undefined
  /** What became of submissions since this process began. */
  events(): readonly RelayEvent[]
  /** Every chain that has one. */
  readonly chainIds: readonly number[]
}

/** Submissions of one chain that a transaction took along, found in a block, or had revert. */
export interface RelayEvent {
  readonly chainId: number
  readonly event: string
  readonly count: number
}

export interface RelayClientParts {
  readonly chainClient: Pick<ChainClient, 'connect' | 'serves' | 'states'>
  readonly signer: Pick<SignerClient, 'address' | 'sign'>
  readonly store: Pick<StoreClient, 'connect'>
  readonly log: Log
}

/** Notes of the relay that are counted. */
const COUNTED: Readonly<Record<string, string>> = {
  'submissions sent': 'sent',
  'submissions mined': 'mined',
  'submissions reverted': 'reverted',
}
const UNKNOWN: RelayState = { state: 'unknown', reason: 'the chain was not asked yet' }

/** Gives the chain thread what the relay needs: whose account it is, the store, and signatures. */
export function startRelay({ chainClient, signer, store, log }: RelayClientParts): RelayClient {
  const states = new Map<number, RelayState>()
  const chainIds = [...chainClient.states().keys()]
  const events = chainIds.flatMap((chainId) => Object.values(COUNTED).map((event) => ({ chainId, event, count: 0 })))
  let line: MessagePort | undefined
  chainClient.connect((post) => {
    const { port1, port2 } = new MessageChannel()
    states.clear()
    line = port1
    port1.on('message', (reply: RelayReply) => void take(port1, reply))
    // Ends the process's waiting for it: a relay that is idle keeps nothing alive.
    port1.unref()
    post({ type: 'relay', sender: signer.address.toLowerCase() as Hex, port: port2 }, port2)
    store.connect((port) => {
      // Of a thread that is gone: its successor has a line of its own.
      if (line !== port1) port.close()
      else port1.postMessage({ type: 'store', port } satisfies RelayRequest, [port])
    })
  })
  return {
    state: (chainId) => (chainClient.serves(chainId) ? (states.get(chainId) ?? UNKNOWN) : undefined),
    events: () => events,
    chainIds,
  }

  async function take(port: MessagePort, reply: RelayReply): Promise<void> {
    if (reply.type === 'sign') {
      const result = await signer.sign(reply.payload)
      port.postMessage({ type: 'signed', id: reply.id, result } satisfies RelayRequest)
    } else if (reply.type === 'note') {
      log.info(reply.event, reply.facts)
      count(reply.event, reply.facts)
    } else {
      const { chainId, state } = reply
      states.set(chainId, state)
      if (state.state === 'ready') log.info('relay ready', { chainId })
      else if (state.state !== 'unknown') log.warn('relay waits', { chainId, reason: state.reason })
    }
  }

  function count(note: string, { chainId, submissions }: RelayFacts): void {
    const entry = events.find((candidate) => candidate.chainId === chainId && candidate.event === COUNTED[note])
    if (entry !== undefined) entry.count += Number(submissions)
  }
}
