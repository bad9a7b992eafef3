import { createHash } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { usage } from '../exit-codes.ts'
import type { ReadBytes } from '../inputs/byte-pieces.ts'

/** What a run has brought to disk for good. */
export interface Checkpoint {
  /** Items of the file that have their line, in the output or among the errors. */
  readonly items: number
  readonly failed: number
  readonly outputBytes: number
  readonly errorBytes: number
  /** Of the input; some of it may have waited for its answer. */
  readonly read?: ReadBytes
}

/** What must be the same for a run to go on. */
export interface RunIdentity {
  /** Of everything that decides what a result is. */
  readonly request: string
  /** Size of the input, where it is a file, and SHA-256 of its beginning. */
  readonly inputBytes: number | undefined
  readonly inputHead: string
}

interface Stored extends RunIdentity {
  readonly version: 1
  /** Who writes it. */
  readonly pid: number
  readonly checkpoint: Checkpoint
}

export const NOTHING_DONE: Checkpoint = { items: 0, failed: 0, outputBytes: 0, errorBytes: 0 }

/** @param request anything JSON can hold */
export function digestOf(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

/** The file beside the output that says how far a run is. It is replaced as a whole: after a crash it is the old or the new one. */
export class Journal {
  readonly #file: string
  readonly #identity: RunIdentity

  constructor(output: string, identity: RunIdentity) {
    this.#file = `${output}.part`
    this.#identity = identity
  }

  /**
   * @returns undefined when no run was interrupted
   * @throws {CommandError} when one was, and it was another one; and while one runs
   */
  read(): Checkpoint | undefined {
    if (!existsSync(this.#file)) return undefined
    const stored = this.#stored()
    if (stored?.version !== 1)
      throw usage(`${this.#file}: is no journal of a batch: remove it, or begin anew with --restart`)
    const { request, inputBytes, inputHead } = this.#identity
    this.#requireNobodyAtWork(stored)
    const differs =
      stored.request !== request
        ? 'options'
        : stored.inputBytes !== inputBytes || stored.inputHead !== inputHead
          ? 'input'
          : undefined
    if (differs === undefined) return stored.checkpoint
    throw usage(
      `${this.#file}: the interrupted run had another ${differs === 'input' ? 'input' : 'command'}: repeat that one, or begin anew with --restart`,
    )
  }

  write(checkpoint: Checkpoint): void {
    this.#replace({ version: 1, pid: process.pid, ...this.#identity, checkpoint })
  }

  /**
   * To begin anew, but not yet: nobody else may begin, and what an interrupted run left can still go on.
   *
   * @returns whether one left something
   * @throws {CommandError} while a run is at it: both would write into the same files
   */
  hold(): boolean {
    const stored = this.#stored()
    this.#requireNobodyAtWork(stored)
    const isLeft = stored?.version === 1
    if (isLeft) this.#replace({ ...stored, pid: process.pid })
    else this.write(NOTHING_DONE)
    return isLeft
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
      throw usage(`${this.#file}: cannot be written (${(error as NodeJS.ErrnoException).code})`, error)
    }
  }

  /** Undefined for what is none. */
  #stored(): Stored | undefined {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) ?? undefined
    } catch {
      return undefined
    }
  }

  #requireNobodyAtWork(stored: Stored | undefined): void {
    if (stored === undefined || !isAtWork(stored.pid)) return
    throw usage(`${this.#file}: process ${stored.pid} is at it: wait for it, or end it first`)
  }
}

/** Whether a process of ours has this number: after a kill it may have gone to another program. */
function isAtWork(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return process.platform !== 'linux' || readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('trigpoint')
  } catch {
    return false
  }
}

/** The new name has to outlive a power failure as well; Windows has no such call for folders. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(folder, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
