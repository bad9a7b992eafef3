import type { MessagePort } from 'node:worker_threads'
import {
  type RecordStore,
  type StoreArgument,
  StoreFault,
  type StoreOperation,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
} from '../store-messages.ts'

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (fault: StoreFault) => void
}

const OPERATIONS: readonly StoreOperation[] = [
  'page',
  'newPage',
  'slice',
  'changes',
  'record',
  'stats',
  'checkpoint',
  'apply',
  'ping',
  'maintain',
  'submit',
  'submissions',
  'submissionCounts',
  'relayWork',
  'relayStep',
  'syncState',
  'known',
  'keptOfBlocks',
  'activeRecords',
  'quarantined',
  'beginRun',
  'endRun',
  'syncStatus',
  'wantWorker',
  'lease',
]

/** The store as another thread than main asks it, over a line of its own: `connect` of `StoreClient` lays it. */
export function connectRecords(port: MessagePort): RecordStore {
  const waiting = new Map<number, Waiting>()
  let nextId = 0
  let isClosed = false
  port.on('message', (reply: StoreReply) => {
    if (reply.type !== 'answer') return
    const entry = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (reply.ok) entry?.resolve(reply.value as never)
    else entry?.reject(new StoreFault(reply.kind, reply.reason))
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of waiting.values()) reject(new StoreFault('unavailable', 'the store is starting again'))
    waiting.clear()
  })
  return recordStoreOf((operation, argument) => {
    if (isClosed) return Promise.reject(new StoreFault('unavailable', 'the store is starting again'))
    const id = nextId++
    port.postMessage({ type: 'call', id, operation, argument } satisfies StoreRequest)
    return new Promise((resolve, reject) => waiting.set(id, { resolve, reject }))
  })
}

/** The operations as methods, from one way to ask for any of them. */
export function recordStoreOf(
  ask: <O extends StoreOperation>(operation: O, argument: StoreArgument<O>) => Promise<StoreResult<O>>,
): RecordStore {
  return Object.fromEntries(
    OPERATIONS.map((operation) => [operation, (argument: never) => ask(operation, argument)]),
  ) as RecordStore
}
