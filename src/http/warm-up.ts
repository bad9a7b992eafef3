/**
 * Runs the code of signed requests so often, before a load balancer sends any, that the engine has compiled it: what the transport,
 * the request handler, the compute service and the signer thread do for a request.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import type { Config } from '../config/config.ts'
import { generateKey } from '../service/keys/key-text.ts'
import type { Services } from '../service/services.ts'
import { ApiKeys } from './access/api-keys.ts'
import { createApp } from './app.ts'
import { createHttpServer } from './transport/server.ts'

export interface WarmUpParts {
  readonly config: Config
  readonly log: Log
  /** A chain without an RPC endpoint, because a warm-up must not wait for one. Undefined if every chain has one. */
  readonly chainId: number | undefined
}

/** Enough that later requests are about as fast as those of a service that has run for a while. */
const REQUESTS = 4000
const CONNECTIONS = 4
/** The longest warm-up, for a machine that is slow or busy. */
const MAX_MS = 3000
const HOST = '127.0.0.1'
const SILENT: Log = { info() {}, warn() {}, error() {} }

const BODY = {
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [2.3522, 48.8566] },
}

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
   * limit, metric or log of the service counts them. If this fails, the first requests are only slower.
   *
   * @param open resolves or rejects when the store is open, or does not open in time: until then, the engine compiles the
   *   database on every core
   */
  async run(services: Services, open: Promise<void> | undefined): Promise<void> {
    const { log, chainId } = this.#parts
    await open?.catch(() => {})
    if (chainId !== undefined && !this.#isClosed) {
      await this.#request(services, chainId).catch((error: Error) =>
        log.warn('the first requests will be slow', { reason: error.message }),
      )
    }
    this.#isDone = true
  }

  /** Ends the warm-up before its time. */
  close(): void {
    this.#isClosed = true
  }

  async #request(services: Services, chainId: number): Promise<void> {
    const { config, log } = this.#parts
    const key = generateKey('internal')
    const keys = new ApiKeys([{ key, tier: 'internal', label: 'warm-up' }], false)
    const requestsPerHour = { ...config.requestsPerHour, internal: REQUESTS, public: REQUESTS }
    const ownConfig = { ...config, requestsPerHour }
    const app = createApp({ config: ownConfig, services, keys, log: SILENT, metrics: new Metrics(), now: Date.now })
    const server = createHttpServer(config, app.handler, log)
    const port = await server.listen(HOST, 0)
    const endMs = performance.now() + MAX_MS
    try {
      let started = 0
      const next = () => !this.#isClosed && started++ < REQUESTS && performance.now() < endMs
      // Clients with a key and without take different paths.
      const requests = [requestBytes(chainId, { Authorization: `Bearer ${key}` }), requestBytes(chainId, {})]
      await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => sendWhile(next, requests[index % 2]!, port)))
    } finally {
      await server.close()
    }
  }
}

function requestBytes(chainId: number, more: Readonly<Record<string, string>>): string {
  const body = JSON.stringify({ chainId, ...BODY })
  const headers = { Host: HOST, 'Content-Type': 'application/json', 'Content-Length': body.length, ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return ['POST /compute/v0/distance HTTP/1.1', ...lines, '', body].join('\r\n')
}

/** Sends one request after another over one connection. A response is small, so it arrives in one piece or is taken for two. */
async function sendWhile(next: () => boolean, request: string, port: number): Promise<void> {
  const socket = connect(port, HOST)
  socket.on('data', () => {
    if (next()) socket.write(request)
    else socket.destroy()
  })
  if (next()) socket.write(request)
  await once(socket, 'close')
}
