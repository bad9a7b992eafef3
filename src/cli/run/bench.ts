import { ApiError, ConnectionError } from '../../client/api-error.ts'
import { verifyResult } from '../../client/verify-result.ts'
import type { ComputeResponse } from '../../types/generated.ts'
import { EXIT, type ExitCode, exitOfStatus, usage } from '../exit-codes.ts'
import { clientOf, DEFAULT_CHAIN_ID, type ServerOptions } from '../options.ts'
import { createProgress } from '../progress.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface BenchOptions extends ServerOptions {
  readonly seconds: number
  readonly concurrency: number
  readonly chainId?: number
  readonly json?: boolean
}

/** One answer in so many is checked, after the clock has stopped. */
const SAMPLE_EVERY = 100
/** Times kept for the percentiles. */
const MAX_TIMES = 1_000_000

/** `trigpoint bench load`: distances between points that are never the same. @returns 1 when a signature is wrong */
export async function runBench(what: 'load' | 'ops', options: BenchOptions, terminal: Terminal): Promise<ExitCode> {
  if (what === 'ops')
    throw usage('the operations are measured in a checkout: npm run bench (docs/geodesy.md has the figures)')
  const chainId = options.chainId ?? DEFAULT_CHAIN_ID
  const client = await clientOf(options, terminal, chainId)
  const issuer = await client.issuer({ signal: terminal.signal })
  const progress = createProgress(terminal, 'request')
  const times: number[] = []
  const sampled: ComputeResponse[] = []
  const errors = new Map<string, number>()
  let requests = 0
  let refusal: number | undefined
  const startedMs = performance.now()
  const endMs = startedMs + options.seconds * 1000
  await Promise.all(Array.from({ length: options.concurrency }, (_, lane) => ask(lane)))
  const seconds = (performance.now() - startedMs) / 1000
  progress.stop()
  const wrong = await countWrong()
  times.sort((a, b) => a - b)
  const [p50, p90, p99] = [0.5, 0.9, 0.99].map((share) => percentile(times, share))
  const report = {
    requests,
    seconds,
    perSecond: requests / seconds,
    p50Ms: p50,
    p90Ms: p90,
    p99Ms: p99,
    maxMs: times.at(-1) ?? 0,
    errors: Object.fromEntries(errors),
    concurrency: options.concurrency,
    signaturesChecked: sampled.length,
    signaturesWrong: wrong,
  }
  if (options.json === true) await outJson(terminal, report)
  else await terminal.out(reportText(report))
  if (wrong > 0) return EXIT.failed
  if (requests > 0) return EXIT.ok
  return refusal === undefined ? EXIT.network : exitOfStatus(refusal)

  /** A lane asks again as soon as it is answered. */
  async function ask(lane: number): Promise<void> {
    for (
      let turn = 0;
      performance.now() < endMs && !terminal.signal.aborted && refusal !== 429 && refusal !== 401;
      turn++
    ) {
      const beganMs = performance.now()
      try {
        const answer = await client.compute.distance(point(lane, turn), point(turn, lane + 1), {
          maxRetries: 0,
          signal: terminal.signal,
        })
        requests++
        if (requests % SAMPLE_EVERY === 1) sampled.push(answer)
        if (times.length < MAX_TIMES) times.push(performance.now() - beganMs)
        progress.update({
          done: requests,
          share: Math.min(1, (performance.now() - startedMs) / (options.seconds * 1000)),
        })
      } catch (error) {
        if (terminal.signal.aborted) return
        if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error
        if (error instanceof ApiError) refusal = error.status
        const kind = error instanceof ApiError ? `${error.status} ${error.problem.title}` : 'no answer'
        errors.set(kind, (errors.get(kind) ?? 0) + 1)
        if (error instanceof ConnectionError) return // nobody is there: asking on would measure nothing
      }
    }
  }

  async function countWrong(): Promise<number> {
    let count = 0
    for (const answer of sampled) if (!(await verifyResult(answer, { issuer, chainId })).ok) count++
    return count
  }
}

/** Spread over the globe by two irrational steps, the same in every run. */
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
    'This client takes a core of its own: what is measured is the two together.',
    '',
  ].join('\n')
}
