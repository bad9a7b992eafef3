import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Discard, type DiscardLimits } from './discard.ts'
import { type InFlight, LINGER_MS } from './in-flight.ts'
import { type HttpHandler, isBodiless, type Reply } from './port.ts'
import { RequestHead } from './request-head.ts'
import { splitTarget } from './request-target.ts'
import { TransportExchange } from './transport-exchange.ts'

/** What is remembered of one connection. */
export interface Connection {
  readonly peer: Uint8Array
  /** Requests read and not answered: more than one when the client pipelines. */
  readonly open: Set<NodeExchange>
  /** True once an answer said `Connection: close`: whatever follows is no request any more. */
  isClosing: boolean
}

/** One request of node:http. */
export class NodeExchange extends TransportExchange {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: Connection
  readonly #expectsContinue: boolean
  /** True when the bytes after this request were no request. */
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
    const head = headOf(message)
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

  /** The client ended its side in the middle of the body. */
  leave(): void {
    this.#connection.open.delete(this)
    this.abandon()
  }

  protected startBody(): void {
    if (this.#expectsContinue) this.#response.writeContinue()
    this.#message.on('data', (chunk: Buffer) => this.take(chunk, false))
    this.#message.on('end', () => this.take(NOTHING, true))
  }

  protected get own() {
    return undefined
  }

  protected pauseBody(): void {
    this.#message.pause()
  }

  protected resumeBody(): void {
    this.#message.resume()
  }

  protected sendHead(reply: Omit<Reply, 'body'>, close: boolean): void {
    if (close) {
      this.#connection.isClosing = true
      this.#response.shouldKeepAlive = false
    }
    this.#response.writeHead(reply.status, [...reply.headers.pairs, ...reply.fields])
    // Before the first piece: a client may wait for the head while it still sends.
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

  protected send(reply: Reply, close: boolean): void {
    this.#write(reply, close, UNCLEAR_REST)
  }

  protected sendAndDiscard(reply: Reply, limits: DiscardLimits): void {
    this.#write(reply, true, limits)
  }

  /** @param limits of what follows the answer on a connection that is closed */
  #write(reply: Reply, close: boolean, limits: DiscardLimits): void {
    const response = this.#response
    const mustClose = close || this.isBroken
    if (mustClose) {
      this.#connection.isClosing = true
      response.shouldKeepAlive = false
      // Whatever the bytes after an unclear end mean: nothing is answered on this connection any more.
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

const NOTHING = new Uint8Array(0)

/** Of bytes that are no body: enough for a client that has sent them already. */
const UNCLEAR_REST: DiscardLimits = { maxBytes: 1_048_576, maxMs: LINGER_MS }

/**
 * The client has ended its side.
 *
 * @returns true when nobody on the connection waits for an answer any more
 */
export function leaveBodies(open: ReadonlySet<NodeExchange>): boolean {
  let hasLeft = false
  for (const exchange of open) {
    if (!exchange.isReceiving) continue
    exchange.leave()
    hasLeft = true
  }
  return hasLeft && open.size === 0
}

function headOf(message: IncomingMessage): RequestHead {
  const head = new RequestHead()
  head.version = message.httpVersion
  const lines = message.rawHeaders
  for (let at = 0; at < lines.length; at += 2) head.add(lines[at]!.toLowerCase(), lines[at + 1]!)
  return head
}

/** Ends our half after the answer, and reads on for a while: a socket destroyed with unread bytes is reset. */
export function lingeringClose(socket: Socket, limits = UNCLEAR_REST): void {
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
