/**
 * The files of the embedded store beside those of the engine: the version that wrote them, the position of the last acknowledged
 * write, and a note if the store is damaged.
 */
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { PROGRAM } from '../base/version.ts'
import { StoreFault } from '../wire/store-messages.ts'

/** Major version of PostgreSQL in the embedded engine. It cannot open files of another major version. */
const ENGINE_MAJOR = 18

/** Paths of the embedded store. */
export interface EmbeddedFiles {
  readonly folder: string
  /** The folder of the engine. */
  readonly engine: string
  /** Says which major version wrote the files of the engine. */
  readonly format: string
  /** Exists while a new database is made. */
  readonly incompleteMarker: string
  /** Position of the last acknowledged write in the engine's log. */
  readonly written: string
  /** Sizes of the files of tables at the last checkpoint. */
  readonly sizes: string
  /** Exists if the store is damaged, and says why. */
  readonly damageNote: string
  /** Exists while the store is rebuilt, and names the folder of the damaged one. */
  readonly rebuildNote: string
}

/** Names the files of the embedded store below the data folder. */
export function embeddedFiles(dataDir: string): EmbeddedFiles {
  return filesIn(join(dataDir, 'store'))
}

/** Names the files of a store that was set aside. */
export function filesIn(folder: string): EmbeddedFiles {
  return {
    folder,
    engine: join(folder, 'files'),
    format: join(folder, 'format.json'),
    incompleteMarker: join(folder, 'making'),
    written: join(folder, 'written'),
    sizes: join(folder, 'sizes.json'),
    damageNote: join(folder, 'damaged'),
    rebuildNote: join(folder, 'rebuilding'),
  }
}

/** The command that repairs a damaged store. */
export const REPAIR_COMMAND = `${PROGRAM} store rebuild`

/** Says how to repair a damaged store; messages for operators about damage have it. @param folder that of the store */
export function repairAdvice(folder: string): string {
  const data = `--data ${resolve(dirname(folder))}`
  return `run \`${PROGRAM} store check ${data}\`, then \`${REPAIR_COMMAND} ${data}\`, with --backup <file> if there is a backup; nothing is deleted`
}

/** Makes the error of a store whose files are damaged. */
export function damagedStore(folder: string, reason: string, cause?: unknown): StoreFault {
  return new StoreFault('damaged', `${folder} is damaged (${reason}): ${repairAdvice(folder)}`, { cause })
}

/** Returns why the store is damaged, as an earlier start or read found; undefined if nothing was found. */
export function readDamageNote({ damageNote }: EmbeddedFiles): string | undefined {
  try {
    return readFileSync(damageNote, 'utf8').trim() || 'the reason is not known'
  } catch {
    return undefined
  }
}

/** Remembers that the store is damaged, so that no later start opens it before it is checked or rebuilt. */
export function tryNoteDamage({ damageNote }: EmbeddedFiles, reason: string): void {
  try {
    writeFileSync(damageNote, `${reason}\n`, { mode: 0o600 })
  } catch {
    // A full disk. The damage will be found again.
  }
}

/**
 * Checks which version wrote the files, and prepares the folder for a new database if there are none.
 *
 * @returns true when the database has to be created
 * @throws {StoreFault} `damaged`
 * @throws {Error} when the files are of another major version
 */
export function prepareFiles(paths: EmbeddedFiles): boolean {
  const { folder, engine, format, incompleteMarker } = paths
  const ownVersion = join(engine, 'PG_VERSION')
  let engineMajor: number | undefined = readFormat(format)
  const isComplete = engineMajor !== undefined || !existsSync(incompleteMarker)
  // Without PG_VERSION the engine would create an empty database in place of the store.
  if (isComplete && !existsSync(ownVersion) && (existsSync(format) || existsSync(engine))) {
    throw damagedStore(folder, 'PG_VERSION is missing')
  }
  // format.json may be lost or truncated; PG_VERSION still tells the version. Files that were ever complete are never removed.
  if (engineMajor === undefined && isComplete && existsSync(ownVersion)) {
    engineMajor = Number(readFileSync(ownVersion, 'utf8'))
    if (!(engineMajor > 0)) throw damagedStore(folder, 'PG_VERSION is not a version')
  }
  if (engineMajor === undefined) {
    writeFileSync(incompleteMarker, '')
    rmSync(engine, { recursive: true, force: true })
    rmSync(paths.written, { force: true })
    makeFolder(engine)
    return true
  }
  if (engineMajor !== ENGINE_MAJOR) {
    throw new Error(
      `${engine} was written by PostgreSQL ${engineMajor} and this version has ${ENGINE_MAJOR}: make a backup with the version that wrote it ` +
        `(npm start -- --backup <file>), then restore it into an empty DATA_DIR; or remove ${folder}, and the service reads the records from the chains again`,
    )
  }
  return false
}

