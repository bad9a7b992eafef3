import { parentPort, workerData } from 'node:worker_threads'
import type { StoreThreadConfig } from '../src/config/config.ts'
import type { Database } from '../src/store/database.ts'
import { embeddedFiles, requireRoom, tryNoteDamage } from '../src/store/embedded-files.ts'
import { migrate, pendingMigrations } from '../src/store/migrations.ts'
import { createRecordStore } from '../src/store/operations.ts'
import { openPglite } from '../src/store/pglite.ts'
import { openPostgres, openPostgresForCommand } from '../src/store/postgres.ts'
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

/** Migrates a server on a connection that waits longer than those of the service. */
async function migrateServer(url: string, limits: StoreThreadConfig['limits']): Promise<void> {
  const database = await openPostgresForCommand(url, limits.storeConnectMs, limits.storeMigrationMs)
  await migrate(database).finally(() => database.close())
}

async function open({ databaseUrl, dataDir, limits }: StoreThreadConfig): Promise<Database> {
  const database =
    databaseUrl === undefined
      ? await openPglite(dataDir, { onDamage: endSoon })
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
    // A migration needs disk space. If none is pending, the store opens even on a full disk, for reading.
    if ((await pendingMigrations(database.reads)) !== 0)
      await (databaseUrl === undefined ? migrate(database) : migrateServer(databaseUrl, limits))
    return database
  } catch (error) {
    await database.close().catch(() => {})
    throw error
  }
}

/** Ends the thread after the answers of this tick. The next thread reads why the store is damaged, and does not open it. */
function endSoon(): void {
  setImmediate(() => process.exit(1))
}

/** How often the free space of the disk is compared with what a write needs. */
const ROOM_CHECK_MS = 1000

/** Reports when the disk of the embedded store becomes full, and when it has room again. */
function watchRoom(dataDir: string): void {
  const { folder } = embeddedFiles(dataDir)
  let wasFull = false
  const check = () => {
    let fullReason: string | undefined
    try {
      requireRoom(folder)
    } catch (error) {
      fullReason = (error as Error).message
    }
    const isFull = fullReason !== undefined
    if (isFull !== wasFull) post({ type: 'room', fullReason })
    wasFull = isFull
  }
  check()
  setInterval(check, ROOM_CHECK_MS)
}

/** Returns the buffers to transfer with a result: the documents of a page. */
function pageBuffers(value: unknown): ArrayBuffer[] {
  const { page } = (value ?? {}) as Partial<StoreResult<'newPage'>>
  return page?.documents instanceof Uint8Array ? [page.documents.buffer as ArrayBuffer] : []
}

/**
 * Returns a clock for calls. The embedded engine runs one call at a time, so the time that a call waits for another one does not
 * count. A PostgreSQL server runs calls concurrently.
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

function serveStore(database: Database, { dataDir, limits }: StoreThreadConfig): void {
  const memory = new RecordMemory(database, limits.storeMemoryRecords)
  const store = createRecordStore(database, () => new Date().toISOString(), memory)
  const endIfBroken = (answer: Answer) => {
    const isBroken = answer.type === 'failure' && answer.kind === 'unavailable'
    // An error without an SQL code means that the embedded engine itself broke down, for example out of memory.
    if (database.engine === 'embedded' && isBroken) process.exit(1)
    // The engine reports its own errors; this is a record whose parts are not all there.
    if (database.engine === 'embedded' && answer.type === 'failure' && answer.kind === 'damaged') {
      tryNoteDamage(embeddedFiles(dataDir), answer.reason)
      endSoon()
    }
  }
  const failureKind = (error: unknown) => (error instanceof StoreFault ? error.kind : 'failed')
  const options = { failureKind, transfer: pageBuffers, clock: callClock(database) }
  /** Number of running calls from threads other than the main thread. */
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
  if (database.engine === 'embedded') watchRoom(dataDir)
  post({ type: 'columns', isWarming: true })
  void memory.loaded().then(() => post({ type: 'columns', isWarming: false }))
}

const config = workerData as StoreThreadConfig
open(config).then(
  (database) => serveStore(database, config),
  (error: unknown) => {
    const kind = error instanceof StoreFault ? error.kind : 'unavailable'
    const condition = kind === 'damaged' || kind === 'full' ? kind : 'away'
    post({ type: 'refused', reason: error instanceof Error ? error.message : String(error), condition })
    main.close()
  },
)
