import { closeSync, constants, fdatasyncSync, fstatSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { usage } from '../exit-codes.ts'

const BUFFER_CHARACTERS = 256 * 1024

/** A file that grows by lines, and knows how many bytes it has. It stays as it is until it is cut: lines wait for that. */
export class LineFile {
  readonly #file: string
  readonly #descriptor: number
  readonly #keptBytes: number
  #bytes: number
  #isCut = false
  #buffered: string[] = []
  #characters = 0

  /**
   * @param bytes what is to be kept of the file
   * @throws {CommandError} when it cannot be written, or is shorter than that
   */
  constructor(file: string, bytes: number) {
    this.#file = file
    try {
      this.#descriptor = openSync(file, bytes === 0 ? constants.O_WRONLY | constants.O_CREAT : 'r+')
    } catch (error) {
      throw usage(`${file}: cannot be written (${(error as NodeJS.ErrnoException).code})`, error)
    }
    const { size } = fstatSync(this.#descriptor)
    if (size < bytes) throw usage(`${file}: is shorter than the interrupted run left it: begin anew with --restart`)
    this.#keptBytes = bytes
    this.#bytes = bytes
  }

  /** What comes after the bytes that are to be kept goes. */
  cut(): void {
    // A device has no size, and none that could be changed.
    if (fstatSync(this.#descriptor).size > this.#keptBytes) ftruncateSync(this.#descriptor, this.#keptBytes)
    this.#isCut = true
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

  /** Everything is on the disk when this returns, once it is cut. */
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
