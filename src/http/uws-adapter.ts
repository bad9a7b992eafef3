import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:net'
import type { Config } from '../config.ts'
import { drain } from './drain.ts'
import { InFlight } from './in-flight.ts'
import { type HttpHandler, type HttpServer, isBodiless, ListenError, type Reply } from './port.ts'
import { RequestHead } from './request-head.ts'
import { TransportExchange } from './transport-exchange.ts'
import type { UwsBinary } from './uws-binary.ts'
import { UwsWriter } from './uws-writer.ts'

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

class UwsExchange extends TransportExchange {
  readonly #response: HttpResponse
  #isInHandler = false
  #isGone = false
  /** Made for the few answers that are written piece by piece. */
  #pieces: UwsWriter | undefined = undefined

  constructor(inFlight: InFlight, handler: HttpHandler, response: HttpResponse, request: HttpRequest) {
    // uWebSockets.js frees the request after the handler returns: everything is copied here.
    const head = new RequestHead()
    request.forEach((name, value) => {
      head.add(name, value)
    })
    super(inFlight, handler, {
      method: METHODS[request.getMethod()] ?? request.getMethod().toUpperCase(),
      path: request.getUrl(),
      query: request.getQuery() ?? '',
      head,
    })
    this.#response = response
  }

  get peer(): Uint8Array {
    return new Uint8Array(this.#response.getRemoteAddress())
  }

  override run(isTooMany: boolean): void {
    this.#isInHandler = true
    super.run(isTooMany)
    this.#isInHandler = false
  }

  /** The connection is gone, answered or not. */
  leave(): void {
    this.#isGone = true
    this.#pieces?.stop()
    this.abandon()
  }

  protected startBody(): void {
    if (this.isStreamed) this.#keepAlive()
    this.#response.onData((chunk, isLast) => {
      if (this.isReceiving) this.take(new Uint8Array(chunk), isLast)
    })
  }

  /**
   * uWebSockets.js ends a connection whose body brings less than 160 KB in ten seconds. Only `resume` starts those ten
   * seconds again, so a slow stream needs it regularly; `InFlight` ends a stream that is silent for too long.
   */
  #keepAlive(): void {
    const timer = setInterval(() => {
      if (this.#isGone || !this.isReceiving) {
        clearInterval(timer)
        return
      }
      // While the client is held back there is no time limit; a writer that waits for room keeps the connection itself.
      if (this.isPaused || this.#pieces?.isWaiting === true) return
      this.#response.pause()
      this.#response.resume()
    }, KEEP_ALIVE_MS)
    timer.unref()
  }

  /** A chunk is emptied when its handler returns. */
  protected get own() {
    return copyOf
  }

  protected send(reply: Reply, close: boolean): void {
    if (close && this.#isInHandler) {
      // Inside its handler uWebSockets.js forgets to close when more bytes have arrived, and takes them for the next
      // request: with an ambiguous length that is request smuggling. One turn later those bytes have ended the
      // connection without an answer, or there were none.
      setImmediate(() => {
        if (!this.#isGone) this.#write(reply, close)
      })
    } else this.#write(reply, close)
  }

  protected pauseBody(): void {
    if (!this.#isGone) this.#response.pause()
  }

  protected resumeBody(): void {
    if (!this.#isGone) this.#response.resume()
  }

  protected sendHead(reply: Omit<Reply, 'body'>, close: boolean): void {
    this.#response.cork(() => {
      this.#writeHead(reply)
      if (close) this.#response.writeHeader('Connection', 'close')
    })
    this.#stayPaused()
  }

  protected sendChunk(piece: string | Uint8Array): boolean {
    return this.#writer.write(piece)
  }

  protected onDrain(listener: () => void): void {
    this.#writer.onRoom(listener)
  }

  protected sendEnd(close: boolean, isCut: boolean): void {
    // A close here would not wait for what the client still sends: the connection ends with the server.
    this.#writer.end(close && !isCut)
  }

  protected hangUp(): void {
    if (!this.#isGone) this.#response.close()
  }

  get #writer(): UwsWriter {
    this.#pieces ??= new UwsWriter(this.#response, () => this.#stayPaused())
    return this.#pieces
  }

  /** A write that the client has no room for makes uWebSockets.js listen to the socket again, whoever paused it. */
  #stayPaused(): void {
    if (this.isPaused) this.#response.pause()
  }

  #writeHead(reply: Omit<Reply, 'body'>): void {
    this.#response.writeStatus(STATUS_LINES[reply.status] ?? String(reply.status))
    // One call with all lines: each call costs about 100 ns, and this transport copies the value as it is.
    this.#response.writeHeader(reply.headers.firstName, reply.headers.rest + linesOf(reply.fields))
  }

  #write(reply: Reply, close: boolean): void {
    const response = this.#response
    response.cork(() => {
      this.#writeHead(reply)
      const isEmpty = this.method === 'HEAD' || isBodiless(reply.status)
      if (!isEmpty || close) response.end(isEmpty ? '' : reply.body, close)
      else {
        if (!isBodiless(reply.status)) response.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)))
        // Without arguments only: with a length it waits for that many bytes, which never come.
        response.endWithoutBody()
      }
    })
  }
}

/** The ten seconds of uWebSockets.js may be eight: its clock has steps of four seconds. */
const KEEP_ALIVE_MS = 3000

const SLAB_BYTES = 65_536
const MAX_SLAB_SHARE = 4096
let slab = new Uint8Array(0)
let slabUsed = SLAB_BYTES

/** Small ones share an allocation: one a body costs more than the copy. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  if (length > MAX_SLAB_SHARE) return bytes.slice()
  if (slabUsed + length > SLAB_BYTES) {
    slab = new Uint8Array(SLAB_BYTES)
    slabUsed = 0
  }
  const copy = slab.subarray(slabUsed, slabUsed + length)
  copy.set(bytes)
  slabUsed += length
  return copy
}

function linesOf(fields: readonly string[]): string {
  let text = ''
  for (let at = 0; at < fields.length; at += 2) text += `\r\n${fields[at]}: ${fields[at + 1]}`
  return text
}

/** uWebSockets.js gives methods in lower case, so `get` and `GET` are the same to it. */
const METHODS: Readonly<Record<string, string>> = {
  get: 'GET',
  head: 'HEAD',
  post: 'POST',
  options: 'OPTIONS',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
}

const STATUS_LINES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([code, text]) => [code, `${code} ${text}`]),
)
