import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Config, Limits } from '../../config/config.ts'
import { parseAddress } from '../access/client-address.ts'
import { drain, InFlight } from './in-flight.ts'
import { abandonIncomplete, type Connection, lingeringClose, NodeExchange } from './node-exchange.ts'
import { type HttpHandler, type HttpServer, ListenError, type ResponseData } from './port.ts'

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

  constructor({ limits }: Config, handler: HttpHandler) {
    this.#limits = limits
    this.#handler = handler
    this.#inFlight = new InFlight(limits)
    this.#server = createLimitedServer(limits)
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

  listen(host: string, port: number): Promise<number> {
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
      server.listen({ host, port, exclusive: true })
    })
  }

  async close(): Promise<void> {
    // Only stops listening: `close` of node:http would also drop kept-alive connections whose next request is on its way.
    const closed = new Promise<void>((resolve) => {
      NetServer.prototype.close.call(this.#server, () => resolve())
    })
    await drain(this.#inFlight, this.#limits.drainTimeoutMs)
    this.#server.close()
    this.#server.closeAllConnections()
    this.#inFlight.stop()
    await closed
  }

  #run(message: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const connection = this.#findConnection(message.socket)
    if (connection.isClosing) {
      message.resume()
      return
    }
    new NodeExchange(this.#inFlight, this.#handler, message, response, connection, expectsContinue).run(false)
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
