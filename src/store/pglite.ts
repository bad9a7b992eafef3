import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { StoreFault } from '../wire/store-messages.ts'
import { type Database, type Parameter, type Row, type Session, toStoreFault } from './database.ts'
import {
  completeFiles,
  damagedStore,
  type EmbeddedFiles,
  embeddedFiles,
  fullDisk,
  isFullDisk,
  type LogPosition,
  parseLogPosition,
  prepareFiles,
  readDamageNote,
  readWritten,
  requireRoom,
  tryNoteDamage,
  WrittenMark,
} from './embedded-files.ts'
import { findShrunkFiles, forgetSizes, RELATION_PATHS, tryNoteSizes, tryWriteNote } from './file-sizes.ts'
import { lockFolder } from './folder-lock.ts'

/**
 * The files of an empty database, made by the build (`scripts/build-store.mjs`). Unbuilt sources use those of the last build. Without
 * them the engine runs initdb, which takes seconds of processor time and 0.9 GB of memory.
 */
const EMPTY_STORE = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../dist/empty-store.tar.gz' : '../../empty-store.tar.gz',
    import.meta.url,
  ),
)

/** Size of the file that tests the disk space; more than the engine writes while it opens intact files. */
const PROBE_BYTES = 1_048_576

/**
 * Cache of the engine. It fills its whole cache with zeros at the start, so every megabyte of it is resident from then on. What is not
 * in it is read from the files, which the operating system caches too.
 */
const SHARED_BUFFERS = ['-c', 'shared_buffers=16MB']

/**
 * Growth of the log after which the engine makes a checkpoint. Without a server process it makes none itself, and after a kill it
 * would repeat everything since its start: 7 s for 100,000 records.
 */
const CHECKPOINT_BYTES = 32n * 1_048_576n

/** Tables that are read at each start, most of them because their content is on no chain, with the first column of their key. */
const TABLES_TO_READ = [
  ['submission', 'position'],
  ['relay_transaction', 'chain_id'],
  ['relay_attempt', 'chain_id'],
  ['chain_checkpoint', 'chain_id'],
] as const

/** Plans that would not read a table through an index. */
const SCANS = ['enable_seqscan', 'enable_bitmapscan', 'enable_indexonlyscan']

/** Beyond the end of any log. */
const LOST_POSITION: LogPosition = 2n ** 62n

const BYTEA = 17

/**
 * Converts `bytea`. The engine's own conversion makes one string for each byte: a chunk of a job of 4 MB then takes hundreds of
 * megabytes, and ten times as long.
 */
const BYTES_AS_HEX = {
  parsers: { [BYTEA]: (text: string) => Buffer.from(text.slice(2), 'hex') },
  serializers: {
    [BYTEA]: (bytes: Uint8Array) =>
      `\\x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`,
  },
}

export interface EmbeddedOptions {
  /** Called when a read or a write finds damage. The store then has to be closed, because it may return wrong results. */
  readonly onDamage?: ((reason: string) => void) | undefined
  /** True: a store that is being rebuilt is opened too. */
  readonly isRebuild?: boolean
  /** True: a store that was found damaged is opened, to check it again. */
  readonly isCheck?: boolean
}

/**
 * Opens the embedded engine on a folder that no other process holds. The engine blocks the thread it runs in. It does not
 * flush to stable storage: acknowledged writes survive the end of the process but not a power failure.
 *
 * @throws {Error} with the remedy, when the folder is in use or was written by another major version
 * @throws {StoreFault} `damaged`, with the remedy, when files that were once complete are damaged; `full` when the disk is full
 */
export async function openPglite(
  dataDir: string,
  { onDamage, isRebuild = false, isCheck = false }: EmbeddedOptions = {},
): Promise<Database> {
  const paths = embeddedFiles(dataDir)
  const release = lockFolder(paths.folder)
  try {
    const knownDamage = readDamageNote(paths)
    if (knownDamage !== undefined && !isCheck) throw damagedStore(paths.folder, knownDamage)
    // Before a new database is made: some of the files may have been moved already.
    if (existsSync(paths.rebuildNote) && !isRebuild) throw damagedStore(paths.folder, 'its rebuild was interrupted')
    const isNew = prepareFiles(paths)
    const found = findShrunkFiles(paths)
    const engine = await createEngine(paths, isNew)
    completeFiles(paths)
    if (!isNew) await requireAcknowledged(engine, paths, found)
    return await createDatabase(engine, paths, { onDamage, release })
  } catch (error) {
    release()
    throw error
  }
}

