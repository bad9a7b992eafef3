/** The transport on node:http: the server, and one exchange for each request. */
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { parseAddress } from '../../base/ip-address.ts'
import type { Limits } from '../../config/config.ts'
import { AddressShares } from './connections.ts'
import { Discard, type DiscardLimits } from './discard.ts'
import { isBodiless, TransportExchange } from './exchange.ts'
import { drain, freeChunk, InFlight, LINGER_MS, MAX_PIPELINED, retire } from './in-flight.ts'
import {
  type HttpHandler,
  type HttpServer,
  ListenError,
  type ReceivedRequest,
  type ResponseData,
  type TransportConfig,
} from './port.ts'
import { RequestHead, splitTarget } from './request-head.ts'

/** Close to the limit of uWebSockets.js, which is about 4 KB and not exact. */
const MAX_HEADER_BYTES = 8192

/** The transport on node:http. It works on every platform and is slower than uWebSockets.js. */
export class NodeServer implements HttpServer {
  readonly adapter = 'node'
  readonly #limits: Limits
  readonly #handler: HttpHandler
  readonly #inFlight: InFlight
  readonly #connections = new WeakMap<Socket, Connection>()
  readonly #server: Server
  readonly #shares: AddressShares
  #openConnections = 0

  constructor({ limits, trustedProxies }: TransportConfig, handler: HttpHandler) {
    this.#limits = limits
    this.#shares = new AddressShares(limits, trustedProxies)
    this.#handler = handler
    this.#inFlight = new InFlight(limits)
    this.#server = createLimitedServer(limits)
    this.#server.on('connection', (socket: Socket) => this.#admit(socket))
    this.#server.on('request', (message, response) => this.#run(message, response, false))
    this.#server.on('checkContinue', (message, response) => this.#run(message, response, true))
    // Unknown expectations are ignored, as uWebSockets.js does.
    this.#server.on('checkExpectation', (message, response) => this.#run(message, response, false))
    this.#server.on('connect', (_message, socket: Socket) => this.#reject(socket, 400))
    this.#server.on('clientError', (error, socket: Socket) => this.#onClientError(error, socket))
  }

  get inFlight(): number {
    return this.#inFlight.count
  }

