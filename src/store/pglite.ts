import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite, type Transaction } from '@electric-sql/pglite'
import { makeFolder } from '../make-folder.ts'
import { StoreFault } from '../store-messages.ts'
import type { Database, Parameter, Row, Session } from './database.ts'
import { faultOf } from './fault.ts'
import { lockFolder } from './folder-lock.ts'

/** Major version of PostgreSQL in the embedded engine: files of another one cannot be opened. */
const ENGINE_MAJOR = 18

/** Files of a new database, made by the build (`scripts/build-store.mjs`). Sources that run unbuilt take the last build's. */
const EMPTY_STORE = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/empty-store.tar.gz' : '../../empty-store.tar.gz',
  import.meta.url,
)

/** Files of the embedded engine below the data folder. */
function embeddedFolder(dataDir: string): string {
  return join(dataDir, 'store')
}

/** More than the engine writes while it opens files that are whole. */
const PROBE_BYTES = 1_048_576

/**
 * Opens the embedded engine on a folder that no other process holds. It blocks the thread it runs in, and writes nothing
 * to stable storage by itself: what was acknowledged survives the end of the process, not the loss of power.
 *
 * @throws {Error} with the remedy, when the folder is in use or was written by another major version
 * @throws {StoreFault} `damaged`, with the remedy, when files that were whole once cannot be opened
 */
export async function openPglite(dataDir: string): Promise<Database> {
  const folder = embeddedFolder(dataDir)
  const release = lockFolder(folder)
  try {
    const format = join(folder, 'format.json')
    const files = join(folder, 'files')
    const making = join(folder, 'making')
    const isNew = guardFormat({ format, files, making }, dataDir)
    const engine = await PGlite.create({ dataDir: files, ...(isNew ? emptyStore() : {}) }).catch((error: unknown) => {
      if (isNew) throw error
      requireRoom(folder)
      throw damagedStore(folder, String((error as Error).message), error)
    })
    writeFormat(format)
    rmSync(making, { force: true })
    await engine.exec("set jit = off; set timezone = 'UTC'")
    const { rows } = await engine.query<{ server_version: string }>('show server_version')
    return {
      engine: 'embedded',
      version: rows[0]!.server_version,
      reads: sessionOf(engine),
      readTransaction: (run) => engine.transaction((transaction) => run(sessionOf(transaction))),
      transaction: (run) => engine.transaction((transaction) => run(sessionOf(transaction))),
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

function sessionOf(engine: PGlite | Transaction): Session {
  return {
    async query(statement, parameters = []) {
      try {
        return (await engine.query<Row>(statement, parameters as Parameter[])).rows
      } catch (error) {
        throw faultOf(error)
      }
    },
  }
}

/** Without them the engine makes its files by initdb: the same, in seconds of processor time and 0.9 GB of memory. */
function emptyStore(): { loadDataDir?: Blob } {
  return existsSync(EMPTY_STORE) ? { loadDataDir: new Blob([readFileSync(EMPTY_STORE)]) } : {}
}

/**
 * @returns whether the database is to be made
 * @throws {Error} when the files are of another major version
 */
function guardFormat(
  { format, files, making }: { readonly format: string; readonly files: string; readonly making: string },
  dataDir: string,
): boolean {
  const ownVersion = join(files, 'PG_VERSION')
  let engineMajor = readFormat(format)
  const isWhole = engineMajor !== undefined || !existsSync(making)
  // The engine would make an empty database in place of a store without it.
  if (existsSync(format) && isWhole && !existsSync(ownVersion)) {
    throw damagedStore(embeddedFolder(dataDir), 'PG_VERSION is missing')
  }
  // Our file may be lost or cut short; what the engine wrote itself still says what it is. Nothing is removed that was ever whole.
  if (engineMajor === undefined && isWhole && existsSync(ownVersion)) {
    engineMajor = Number(readFileSync(ownVersion, 'utf8'))
  }
  if (engineMajor === undefined) {
    writeFileSync(making, '')
    rmSync(files, { recursive: true, force: true })
    makeFolder(files)
    return true
  }
  if (engineMajor !== ENGINE_MAJOR) {
    throw new Error(
      `${files} was written by PostgreSQL ${engineMajor} and this version has ${ENGINE_MAJOR}: make a backup with the version that wrote it ` +
        `(npm start -- --backup <file>), then restore it into an empty DATA_DIR; or remove ${embeddedFolder(dataDir)} and let the records be read from the chains again`,
    )
  }
  return false
}

/** undefined when the file is missing, or was cut short by a loss of power. */
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
 * A disk without room stops the engine as damaged files do, and passes.
 *
 * @throws {NodeJS.ErrnoException} such as ENOSPC
 */
function requireRoom(folder: string): void {
  const probe = join(folder, 'room-test')
  try {
    writeFileSync(probe, Buffer.alloc(PROBE_BYTES))
  } finally {
    rmSync(probe, { force: true })
  }
}

function damagedStore(folder: string, found: string, cause?: unknown): StoreFault {
  return new StoreFault(
    'damaged',
    `${folder} cannot be opened and is probably damaged (${found}): stop the service, move this folder to another folder and start again; ` +
      'then restore a backup (npm start -- --restore <file>), or let the records be read from the chains again',
    { cause },
  )
}
