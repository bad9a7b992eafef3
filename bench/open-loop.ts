/** Sends requests at a constant rate, whatever the service does (an open loop), or as fast as they are answered (a closed loop). */
import { connect, type Socket } from 'node:net'

export interface ArrivalRequest {
  /** Name under which its responses are counted. */
  readonly kind: string
  readonly bytes: Buffer
  /** Text that the body of a correct response 200 contains. */
  readonly contains: string
}

export interface Arrivals {
  readonly url: string
  /** Returns the next request. */
  readonly next: () => ArrivalRequest
  /** Infinity: a closed loop, in which each connection sends again when it has its response. */
  readonly perSecond: number
  readonly seconds: number
  /** Time before that, in which requests are sent and counted, but not timed: a queue may grow to its usual length. */
  readonly leadSeconds: number
  /** Opened before the first request, so that accepting them is not measured. */
  readonly connections: number
}

export interface ArrivalResult {
  readonly perSecond: number
  /** Correct responses 200, the lead included. */
  readonly accepted: number
  /** Responses 503, the lead included. */
  readonly refused: number
  /** Refusals whose Retry-After is missing or not a positive number of seconds. */
  readonly withoutRetryAfter: number
  /** Other responses by their status, `wrong` for a response 200 without its text, and `broken` connections. */
  readonly failures: Readonly<Record<string, number>>
  /** The number of `failures`. */
  readonly failed: number
  /** By kind of request. */
  readonly kinds: Readonly<Record<string, KindResult>>
  /** Requests for which no connection was free. Their number is 0 in a valid measurement. */
  readonly unsent: number
  /** Responses 200 between the lead and the last arrival. */
  readonly acceptedPerSecond: number
  /** Times from when a request was due until its response, of those that were accepted; NaN if none was. Without the lead. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refusedP99Ms: number
}

interface KindResult {
  /** The part of the requests that was accepted, the lead included. */
  readonly acceptedPart: number
  /** As `p99Ms` of all kinds. */
  readonly p99Ms: number
}

/** Longest wait for the last responses. */
const PATIENCE_MS = 15_000

export async function sendArrivals(arrivals: Arrivals): Promise<ArrivalResult> {
  const load = new OpenLoop(arrivals)
  try {
    await load.open()
    return await load.run()
  } finally {
    load.close()
  }
}

class OpenLoop {
  readonly #arrivals: Arrivals
  readonly #connections = new Set<Connection>()
  /** Free connections, the one that was used last at the end. */
  readonly #free: Connection[] = []
  readonly #refusedMs: number[] = []
  #accepted = 0
  #refused = 0
  #withoutRetryAfter = 0
  readonly #failures = new Map<string, number>()
  readonly #kinds = new Map<string, { accepted: number; answered: number; readonly acceptedMs: number[] }>()
  #unsent = 0
  #pending = 0
  /** When the lead ends. */
  #timedFromMs = 0
  #acceptedAfterLead = 0

  constructor(arrivals: Arrivals) {
    this.#arrivals = arrivals
  }

