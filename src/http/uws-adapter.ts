import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { drain } from './drain.ts'
import { InFlight } from './in-flight.ts'
import { type HttpHandler, type HttpServer, ListenError } from './port.ts'
import type { UwsBinary } from './uws-binary.ts'
import { UwsExchange } from './uws-exchange.ts'

/**
 * The port on uWebSockets.js. Never to be used in a worker thread: a worker that ends while it serves aborts the process.
 *
 * @param uws as loaded by `loadUws`
 */
export function createUwsServer(uws: UwsBinary, config: Config, handler: HttpHandler): HttpServer {
  const { limits } = config
  const inFlight = new InFlight(limits)
  // The name of the transport is not for clients to see.
  uws._cfg?.('silent')
  let connections = 0
  let listening: us_listen_socket | undefined
  let app: TemplatedApp | undefined

  const onRequest = (response: HttpResponse, request: HttpRequest): void => {
    const exchange = new UwsExchange(inFlight, handler, response, request)
    // First of all: a handler that ends with neither an answer nor this aborts the process.
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
      // Without the option a second server could take the same port and half of the connections.
      const token = await new Promise<us_listen_socket | false>((resolve) => {
        const listen = server.listen.bind(server) as unknown as ListenWithOptions
        listen(host, port, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, resolve)
      })
      if (token === false) throw new ListenError(host, port, await reasonOf(host, port))
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

/** uWebSockets.js says only that it failed: another listener on the same port learns why. */
function reasonOf(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)))
  })
}
