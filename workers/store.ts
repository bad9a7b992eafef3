import { parentPort, workerData } from 'node:worker_threads'
import type { StoreThreadConfig } from '../src/config/config.ts'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrations.ts'
import { createRecordStore } from '../src/store/operations.ts'
import { openPglite } from '../src/store/pglite.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { RecordMemory } from '../src/store/records/memory.ts'
import { type Answer, serve } from '../src/wire/request-port.ts'
import {
  StoreFault,
  type StoreOperations,
  type StoreReply,
  type StoreRequest,
  type StoreResult,
} from '../src/wire/store-messages.ts'

const main = parentPort!
const post = (reply: StoreReply) => main.postMessage(reply)

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

/** Returns the buffers to transfer with a result: the documents of a page. */
function pageBuffers(value: unknown): ArrayBuffer[] {
  const { page } = (value ?? {}) as Partial<StoreResult<'newPage'>>
  return page?.documents instanceof Uint8Array ? [page.documents.buffer as ArrayBuffer] : []
}

/**
 * Returns a clock for calls. The embedded engine runs one call at a time, so the time in which a call waits for another one is not
 * its own. A server runs them at the same time.
 */
function callClock({ engine }: Database): () => () => number {
  let lastEndMs = 0
  return () => {
    const beginMs = performance.now()
    return () => {
      const ownBeginMs = engine === 'embedded' ? Math.max(beginMs, lastEndMs) : beginMs
      lastEndMs = performance.now()
      return lastEndMs - ownBeginMs
    }
  }
}

function serveStore(database: Database, maxRecordsInMemory: number): void {
  const memory = new RecordMemory(database, maxRecordsInMemory)
  const store = createRecordStore(database, () => new Date().toISOString(), memory)
  const endIfBroken = (answer: Answer) => {
    const isBroken = answer.type === 'failure' && answer.kind === 'unavailable'
    // An error without an SQL code means that the embedded engine itself broke down, for example out of memory.
    if (database.engine === 'embedded' && isBroken) process.exit(1)
  }
  const failureKind = (error: unknown) => (error instanceof StoreFault ? error.kind : 'failed')
  const options = { failureKind, transfer: pageBuffers, clock: callClock(database) }
  /** Calls under way from threads other than the main thread. */
  let otherCalls = 0
  serve<StoreOperations>(main, store, { ...options, onAnswer: endIfBroken })
  main.on('message', async (request: StoreRequest) => {
    if (request.type === 'connect') {
      serve<StoreOperations>(request.port, store, {
        ...options,
        onCall() {
          if (otherCalls++ === 0) post({ type: 'busy', isBusy: true })
        },
        onAnswer(answer) {
          if (--otherCalls === 0) post({ type: 'busy', isBusy: false })
          endIfBroken(answer)
        },
      })
    } else if (request.type === 'close') {
      await database.close().catch(() => {})
      process.exit(0)
    }
  })
  post({ type: 'open', engine: database.engine, version: database.version })
  void memory.loaded()
}

const config = workerData as StoreThreadConfig
open(config).then(
  (database) => serveStore(database, config.limits.storeMemoryRecords),
  (error: unknown) => {
    const isDamaged = error instanceof StoreFault && error.kind === 'damaged'
    post({ type: 'refused', reason: error instanceof Error ? error.message : String(error), isDamaged })
    main.close()
  },
)