  listen(host: string, port: number, isShared = false): Promise<number> {
    const server = this.#server
    return new Promise((resolve, reject) => {
      // Each listener removes the other, because after a busy port the same server listens on the next one.
      const onError = (error: NodeJS.ErrnoException) => {
        server.off('listening', onListening)
        reject(new ListenError(host, port, error.code, { cause: error }))
      }
      const onListening = () => {
        server.off('error', onError)
        this.#inFlight.start()
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : port)
      }
      server.once('error', onError)
      server.once('listening', onListening)
      // A shared port belongs to the supervisor (node:cluster), so no waiting connection is lost when a process ends.
      server.listen({ host, port, exclusive: !isShared })
    })
  }

  async close(isReplaced = false): Promise<void> {
    // Only stops listening: `close` of node:http would also drop kept-alive connections whose next request is on its way.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve())
    })
    if (isReplaced) await retire(this.#inFlight, () => this.#openConnections, this.#limits.drainTimeoutMs)
    await drain(this.#inFlight, this.#limits.drainTimeoutMs)
    this.#server.close()
    this.#server.closeAllConnections()
    this.#inFlight.stop()
    await closed
  }

  /** Closes a new connection if its address has its share of them. */
  #admit(socket: Socket): void {
    this.#openConnections++
    socket.once('close', () => this.#openConnections--)
    const key = this.#shares.key(this.#findConnection(socket).peer)
    if (key === undefined) return
    if (this.#shares.isFull(key)) return void socket.destroy()
    this.#shares.add(key)
    socket.once('close', () => this.#shares.remove(key))
  }

  #run(message: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.#findConnection(message.socket)
    if (connection.isClosing) {
      message.resume()
      return
    }
    if (connection.open.size >= MAX_PIPELINED) {
      connection.isClosing = true
      message.socket.destroy()
      return
    }
    const received = readRequest(message, connection.peer)
    const mustClose = this.#inFlight.isDraining || this.#inFlight.isRetiring
    const refusal = mustClose ? undefined : this.#handler.refuse(received)
    if (refusal !== undefined) {
      // The server drops the body, because nothing reads it.
      response.writeHead(refusal.status, headerLines(refusal))
      response.end(refusal.body)
      return
    }
    new NodeExchange(this.#inFlight, this.#handler, received, message, response, connection, expectsContinue).run(false)
  }

  #findConnection(socket: Socket): Connection {
    let connection = this.#connections.get(socket)
    if (connection === undefined) {
      const peer = parseAddress(socket.remoteAddress ?? '') ?? new Uint8Array(4)
      connection = { peer, open: new Set(), isClosing: false }
      this.#connections.set(socket, connection)
    }
    return connection
  }

  /** Handles bytes that are not a valid request, a request that does not arrive in time, and a connection that breaks. */
  #onClientError(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const connection = this.#findConnection(socket)
    if (connection.isClosing) return
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.open.size > 0) {
      // A stream has no time limit while its data moves.
      for (const exchange of connection.open) if (exchange.isReceiving && !exchange.isStreamed) exchange.expire()
      return
    }
    connection.isClosing = true
    if (error.code === 'HPE_INVALID_EOF_STATE' && abandonIncomplete(connection.open)) return void socket.destroy()
    if (connection.open.size > 0) {
      // The client would take bytes written now for the response to an earlier request, so that response closes the connection.
      for (const exchange of connection.open) {
        exchange.isBroken = true
        exchange.breakOff()
      }
      return
    }
    lingeringClose(socket)
    this.#reject(socket, STATUS_BY_ERROR[error.code ?? ''] ?? 400)
  }

  /** Responds to bytes that are not a valid request, and closes the connection. */
  #reject(socket: Socket, status: 400 | 408 | 431): void {
    socket.end(serializeResponse(this.#handler.unparsable(status, this.#findConnection(socket).peer)))
  }
}

const STATUS_BY_ERROR: Readonly<Record<string, 408 | 431>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
}

function createLimitedServer(limits: Limits): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    // `framingProblem` checks it and words the error.
    requireHostHeader: false,
    headersTimeout: limits.receiveTimeoutMs,
    requestTimeout: limits.receiveTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(500, limits.receiveTimeoutMs),
  })
  // 0 means no limit: node would silently drop the lines beyond it, while `framingProblem` rejects the request.
  server.maxHeadersCount = 0
  server.maxConnections = limits.maxConnections
  // Ends the connection of a client that does not read its response; nothing else would.
  server.timeout = Math.max(limits.requestDeadlineMs, limits.streamIdleMs) + limits.receiveTimeoutMs
  return server
}

