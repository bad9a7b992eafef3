import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Config } from '../config.ts'
import { parseAddress } from './client-address.ts'
import { drain } from './drain.ts'
import { InFlight, LINGER_MS } from './in-flight.ts'
import { type HttpHandler, type HttpServer, ListenError, type Reply } from './port.ts'
import { RequestHead } from './request-head.ts'
import { splitTarget } from './request-target.ts'
import { TransportExchange } from './transport-exchange.ts'
import { wireForm } from './wire-form.ts'

/** As tight as uWebSockets.js, whose own limit is about 4 KB and loose. */
const MAX_HEADER_BYTES = 8192

/** What is remembered of one connection. */
interface Connection {
  readonly peer: Uint8Array
  /** Requests read and not answered: more than one when the client pipelines. */
  readonly open: Set<NodeExchange>
  /** True once an answer said `Connection: close`: whatever follows is no request any more. */
  isClosing: boolean
}

/** The port on node:http: works on every platform, and is slower than the other one. */
export function createNodeServer(config: Config, handler: HttpHandler): HttpServer {
  const { limits } = config
  const inFlight = new InFlight(limits)
  const connections = new WeakMap<Socket, Connection>()

  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    insecureHTTPParser: false,
    // `framingProblem` asks for it, in our own words.
    requireHostHeader: false,
    headersTimeout: limits.receiveTimeoutMs,
    requestTimeout: limits.receiveTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    connectionsCheckingInterval: Math.min(500, limits.receiveTimeoutMs),
  })
  // 0: node would silently drop the lines beyond the number; `framingProblem` refuses them aloud.
  server.maxHeadersCount = 0
  server.maxConnections = limits.maxConnections
  // A client that does not read its answer: nothing else ends such a connection.
  server.timeout = limits.requestDeadlineMs + limits.receiveTimeoutMs

  const connectionOf = (socket: Socket): Connection => {
    let connection = connections.get(socket)
    if (connection === undefined) {
      const peer = parseAddress(socket.remoteAddress ?? '') ?? new Uint8Array(4)
      connection = { peer, open: new Set(), isClosing: false }
      connections.set(socket, connection)
    }
    return connection
  }

  const onRequest = (message: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const connection = connectionOf(message.socket)
    if (connection.isClosing) {
      message.resume()
      return
    }
    new NodeExchange(inFlight, handler, message, response, connection, expectsContinue).run(false)
  }

  server.on('request', (message, response) => onRequest(message, response, false))
  server.on('checkContinue', (message, response) => onRequest(message, response, true))
  // An expectation nobody has defined: ignored, as the other transport does.
  server.on('checkExpectation', (message, response) => onRequest(message, response, false))
  server.on(
    'connect',
    (_message, socket: Socket) => void socket.end(wireForm(handler.unparsable(400, connectionOf(socket).peer))),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const connection = connectionOf(socket)
    if (connection.isClosing) return
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && connection.open.size > 0) {
      // A stream may take as long as it moves.
      for (const exchange of connection.open) if (exchange.isReceiving && !exchange.isStreamed) exchange.expire()
      return
    }
    connection.isClosing = true
    if (connection.open.size > 0) {
      // Bytes written now would be taken for the answer to an earlier request: that one closes the connection.
      for (const exchange of connection.open) {
        exchange.isBroken = true
        exchange.breakOff()
      }
      return
    }
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    lingeringClose(socket)
    socket.end(wireForm(handler.unparsable(status, connection.peer)))
  })

  return {
    adapter: 'node',
    get inFlight() {
      return inFlight.count
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        // Both are taken off again: after a busy port the same server listens on the next one.
        const onError = (error: NodeJS.ErrnoException) => {
          server.off('listening', onListening)
          reject(new ListenError(host, port, error.code, { cause: error }))
        }
        const onListening = () => {
          server.off('error', onError)
          inFlight.start()
          const address = server.address()
          resolve(typeof address === 'object' && address !== null ? address.port : port)
        }
        server.once('error', onError)
        server.once('listening', onListening)
        server.listen({ host, port, exclusive: true })
      }),
    async close() {
      // Only the listening ends: the close of node:http hangs up on kept-alive clients whose next request is on its way.
      const closed = new Promise<void>((resolve) => {
        NetServer.prototype.close.call(server, () => resolve())
      })
      await drain(inFlight, limits.drainTimeoutMs)
      server.close()
      server.closeAllConnections()
      inFlight.stop()
      await closed
    },
  }
}

class NodeExchange extends TransportExchange {
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
    const { path, query } = splitTarget(message.url ?? '/')
    super(inFlight, handler, { method: message.method ?? 'GET', path, query, head: headOf(message) })
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

  protected startBody(): void {
    if (this.#expectsContinue) this.#response.writeContinue()
    this.#message.on('data', (chunk: Buffer) => this.take(chunk, false))
    this.#message.on('end', () => this.take(NOTHING, true))
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

  protected sendChunk(text: string): boolean {
    return this.#response.write(text)
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
    const response = this.#response
    const mustClose = close || this.isBroken
    if (mustClose) {
      this.#connection.isClosing = true
      response.shouldKeepAlive = false
      if (!this.#message.complete) lingeringClose(this.#message.socket)
    }
    const lines = [...reply.headers.pairs, ...reply.fields]
    // 204 has no body and must not name a length (RFC 9110, section 8.6).
    if (reply.status !== 204) lines.push('Content-Length', String(Buffer.byteLength(reply.body)))
    response.writeHead(reply.status, lines)
    response.end(this.method === 'HEAD' || reply.status === 204 ? undefined : reply.body)
    // What is not wanted is thrown away when its end is known to be near, and stays with the client otherwise.
    if (mustClose && !this.#message.complete) this.#message.socket.pause()
    else this.#message.resume()
  }
}

const NOTHING = new Uint8Array(0)

function headOf(message: IncomingMessage): RequestHead {
  const head = new RequestHead()
  const lines = message.rawHeaders
  for (let at = 0; at < lines.length; at += 2) head.add(lines[at]!.toLowerCase(), lines[at + 1]!)
  return head
}

/** Ends our half and waits a moment: a socket destroyed with unread bytes is reset, and a reset can overtake the answer. */
function lingeringClose(socket: Socket): void {
  socket.destroySoon = () => {
    socket.end()
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}
