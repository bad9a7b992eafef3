import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { usage } from '../exit-codes.ts'
import type { ReadBytes } from '../inputs/pieces.ts'
import type { AnswerLine } from './feeder.ts'

/** The progress of a run that is safely on disk. */
export interface Checkpoint {
  /** Number of items with a line in the output or in the errors. */
  readonly items: number
  readonly failed: number
  readonly outputBytes: number
  readonly errorBytes: number
  /** How much of the input was read. Some of it may not have a result yet. */
  readonly read?: ReadBytes
  /** Results of items after the first unfinished one, by number of the item. */
  readonly ahead?: readonly (readonly [number: number, result: AnswerLine])[]
}

/** What must be equal for a run to be resumed. */
export interface RunIdentity {
  /** Digest of everything that affects the results. */
  readonly request: string
  /** Size of the input, if it is a file. */
  readonly inputBytes: number | undefined
  /** SHA-256 of the beginning of the input. */
  readonly inputHead: string
}

interface Stored extends RunIdentity {
  readonly version: 1
  /** The process that writes the journal. */
  readonly pid: number
  readonly checkpoint: Checkpoint
}

export const NOTHING_DONE: Checkpoint = { items: 0, failed: 0, outputBytes: 0, errorBytes: 0 }

/** Returns the SHA-256 of a value's JSON. */
export function sha256OfJson(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

/**
 * The file next to the output that records the progress of a run. It is replaced atomically: after a crash it is either the old
 * or the new version.
 */
export class Journal {
  readonly #file: string
  readonly #identity: RunIdentity

  constructor(output: string, identity: RunIdentity) {
    this.#file = `${output}.part`
    this.#identity = identity
  }

  /**
   * Reads the checkpoint of an interrupted run.
   *
   * @returns undefined if no run was interrupted
   * @throws {CommandError} if the interrupted run had other options or another input, and while a run is active
   */
  read(): Checkpoint | undefined {
    if (!existsSync(this.#file)) return undefined
    const stored = this.#readStored()
    if (stored?.version !== 1)
      throw usage(`${this.#file}: not a batch journal: remove it, or start again with --restart`)
    const { request, inputBytes, inputHead } = this.#identity
    this.#requireInactive(stored)
    const difference =
      stored.request !== request
        ? 'options'
        : stored.inputBytes !== inputBytes || stored.inputHead !== inputHead
          ? 'input'
          : undefined
    if (difference === undefined) return stored.checkpoint
    throw usage(
      `${this.#file}: the interrupted run had a different ${difference === 'input' ? 'input' : 'command'}: repeat that one, or start again with --restart`,
    )
  }

  write(checkpoint: Checkpoint): void {
    this.#replace({ version: 1, pid: process.pid, ...this.#identity, checkpoint })
  }

  /**
   * Reserves the files for a restart that has not overwritten anything yet. No other run may start, and an interrupted run can
   * still be resumed.
   *
   * @returns whether there is an interrupted run
   * @throws {CommandError} while a run is active, because both would write to the same files
   */
  hold(): boolean {
    const stored = this.#readStored()
    this.#requireInactive(stored)
    const hasInterruptedRun = stored?.version === 1
    if (hasInterruptedRun) this.#replace({ ...stored, pid: process.pid })
    else this.write(NOTHING_DONE)
    return hasInterruptedRun
  }

  remove(): void {
    rmSync(this.#file, { force: true })
    rmSync(`${this.#file}.new`, { force: true })
  }

  #replace(stored: Stored): void {
    const temporary = `${this.#file}.new`
    try {
      const descriptor = openSync(temporary, 'w')
      writeFileSync(descriptor, JSON.stringify(stored))
      fsyncSync(descriptor)
      closeSync(descriptor)
      renameSync(temporary, this.#file)
      syncFolder(dirname(this.#file))
    } catch (error) {
      throw usage(`${this.#file}: cannot write the file (${(error as NodeJS.ErrnoException).code})`, error)
    }
  }

  /** Returns undefined if the file is missing or not a journal. */
  #readStored(): Stored | undefined {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) ?? undefined
    } catch {
      return undefined
    }
  }

  #requireInactive(stored: Stored | undefined): void {
    if (stored === undefined || !isActive(stored.pid)) return
    throw usage(`${this.#file}: in use by process ${stored.pid}: wait for it, or stop it first`)
  }
}

/** Tells whether `pid` is a running process of this program. After a kill the number may belong to another program. */
function isActive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('trigpoint')
  } catch {
    return false
  }
}

/** Makes a rename survive a power failure. Windows has no such call for folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
