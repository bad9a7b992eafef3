import { type RpcClient, type RpcEndpoint, RpcError } from './rpc.ts'

export interface RpcListParts {
  readonly chainId: number
  readonly clients: readonly RpcClient[]
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** 0 ≤ value < 1: endpoints that failed together are not asked again together. */
  readonly random: () => number
  /** Longest time an endpoint is left alone. */
  readonly maxBenchMs: number
  /** Told once each time an endpoint is left alone; `place` counts from 1 in the order of the configuration. */
  readonly onBench?: (place: number, reason: string) => void
}

/** How an endpoint does. */
export interface RpcStanding {
  /** Counts from 1 in the order of the configuration: names and addresses may be secrets. */
  readonly place: number
  readonly isBenched: boolean
  readonly failures: number
  readonly latencyMs: number | undefined
}

/** The endpoints of one chain, the best of them first. */
export interface RpcList {
  /**
   * Asks the best endpoint that is not left alone, then the next. One whose answer is an `RpcError` is left alone for a while:
   * 2ⁿ seconds after the n-th failure in a row.
   *
   * @param ask throws {RpcError} to go on with the next endpoint
   * @param except places not to be asked
   * @throws {RpcError} of the last one, when none is left
   */
  use<T>(ask: (endpoint: RpcEndpoint) => Promise<T>, except?: ReadonlySet<number>): Promise<T>
  /** Leaves an endpoint alone whose answers were found to be wrong later. */
  bench(place: number, reason: string): void
  readonly size: number
  standings(): readonly RpcStanding[]
  /** All of them as one: answers of JSON-RPC that are errors are the caller's, everything else goes to the next endpoint. */
  readonly client: RpcClient
}

interface Entry {
  readonly endpoint: RpcEndpoint
  isVerified: boolean
  failures: number
  benchedUntilMs: number
  /** Moving average. */
  latencyMs: number | undefined
}

const FIRST_BENCH_MS = 1000
/** Weight of the newest answer in the average. */
const NEWEST_SHARE = 0.2
/** Failures in a row weigh as much as that slow an answer. */
const FAILURE_MS = 1000

export function createRpcList(parts: RpcListParts): RpcList {
  const { chainId, clients, now, random, maxBenchMs, onBench } = parts
  const entries: Entry[] = clients.map((client, index) => {
    const entry: Entry = {
      endpoint: {
        place: index + 1,
        request: (method, params) => timed(entry, client.request(method, params)),
        requestAll: (calls) => timed(entry, client.requestAll(calls)),
      },
      isVerified: false,
      failures: 0,
      benchedUntilMs: Number.NEGATIVE_INFINITY,
      latencyMs: undefined,
    }
    return entry
  })

  const list: RpcList = {
    async use(ask, except) {
      let failure: RpcError | undefined
      const tried = new Set<Entry>()
      for (;;) {
        const entry = best((candidate) => !tried.has(candidate) && !except?.has(candidate.endpoint.place))
        if (entry === undefined) break
        tried.add(entry)
        try {
          await verify(entry)
          const answer = await ask(entry.endpoint)
          entry.failures = 0
          return answer
        } catch (error) {
          if (!(error instanceof RpcError)) throw error
          failure = error
          leaveAlone(entry, error.message)
        }
      }
      throw failure ?? new RpcError('every endpoint of this chain is left alone for a while', { failure: 'silent' })
    },
    bench(place, reason) {
      leaveAlone(entries[place - 1]!, reason)
    },
    size: entries.length,
    standings: () =>
      entries.map(({ endpoint, benchedUntilMs, failures, latencyMs }) => ({
        place: endpoint.place,
        isBenched: now() < benchedUntilMs,
        failures,
        latencyMs,
      })),
    client: {
      request: (method, params) => unwrapped((rpc) => rpc.request(method, params)),
      requestAll: (calls) => unwrapped((rpc) => rpc.requestAll(calls)),
    },
  }
  return list

  async function timed<T>(entry: Entry, answer: Promise<T>): Promise<T> {
    const startedMs = now()
    try {
      return await answer
    } finally {
      const tookMs = now() - startedMs
      entry.latencyMs = (entry.latencyMs ?? tookMs) * (1 - NEWEST_SHARE) + tookMs * NEWEST_SHARE
    }
  }

  async function unwrapped<T>(ask: (rpc: RpcClient) => Promise<T>): Promise<T> {
    const outcome = await list.use(async (rpc) => {
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

  function best(isOpen: (entry: Entry) => boolean): Entry | undefined {
    const cost = ({ failures, latencyMs }: Entry) => failures * FAILURE_MS + (latencyMs ?? 0)
    return entries
      .filter((entry) => isOpen(entry) && now() >= entry.benchedUntilMs)
      .reduce<Entry | undefined>(
        (left, right) => (left === undefined || cost(right) < cost(left) ? right : left),
        undefined,
      )
  }

  /** Before its first answer is believed, and again whenever it failed: behind a name may stand another node by then. */
  async function verify(entry: Entry): Promise<void> {
    if (entry.isVerified) return
    const served = await entry.endpoint.request('eth_chainId', [])
    if (typeof served !== 'string' || Number(served) !== chainId) {
      throw new RpcError(`an endpoint for chain ${chainId} serves chain ${Number(served)}`)
    }
    entry.isVerified = true
  }

  function leaveAlone(entry: Entry, reason: string): void {
    const benchMs = Math.min(FIRST_BENCH_MS * 2 ** entry.failures, maxBenchMs)
    entry.failures++
    entry.isVerified = false
    entry.benchedUntilMs = now() + benchMs * (0.5 + random() / 2)
    onBench?.(entry.endpoint.place, reason)
  }
}
