/** The transport on uWebSockets.js: the server, and one exchange for each request. */
import type * as Uws from 'uWebSockets.js'
import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'
import { STATUS_CODES } from 'node:http'
import { createServer } from 'node:net'
import { peerAddress, UwsConnections } from './connections.ts'
import { Discard, type DiscardLimits } from './discard.ts'
import { isBodiless, TransportExchange } from './exchange.ts'
import { drain, InFlight, MAX_PIPELINED, retire } from './in-flight.ts'
import {
  type HttpHandler,
  type HttpServer,
  ListenError,
  type ReceivedRequest,
  type ResponseData,
  type TransportConfig,
} from './port.ts'
import { RequestHead, splitTarget } from './request-head.ts'
import { UwsWriter } from './uws-writer.ts'

/** The parts of the package that are used. Its own types declare the constant in another module and lack `_cfg`. */
export type UwsBinary = Pick<typeof Uws, 'App' | 'us_listen_socket_close' | 'us_socket_local_port'> & {
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number
  readonly _cfg?: (key: string) => void
}

/**
 * Creates the transport on uWebSockets.js. Never use it in a worker thread: if a worker ends while it serves, the process aborts.
 *
 * @param uws as loaded by `loadUws` in `server.ts`
 */
export function createUwsServer(
  uws: UwsBinary,
  { limits, trustedProxies }: TransportConfig,
  handler: HttpHandler,
): HttpServer {
  const inFlight = new InFlight(limits)
  // Hides the name of the transport from clients.
  uws._cfg?.('silent')
  const connections = new UwsConnections(limits, trustedProxies)
  let listening: us_listen_socket | undefined
  let app: TemplatedApp | undefined

  const tick = new TickCount()
  const onRequest = (response: HttpResponse, request: HttpRequest): void => {
    tick.count()
    const received = new UwsRequest(response, request)
    const mustClose = inFlight.isDraining || inFlight.isRetiring || connections.isCrowded
    const refusal = mustClose ? undefined : handler.refuse(received)
    if (refusal !== undefined) {
      // Within its handler, uWebSockets.js sends all writes together. It drops the body of the request, because nothing reads it.
      if (tick.isLong) refuseLater(response, refusal)
      // Without a listener, uWebSockets.js ends the process if a handler returns before its response is written.
      else if (!writeResponse(response, refusal)) response.onAborted(() => {})
      return
    }
    const exchange = new UwsExchange(inFlight, handler, response, received, tick, connections.closing(response))
    // Must come first: a handler that ends with neither a response nor this listener aborts the process.
    response.onAborted(() => exchange.leave())
    exchange.run(connections.isFull)
  }

  return {
    adapter: 'uws',
    get inFlight() {
      return inFlight.count
    },
    async listen(host, port, isShared = false) {
      const server = uws.App()
      app = server
      server.filter((connection, change) => connections.change(connection, Number(change)))
      server.any('/*', onRequest)
      // Without the exclusive option, uWebSockets.js sets SO_REUSEPORT, and a second server could listen on the same port and take
      // half of the connections. Several processes of one service share the port in this way.
      const options = isShared ? SHARED_PORT : uws.LIBUS_LISTEN_EXCLUSIVE_PORT
      const token = await new Promise<us_listen_socket | false>((resolve) => {
        const listen = server.listen.bind(server) as unknown as ListenWithOptions
        listen(host, port, options, resolve)
      })
      if (token === false) throw new ListenError(host, port, await findErrorCode(host, port))
      listening = token
      inFlight.start()
      return uws.us_socket_local_port(token)
    },
    async close(isReplaced = false) {
      // Waits until the sockets are read: connections that are not accepted yet would be lost with the listening socket.
      if (isReplaced) await new Promise((resolve) => setImmediate(resolve))
      if (listening !== undefined) uws.us_listen_socket_close(listening)
      listening = undefined
      if (isReplaced) await retire(inFlight, () => connections.count, limits.drainTimeoutMs)
      await drain(inFlight, limits.drainTimeoutMs)
      inFlight.stop()
      app?.close()
    },
  }
}

/**
 * Counts the requests that are read in one tick of the event loop. uWebSockets.js reads half a megabyte at once, which may have ten
 * thousand pipelined requests, and other connections wait for all of them. But it closes a connection that sends a request before the
 * previous one has its response. So in a tick with many requests, responses wait for the next tick, which ends the pipelining.
 */
class TickCount {
  #requests = 0

  /** True if responses have to wait for the next tick. */
  get isLong(): boolean {
    return this.#requests > MAX_PIPELINED
  }

