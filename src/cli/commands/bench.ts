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

/** Runs `trigpoint bench load`, which requests distances between ever-changing points. @returns 1 if a signature is wrong */
export async function runBench(what: 'load' | 'ops', options: BenchOptions, terminal: Terminal): Promise<ExitCode> {
  if (what === 'ops')
    throw usage('run the benchmark of the operations in a checkout: npm run bench (results are in docs/geodesy.md)')
  const chainId = options.chainId ?? DEFAULT_CHAIN_ID
  const client = await createServiceClient(options, terminal, chainId)
  const issuer = await client.issuer({ signal: terminal.signal })
  const progress = createProgress(terminal, 'request')
  const latenciesMs: number[] = []
  const sampled: ComputeResponse[] = []
  const errors = new Map<string, number>()
  let requests = 0
  let errorStatus: number | undefined
  const startedMs = performance.now()
  const endMs = startedMs + options.seconds * 1000
  await Promise.all(Array.from({ length: options.concurrency }, (_, lane) => sendRequests(lane)))
  const seconds = (performance.now() - startedMs) / 1000
  progress.stop()
  const wrong = await countWrong()
  latenciesMs.sort((a, b) => a - b)
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => percentile(latenciesMs, share))
  const report = {
    requests,
    seconds,
    perSecond: requests / seconds,
    p50Ms: p50,
    p90Ms: p90,
    p99Ms: p99,
    maxMs: latenciesMs.at(-1) ?? 0,
    errors: Object.fromEntries(errors),
    concurrency: options.concurrency,
    signaturesChecked: sampled.length,
    signaturesWrong: wrong,
  }
  if (options.json === true) await outJson(terminal, report)
  else await terminal.out(reportText(report))
  if (wrong > 0) return EXIT.failed
  if (requests > 0) return EXIT.ok
  return errorStatus === undefined ? EXIT.network : exitCodeForStatus(errorStatus)

  /** Sends the next request as soon as the response to the previous one has arrived. */
  async function sendRequests(lane: number): Promise<void> {
    for (
      let step = 0;
      performance.now() < endMs && !terminal.signal.aborted && errorStatus !== 429 && errorStatus !== 401;
      step++
    ) {
      const requestStartMs = performance.now()
      try {
        const response = await client.compute.distance(point(lane, step), point(step, lane + 1), {
          maxRetries: 0,
          signal: terminal.signal,
        })
        requests++
        if (requests % SAMPLE_EVERY === 1) sampled.push(response)
        if (latenciesMs.length < MAX_LATENCIES) latenciesMs.push(performance.now() - requestStartMs)
        progress.update({
          done: requests,
          share: Math.min(1, (performance.now() - startedMs) / (options.seconds * 1000)),
        })
      } catch (error) {
        if (terminal.signal.aborted) return
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
        if (error instanceof ApiError) errorStatus = error.status
        const kind = error instanceof ApiError ? `${error.status} ${error.problem.title}` : 'no response'
        errors.set(kind, (errors.get(kind) ?? 0) + 1)
        if (error instanceof ConnectionError) return // no service is listening, so there is nothing to measure
      }
    }
  }

  async function countWrong(): Promise<number> {
    let count = 0
    for (const response of sampled) if (!(await verifyResult(response, { issuer, chainId })).ok) count++
    return count
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
  readonly p50Ms: number | undefined
  readonly p90Ms: number | undefined
  readonly p99Ms: number | undefined
  readonly maxMs: number
  readonly errors: Readonly<Record<string, number>>
  readonly concurrency: number
  readonly signaturesChecked: number
  readonly signaturesWrong: number
}

function reportText(report: Report): string {
  const ms = (value: number | undefined) => `${(value ?? 0).toFixed(2)} ms`
  const errors = Object.entries(report.errors).map(([kind, count]) => `${count} × ${kind}`)
  return [
    `${Math.round(report.perSecond).toLocaleString('en-US')} requests/s  (${report.requests.toLocaleString('en-US')} in ${report.seconds.toFixed(1)} s, ${report.concurrency} at once)`,
    `p50 ${ms(report.p50Ms)}  p90 ${ms(report.p90Ms)}  p99 ${ms(report.p99Ms)}  max ${ms(report.maxMs)}`,
    `errors: ${errors.length === 0 ? 'none' : errors.join(', ')}`,
    `signatures: ${report.signaturesChecked} checked, ${report.signaturesWrong} wrong`,
    'The client uses a core as well, so this measures client and service together.',
    '',
  ].join('\n')
}
