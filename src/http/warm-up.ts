/**
 * Runs the code of signed requests so often, before a load balancer sends any, that the engine has compiled it: what the transport,
 * the request handler, the compute service and the signer thread do for a request.
 */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import type { ProblemData } from '../base/problem.ts'
import type { Config } from '../config/config.ts'
import { generateKey } from '../service/keys/key-text.ts'
import type { Services } from '../service/services.ts'
import { ApiKeys } from './access/api-keys.ts'
import { createApp } from './app.ts'
import type { HttpHandler } from './transport/port.ts'
import { createHttpServer } from './transport/server.ts'

export interface WarmUpParts {
  readonly config: Config
  readonly log: Log
  /** The chains without an RPC endpoint, because a warm-up must not wait for one. */
  readonly chainIds: readonly number[]
}

/** Enough that later requests are about as fast as those of a service that has run for a while. */
const REQUESTS = 10_000
const CONNECTIONS = 4
/** The longest warm-up, for a machine that is slow or busy. */
const MAX_MS = 5000
const HOST = '127.0.0.1'
const SILENT: Log = { info() {}, warn() {}, error() {} }

/** Warms one process of the service up. */
export class WarmUp {
  readonly #parts: WarmUpParts
  #isDone = false
  #isClosed = false

  constructor(parts: WarmUpParts) {
    this.#parts = parts
  }

  /** True when the warm-up has ended. */
  get isDone(): boolean {
    return this.#isDone
  }

  /**
   * Requests signed distances over loopback and discards them. They go to a listener and a request handler of their own, so that no
   * limit, log or metric of requests counts them. If this fails, the first requests are only slower.
   *
   * @param open resolves or rejects when the store is open, or does not open in time: until then, the engine compiles the
   *   database on every core
   * @param threads resolves when the threads for large work have warmed up: until then, the engine compiles their code on the
   *   cores that the first requests need
   */
  async run(services: Services, open: Promise<void> | undefined, threads: Promise<void>): Promise<void> {
    const { log, chainIds } = this.#parts
    await open?.catch(() => {})
    const endMs = performance.now() + MAX_MS
    if (chainIds.length > 0 && !this.#isClosed) {
      await this.#request(services, chainIds, endMs).catch((error: Error) =>
        log.warn('the first requests will be slow', { reason: error.message }),
      )
    }
    const isOver = new Promise((resolve) => setTimeout(resolve, endMs - performance.now()).unref())
    await Promise.race([threads, isOver])
    this.#isDone = true
  }

  /** Ends the warm-up before its time. */
  close(): void {
    this.#isClosed = true
  }

  async #request(services: Services, chainIds: readonly number[], endMs: number): Promise<void> {
    const { config, log } = this.#parts
    const key = generateKey('internal')
    const keys = new ApiKeys([{ key, tier: 'internal', label: 'warm-up' }], false)
    const requestsPerHour = { ...config.requestsPerHour, internal: REQUESTS, public: REQUESTS }
    const costPerHour = { ...config.costPerHour, public: config.costPerHour.internal }
    const ownConfig = { ...config, requestsPerHour, costPerHour, requireApiKey: false }
    const app = createApp({ config: ownConfig, services, keys, log: SILENT, metrics: new Metrics(), now: Date.now })
    const secret = randomUUID()
    const server = createHttpServer(config, onlyWith(secret, app.handler), log)
    const port = await server.listen(HOST, 0)
    try {
      let started = 0
      // Clients with a key and without take different paths.
      const headers = [{ Authorization: `Bearer ${key}` }, {}]
      const sendAll = (more: Readonly<Record<string, string>>) => {
        const next = () => {
          if (this.#isClosed || started >= REQUESTS || performance.now() >= endMs) return undefined
          return requestBytes(secret, warmUpBody(started++, chainIds), more)
        }
        return sendWhile(next, port)
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => sendAll(headers[index % 2]!)))
    } finally {
      // Not awaited, because nothing that others do on this port may delay the service.
      void server.close()
    }
  }
}

const NOT_YOURS: ProblemData = { type: 'not-found', detail: 'this port is only for the warm-up of the service' }

/** Returns a handler that answers only requests whose query is the secret: other programs of this machine can reach the port too. */
function onlyWith(secret: string, handler: HttpHandler): HttpHandler {
  return {
    refuse: (request) => handler.refuse(request),
    handle: (exchange) =>
      exchange.query === secret ? handler.handle(exchange) : handler.decline(exchange, NOT_YOURS, true),
    decline: (exchange, problem, close) => handler.decline(exchange, problem, close),
    fail: (exchange, error) => handler.fail(exchange, error),
    abandoned: (exchange) => handler.abandoned(exchange),
    unparsable: (status, peer) => handler.unparsable(status, peer),
  }
}

/**
 * Returns the body of a request. All differ, and take the chains in turn: code that the engine compiled for one chain, or for
 * the same text every time, would have to be compiled again for the first request of a client.
 */
function warmUpBody(index: number, chainIds: readonly number[]): string {
  const chainId = chainIds[index % chainIds.length]
  const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon + index / 1000, lat - index / 1000] })
  return JSON.stringify({ chainId, from: point(2.2945, 48.8584), to: point(2.3522, 48.8566) })
}

function requestBytes(secret: string, body: string, more: Readonly<Record<string, string>>): string {
  const headers = { Host: HOST, 'Content-Type': 'application/json', 'Content-Length': body.length, ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`POST /compute/v0/distance?${secret} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/** Sends one request after another over one connection. A response is small, so it arrives in one piece or is taken for two. */
async function sendWhile(next: () => string | undefined, port: number): Promise<void> {
  const socket = connect(port, HOST)
  const sendNext = () => {
    const request = next()
    if (request === undefined) socket.destroy()
    else socket.write(request)
  }
  socket.setTimeout(MAX_MS, () => socket.destroy())
  socket.on('data', sendNext)
  sendNext()
  await once(socket, 'close')
}
