import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { createServer } from 'node:net'
import type { Config } from '../../config/config.ts'
import { drain, InFlight } from './in-flight.ts'
import { type HttpHandler, type HttpServer, ListenError } from './port.ts'
import type { UwsBinary } from './uws-binary.ts'
import { UwsExchange } from './uws-exchange.ts'

/**
 * Creates the transport on uWebSockets.js. Never use it in a worker thread: if a worker ends while it serves, the process aborts.
 *
 * @param uws as loaded by `loadUws`
 */
export function createUwsServer(uws: UwsBinary, config: Config, handler: HttpHandler): HttpServer {
  const { limits } = config
  const inFlight = new InFlight(limits)
  // Hides the name of the transport from clients.
  uws._cfg?.('silent')
  let connections = 0
  let listening: us_listen_socket | undefined
  let app: TemplatedApp | undefined

  const onRequest = (response: HttpResponse, request: HttpRequest): void => {
    const exchange = new UwsExchange(inFlight, handler, response, request)
    // Must come first: a handler that ends with neither a response nor this listener aborts the process.
    response.onAborted(() => exchange.leave())
    exchange.run(connections > limits.maxConnections)
  }

  return {
    adapter: 'uws',
    get inFlight() {
      return inFlight.count
    },
    async listen(host, port) {
      const server = uws.App()
      app = server
      // biome-ignore lint/suspicious/useIterableCallbackReturn: not Array.prototype.filter but a hook on connections
      server.filter((_response, change) => {
        connections += Number(change)
      })
      server.any('/*', onRequest)
      // Without this option, a second server could listen on the same port and take half of the connections.
      const token = await new Promise<us_listen_socket | false>((resolve) => {
        const listen = server.listen.bind(server) as unknown as ListenWithOptions
        listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve)
      })
      if (token === false) throw new ListenError(host, port, await findErrorCode(host, port))
      listening = token
      inFlight.start()
      return uws.us_socket_local_port(token)
    },
    async close() {
      if (listening !== undefined) uws.us_listen_socket_close(listening)
      listening = undefined
      await drain(inFlight, limits.drainTimeoutMs)
      inFlight.stop()
      app?.close()
    },
  }
}

type ListenWithOptions = (
  host: string,
  port: number,
  options: number,
  then: (token: us_listen_socket | false) => void,
) => void

/** Finds out why listening failed, by listening on the same port with node:net: uWebSockets.js does not report the reason. */
function findErrorCode(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}
