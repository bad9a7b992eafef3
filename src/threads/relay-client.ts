import { MessageChannel } from 'node:worker_threads'
import type { Log } from '../base/log.ts'
import type { RelayFacts, RelayOperations, RelayReply, RelayState } from '../wire/relay-messages.ts'
import { serve } from '../wire/request-port.ts'
import type { Hex } from '../wire/values.ts'
import type { ChainClient } from './chain-client.ts'
import type { SignerClient } from './signer-client.ts'

/** The main thread's side of the relay, which runs in the sync thread and sends the submissions in the store. */
export interface RelayClient {
  /** Returns the state of the relay of a chain; undefined for a chain without a relay. */
  state(chainId: number): RelayState | undefined
  /** Returns how many submissions were sent, mined and reverted since this process started. */
  events(): readonly RelayEventCount[]
  /** Every chain that has a relay. */
  readonly chainIds: readonly number[]
}

/** The number of submissions of one chain that were sent, mined or reverted. */
export interface RelayEventCount {
  readonly chainId: number
  readonly event: string
  readonly count: number
}

/** The threads that the relay works with. */
interface RelayClientParts {
  readonly chainClient: Pick<ChainClient, 'connect' | 'serves' | 'states'>
  readonly signer: Pick<SignerClient, 'address' | 'sign'>
  readonly log: Log
  /** Called with every new state of the relay of a chain. */
  readonly onState?: (chainId: number, state: RelayState) => void
}

/** The notes of the relay that are counted, and the event that each note is counted as. */
const COUNTED: Readonly<Record<string, string>> = {
  'submissions sent': 'sent',
  'submissions mined': 'mined',
  'submissions reverted': 'reverted',
}
const UNKNOWN: RelayState = { state: 'unknown', reason: 'the relay has not reported yet' }

/** Starts the relay in the sync thread and provides what it needs besides the store: the account and signatures. */
export function startRelay({ chainClient, signer, log, onState }: RelayClientParts): RelayClient {
  const states = new Map<number, RelayState>()
  const chainIds = [...chainClient.states().keys()]
  const events = chainIds.flatMap((chainId) => Object.values(COUNTED).map((event) => ({ chainId, event, count: 0 })))
  chainClient.connect((post) => {
    const { port1, port2 } = new MessageChannel()
    states.clear()
    serve<RelayOperations>(port1, { sign: (payload) => signer.sign(payload) })
    port1.on('message', onReply)
    // An open port must not keep the process alive.
    port1.unref()
    post({ type: 'relay', sender: signer.address.toLowerCase() as Hex, port: port2 }, port2)
  })
  return {
    state: (chainId) => (chainClient.serves(chainId) ? (states.get(chainId) ?? UNKNOWN) : undefined),
    events: () => events,
    chainIds,
  }

  function onReply(reply: RelayReply): void {
    if (reply.type === 'note') {
      log.info(reply.event, reply.facts)
      count(reply.event, reply.facts)
    } else if (reply.type === 'state') {
      const { chainId, state } = reply
      states.set(chainId, state)
      onState?.(chainId, state)
      if (state.state === 'ready') log.info('relay ready', { chainId })
      else if (state.state !== 'unknown') log.warn('relay waits', { chainId, reason: state.reason })
    }
  }

  function count(note: string, { chainId, submissions }: RelayFacts): void {
    const entry = events.find((candidate) => candidate.chainId === chainId && candidate.event === COUNTED[note])
    if (entry !== undefined) entry.count += Number(submissions)
  }
}
