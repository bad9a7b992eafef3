import type { HttpResponse } from 'uWebSockets.js'
import { freeBuffer } from '../../base/bytes.ts'

/** Number of bytes, or of UTF-16 units of a text, that are held back for probes. */
const PROBE_UNITS = 64
const FIRST_PROBE_MS = 5
const MAX_PROBE_MS = 500

type Piece = string | Uint8Array

/**
 * Writes a response of uWebSockets.js piece by piece, and finds out when the client has room again.
 *
 * A socket whose body is paused receives no events, not even that it is writable. Only a write tells whether there is room, so a
 * waiting writer probes: it holds back the end of the last piece and writes it one unit at a time.
 */
export class UwsWriter {
  readonly #response: HttpResponse
  /** Called after each write, because a write without room makes uWebSockets.js read from a paused socket again. */
  readonly #afterWrite: () => void
  /** The end of the last piece, not written yet; empty except after a write that found no room. */
  #heldBack: Piece = ''
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

  /** Writes one piece. @returns false if the client has no room: wait for `onRoom` */
  write(piece: Piece): boolean {
    const previous = this.#heldBack
    const probeIndex = probeStart(piece)
    let hasRoom = true
    this.#heldBack = ''
    this.#response.cork(() => {
      if (previous.length > 0) hasRoom = this.#response.write(previous)
      if (probeIndex > 0) hasRoom = this.#response.write(slicePiece(piece, 0, probeIndex))
      const end = slicePiece(piece, probeIndex, piece.length)
      if (hasRoom) hasRoom = this.#response.write(end)
      else this.#heldBack = typeof end === 'string' ? end : new Uint8Array(end)
    })
    // All bytes have been copied.
    if (typeof piece !== 'string') freeBuffer(piece.buffer)
    this.#afterWrite()
    return hasRoom
  }

  /** Registers a listener that is called once, when the client has room. */
  onRoom(listener: () => void): void {
    this.#listener = listener
    this.#probeIn(FIRST_PROBE_MS)
    if (this.#isListening) return
    this.#isListening = true
    this.#response.onWritable(() => {
      // With this listener, uWebSockets.js no longer flushes its buffer; an empty cork does.
      this.#response.cork(() => {})
      this.#afterWrite()
      this.#notify()
      return true
    })
  }

  /** @param close also ends the connection */
  end(close: boolean): void {
    this.stop()
    this.#response.cork(() => {
      if (this.#heldBack.length > 0) this.#response.write(this.#heldBack)
      this.#response.end(undefined, close)
    })
  }

  /** Stops waiting: the client has disconnected, or the response has ended. */
  stop(): void {
    this.#listener = undefined
    clearTimeout(this.#timer)
  }

  #probeIn(ms: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#probe(ms), ms)
  }

  #probe(waitedMs: number): void {
    // If nothing is held back, there is nothing to probe with: wait for the event of the socket.
    const end = this.#heldBack
    if (end.length === 0) return
    const units = typeof end === 'string' && end.codePointAt(0)! > 0xffff ? 2 : 1
    let hasRoom = true
    this.#response.cork(() => {
      hasRoom = this.#response.write(slicePiece(end, 0, units))
    })
    this.#heldBack = slicePiece(end, units, end.length)
    this.#afterWrite()
    if (hasRoom) this.#notify()
    else this.#probeIn(Math.min(MAX_PROBE_MS, 2 * waitedMs))
  }

  #notify(): void {
    clearTimeout(this.#timer)
    const listener = this.#listener
    this.#listener = undefined
    listener?.()
  }
}

/** Returns the index where the part that is held back begins, between two code points. */
function probeStart(piece: Piece): number {
  const start = Math.max(0, piece.length - PROBE_UNITS)
  return typeof piece === 'string' && (piece.charCodeAt(start) & 0xfc00) === 0xdc00 ? start + 1 : start
}

function slicePiece(piece: Piece, start: number, end: number): Piece {
  return typeof piece === 'string' ? piece.slice(start, end) : piece.subarray(start, end)
}
