import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Config } from '../config.ts'
import { parseAddress } from './client-address.ts'
import { drain } from './drain.ts'
import { InFlight } from './in-flight.ts'
import { type Connection, leaveBodies, lingeringClose, NodeExchange } from './node-exchange.ts'
import { type HttpHandler, type HttpServer, ListenError } from './port.ts'
import { wireForm } from './wire-form.ts'

/** As tight as uWebSockets.js, whose own limit is about 4 KB and loose. */
const MAX_HEADER_BYTES = 8192

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
  server.timeout = Math.max(limits.requestDeadlineMs, limits.streamIdleMs) + limits.receiveTimeoutMs

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
    if (error.code === 'HPE_INVALID_EOF_STATE' && leaveBodies(connection.open)) return void socket.destroy()
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