  async open(): Promise<void> {
    const { url, connections } = this.#arrivals
    const { hostname, port } = new URL(url)
    while (this.#connections.size < connections) {
      const some = Array.from({ length: Math.min(200, connections - this.#connections.size) }, () =>
        Connection.open(hostname, Number(port), (...taken) => this.#take(...taken)),
      )
      for (const connection of await Promise.all(some)) {
        this.#connections.add(connection)
        this.#free.push(connection)
      }
    }
  }

  async run(): Promise<ArrivalResult> {
    const { perSecond, seconds, leadSeconds } = this.#arrivals
    const startMs = performance.now()
    this.#timedFromMs = startMs + leadSeconds * 1000
    let sent = 0
    for (;;) {
      const nowMs = performance.now()
      if (nowMs - this.#timedFromMs >= seconds * 1000) break
      const due = ((nowMs - startMs) * perSecond) / 1000
      for (; sent < due; sent++) {
        const dueMs = perSecond === Number.POSITIVE_INFINITY ? nowMs : startMs + (sent * 1000) / perSecond
        if (this.#send(dueMs)) continue
        if (perSecond === Number.POSITIVE_INFINITY) break
        this.#unsent++
      }
      // Not a timer, whose steps of a millisecond would send the requests in bursts.
      await new Promise((resolve) => setImmediate(resolve))
    }
    const acceptedPerSecond = this.#acceptedAfterLead / seconds
    // The times of requests that still wait count too, because the longest are among them.
    const deadlineMs = performance.now() + PATIENCE_MS
    const isClosedLoop = perSecond === Number.POSITIVE_INFINITY
    while (!isClosedLoop && this.#pending > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    return this.#summarize(acceptedPerSecond)
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }

  #send(dueMs: number): boolean {
    let connection = this.#free.pop()
    while (connection?.isClosed) connection = this.#free.pop()
    if (connection === undefined) return false
    this.#pending++
    connection.send(this.#arrivals.next(), dueMs)
    return true
  }

  #take(connection: Connection, request: ArrivalRequest, response: Response | undefined, ms: number): void {
    this.#pending--
    const kind = this.#kinds.get(request.kind) ?? { accepted: 0, answered: 0, acceptedMs: [] }
    this.#kinds.set(request.kind, kind)
    kind.answered++
    if (response === undefined) {
      this.#countFailure('broken')
      return
    }
    const { status, retryAfter, body } = response
    const nowMs = performance.now()
    const isTimed = nowMs - ms >= this.#timedFromMs
    if (status === 200 && body.includes(request.contains)) {
      this.#accepted++
      kind.accepted++
      if (nowMs >= this.#timedFromMs) this.#acceptedAfterLead++
      if (isTimed) kind.acceptedMs.push(ms)
    } else if (status === 503) {
      this.#refused++
      if (isTimed) this.#refusedMs.push(ms)
      if (!/^[1-9]\d*$/.test(retryAfter ?? '')) this.#withoutRetryAfter++
    } else this.#countFailure(status === 200 ? 'wrong' : String(status))
    this.#free.push(connection)
  }

  #countFailure(reason: string): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1)
  }

  #summarize(acceptedPerSecond: number): ArrivalResult {
    const allMs = [...this.#kinds.values()].flatMap(({ acceptedMs }) => acceptedMs)
    return {
      perSecond: this.#arrivals.perSecond,
      accepted: this.#accepted,
      refused: this.#refused,
      withoutRetryAfter: this.#withoutRetryAfter,
      failures: Object.fromEntries(this.#failures),
      failed: [...this.#failures.values()].reduce((sum, count) => sum + count, 0),
      kinds: Object.fromEntries(
        [...this.#kinds].map(([kind, { accepted, answered, acceptedMs }]) => [
          kind,
          { acceptedPart: accepted / answered, p99Ms: percentile(acceptedMs, 0.99) },
        ]),
      ),
      unsent: this.#unsent,
      acceptedPerSecond,
      p50Ms: percentile(allMs, 0.5),
      p99Ms: percentile(allMs, 0.99),
      refusedP99Ms: percentile(this.#refusedMs, 0.99),
    }
  }
}

function percentile(values: number[], fraction: number): number {
  values.sort((a, b) => a - b)
  return values[Math.ceil(fraction * values.length) - 1] ?? Number.NaN
}

interface Response {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: Buffer
}

/** @param response undefined if the connection closed before its end */
type OnResponse = (connection: Connection, request: ArrivalRequest, response: Response | undefined, ms: number) => void

/** What ends a body without Content-Length. */
const LAST_CHUNK = '\r\n0\r\n\r\n'

/** A kept-alive connection with at most one request at a time. Reads no more of a head than its status and three fields. */
class Connection {
  readonly #socket: Socket
  readonly #onResponse: OnResponse
  /** The request that waits for its response, and when it was due. */
  #sent: { readonly request: ArrivalRequest; readonly dueMs: number } | undefined
  #pieces: Buffer[] = []
  #receivedBytes = 0
  /** Size of the response; undefined until its head has arrived, infinity if its body is chunked. */
  #bytes: number | undefined
  isClosed = false

  static open(host: string, port: number, onResponse: OnResponse): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, noDelay: true }, () => resolve(new Connection(socket, onResponse)))
      socket.once('error', reject)
    })
  }

  constructor(socket: Socket, onResponse: OnResponse) {
    this.#socket = socket
    this.#onResponse = onResponse
    socket.on('data', (bytes) => this.#take(bytes))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      this.#finish(undefined)
    })
  }

  send(request: ArrivalRequest, dueMs: number): void {
    this.#sent = { request, dueMs }
    this.#pieces = []
    this.#receivedBytes = 0
    this.#bytes = undefined
    this.#socket.write(request.bytes)
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#pieces.push(bytes)
    this.#receivedBytes += bytes.length
    this.#bytes ??= responseBytes(this.#join())
    if (this.#bytes === undefined) return
    const isWhole = Number.isFinite(this.#bytes) ? this.#receivedBytes >= this.#bytes : this.#endsWithLastChunk()
    if (isWhole) this.#finish(readResponse(this.#join()))
  }

  #join(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]!
  }

  #endsWithLastChunk(): boolean {
    if (this.#pieces.at(-1)!.length < LAST_CHUNK.length) this.#join()
    return this.#pieces.at(-1)!.subarray(-LAST_CHUNK.length).equals(Buffer.from(LAST_CHUNK))
  }

  #finish(response: Response | undefined): void {
    const sent = this.#sent
    if (sent === undefined) return
    this.#sent = undefined
    this.#onResponse(this, sent.request, response, performance.now() - sent.dueMs)
  }
}

/** Returns the size of a response from its head; undefined if the head is incomplete, infinity if the body is chunked. */
function responseBytes(received: Buffer): number | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = received.toString('latin1', 0, end)
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return Number.POSITIVE_INFINITY
  return end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
}

function readResponse(received: Buffer): Response {
  const end = received.indexOf('\r\n\r\n')
  const head = received.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const retryAfter = status === 200 ? undefined : /\r\nretry-after: *(\S+)/i.exec(head)?.[1]
  return { status, retryAfter, body: received.subarray(end + 4) }
}
