import { createTransport, type TransportOptions } from '../../client/transport.ts'
import type { Terminal } from '../terminal.ts'
import type { Feeder } from './feeder.ts'

/** What the service says is left of the hour's limit. */
interface LimitLeft {
  readonly items: number
  /** Unix seconds; from then on there are more. */
  readonly resetSeconds: number
}

/** Beyond so many nobody counts: reading the file a second time would take more than a moment. */
const MAX_COUNTED_ITEMS = 100_000
/** What is only a courtesy waits for nobody. */
const TIMEOUT_MS = 2000

/**
 * Says on standard error, before anything is sent, that the hourly limit will end the run.
 *
 * @param feeder one of its own, for it is read, as far as the limit goes, and closed
 * @param skipped items that an earlier run has done
 */
export async function noticeLimit(
  feeder: Feeder,
  skipped: number,
  service: TransportOptions,
  terminal: Terminal,
): Promise<void> {
  try {
    const left = await limitLeft(service, terminal.signal)
    if (left === undefined || skipped + left.items >= MAX_COUNTED_ITEMS) return
    if (!(await feeder.skip(skipped)) || !(await hasMore(feeder, left.items))) return
    const until = `${new Date(left.resetSeconds * 1000).toISOString().slice(0, 19)}Z`
    terminal.err(
      `there are more items than the ${left.items.toLocaleString('en-US')} that the hourly limit leaves until ${until}: the run will end there\n`,
    )
  } catch {
    // Without an answer, or a file that can be read to there, the run itself says what is wrong.
  } finally {
    await feeder.close()
  }
}

/** Asks by a request that does not count. @returns undefined where the service does not say it */
async function limitLeft(service: TransportOptions, signal: AbortSignal): Promise<LimitLeft | undefined> {
  const call = { method: 'GET', path: '/health' } as const
  const answer = await createTransport(service).open(call, { signal, timeoutMs: TIMEOUT_MS, maxRetries: 0 })
  for await (const _ of answer.pieces()) {
    // Left unread it would hold its connection.
  }
  const [items, resetSeconds] = ['x-ratelimit-remaining', 'x-ratelimit-reset'].map((name) => answer.headers.get(name))
  return isCount(items) && isCount(resetSeconds)
    ? { items: Number(items), resetSeconds: Number(resetSeconds) }
    : undefined
}

async function hasMore(feeder: Feeder, items: number): Promise<boolean> {
  let count = 0
  for await (const _ of feeder.items()) {
    feeder.settle()
    if (++count > items) return true
  }
  return false
}

function isCount(text: string | null | undefined): text is string {
  return /^\d{1,12}$/.test(text ?? '')
}
