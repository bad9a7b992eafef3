import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { usage } from '../exit-codes.ts'

const BUFFER_CHARACTERS = 256 * 1024

/** A file to which lines are appended. Lines stay in memory until `cut` is called; before that the file is not changed. */
export class LineFile {
  readonly #file: string
  readonly #descriptor: number
  readonly #initialBytes: number
  #bytes: number
  #isCut = false
  #buffered: string[] = []
  #characters = 0

  /**
   * @param bytes number of bytes of the existing file to keep
   * @throws {CommandError} if the file cannot be written or is shorter than that
   */
  constructor(file: string, bytes: number) {
    this.#file = file
    try {
      this.#descriptor = openSync(file, bytes === 0 ? constants.O_WRONLY | constants.O_CREAT : 'r+')
    } catch (error) {
      throw usage(`${file}: cannot write the file (${(error as NodeJS.ErrnoException).code})`, error)
    }
    const { size } = fstatSync(this.#descriptor)
    if (size < bytes) throw usage(`${file}: shorter than the interrupted run left it: start again with --restart`)
    this.#initialBytes = bytes
    this.#bytes = bytes
  }

  /** Truncates the file to the bytes to keep. From then on lines are written. */
  cut(): void {
    // A device has no size and cannot be truncated.
    if (fstatSync(this.#descriptor).size > this.#initialBytes) ftruncateSync(this.#descriptor, this.#initialBytes)
    this.#isCut = true
  }

  /** Size of the file, including lines that are not written yet. */
  get bytes(): number {
    return this.#bytes
  }

  add(line: string): void {
    this.#buffered.push(line)
    this.#characters += line.length
    this.#bytes += Buffer.byteLength(line)
    if (this.#characters >= BUFFER_CHARACTERS) this.#write()
  }

  /** Writes all lines to disk before it returns, if `cut` was called. */
  sync(): void {
    this.#write()
    fdatasyncSync(this.#descriptor)
  }

  close(): void {
    this.#write()
    closeSync(this.#descriptor)
  }

  #write(): void {
    if (this.#characters === 0 || !this.#isCut) return
    const bytes = Buffer.from(this.#buffered.join(''))
    const from = this.#bytes - bytes.length
    try {
      for (let writtenBytes = 0; writtenBytes < bytes.length; ) {
        writtenBytes += writeSync(
          this.#descriptor,
          bytes,
          writtenBytes,
          bytes.length - writtenBytes,
          from + writtenBytes,
        )
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw usage(
        `${this.#file}: cannot write the file (${code}): make room, then run the same command to resume`,
        error,
      )
    }
    this.#buffered = []
    this.#characters = 0
  }
}
