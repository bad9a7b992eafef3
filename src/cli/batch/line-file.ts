import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { usage } from '../exit-codes.ts'

const BUFFER_CHARACTERS = 256 * 1024

/** A file that grows by lines, and knows how many bytes it has. */
export class LineFile {
  readonly #file: string
  readonly #descriptor: number
  #bytes: number
  #buffered: string[] = []
  #characters = 0

  /**
   * @param bytes what is to be kept of the file; what comes after it goes
   * @throws {CommandError} when it cannot be written, or is shorter than that
   */
  constructor(file: string, bytes: number) {
    this.#file = file
    try {
      this.#descriptor = openSync(file, bytes === 0 ? 'w' : 'r+')
    } catch (error) {
      throw usage(`${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`, error)
    }
    const { size } = fstatSync(this.#descriptor)
    if (size < bytes) throw usage(`${file}: is shorter than the interrupted run left it: begin anew with --restart`)
    if (size > bytes) ftruncateSync(this.#descriptor, bytes)
    this.#bytes = bytes
  }

  /** With what is not written yet. */
  get bytes(): number {
    return this.#bytes
  }

  add(line: string): void {
    this.#buffered.push(line)
    this.#characters += line.length
    this.#bytes += Buffer.byteLength(line)
    if (this.#characters >= BUFFER_CHARACTERS) this.#write()
  }

  /** Everything is on the disk when this returns. */
  sync(): void {
    this.#write()
    fdatasyncSync(this.#descriptor)
  }

  close(): void {
    this.#write()
    closeSync(this.#descriptor)
  }

  #write(): void {
    if (this.#characters === 0) return
    const bytes = Buffer.from(this.#buffered.join(''))
    const from = this.#bytes - bytes.length
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.#descriptor, bytes, done, bytes.length - done, from + done)
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw usage(`${this.#file}: cannot be written (${code}): make room, then the same command goes on`, error)
    }
    this.#buffered = []
    this.#characters = 0
  }
}