  count(): void {
    if (this.#requests++ === 0)
      setImmediate(() => {
        this.#requests = 0
      })
  }
}

function refuseLater(response: HttpResponse, refusal: ResponseData<string>): void {
  let isGone = false
  response.onAborted(() => {
    isGone = true
  })
  setImmediate(() => {
    if (!isGone) response.cork(() => writeResponse(response, refusal))
  })
}

/** `LIBUS_LISTEN_DEFAULT` of the package, which exports only its name. */
const SHARED_PORT = 0

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

/** The head of a request. uWebSockets.js frees it after the handler returns, so everything is copied here, except the address. */
class UwsRequest implements ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly head = new RequestHead()
  readonly startedMs = performance.now()
  readonly #response: HttpResponse

  constructor(response: HttpResponse, request: HttpRequest) {
    this.#response = response
    const { head } = this
    request.forEach((name, value) => {
      head.add(name, value)
    })
    // Older versions of the parser reject an absolute target; newer ones return all of it.
    const { path, authority } = splitTarget(request.getUrl())
    if (authority !== undefined) head.overruleHost(authority)
    this.method = request.getCaseSensitiveMethod()
    this.path = path
    this.query = request.getQuery() ?? ''
  }

  get peer(): Uint8Array {
    return peerAddress(this.#response)
  }
}

/** One request on uWebSockets.js. */
class UwsExchange extends TransportExchange {
  readonly #response: HttpResponse
  readonly #tick: TickCount
  #isInHandler = false
  #hasBodyReader = false
  #isGone = false
  /** Created only for streamed responses. */
  #streamWriter: UwsWriter | undefined = undefined
  #discard: Discard | undefined = undefined
  /** Bytes of the body that arrived after its rejection. */
  #discardedBytes = 0

  /** @param onEnd called at the end if the connection then has to close; undefined if it may stay open */
  constructor(
    inFlight: InFlight,
    handler: HttpHandler,
    response: HttpResponse,
    received: ReceivedRequest,
    tick: TickCount,
    onEnd: (() => void) | undefined,
  ) {
    super(inFlight, handler, received, onEnd)
    this.#response = response
    this.#tick = tick
  }

  get peer(): Uint8Array {
    return peerAddress(this.#response)
  }

  override run(isTooMany: boolean): void {
    this.#isInHandler = true
    super.run(isTooMany)
    this.#isInHandler = false
  }

  /** Called when the connection has closed, answered or not. */
  leave(): void {
    this.#isGone = true
    this.#streamWriter?.stop()
    this.#discard?.stop()
    this.abandon()
  }

  protected startBody(): void {
    if (this.isStreamed) this.#keepAlive()
    this.#readBody()
  }

  #readBody(): void {
    this.#hasBodyReader = true
    this.#response.onData((chunk, isLast) => {
      if (this.isReceiving) this.take(new Uint8Array(chunk), isLast)
      else if (this.#discard?.hasEnded === false) {
        this.#discardedBytes += chunk.byteLength + PIECE_BYTES
        if (isLast) this.#discard.end()
        else this.#discard.check()
      }
    })
  }

  /**
   * Keeps a slow stream alive. uWebSockets.js closes a connection that receives less than 160 KB of a body in ten seconds, and only
   * `resume` restarts these ten seconds. `InFlight` ends a stream that is silent for too long.
   */
  #keepAlive(): void {
    const timer = setInterval(() => {
      if (this.#isGone || !this.isReceiving) {
        clearInterval(timer)
        return
      }
      // A paused body has no time limit, and a writer that waits for room keeps the connection alive itself.
      if (this.isPaused || this.#streamWriter?.isWaiting === true) return
      this.#response.pause()
      this.#response.resume()
    }, KEEP_ALIVE_MS)
    timer.unref()
  }

  /** uWebSockets.js detaches a chunk when its handler returns. */
  protected get copyChunk() {
    return copyChunk
  }

  protected send(reply: ResponseData, close: boolean): void {
    if (this.#isInHandler && (close || this.#tick.isLong)) {
      // Inside its handler, uWebSockets.js does not close if more bytes have arrived, and parses them as the next request.
      // With an ambiguous length that is request smuggling. One tick later, those bytes have ended the connection without a
      // response, or there were none.
      setImmediate(() => {
        if (!this.#isGone) this.#write(reply, close)
      })
    } else this.#write(reply, close)
  }

  /**
   * Sends a response and keeps reading. uWebSockets.js can end a response either together with the connection, or so
   * that the connection cannot be closed afterwards. This response is therefore never ended here; the client sees from
   * Content-Length that it is complete.
   */
  protected sendAndDiscard(reply: ResponseData, limits: DiscardLimits): void {
    if (typeof reply.body !== 'string') {
      // The code below adds a line break to the body: text may end with one, binary data may not.
      limits.onEnd?.()
      this.send(reply, true)
      return
    }
    if (!this.#hasBodyReader) this.#readBody()
    this.#discard = new Discard(
      limits,
      () => this.#discardedBytes,
      // One tick later, because a close inside a handler loses what was written in it.
      () => setImmediate(() => this.hangUp()),
    )
    const isEmpty = this.method === 'HEAD' || isBodiless(reply.status)
    const length = isBodiless(reply.status) ? '' : `\r\nContent-Length: ${Buffer.byteLength(reply.body) + 2}`
    const end = `${length}\r\nConnection: close\r\n${isEmpty ? '' : `\r\n${reply.body}`}`
    this.#response.cork(() => writeHead(this.#response, reply, end))
  }

  protected pauseBody(): void {
    if (!this.#isGone) this.#response.pause()
  }

  protected resumeBody(): void {
    if (!this.#isGone) this.#response.resume()
  }

  protected sendHead(reply: Omit<ResponseData, 'body'>, close: boolean): void {
    this.#response.cork(() => {
      writeHead(this.#response, reply)
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
    // A close here would not wait for what the client still sends, so the connection is left to end with the server.
    this.#writer.end(close && !isCut)
  }

  protected hangUp(): void {
    if (!this.#isGone) this.#response.close()
  }

  get #writer(): UwsWriter {
    this.#streamWriter ??= new UwsWriter(this.#response, () => this.#stayPaused())
    return this.#streamWriter
  }

  /** Pauses again: a write that the client has no room for makes uWebSockets.js read from the socket again. */
  #stayPaused(): void {
    if (this.isPaused) this.#response.pause()
  }

  #write(reply: ResponseData, close: boolean): void {
    const response = this.#response
    response.cork(() => {
      const isEmpty = this.method === 'HEAD' || isBodiless(reply.status)
      if (!isEmpty && close) writeLastResponse(response, reply)
      else if (!isEmpty) writeResponse(response, reply)
      else {
        writeHead(response, reply)
        if (close) response.end('', close)
        else {
          if (!isBodiless(reply.status)) response.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)))
          // Must be called without arguments: with a length it would wait for that many bytes, which never come.
          response.endWithoutBody()
        }
      }
    })
  }
}

