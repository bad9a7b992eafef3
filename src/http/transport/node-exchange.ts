import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Discard, type DiscardLimits } from './discard.ts'
import { type InFlight, LINGER_MS } from './in-flight.ts'
import { type HttpHandler, isBodiless, type ResponseData } from './port.ts'
import { RequestHead, splitTarget } from './request-head.ts'
import { TransportExchange } from './transport-exchange.ts'

/** State of one connection. */
export interface Connection {
  readonly peer: Uint8Array
  /** Requests that were read and not answered; more than one if the client pipelines. */
  readonly open: Set<NodeExchange>
  /** True once a response said `Connection: close`; bytes after it are not treated as a request. */
  isClosing: boolean
}

/** One request on node:http. */
export class NodeExchange extends TransportExchange {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: Connection
  readonly #expectsContinue: boolean
  /** True if the bytes after this request were not a request. */
  isBroken = false

  constructor(
    inFlight: InFlight,
    handler: HttpHandler,
    message: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    expectsContinue: boolean,
  ) {
    const { path, query, authority } = splitTarget(message.url ?? '/')
    const head = readHead(message)
    if (authority !== undefined) head.overruleHost(authority)
    super(inFlight, handler, { method: message.method ?? 'GET', path, query, head })
    this.#message = message
    this.#response = response
    this.#connection = connection
    this.#expectsContinue = expectsContinue
    connection.open.add(this)
    response.on('close', () => {
      connection.open.delete(this)
      this.abandon()
    })
    message.on('error', () => this.abandon())
  }

  get peer(): Uint8Array {
    return this.#connection.peer
  }

  /** Abandons the request: the client closed its side in the middle of the body. */
  leave(): void {
    this.#connection.open.delete(this)
    this.abandon()
  }

  protected startBody(): void {
    if (this.#expectsContinue) this.#response.writeContinue()
    this.#message.on('data', (chunk: Buffer) => this.take(chunk, false))
    this.#message.on('end', () => this.take(NO_BYTES, true))
  }

  protected get copyChunk() {
    return undefined
  }

  protected pauseBody(): void {
    this.#message.pause()
  }

  protected resumeBody(): void {
    this.#message.resume()
  }

  protected sendHead(reply: Omit<ResponseData, 'body'>, close: boolean): void {
    if (close) {
      this.#connection.isClosing = true
      this.#response.shouldKeepAlive = false
    }
    this.#response.writeHead(reply.status, [...reply.headers.pairs, ...reply.fields])
    // Sent before the first chunk, because a client may wait for the head while it still sends its body.
    this.#response.flushHeaders()
  }

  protected sendChunk(piece: string | Uint8Array): boolean {
    return this.#response.write(piece)
  }

  protected onDrain(listener: () => void): void {
    this.#response.once('drain', listener)
  }

  protected sendEnd(close: boolean): void {
    if (close) {
      this.#connection.isClosing = true
      this.#response.shouldKeepAlive = false
      if (!this.#message.complete) lingeringClose(this.#message.socket)
    }
    this.#response.end()
  }

  protected hangUp(): void {
    this.#response.destroy()
  }

  protected send(reply: ResponseData, close: boolean): void {
    this.#write(reply, close, UNCLEAR_BYTES)
  }

  protected sendAndDiscard(reply: ResponseData, limits: DiscardLimits): void {
    this.#write(reply, true, limits)
  }

  /** @param limits of what is still read after the response if the connection closes */
  #write(reply: ResponseData, close: boolean, limits: DiscardLimits): void {
    const response = this.#response
    const mustClose = close || this.isBroken
    if (mustClose) {
      this.#connection.isClosing = true
      response.shouldKeepAlive = false
      // Whatever the bytes after an unclear end mean, nothing more is answered on this connection.
      if (!this.#message.complete) lingeringClose(this.#message.socket, limits)
    }
    const lines = [...reply.headers.pairs, ...reply.fields]
    if (!isBodiless(reply.status)) lines.push('Content-Length', String(Buffer.byteLength(reply.body)))
    response.writeHead(reply.status, lines)
    response.end(this.method === 'HEAD' || isBodiless(reply.status) ? undefined : reply.body)
    if (mustClose && limits.maxBytes === 0 && !this.#message.complete) this.#message.socket.pause()
    else this.#message.resume()
  }
}

const NO_BYTES = new Uint8Array(0)

/** Limits for bytes that are not a body: enough for a client that has sent them already. */
const UNCLEAR_BYTES: DiscardLimits = { maxBytes: 1_048_576, maxMs: LINGER_MS }

/**
 * Abandons the requests whose body is incomplete, because the client has closed its side.
 *
 * @returns true if a request was abandoned and the connection has no open request left
 */
export function abandonIncomplete(open: ReadonlySet<NodeExchange>): boolean {
  let hasLeft = false
  for (const exchange of open) {
    if (!exchange.isReceiving) continue
    exchange.leave()
    hasLeft = true
  }
  return hasLeft && open.size === 0
}

function readHead(message: IncomingMessage): RequestHead {
  const head = new RequestHead()
  head.version = message.httpVersion
  const lines = message.rawHeaders
  for (let index = 0; index < lines.length; index += 2) head.add(lines[index]!.toLowerCase(), lines[index + 1]!)
  return head
}

/** Closes our half after the response and reads on for a while, because destroying a socket with unread bytes resets it. */
export function lingeringClose(socket: Socket, limits = UNCLEAR_BYTES): void {
  socket.destroySoon = () => {
    socket.end()
    const discard = new Discard(
      limits,
      () => socket.bytesRead,
      () => socket.destroy(),
    )
    socket.once('close', () => discard.stop())
    if (limits.maxBytes > 0) socket.resume()
  }
}
