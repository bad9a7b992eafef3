import type { HttpRequest, HttpResponse } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { Discard, type DiscardLimits } from './discard.ts'
import type { InFlight } from './in-flight.ts'
import { type HttpHandler, isBodiless, type Reply } from './port.ts'
import { RequestHead } from './request-head.ts'
import { splitTarget } from './request-target.ts'
import { TransportExchange } from './transport-exchange.ts'
import { UwsWriter } from './uws-writer.ts'

/** One request of uWebSockets.js. */
export class UwsExchange extends TransportExchange {
  readonly #response: HttpResponse
  #isInHandler = false
  #hasBodyReader = false
  #isGone = false
  /** Made for the few answers that are written piece by piece. */
  #pieces: UwsWriter | undefined = undefined
  #discard: Discard | undefined = undefined
  /** Bytes of the body that came after its refusal. */
  #discardedBytes = 0

  constructor(inFlight: InFlight, handler: HttpHandler, response: HttpResponse, request: HttpRequest) {
    // uWebSockets.js frees the request after the handler returns: everything is copied here.
    const head = new RequestHead()
    request.forEach((name, value) => {
      head.add(name, value)
    })
    // An absolute target is refused by the older parsers, and given whole by the newer ones.
    const { path, authority } = splitTarget(request.getUrl())
    if (authority !== undefined) head.overruleHost(authority)
    const query = request.getQuery() ?? ''
    super(inFlight, handler, { method: request.getCaseSensitiveMethod(), path, query, head })
    this.#response = response
  }

