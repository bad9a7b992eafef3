import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { makeFolder } from '../base/make-folder.ts'
import { StoreFault } from '../wire/store-messages.ts'
import { type Database, type Parameter, type Row, type Session, toStoreFault } from './database.ts'
import { lockFolder } from './folder-lock.ts'

/** Major version of PostgreSQL in the embedded engine. It cannot open files of another major version. */
const ENGINE_MAJOR = 18

/** The files of an empty database, made by the build (`scripts/build-store.mjs`). Unbuilt sources use those of the last build. */
const EMPTY_STORE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/empty-store.tar.gz' : '../../empty-store.tar.gz',
  import.meta.url,
)

/** Returns the folder of the embedded engine below the data folder. */
function embeddedFolder(dataDir: string): string {
  return join(dataDir, 'store')
}

/** Size of the file that tests the disk space; more than the engine writes while it opens intact files. */
const PROBE_BYTES = 1_048_576

/**
 * Opens the embedded engine on a folder that no other process holds. The engine blocks the thread it runs in. It does not
 * flush to stable storage: acknowledged writes survive the end of the process but not a power failure.
 *
 * @throws {Error} with the remedy, when the folder is in use or was written by another major version
 * @throws {StoreFault} `damaged`, with the remedy, when files that were once complete cannot be opened
 */
export async function openPglite(dataDir: string): Promise<Database> {
  const folder = embeddedFolder(dataDir)
  const release = lockFolder(folder)
  try {
    const format = join(folder, 'format.json')
    const files = join(folder, 'files')
    const incompleteMarker = join(folder, 'making')
    const isNew = checkFormat({ format, files, incompleteMarker }, dataDir)
    const engine = await PGlite.create({ dataDir: files, ...(isNew ? readEmptyStore() : {}) }).catch(
      (error: unknown) => {
        if (isNew) throw error
        requireDiskSpace(folder)
        throw damagedStore(folder, String((error as Error).message), error)
      },
    )
    writeFormat(format)
    rmSync(incompleteMarker, { force: true })
    await engine.exec("set jit = off; set timezone = 'UTC'")
    const { rows } = await engine.query<{ server_version: string }>('show server_version')
    return {
      engine: 'embedded',
      version: rows[0]!.server_version,
      reads: createSession(engine),
      readTransaction: (run) => engine.transaction((transaction) => run(createSession(transaction))),
      transaction: (run) => engine.transaction((transaction) => run(createSession(transaction))),
      maintain: async (statement) => void (await engine.exec(statement)),
      async close() {
        await engine.close()
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

function createSession(engine: PGlite | Transaction): Session {
  return {
    async query(statement, parameters = []) {
      try {
        return (await engine.query<Row>(statement, parameters as Parameter[])).rows
      } catch (error) {
        throw toStoreFault(error)
      }
    },
  }
}

/** Reads the empty store. Without it the engine runs initdb, which takes seconds of processor time and 0.9 GB of memory. */
function readEmptyStore(): { loadDataDir?: Blob } {
  return existsSync(EMPTY_STORE) ? { loadDataDir: new Blob([readFileSync(EMPTY_STORE)]) } : {}
}

/**
 * Checks which version wrote the files, and prepares the folder for a new database if there are none.
 *
 * @returns true when the database has to be created
 * @throws {Error} when the files are of another major version
 */
function checkFormat(
  {
    format,
    files,
    incompleteMarker,
  }: { readonly format: string; readonly files: string; readonly incompleteMarker: string },
  dataDir: string,
): boolean {
  const ownVersion = join(files, 'PG_VERSION')
  let engineMajor = readFormat(format)
  const isComplete = engineMajor !== undefined || !existsSync(incompleteMarker)
  // Without PG_VERSION the engine would create an empty database in place of the store.
  if (existsSync(format) && isComplete && !existsSync(ownVersion)) {
    throw damagedStore(embeddedFolder(dataDir), 'PG_VERSION is missing')
  }
  // format.json may be lost or truncated; PG_VERSION still tells the version. Files that were ever complete are never removed.
  if (engineMajor === undefined && isComplete && existsSync(ownVersion)) {
    engineMajor = Number(readFileSync(ownVersion, 'utf8'))
  }
  if (engineMajor === undefined) {
    writeFileSync(incompleteMarker, '')
    rmSync(files, { recursive: true, force: true })
    makeFolder(files)
    return true
  }
  if (engineMajor !== ENGINE_MAJOR) {
    throw new Error(
      `${files} was written by PostgreSQL ${engineMajor} and this version has ${ENGINE_MAJOR}: make a backup with the version that wrote it ` +
        `(npm start -- --backup <file>), then restore it into an empty DATA_DIR; or remove ${embeddedFolder(dataDir)}, and the service reads the records from the chains again`,
    )
  }
  return false
}

/** Returns undefined when the file is missing or was truncated by a power failure. */
function readFormat(format: string): unknown {
  try {
    return (JSON.parse(readFileSync(format, 'utf8')) as { engineMajor?: unknown }).engineMajor
  } catch {
    return undefined
  }
}

function writeFormat(format: string): void {
  if (readFormat(format) === ENGINE_MAJOR) return
  writeFileSync(`${format}.tmp`, `${JSON.stringify({ engineMajor: ENGINE_MAJOR })}\n`)
  renameSync(`${format}.tmp`, format)
}

/**
 * Throws when the disk is full. A full disk stops the engine just as damaged files do, but is temporary.
 *
 * @throws {NodeJS.ErrnoException} such as ENOSPC
 */
function requireDiskSpace(folder: string): void {
  const probe = join(folder, 'space-test')
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES))
  } finally {
    rmSync(probe, { force: true })
  }
}

function damagedStore(folder: string, reason: string, cause?: unknown): StoreFault {
  return new StoreFault(
    'damaged',
    `${folder} cannot be opened and is probably damaged (${reason}): stop the service, move this folder elsewhere and start again; ` +
      'then restore a backup (npm start -- --restore <file>), or wait until the service has read the records from the chains again',
    { cause },
  )
}