async function openEngine({ engine: dataDir }: EmbeddedFiles, isNew: boolean): Promise<PGlite> {
  if (isNew && existsSync(EMPTY_STORE)) await unpackEmptyStore(dataDir)
  return PGlite.create({ dataDir, startParams: [...PGlite.defaultStartParams, ...SHARED_BUFFERS], ...BYTES_AS_HEX })
}

/** Unpacks file by file. The engine's own `loadDataDir` keeps all of them in memory, about 100 MB until the next start. */
async function unpackEmptyStore(folder: string): Promise<void> {
  const { extract } = await import('tar')
  mkdirSync(folder, { recursive: true })
  // The names in it begin with a slash. `strict` makes a file that cannot be written an error.
  await extract({ file: EMPTY_STORE, cwd: folder, strip: 1, preserveOwner: false, strict: true })
}

async function createEngine(paths: EmbeddedFiles, isNew: boolean): Promise<PGlite> {
  const engine = await openEngine(paths, isNew).catch((error: unknown) => {
    requireDiskSpace(paths.folder)
    if (isNew) throw error
    throw damagedStore(paths.folder, `the engine cannot open it: ${engineReason((error as Error).message)}`, error)
  })
  await engine.exec("set jit = off; set timezone = 'UTC'")
  return engine
}