/** Marks the files of the engine as complete. */
export function completeFiles({ format, incompleteMarker }: EmbeddedFiles): void {
  if (readFormat(format) !== ENGINE_MAJOR) {
    writeFileSync(`${format}.tmp`, `${JSON.stringify({ engineMajor: ENGINE_MAJOR })}\n`)
    renameSync(`${format}.tmp`, format)
  }
  rmSync(incompleteMarker, { force: true })
}

/** Returns undefined when the file is missing or was truncated by a power failure. */
function readFormat(format: string): number | undefined {
  try {
    const { engineMajor } = JSON.parse(readFileSync(format, 'utf8')) as { engineMajor?: unknown }
    return typeof engineMajor === 'number' ? engineMajor : undefined
  } catch {
    return undefined
  }
}

/** A position in the engine's log, in bytes. */
export type LogPosition = bigint

/** Parses a position as the engine writes it: `0/16EF920`. */
export function parseLogPosition(text: string): LogPosition {
  const [high, low] = text.split('/') as [string, string]
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/**
 * Holds the position in the engine's log where the last acknowledged transaction committed. The engine ends its recovery at the
 * first unreadable entry of the log and takes that for the end. So without this position, a damaged end of the log would
 * silently remove acknowledged writes.
 */
export class WrittenMark {
  readonly #file: string
  #descriptor: number | undefined

  constructor({ written }: EmbeddedFiles) {
    this.#file = written
  }

  set(position: LogPosition): void {
    // Twice, so that a damaged mark is recognized. The length never changes: overwriting needs no room on a full disk.
    const text = position.toString().padStart(20)
    try {
      this.#descriptor ??= openSync(this.#file, constants.O_RDWR | constants.O_CREAT, 0o600)
      writeSync(this.#descriptor, `${text}${text}\n`, 0)
    } catch {
      // The transaction is committed. An older mark only detects less.
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
  }
}

/**
 * Reads the position of the last acknowledged write.
 *
 * @returns undefined if there is none, as in a store of an older version
 * @throws {StoreFault} `damaged` when the file is not readable
 */
export function readWritten({ written }: EmbeddedFiles): LogPosition | undefined {
  if (!existsSync(written)) return undefined
  const text = readFileSync(written, 'utf8')
  if (text === '') return undefined // a kill or a full disk came between making the file and its first content
  const [, first, second] = /^ *(\d+) +(\d+)\n$/.exec(text) ?? []
  if (first === undefined || first !== second) throw new StoreFault('damaged', `${written} is not readable`)
  return BigInt(first)
}

/**
 * Free space below which nothing more is written. The engine breaks down if its log cannot grow, and then cannot be read either.
 * So writes stop while there is still room for the log of what is under way: four of its segments.
 */
const RESERVED_BYTES = 64 * 1_048_576

/**
 * Checks that there is room for a write.
 *
 * @throws {StoreFault} `full`
 */
export function requireRoom(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  if (bavail * bsize < RESERVED_BYTES)
    throw fullDisk(folder, `${Math.floor((bavail * bsize) / 1_048_576)} MiB are free`)
}

export function fullDisk(folder: string, reason: string, cause?: unknown): StoreFault {
  const needed = RESERVED_BYTES / 1_048_576
  return new StoreFault('full', `the disk of ${folder} is full (${reason}, ${needed} are needed): make room`, { cause })
}

/** Tells whether an error of the file system or of the store says that the disk is full. */
export function isFullDisk(error: unknown): boolean {
  const { code, kind } = error as { code?: string; kind?: string }
  return kind === 'full' || code === 'ENOSPC' || code === 'EDQUOT'
}
