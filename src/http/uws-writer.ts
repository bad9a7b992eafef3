import type { HttpResponse } from 'uWebSockets.js'
import { freeBuffer } from '../free-buffer.ts'

/** Bytes, or UTF-16 units of a text, that are kept to ask with. */
const PROBE_UNITS = 64
const FIRST_PROBE_MS = 5
const MAX_PROBE_MS = 500

type Piece = string | Uint8Array

/**
 * Writes an answer of uWebSockets.js piece by piece, and finds out when the client has room again.
 *
 * A socket whose body is paused is told nothing any more, not even that it can be written to; so a writer that waits for
 * room asks again and again, with the last characters of what it was given: a write alone says whether there is room.
 */
export class UwsWriter {
  readonly #response: HttpResponse
  /** Run after each write: one that fails makes uWebSockets.js listen to the socket again, whoever paused it. */
  readonly #afterWrite: () => void
  /** The end of what was given, not handed over yet: there is something only after a write that found no room. */
  #rest: Piece = ''
  #listener: (() => void) | undefined = undefined
  #isListening = false
  #timer: NodeJS.Timeout | undefined = undefined

  constructor(response: HttpResponse, afterWrite: () => void) {
    this.#response = response
    this.#afterWrite = afterWrite
  }

  /** True between `onRoom` and its callback. */
  get isWaiting(): boolean {
    return this.#listener !== undefined
  }

  /** @returns false when the client has no room: wait for `onRoom` */
  write(piece: Piece): boolean {
    const before = this.#rest
    const cut = probeStart(piece)
    let hasRoom = true
    this.#rest = ''
    this.#response.cork(() => {
      if (before.length > 0) hasRoom = this.#response.write(before)
      if (cut > 0) hasRoom = this.#response.write(part(piece, 0, cut))
      const rest = part(piece, cut, piece.length)
      if (hasRoom) hasRoom = this.#response.write(rest)
      else this.#rest = typeof rest === 'string' ? rest : new Uint8Array(rest)
    })
    // All of it was copied.
    if (typeof piece !== 'string') freeBuffer(piece.buffer)
    this.#afterWrite()
    return hasRoom
  }

  /** Calls back once. */
  onRoom(listener: () => void): void {
    this.#listener = listener
    this.#probeIn(FIRST_PROBE_MS)
    if (this.#isListening) return
    this.#isListening = true
    this.#response.onWritable(() => {
      // With this listener it no longer sends by itself what it holds; an empty cork does.
      this.#response.cork(() => {})
      this.#afterWrite()
      this.#tell()
      return true
    })
  }

  /** @param close also ends the connection */
  end(close: boolean): void {
    this.stop()
    this.#response.cork(() => {
      if (this.#rest.length > 0) this.#response.write(this.#rest)
      this.#response.end(undefined, close)
    })
  }

  /** The client is gone, or the answer has ended. */
  stop(): void {
    this.#listener = undefined
    clearTimeout(this.#timer)
  }

  #probeIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#probe(ms), ms)
  }

  #probe(waitedMs: number): void {
    // Without anything to ask with, the word of the socket is waited for.
    const rest = this.#rest
    if (rest.length === 0) return
    const units = typeof rest === 'string' && rest.codePointAt(0)! > 0xffff ? 2 : 1
    let hasRoom = true
    this.#response.cork(() => {
      hasRoom = this.#response.write(part(rest, 0, units))
    })
    this.#rest = part(rest, units, rest.length)
    this.#afterWrite()
    if (hasRoom) this.#tell()
    else this.#probeIn(Math.min(MAX_PROBE_MS, 2 * waitedMs))
  }

  #tell(): void {
    clearTimeout(this.#timer)
    const listener = this.#listener
    this.#listener = undefined
    listener?.()
  }
}

/** Where the characters begin that are kept, between two code points. */
function probeStart(piece: Piece): number {
  const start = Math.max(0, piece.length - PROBE_UNITS)
  return typeof piece === 'string' && (piece.charCodeAt(start) & 0xfc00) === 0xdc00 ? start + 1 : start
}

function part(piece: Piece, start: number, end: number): Piece {
  return typeof piece === 'string' ? piece.slice(start, end) : piece.subarray(start, end)
}
