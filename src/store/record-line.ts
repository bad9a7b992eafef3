import type { MessagePort } from 'node:worker_threads'
import {
  type RecordStore,
  type StoreArgument,
  StoreFault,
  type StoreOperation,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
} from '../wire/store-messages.ts'

interface PendingCall {
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

/** Connects a thread other than main to the store, over a separate message port that `StoreClient.connect` creates. */
export function connectStore(port: MessagePort): RecordStore {
  const pending = new Map<number, PendingCall>()
  let nextId = 0
  let isClosed = false
  port.on('message', (reply: StoreReply) => {
    if (reply.type !== 'answer') return
    const entry = pending.get(reply.id)
    pending.delete(reply.id)
    if (reply.ok) entry?.resolve(reply.value as never)
    else entry?.reject(new StoreFault(reply.kind, reply.reason))
  })
  port.on('close', () => {
    isClosed = true
    for (const { reject } of pending.values()) reject(new StoreFault('unavailable', 'the store is restarting'))
    pending.clear()
  })
  return toRecordStore((operation, argument) => {
    if (isClosed) return Promise.reject(new StoreFault('unavailable', 'the store is restarting'))
    const id = nextId++
    port.postMessage({ type: 'call', id, operation, argument } satisfies StoreRequest)
    return new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
  })
}

/** Builds the operations as methods from one function that calls any of them. */
export function toRecordStore(
  call: <O extends StoreOperation>(operation: O, argument: StoreArgument<O>) => Promise<StoreResult<O>>,
): RecordStore {
  return Object.fromEntries(
    OPERATIONS.map((operation) => [operation, (argument: never) => call(operation, argument)]),
  ) as RecordStore
}
