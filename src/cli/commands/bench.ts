import type { Client } from '../../client/client.ts'
import { ApiError, ConnectionError } from '../../client/transport.ts'
import { verifyResult } from '../../client/verify/verify-result.ts'
import type { ComputeResponse } from '../../types/generated.ts'
import { EXIT, type ExitCode, exitCodeForStatus, usage } from '../exit-codes.ts'
import { createServiceClient, DEFAULT_CHAIN_ID, type ServerOptions } from '../options.ts'
import { createProgress, outJson, type Terminal } from '../terminal.ts'

export interface BenchOptions extends ServerOptions {
  readonly seconds: number
  readonly concurrency: number
  readonly chainId?: number
  readonly json?: boolean
}

/** One result in this many is verified, after the measurement. */
const SAMPLE_EVERY = 100
/** Maximum number of latencies that are stored for the percentiles. */
const MAX_LATENCIES = 1_000_000

/** Runs `trigpoint bench load`, which requests distances between points that differ in each request. @returns 1 if a signature is wrong */
export async function runBench(what: 'load' | 'ops', options: BenchOptions, terminal: Terminal): Promise<ExitCode> {
  if (what === 'ops')
    throw usage('run the benchmark of the operations in a checkout: npm run bench (results are in docs/geodesy.md)')
  const chainId = options.chainId ?? DEFAULT_CHAIN_ID
  const client = await createServiceClient(options, terminal, chainId)
  const issuer = await client.issuer({ signal: terminal.signal })
  const load = new Load(client, options, terminal)
  const startedMs = performance.now()
  await load.run(startedMs)
  const seconds = (performance.now() - startedMs) / 1000
  let wrong = 0
  for (const response of load.sampled) if (!(await verifyResult(response, { issuer, chainId })).ok) wrong++
  const { requests, errors, errorStatus } = load
  const latenciesMs = load.latenciesMs.sort((a, b) => a - b)
  const report: Report = {
    requests,
    seconds,
    perSecond: requests / seconds,
    p50Ms: percentile(latenciesMs, 0.5),
    p90Ms: percentile(latenciesMs, 0.9),
    p99Ms: percentile(latenciesMs, 0.99),
    maxMs: latenciesMs.at(-1) ?? 0,
    errors: Object.fromEntries(errors),
    concurrency: options.concurrency,
    signaturesChecked: load.sampled.length,
    signaturesWrong: wrong,
  }
  if (options.json === true) await outJson(terminal, report)
  else await terminal.out(reportText(report))
  if (wrong > 0) return EXIT.failed
  if (requests > 0) return EXIT.ok
  return errorStatus === undefined ? EXIT.network : exitCodeForStatus(errorStatus)
}

/** The requests of one measurement. */
class Load {
  requests = 0
  readonly latenciesMs: number[] = []
  /** Responses to verify after the measurement. */
  readonly sampled: ComputeResponse[] = []
  /** Number of errors by kind. */
  readonly errors = new Map<string, number>()
  /** Status of the last error response. */
  errorStatus: number | undefined
  readonly #client: Client
  readonly #options: BenchOptions
  readonly #terminal: Terminal
  readonly #progress: ReturnType<typeof createProgress>

  constructor(client: Client, options: BenchOptions, terminal: Terminal) {
    this.#client = client
    this.#options = options
    this.#terminal = terminal
    this.#progress = createProgress(terminal, 'request')
  }

  async run(startedMs: number): Promise<void> {
    await Promise.all(
      Array.from({ length: this.#options.concurrency }, (_, sender) => this.#sendRequests(sender, startedMs)),
    )
    this.#progress.stop()
  }

  /** Sends the next request as soon as the response to the previous one has arrived. */
  async #sendRequests(sender: number, startedMs: number): Promise<void> {
    const { signal } = this.#terminal
    const durationMs = this.#options.seconds * 1000
    const isRefused = () => this.errorStatus === 429 || this.errorStatus === 401
    for (let step = 0; performance.now() < startedMs + durationMs && !signal.aborted && !isRefused(); step++) {
      const requestStartMs = performance.now()
      try {
        const call = { maxRetries: 0, signal }
        const response = await this.#client.compute.distance(point(sender, step), point(step, sender + 1), call)
        this.requests++
        if (this.requests % SAMPLE_EVERY === 1) this.sampled.push(response)
        if (this.latenciesMs.length < MAX_LATENCIES) this.latenciesMs.push(performance.now() - requestStartMs)
        this.#progress.update({
          done: this.requests,
          share: Math.min(1, (performance.now() - startedMs) / durationMs),
        })
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
        if (error instanceof ApiError) this.errorStatus = error.status
        const kind = error instanceof ApiError ? `${error.status} ${error.problem.title}` : 'no response'
        this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1)
        if (error instanceof ConnectionError) return // no service is listening, so there is nothing to measure
      }
    }
  }
}

/** Returns points that are spread over the globe by irrational steps, the same in every run. */
function point(a: number, b: number) {
  const fraction = (value: number) => value - Math.floor(value)
  const longitude = 360 * fraction(a * 0.618_033_988_75 + b * 0.754_877_666_2) - 180
  const latitude = 170 * fraction(a * 0.569_840_291 + b * 0.414_213_562_4) - 85
  return { type: 'Point' as const, coordinates: [longitude, latitude] as [number, number] }
}

/** @param sorted ascending */
function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

interface Report {
  readonly requests: number
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  readonly errors: Readonly<Record<string, number>>
  readonly concurrency: number
  readonly signaturesChecked: number
  readonly signaturesWrong: number
}

function reportText(report: Report): string {
  const ms = (value: number) => `${value.toFixed(2)} ms`
  const errors = Object.entries(report.errors).map(([kind, count]) => `${count} × ${kind}`)
  return [
    `${Math.round(report.perSecond).toLocaleString('en-US')} requests/s  (${report.requests.toLocaleString('en-US')} in ${report.seconds.toFixed(1)} s, ${report.concurrency} at once)`,
    `p50 ${ms(report.p50Ms)}  p90 ${ms(report.p90Ms)}  p99 ${ms(report.p99Ms)}  max ${ms(report.maxMs)}`,
    `errors: ${errors.length === 0 ? 'none' : errors.join(', ')}`,
    `signatures: ${report.signaturesChecked} checked, ${report.signaturesWrong} wrong`,
    'The client uses a core as well, so this measures client and service together. The rate is limited by one core of the client, and',
    'on a machine of few cores it takes that from the service: wrk measures more (npm run bench -- load in a checkout).',
    '',
  ].join('\n')
}
