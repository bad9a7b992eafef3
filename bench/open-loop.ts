/** Sends one request at a constant rate, whatever the service does (an open loop), or as fast as it is answered (a closed loop). */
import { connect, type Socket } from 'node:net'

export interface Arrivals {
  readonly url: string
  /** The bytes of the request. */
  readonly request: Buffer
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
  /** Responses 200, the lead included. */
  readonly accepted: number
  /** Responses 429 and 503, the lead included. */
  readonly refused: number
  /** Refusals whose Retry-After is missing or not a positive number of seconds. */
  readonly withoutRetryAfter: number
  /** Other responses, and connections that broke. */
  readonly failed: number
  /** Requests for which no connection was free. Their number is 0 in a valid measurement. */
  readonly unsent: number
  /** Responses 200 between the lead and the last arrival. */
  readonly acceptedPerSecond: number
  /** Times from when a request was due until its response, of those that were accepted; NaN if none was. Without the lead. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly refusedP99Ms: number
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
  readonly #acceptedMs: number[] = []
  readonly #refusedMs: number[] = []
  #accepted = 0
  #refused = 0
  #withoutRetryAfter = 0
  #failed = 0
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
        Connection.open(hostname, Number(port), (connection, response, ms) => this.#take(connection, response, ms)),
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
    connection.send(this.#arrivals.request, dueMs)
    return true
  }

  #take(connection: Connection, response: Response | undefined, ms: number): void {
    this.#pending--
    if (response === undefined) {
      this.#failed++
      return
    }
    const { status, retryAfter } = response
    const nowMs = performance.now()
    const isTimed = nowMs - ms >= this.#timedFromMs
    if (status === 200) {
      this.#accepted++
      if (nowMs >= this.#timedFromMs) this.#acceptedAfterLead++
      if (isTimed) this.#acceptedMs.push(ms)
    } else if (status === 429 || status === 503) {
      this.#refused++
      if (isTimed) this.#refusedMs.push(ms)
      if (!/^[1-9]\d*$/.test(retryAfter ?? '')) this.#withoutRetryAfter++
    } else this.#failed++
    this.#free.push(connection)
  }

  #summarize(acceptedPerSecond: number): ArrivalResult {
    return {
      perSecond: this.#arrivals.perSecond,
      accepted: this.#accepted,
      refused: this.#refused,
      withoutRetryAfter: this.#withoutRetryAfter,
      failed: this.#failed,
      unsent: this.#unsent,
      acceptedPerSecond,
      p50Ms: percentile(this.#acceptedMs, 0.5),
      p99Ms: percentile(this.#acceptedMs, 0.99),
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
}

/** @param response undefined if the connection closed before its end */
type OnResponse = (connection: Connection, response: Response | undefined, ms: number) => void

/** A kept-alive connection with at most one request at a time. Reads no more of a response than its status, two headers and its end. */
class Connection {
  readonly #socket: Socket
  readonly #onResponse: OnResponse
  /** When the request was due; undefined between two requests. */
  #dueMs: number | undefined
  #received: Buffer | undefined
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

  send(request: Buffer, dueMs: number): void {
    this.#dueMs = dueMs
    this.#received = undefined
    this.#socket.write(request)
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(bytes: Buffer): void {
    this.#received = this.#received === undefined ? bytes : Buffer.concat([this.#received, bytes])
    const end = this.#received.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = this.#received.toString('latin1', 0, end)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    if (this.#received.length < end + 4 + length) return
    const status = Number(head.slice(9, 12))
    const retryAfter = status === 200 ? undefined : /\r\nretry-after: *(\S+)/i.exec(head)?.[1]
    this.#finish({ status, retryAfter })
  }

  #finish(response: Response | undefined): void {
    const dueMs = this.#dueMs
    if (dueMs === undefined) return
    this.#dueMs = undefined
    this.#onResponse(this, response, performance.now() - dueMs)
  }
}