/** Writes a response after which the connection closes. */
function writeLastResponse(response: HttpResponse, reply: ResponseData): void {
  writeHead(response, reply)
  response.end(reply.body, true)
}

/**
 * Writes a response after which the connection stays open. Bytes that the client does not take yet stay here: `end` would copy them for
 * each response, and a client may send many requests and read none of the responses. Until all bytes are written, the request counts as
 * not answered, so uWebSockets.js closes the connection if it sends another request or is silent for ten seconds.
 *
 * @returns false if bytes are left
 */
function writeResponse(response: HttpResponse, reply: ResponseData): boolean {
  writeHead(response, reply)
  const bytes = Buffer.byteLength(reply.body)
  if (bytes === 0) {
    response.end()
    return true
  }
  const [, isDone] = response.tryEnd(reply.body, bytes)
  if (isDone) return true
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body
  response.onWritable((offset) => response.tryEnd(body.subarray(offset), bytes)[0])
  return false
}

/** @param end more header lines, each with a line break before it */
function writeHead(response: HttpResponse, reply: Omit<ResponseData, 'body'>, end = ''): void {
  response.writeStatus(STATUS_LINES[reply.status] ?? String(reply.status))
  // Two calls for all lines, because each call costs about 100 ns. uWebSockets.js copies the values unchanged.
  response.writeHeader(reply.headers.firstName, reply.headers.remainder)
  response.writeHeader(reply.fields[0]!, reply.fields[1]! + formatLines(reply.fields, 2) + end)
}

/** Bytes that each piece of a rejected body counts in addition to its own: a piece of one byte takes as much time as a large one. */
const PIECE_BYTES = 1024

/** The ten seconds of uWebSockets.js may be eight, because its clock has steps of four seconds. */
const KEEP_ALIVE_MS = 3000

const SLAB_BYTES = 65_536
const MAX_SLAB_SHARE = 4096
let slab = new Uint8Array(0)
let slabUsed = SLAB_BYTES

/** Copies bytes. Small copies share an allocation, because a separate one costs more than the copy itself. */
function copyChunk(bytes: Uint8Array): Uint8Array {
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

function formatLines(fields: readonly string[], start: number): string {
  let text = ''
  for (let index = start; index < fields.length; index += 2) text += `\r\n${fields[index]}: ${fields[index + 1]}`
  return text
}

const STATUS_LINES: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(STATUS_CODES).map(([code, text]) => [code, `${code} ${text}`]),
)
