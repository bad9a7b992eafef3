import { createTransport, type TransportOptions } from '../../client/transport.ts'
import { formatCount, groupDigits, printable, type Terminal } from '../terminal.ts'
import type { Feeder } from './feeder.ts'

/** What remains of the hourly limit, as the service reports it. */
interface RemainingLimit {
  readonly items: number
  /** Unix seconds at which the limit is reset. */
  readonly resetSeconds: number
}

/** With more items there is no notice, because reading the file twice would take too long. */
const MAX_COUNTED_ITEMS = 100_000
/** Short, because the notice is optional. */
const TIMEOUT_MS = 2000

/**
 * Warns on standard error, before any item is sent, that the hourly limit will end the run.
 *
 * @param feeder a separate feeder, because it is read up to the limit and closed
 * @param skipped number of items that an earlier run has done
 */
export async function warnAboutLimit<Item>(
  feeder: Feeder<Item>,
  skipped: number,
  service: TransportOptions,
  terminal: Terminal,
): Promise<void> {
  try {
    const remaining = await fetchRemainingLimit(service, terminal.signal)
    if (remaining === undefined || skipped + remaining.items >= MAX_COUNTED_ITEMS) return
    if (!(await feeder.skip(skipped)) || !(await hasMore(feeder, remaining.items))) return
    terminal.err(
      `the hourly limit allows ${formatCount(remaining.items, 'more item')} until ${resetText(remaining)}, and the file has more: the run will end there\n`,
    )
  } catch {
    // If the service or the file cannot be read, the run itself reports it.
  } finally {
    await feeder.close()
  }
}

/** Returns the time at which the hourly limit is reset; undefined if the service does not say. */
export async function fetchResetTime(service: TransportOptions, signal: AbortSignal): Promise<string | undefined> {
  try {
    const remaining = await fetchRemainingLimit(service, signal)
    return remaining === undefined ? undefined : resetText(remaining)
  } catch {
    return undefined
  }
}

function resetText({ resetSeconds }: RemainingLimit): string {
  return `${new Date(resetSeconds * 1000).toISOString().slice(0, 19)}Z`
}

/** Asks the service with a request that does not count. Returns undefined if the response has no limit headers. */
async function fetchRemainingLimit(
  service: TransportOptions,
  signal: AbortSignal,
): Promise<RemainingLimit | undefined> {
  const call = { method: 'GET', path: '/health' } as const
  const response = await createTransport(service).open(call, { signal, timeoutMs: TIMEOUT_MS, maxRetries: 0 })
  for await (const _ of response.pieces()) {
    // An unread body would keep the connection open.
  }
  const [items, resetSeconds] = ['x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => response.headers.get(name))
  return isCount(items) && isCount(resetSeconds)
    ? { items: Number(items), resetSeconds: Number(resetSeconds) }
    : undefined
}

async function hasMore<Item>(feeder: Feeder<Item>, items: number): Promise<boolean> {
  let count = 0
  for await (const entries of feeder.unanswered()) {
    for (const _ of entries) feeder.settle()
    count += entries.length
    if (count > items) return true
  }
  return false
}

function isCount(text: string | null | undefined): text is string {
  return /^\d{1,12}$/.test(text ?? '')
}

interface Summary {
  /** Number of items, including those of earlier runs. */
  readonly items: number
  readonly failed: number
  /** Number of items that earlier runs had done. */
  readonly skipped: number
  readonly seconds: number
  /** The first rejection of this run, as text. */
  readonly firstRejection: string | undefined
}

/** Prints the outcome of a batch. It goes to standard error if the results go to standard output. */
export async function printSummary(
  summary: Summary,
  options: { readonly output: string; readonly errors: string; readonly json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { items, failed, seconds, skipped, firstRejection } = summary
  const { output, errors } = options
  const isPiped = output === '-'
  // The reason is probably the same for all items. In a pipe the errors are on the terminal already.
  if (items > 0 && failed === items && firstRejection !== undefined && !isPiped)
    terminal.err(printable(`every item was rejected; the first: ${firstRejection}\n`))
  // The rate of a very short run is meaningless.
  const speed = seconds < 0.1 ? '' : `, ${groupDigits(Math.round((items - skipped) / seconds))} items/s`
  if (options.json === true) {
    const line = JSON.stringify({
      items,
      results: items - failed,
      failed,
      skipped,
      seconds,
      output: options.output,
      errors,
    })
    if (isPiped) terminal.err(`${line}\n`)
    else await terminal.out(`${line}\n`)
    return
  }
  const outputText = isPiped ? '' : ` in ${output}`
  const rejectedText = failed === 0 ? '' : `, ${groupDigits(failed)} rejected${isPiped ? '' : ` (${errors})`}`
  const text = `${formatCount(items - failed, 'result')}${outputText}${rejectedText}; ${seconds.toFixed(1)} s${speed}\n`
  if (isPiped) terminal.err(text)
  else await terminal.out(text)
}
