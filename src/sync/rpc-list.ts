import { parseQuantity, type RpcClient, type RpcEndpoint, RpcError } from './rpc.ts'

interface RpcListParts {
  readonly chainId: number
  readonly clients: readonly RpcClient[]
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Returns 0 ≤ value < 1. Spreads the retries of endpoints that failed at the same time. */
  readonly random: () => number
  /** The longest suspension of an endpoint. */
  readonly maxSuspensionMs: number
  /** Called once for each suspension of an endpoint, with its index. See `EndpointStatus`. */
  readonly onSuspend?: (index: number, reason: string) => void
}

/** The state of an endpoint. */
interface EndpointStatus {
  /** Counts from 1 in the order of the configuration. Messages use it because addresses may be secret. */
  readonly index: number
  readonly isSuspended: boolean
  readonly failures: number
  readonly latencyMs: number | undefined
}

interface Entry {
  readonly endpoint: RpcEndpoint
  isVerified: boolean
  failures: number
  /** How often its responses turned out to be wrong later. */
  timesWrong: number
  suspendedUntilMs: number
  /** Moving average of the response time. */
  latencyMs: number | undefined
}

const FIRST_SUSPENSION_MS = 1000
/** Weight of the newest response in the average. */
const NEWEST_SHARE = 0.2
/** Each failure in a row counts as this much latency. */
const FAILURE_PENALTY_MS = 1000

/** The endpoints of one chain, ordered by quality. */
export class RpcList {
  /** All endpoints as one client. JSON-RPC errors go to the caller; after any other failure the next endpoint is tried. */
  readonly client: RpcClient = {
    request: (method, params) => this.#passThrough((rpc) => rpc.request(method, params)),
    requestAll: (calls) => this.#passThrough((rpc) => rpc.requestAll(calls)),
  }
  readonly #parts: RpcListParts
  readonly #entries: readonly Entry[]

  constructor(parts: RpcListParts) {
    this.#parts = parts
    this.#entries = parts.clients.map((client, index) => this.#createEntry(client, index + 1))
  }

  get size(): number {
    return this.#entries.length
  }

  /** More than half of the endpoints. */
  get majority(): number {
    return Math.floor(this.size / 2) + 1
  }

  /**
   * Tries the best endpoint that is not suspended, then the next. An endpoint that fails with an `RpcError` is suspended: for
   * at most 1, 2, 4 … seconds after the first, second, third … failure in a row, up to the longest suspension.
   *
   * @param ask throws {RpcError} to continue with the next endpoint
   * @param except endpoints to skip
   * @throws {RpcError} of the last endpoint, when none is left
   */
  async use<T>(ask: (endpoint: RpcEndpoint) => Promise<T>, except?: ReadonlySet<number>): Promise<T> {
    let failure: RpcError | undefined
    const tried = new Set<Entry>()
    for (;;) {
      const entry = this.#findBest((candidate) => !tried.has(candidate) && !except?.has(candidate.endpoint.index))
      if (entry === undefined) break
      tried.add(entry)
      try {
        await this.#verify(entry)
        const result = await ask(entry.endpoint)
        entry.failures = 0
        return result
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        failure = error
        this.#suspend(entry, error.message)
      }
    }
    throw failure ?? new RpcError('every endpoint of this chain is suspended', { failure: 'silent' })
  }

  /** Does what `use` does, but returns undefined when no endpoint is left. */
  async tryUse<T>(ask: (endpoint: RpcEndpoint) => Promise<T>, except?: ReadonlySet<number>): Promise<T | undefined> {
    try {
      return await this.use(ask, except)
    } catch (error) {
      if (error instanceof RpcError) return undefined
      throw error
    }
  }

  /**
   * Suspends an endpoint whose responses turned out to be wrong later. Each time counts like one more failure in a row, also after
   * responses that seem right. So endpoints that were wrong less often are used before it.
   */
  suspend(index: number, reason: string): void {
    const entry = this.#entries[index - 1]!
    this.#suspend(entry, reason)
    entry.timesWrong++
  }

  statuses(): readonly EndpointStatus[] {
    const { now } = this.#parts
    return this.#entries.map(({ endpoint, suspendedUntilMs, failures, latencyMs }) => ({
      index: endpoint.index,
      isSuspended: now() < suspendedUntilMs,
      failures,
      latencyMs,
    }))
  }

  #createEntry(client: RpcClient, index: number): Entry {
    const entry: Entry = {
      endpoint: {
        index,
        request: (method, params) => this.#measureLatency(entry, client.request(method, params)),
        requestAll: (calls) => this.#measureLatency(entry, client.requestAll(calls)),
      },
      isVerified: false,
      failures: 0,
      timesWrong: 0,
      suspendedUntilMs: Number.NEGATIVE_INFINITY,
      latencyMs: undefined,
    }
    return entry
  }

  /** Adds the time until a response, or until a failure, to the endpoint's average. */
  async #measureLatency<T>(entry: Entry, response: Promise<T>): Promise<T> {
    const startedMs = this.#parts.now()
    try {
      return await response
    } finally {
      const tookMs = this.#parts.now() - startedMs
      entry.latencyMs = (entry.latencyMs ?? tookMs) * (1 - NEWEST_SHARE) + tookMs * NEWEST_SHARE
    }
  }

  /** Returns the candidate with the lowest latency and the fewest failures that is not suspended. */
  #findBest(isCandidate: (entry: Entry) => boolean): Entry | undefined {
    const cost = ({ failures, timesWrong, latencyMs }: Entry) =>
      (failures + timesWrong) * FAILURE_PENALTY_MS + (latencyMs ?? 0)
    return this.#entries
      .filter((entry) => isCandidate(entry) && this.#parts.now() >= entry.suspendedUntilMs)
      .reduce<Entry | undefined>(
        (left, right) => (left === undefined || cost(right) < cost(left) ? right : left),
        undefined,
      )
  }

  /** Checks the chain id before the first use and after each failure, because the address may then reach another node. */
  async #verify(entry: Entry): Promise<void> {
    if (entry.isVerified) return
    const { chainId } = this.#parts
    const served = parseQuantity(await entry.endpoint.request('eth_chainId', []))
    if (served !== chainId) throw new RpcError(`an endpoint for chain ${chainId} serves chain ${served}`)
    entry.isVerified = true
  }

  #suspend(entry: Entry, reason: string): void {
    const { now, random, maxSuspensionMs, onSuspend } = this.#parts
    const suspensionMs = Math.min(FIRST_SUSPENSION_MS * 2 ** (entry.failures + entry.timesWrong), maxSuspensionMs)
    entry.failures++
    entry.isVerified = false
    entry.suspendedUntilMs = now() + suspensionMs * (0.5 + random() / 2)
    onSuspend?.(entry.endpoint.index, reason)
  }

  /** Uses the best endpoint. A JSON-RPC error goes to the caller and does not suspend the endpoint. */
  async #passThrough<T>(ask: (rpc: RpcClient) => Promise<T>): Promise<T> {
    const outcome = await this.use(async (rpc) => {
      try {
        return { value: await ask(rpc) }
      } catch (error) {
        if (error instanceof RpcError && error.failure === 'error') return { error }
        throw error
      }
    })
    if ('error' in outcome) throw outcome.error
    return outcome.value
  }
}
