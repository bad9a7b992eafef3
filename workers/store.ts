import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { StoreThreadConfig } from '../src/config/config.ts'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrations.ts'
import { createRecordStore } from '../src/store/operations.ts'
import { openPglite } from '../src/store/pglite.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { RecordMemory } from '../src/store/records/memory.ts'
import {
  type RecordStore,
  StoreFault,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
} from '../src/wire/store-messages.ts'

const main = parentPort!
const post = (reply: StoreReply) => main.postMessage(reply, transferables(reply))

async function open({ databaseUrl, dataDir, limits }: StoreThreadConfig): Promise<Database> {
  const database =
    databaseUrl === undefined
      ? await openPglite(dataDir)
      : await openPostgres({
          url: databaseUrl,
          readers: limits.storeReaders,
          writers: limits.storeWriters,
          connectTimeoutMs: limits.storeConnectMs,
          readTimeoutMs: limits.storeReadMs,
          writeTimeoutMs: limits.storeWriteMs,
          onLost: (reason) => post({ type: 'lost', reason }),
        })
  try {
    await migrate(database)
    return database
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

async function runCall(
  store: RecordStore,
  { id, operation, argument }: Extract<StoreRequest, { type: 'call' }>,
): Promise<StoreReply> {
  try {
    return { type: 'answer', id, ok: true, value: await store[operation](argument as never) }
  } catch (error) {
    const kind = error instanceof StoreFault ? error.kind : 'failed'
    return { type: 'answer', id, ok: false, kind, reason: error instanceof Error ? error.message : String(error) }
  }
}

/** Returns the buffers to transfer with a reply: the documents of a page. */
function transferables(reply: StoreReply): ArrayBuffer[] {
  if (reply.type !== 'answer' || !reply.ok) return []
  const { page } = (reply.value ?? {}) as Partial<StoreResult<'newPage'>>
  return page?.documents instanceof Uint8Array ? [page.documents.buffer as ArrayBuffer] : []
}

function isFatal(reply: StoreReply): boolean {
  return reply.type === 'answer' && !reply.ok && reply.kind === 'unavailable'
}

function serve(database: Database, maxRecordsInMemory: number): void {
  const memory = new RecordMemory(database, maxRecordsInMemory)
  const store = createRecordStore(database, () => new Date().toISOString(), memory)
  /** Calls under way from threads other than the main thread. */
  let otherCalls = 0
  const connect = (port: MessagePort) =>
    port.on('message', async (request: StoreRequest) => {
      if (request.type !== 'call') return
      if (otherCalls++ === 0) post({ type: 'busy', isBusy: true })
      const reply = await runCall(store, request)
      port.postMessage(reply, transferables(reply))
      if (--otherCalls === 0) post({ type: 'busy', isBusy: false })
      if (database.engine === 'embedded' && isFatal(reply)) process.exit(1)
    })
  main.on('message', async (request: StoreRequest) => {
    if (request.type === 'connect') connect(request.port)
    else if (request.type === 'call') {
      const reply = await runCall(store, request)
      post(reply)
      // An error without an SQL code means that the embedded engine itself broke down, for example out of memory.
      if (database.engine === 'embedded' && isFatal(reply)) process.exit(1)
    } else {
      await database.close().catch(() => {})
      process.exit(0)
    }
  })
  post({ type: 'open', engine: database.engine, version: database.version })
  void memory.loaded()
}

const config = workerData as StoreThreadConfig
open(config).then(
  (database) => serve(database, config.limits.storeMemoryRecords),
  (error: unknown) => {
    const isDamaged = error instanceof StoreFault && error.kind === 'damaged'
    post({ type: 'refused', reason: error instanceof Error ? error.message : String(error), isDamaged })
    main.close()
  },
)