/** Serializes a response to bytes that are not a valid request; the connection closes after it. */
function serializeResponse(reply: ResponseData<string>): string {
  const lines = [...reply.headers.pairs, ...reply.fields]
  let text = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\nConnection: close\r\n`
  for (let index = 0; index < lines.length; index += 2) text += `${lines[index]}: ${lines[index + 1]}\r\n`
  return `${text}Content-Length: ${Buffer.byteLength(reply.body)}\r\n\r\n${reply.body}`
}

/** State of one connection. */
interface Connection {
  readonly peer: Uint8Array
  /** Requests that were read and not answered; more than one if the client pipelines. */
  readonly open: Set<NodeExchange>
  /** True once a response said `Connection: close`; bytes after it are not treated as a request. */
  isClosing: boolean
}

/** One request on node:http. */
class NodeExchange extends TransportExchange {
  readonly #message: IncomingMessage
  readonly #response: ServerResponse
  readonly #connection: Connection
  readonly #expectsContinue: boolean
  /** True if the bytes after this request were not a request. */
  isBroken = false
  #hasBodyReader = false

  constructor(
    inFlight: InFlight,
    handler: HttpHandler,
    received: ReceivedRequest,
    message: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
    expectsContinue: boolean,
  ) {
    super(inFlight, handler, received)
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
    this.#hasBodyReader = true
    this.#message.on('data', (chunk: Buffer) => {
      if (!this.take(chunk, false)) freeChunk(chunk)
    })
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
    if (close) this.#closeAfterResponse()
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
      this.#closeAfterResponse()
      if (!this.#message.complete) lingeringClose(this.#message.socket)
    }
    this.#response.end()
  }

  protected hangUp(): void {
    this.#response.destroy()
  }

  protected send(reply: ResponseData, close: boolean): void {
    this.#write(reply, close, INVALID_BYTES_LIMITS)
  }

  protected sendAndDiscard(reply: ResponseData, { onEnd, ...limits }: DiscardLimits): void {
    // The connection may close without a `Discard`: the body may have ended meanwhile, or the client may have left.
    if (onEnd !== undefined) this.#message.socket.once('close', onEnd)
    this.#write(reply, true, limits)
  }

  #closeAfterResponse(): void {
    this.#connection.isClosing = true
    this.#response.shouldKeepAlive = false
  }

  /** @param limits of what is still read after the response if the connection closes */
  #write(reply: ResponseData, close: boolean, limits: DiscardLimits): void {
    const response = this.#response
    const mustClose = close || this.isBroken
    if (mustClose) {
      this.#closeAfterResponse()
      // If the end of this request is ambiguous, the bytes after it are discarded, and no further request is answered.
      if (!this.#message.complete) lingeringClose(this.#message.socket, limits)
    }
    response.writeHead(reply.status, headerLines(reply))
    response.end(this.method === 'HEAD' || isBodiless(reply.status) ? undefined : reply.body)
    if (mustClose && limits.maxBytes === 0 && !this.#message.complete) this.#message.socket.pause()
    else if (this.#message.complete || this.#hasBodyReader) this.#message.resume()
    else this.#message.on('data', freeChunk)
  }
}

/** Returns the header lines of a whole response: [name, value, …]. */
function headerLines({ headers, fields, status, body }: ResponseData): string[] {
  const lines = [...headers.pairs, ...fields]
  if (!isBodiless(status)) lines.push('Content-Length', String(Buffer.byteLength(body)))
  return lines
}

const NO_BYTES = new Uint8Array(0)

/** Limits for discarding bytes that belong to no valid body: enough to read what the client has already sent. */
const INVALID_BYTES_LIMITS: DiscardLimits = { maxBytes: 1_048_576, maxMs: LINGER_MS }

/**
 * Abandons the requests whose body is incomplete, because the client has closed its side.
 *
 * @returns true if a request was abandoned and the connection has no open request left
 */
function abandonIncomplete(open: ReadonlySet<NodeExchange>): boolean {
  let hasLeft = false
  for (const exchange of open) {
    if (!exchange.isReceiving) continue
    exchange.leave()
    hasLeft = true
  }
  return hasLeft && open.size === 0
}

function readRequest(message: IncomingMessage, peer: Uint8Array): ReceivedRequest {
  const startedMs = performance.now()
  const { path, query, authority } = splitTarget(message.url ?? '/')
  const head = new RequestHead()
  head.version = message.httpVersion
  const lines = message.rawHeaders
  for (let index = 0; index < lines.length; index += 2) head.add(lines[index]!.toLowerCase(), lines[index + 1]!)
  if (authority !== undefined) head.overruleHost(authority)
  return { method: message.method ?? 'GET', path, query, head, peer, startedMs }
}

/** Closes our half after the response and reads on for a while, because destroying a socket with unread bytes resets it. */
function lingeringClose(socket: Socket, limits = INVALID_BYTES_LIMITS): void {
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