  get peer(): Uint8Array {
    return new Uint8Array(this.#response.getRemoteAddress())
  }

  override run(isTooMany: boolean): void {
    this.#isInHandler = true
    super.run(isTooMany)
    this.#isInHandler = false
  }

  /** The connection is gone, answered or not. */
  leave(): void {
    this.#isGone = true
    this.#pieces?.stop()
    this.#discard?.stop()
    this.abandon()
  }

  protected startBody(): void {
    if (this.isStreamed) this.#keepAlive()
    this.#readBody()
  }

  #readBody(): void {
    this.#hasBodyReader = true
    this.#response.onData((chunk, isLast) => {
      if (this.isReceiving) this.take(new Uint8Array(chunk), isLast)
      else if (this.#discard !== undefined) {
        this.#discardedBytes += chunk.byteLength
        if (isLast) this.#discard.end()
        else this.#discard.check()
      }
    })
  }

  /**
   * uWebSockets.js ends a connection whose body brings less than 160 KB in ten seconds. Only `resume` starts those ten
   * seconds again, so a slow stream needs it regularly; `InFlight` ends a stream that is silent for too long.
   */
  #keepAlive(): void {
    const timer = setInterval(() => {
      if (this.#isGone || !this.isReceiving) {
        clearInterval(timer)
        return
      }
      // While the client is held back there is no time limit; a writer that waits for room keeps the connection itself.
      if (this.isPaused || this.#pieces?.isWaiting === true) return
      this.#response.pause()
      this.#response.resume()
    }, KEEP_ALIVE_MS)
    timer.unref()
  }

  /** A chunk is emptied when its handler returns. */
  protected get own() {
    return copyOf
  }

  protected send(reply: Reply, close: boolean): void {
    if (close && this.#isInHandler) {
      // Inside its handler uWebSockets.js forgets to close when more bytes have arrived, and takes them for the next
      // request: with an ambiguous length that is request smuggling. One turn later those bytes have ended the
      // connection without an answer, or there were none.
      setImmediate(() => {
        if (!this.#isGone) this.#write(reply, close)
      })
    } else this.#write(reply, close)
  }

  /**
   * uWebSockets.js can end an answer only together with the connection, or so that the connection cannot be closed any
   * more. So this answer is complete for the client, whom its Content-Length tells where it ends, and never ended here.
   */
  protected sendAndDiscard(reply: Reply, limits: DiscardLimits): void {
    if (typeof reply.body !== 'string') {
      // A line break follows what is written below: text may end with one, other bytes may not.
      this.send(reply, true)
      return
    }
    if (!this.#hasBodyReader) this.#readBody()
    this.#discard = new Discard(
      limits,
      () => this.#discardedBytes,
      // One turn later: a close inside a handler loses what was written in it.
      () => setImmediate(() => this.hangUp()),
    )
    const isEmpty = this.method === 'HEAD' || isBodiless(reply.status)
    const length = isBodiless(reply.status) ? '' : `\r\nContent-Length: ${Buffer.byteLength(reply.body) + 2}`
    const end = `${length}\r\nConnection: close\r\n${isEmpty ? '' : `\r\n${reply.body}`}`
    this.#response.cork(() => this.#writeHead(reply, end))
  }

  protected pauseBody(): void {
    if (!this.#isGone) this.#response.pause()
  }

  protected resumeBody(): void {
    if (!this.#isGone) this.#response.resume()
  }

  protected sendHead(reply: Omit<Reply, 'body'>, close: boolean): void {
    this.#response.cork(() => {
      this.#writeHead(reply)
      if (close) this.#response.writeHeader('Connection', 'close')
    })
    this.#stayPaused()
  }

  protected sendChunk(piece: string | Uint8Array): boolean {
    return this.#writer.write(piece)
  }

  protected onDrain(listener: () => void): void {
    this.#writer.onRoom(listener)
  }

  protected sendEnd(close: boolean, isCut: boolean): void {
    // A close here would not wait for what the client still sends: the connection ends with the server.
    this.#writer.end(close && !isCut)
  }

  protected hangUp(): void {
    if (!this.#isGone) this.#response.close()
  }

  get #writer(): UwsWriter {
    this.#pieces ??= new UwsWriter(this.#response, () => this.#stayPaused())
    return this.#pieces
  }

  /** A write that the client has no room for makes uWebSockets.js listen to the socket again, whoever paused it. */
  #stayPaused(): void {
    if (this.isPaused) this.#response.pause()
  }

  /** @param end more lines, each with its line break before it */
  #writeHead(reply: Omit<Reply, 'body'>, end = ''): void {
    this.#response.writeStatus(STATUS_LINES[reply.status] ?? String(reply.status))
    // One call with all lines: each call costs about 100 ns, and this transport copies the value as it is.
    this.#response.writeHeader(reply.headers.firstName, reply.headers.rest + linesOf(reply.fields) + end)
  }

  #write(reply: Reply, close: boolean): void {
    const response = this.#response
    response.cork(() => {
      this.#writeHead(reply)
      const isEmpty = this.method === 'HEAD' || isBodiless(reply.status)
      if (!isEmpty || close) response.end(isEmpty ? '' : reply.body, close)
      else {
        if (!isBodiless(reply.status)) response.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)))
        // Without arguments only: with a length it waits for that many bytes, which never come.
        response.endWithoutBody()
      }
    })
  }
}

/** The ten seconds of uWebSockets.js may be eight: its clock has steps of four seconds. */
const KEEP_ALIVE_MS = 3000

const SLAB_BYTES = 65_536
const MAX_SLAB_SHARE = 4096
let slab = new Uint8Array(0)
let slabUsed = SLAB_BYTES

/** Small ones share an allocation: one a body costs more than the copy. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length > MAX_SLAB_SHARE) return bytes.slice()
  if (slabUsed + length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES)
    slabUsed = 0
  }
  const copy = slab.subarray(slabUsed, slabUsed + length)
  copy.set(bytes)
  slabUsed += length
  return copy
}

function linesOf(fields: readonly string[]): string {
  let text = ''
  for (let at = 0; at < fields.length; at += 2) text += `\r\n${fields[at]}: ${fields[at + 1]}`
  return text
}

const STATUS_LINES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([code, text]) => [code, `${code} ${text}`]),
)