/** Returns what the engine says. When it aborts, its message is one of WebAssembly and names no cause. */
function engineReason(message: string): string {
  return /^Aborted\(/.test(message) ? `the engine gave no reason (${message})` : message
}

/** Opens files of the engine as they are, to read what can still be read. Checks nothing, and does not lock the folder. */
export async function openDamaged(paths: EmbeddedFiles): Promise<Database> {
  return createDatabase(await createEngine(paths, false), paths, { release: () => {}, isRepair: true })
}

interface DatabaseOptions extends Pick<EmbeddedOptions, 'onDamage'> {
  readonly release: () => void
  /** True: damage is expected, and is not noted. */
  readonly isRepair?: boolean
}

async function createDatabase(
  engine: PGlite,
  paths: EmbeddedFiles,
  { onDamage, release, isRepair = false }: DatabaseOptions,
): Promise<Database> {
  const { rows } = await engine.query<{ server_version: string }>('show server_version')
  const report = (error: unknown): StoreFault => {
    const fault = toEngineFault(error)
    if (fault.kind === 'damaged' && !isRepair) {
      tryNoteDamage(paths, fault.message)
      onDamage?.(fault.message)
    }
    return fault
  }
  const mark = new WrittenMark(paths)
  const sizes = new SizeNotes(engine, paths)
  if (!isRepair) await sizes.note()
  const writer = createWriter(engine, mark, sizes)
  const toSession = (source: PGlite | Transaction) => createSession(source, report)
  const transaction: Database['transaction'] = async (run) => {
    requireRoom(paths.folder)
    return inTransaction(engine, (session) => writer.write(session, run(toSession(session))), report).then((result) =>
      writer.acknowledge(result),
    )
  }
  return {
    engine: 'embedded',
    version: rows[0]!.server_version,
    reads: toSession(engine),
    readTransaction: (run) =>
      inTransaction(
        engine,
        (transaction) => {
          const session = toSession(transaction)
          return run({ ...session, queryWithin: (_maxMs, ...statement) => session.query(...statement) })
        },
        report,
      ),
    transaction,
    leaseTransaction: transaction,
    async maintain(statement) {
      requireRoom(paths.folder)
      await sizes
        .suspend(() => engine.exec(statement))
        .catch((error: unknown) => {
          throw report(error)
        })
    },
    async close() {
      await sizes.noteAfter(() => engine.close(), isRepair)
      mark.close()
      release()
    },
  }
}

/** A result together with the position of the engine's log before its transaction commits. */
interface Written<T> {
  readonly value: T
  /** Undefined if the transaction changed nothing. */
  readonly position: LogPosition | undefined
}

/** Notes the position of each acknowledged transaction, and makes checkpoints. */
function createWriter(engine: PGlite, mark: WrittenMark, sizes: SizeNotes) {
  let checkpointAt: LogPosition | undefined
  return {
    /** Runs the statements of a transaction, and reads the position of the log after them. */
    async write<T>(transaction: Transaction, run: Promise<T>): Promise<Written<T>> {
      const value = await run
      const { rows } = await transaction.query<{ position: string | null }>(
        `select case when pg_current_xact_id_if_assigned() is not null then pg_current_wal_insert_lsn()::text end as position`,
      )
      const text = rows[0]!.position
      return { value, position: text === null ? undefined : parseLogPosition(text) }
    },
    /** Call it when the transaction is committed. */
    acknowledge<T>({ value, position }: Written<T>): T {
      if (position === undefined) return value
      mark.set(position)
      checkpointAt ??= position + CHECKPOINT_BYTES
      if (position > checkpointAt) {
        checkpointAt = position + CHECKPOINT_BYTES
        // If it fails, the engine is broken, and the next call says so.
        void engine
          .exec('checkpoint')
          .then(() => sizes.note())
          .catch(() => {})
      }
      return value
    },
  }
}

/** Notes the sizes of the files after each checkpoint, except while files may become smaller. */
class SizeNotes {
  readonly #engine: PGlite
  readonly #paths: EmbeddedFiles
  #suspended = 0

  constructor(engine: PGlite, paths: EmbeddedFiles) {
    this.#engine = engine
    this.#paths = paths
  }

  async note(): Promise<void> {
    this.#write(await this.#relations())
  }

  /** Runs a statement that may make files smaller. A kill in the middle of it leaves no note. */
  async suspend(run: () => Promise<unknown>): Promise<void> {
    this.#suspended++
    forgetSizes(this.#paths)
    try {
      await run()
    } finally {
      this.#suspended--
    }
    await this.note()
  }

  /** Closes the engine, which makes a checkpoint, and notes the sizes after it. */
  async noteAfter(close: () => Promise<void>, isRepair: boolean): Promise<void> {
    const relations = isRepair ? undefined : await this.#relations().catch(() => undefined)
    await close()
    if (relations !== undefined) this.#write(relations)
  }

  async #relations(): Promise<readonly string[]> {
    const { rows } = await this.#engine.query<{ path: string }>(RELATION_PATHS)
    return rows.map(({ path }) => path)
  }

  #write(relations: readonly string[]): void {
    // The sizes of a damaged store would hide its damage from a later check.
    if (this.#suspended > 0 || existsSync(this.#paths.damageNote)) return
    tryNoteSizes(this.#paths, relations)
  }
}

/** Runs a transaction. Errors of the engine at its begin and end become faults too; an error of `run` stays as it is. */
async function inTransaction<T>(
  engine: PGlite,
  run: (transaction: Transaction) => Promise<T>,
  report: (error: unknown) => StoreFault,
): Promise<T> {
  let thrown: { readonly error: unknown } | undefined
  try {
    return await engine.transaction(async (transaction) => {
      try {
        return await run(transaction)
      } catch (error) {
        thrown = { error }
        throw error
      }
    })
  } catch (error) {
    throw thrown === undefined ? report(error) : thrown.error
  }
}

function createSession(engine: PGlite | Transaction, report: (error: unknown) => StoreFault): Session {
  return {
    async query(statement, parameters = []) {
      try {
        return (await engine.query<Row>(statement, parameters as Parameter[])).rows
      } catch (error) {
        throw report(error)
      }
    },
  }
}

/**
 * Converts an error of the embedded engine. There is no server here that might stop or be unreachable: a file that is missing or
 * cannot be read (class 58), or a state that the engine excludes (XX000), means damage.
 */
function toEngineFault(error: unknown): StoreFault {
  const fault = toStoreFault(error)
  const { code = '' } = error as { code?: string }
  if (fault.kind === 'unavailable' && (code === 'XX000' || code.startsWith('58')))
    return new StoreFault('damaged', fault.message, { cause: error })
  return fault
}

/**
 * Checks that no acknowledged write is missing. The engine opens files that lost the end of their log, a part of a table or the
 * outcome of transactions, and then returns fewer rows without an error.
 *
 * @throws {StoreFault} `damaged`
 */
async function requireAcknowledged(
  engine: PGlite,
  paths: EmbeddedFiles,
  { shrunk, bytes }: ReturnType<typeof findShrunkFiles>,
): Promise<void> {
  try {
    const session = createSession(engine, toEngineFault)
    if (shrunk.length > 0) await requireDropped(session, shrunk)
    if (await hasLostOutcomes(session)) throw new StoreFault('damaged', 'the outcome of transactions is missing')
    if (await hasLostLog(session, paths)) {
      // Later starts of the engine move the end of its log. This position stays beyond it.
      const mark = new WrittenMark(paths)
      mark.set(LOST_POSITION)
      mark.close()
      throw new StoreFault('damaged', 'the end of its log with acknowledged writes is missing')
    }
    await requireRows(session)
    // The list of all tables, which is read again when the sizes are noted: no other step may come across damage in it.
    await session.query(RELATION_PATHS)
  } catch (error) {
    await engine.close().catch(() => {})
    if (shrunk.length > 0) tryWriteNote(paths, bytes)
    const { message } = error as Error
    tryNoteDamage(paths, message)
    throw damagedStore(paths.folder, message, error)
  }
}

/** @throws {StoreFault} `damaged` if one of the files that became smaller is still that of a table or index */
async function requireDropped(session: Session, shrunk: readonly string[]): Promise<void> {
  const rows = await session.query(
    `select relname as name from pg_class where pg_relation_filepath(oid) = any($1::text[]) order by relname`,
    [shrunk],
  )
  if (rows.length === 0) return
  throw new StoreFault(
    'damaged',
    `files are shorter than at the last checkpoint: those of ${rows.map((row) => row['name']).join(', ')}`,
  )
}

/** Returns true if acknowledged writes are missing. Call it before anything is written. */
export async function hasLostWrites(session: Session, paths: EmbeddedFiles): Promise<boolean> {
  return (await hasLostLog(session, paths)) || (await hasLostOutcomes(session))
}

/** Returns true if the engine has lost the record of which transactions were committed. It then hides their rows. */
async function hasLostOutcomes(session: Session): Promise<boolean> {
  const [tables] = await session.query("select to_regclass('schema_migration') is null as missing")
  if (tables!['missing'] === true) return false // its tables are not made yet
  const rows = await session.query(
    "select pg_xact_status(xmin::text::xid8) in ('aborted', 'in progress') as lost from schema_migration",
  )
  return rows.length === 0 || rows.some((row) => row['lost'] === true)
}

/** Compares the end of the engine's log with the last acknowledged write. */
async function hasLostLog(session: Session, paths: EmbeddedFiles): Promise<boolean> {
  const written = readWritten(paths)
  if (written === undefined) return false
  // The checkpoint at the end of a recovery, or of a clean end, begins where the log ended. The commit begins at the mark.
  const [row] = await session.query('select redo_lsn::text as redo from pg_control_checkpoint()')
  return parseLogPosition(row!['redo'] as string) <= written
}

/**
 * Counts the rows of a table that an index finds, and reads each of them.
 *
 * @param key first column of the index. An order makes the engine use it; it would leave out a condition that is always true
 * @throws {StoreFault} `damaged`, also when the index names rows on pages that are not there
 */
export async function countByIndex(session: Session, table: string, key: string): Promise<number> {
  for (const setting of SCANS) await session.query(`set ${setting} = off`)
  try {
    const [row] = await session.query(
      `select count(*)::int as rows from (select ${key} from ${table} order by ${key} offset 0) as ordered`,
    )
    return row!['rows'] as number
  } finally {
    for (const setting of SCANS) await session.query(`reset ${setting}`)
  }
}

/**
 * Reads tables through an index, which finds rows whose pages are missing.
 *
 * @throws {StoreFault} `damaged`
 */
async function requireRows(session: Session): Promise<void> {
  const [tables] = await session.query("select to_regclass('relay_attempt') is null as missing")
  if (tables!['missing'] === true) return // its tables are not made yet
  for (const [table, key] of TABLES_TO_READ) await countByIndex(session, table, key)
}

/**
 * Throws when the disk is full. A full disk stops the engine just as damaged files do, but is temporary.
 *
 * @throws {StoreFault} `full`
 */
function requireDiskSpace(folder: string): void {
  const probe = join(folder, 'space-test')
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES))
  } catch (error) {
    throw isFullDisk(error) ? fullDisk(folder, (error as NodeJS.ErrnoException).code!, error) : error
  } finally {
    rmSync(probe, { force: true })
  }
}
