import { createServer, type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Config } from '../../config/config.ts'
import { parseAddress } from '../access/client-address.ts'
import { drain, InFlight } from './in-flight.ts'
import { abandonIncomplete, type Connection, lingeringClose, NodeExchange } from './node-exchange.ts'
import { type HttpHandler, type HttpServer, ListenError, type ResponseData } from './port.ts'

/** Serializes a response to bytes that are not a valid request; the connection closes after it. */
function serializeResponse(reply: ResponseData<string>): string {
  const lines = [...reply.headers.pairs, ...reply.fields]
  let text = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\nConnection: close\r\n`
  for (let index = 0; index < lines.length; index += 2) text += `${lines[index]}: ${lines[index + 1]}\r\n`
  return `${text}Content-Length: ${Buffer.byteLength(reply.body)}\r\n\r\n${reply.body}`
}

/** Close to the limit of uWebSockets.js, which is about 4 KB and not exact. */
const MAX_HEADER_BYTES = 8192

/** Creates the transport on node:http. It works on every platform and is slower than uWebSockets.js. */
export function createNodeServer(config: Config, handler: HttpHandler): HttpServer {
  const { limits } = config
  const inFlight = new InFlight(limits)
  const connections = new WeakMap<Socket, Connection>()

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

  const findConnection = (socket: Socket): Connection => {
    let connection = connections.get(socket)
    if (connection === undefined) {
      const peer = parseAddress(socket.remoteAddress ?? '') ?? new Uint8Array(4)
      connection = { peer, open: new Set(), isClosing: false }
      connections.set(socket, connection)
    }
    return connection
  }

  const onRequest = (message: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void => {
    const connection = findConnection(message.socket)
    if (connection.isClosing) {
      message.resume()
      return
    }
    new NodeExchange(inFlight, handler, message, response, connection, expectsContinue).run(false)
  }

  server.on('request', (message, response) => onRequest(message, response, false))
  server.on('checkContinue', (message, response) => onRequest(message, response, true))
  // Unknown expectations are ignored, as uWebSockets.js does.
  server.on('checkExpectation', (message, response) => onRequest(message, response, false))
  server.on(
    'connect',
    (_message, socket: Socket) =>
      void socket.end(serializeResponse(handler.unparsable(400, findConnection(socket).peer))),
  )
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
    const connection = findConnection(socket)
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
    const status = error.code === 'HPE_HEADER_OVERFLOW' ? 431 : error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400
    lingeringClose(socket)
    socket.end(serializeResponse(handler.unparsable(status, connection.peer)))
  })

  return {
    adapter: 'node',
    get inFlight() {
      return inFlight.count
    },
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        // Each listener removes the other, because after a busy port the same server listens on the next one.
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
      // Only stops listening: `close` of node:http would also drop kept-alive connections whose next request is on its way.
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
