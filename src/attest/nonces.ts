import type { NonceSource } from '../wire/signing-messages.ts'

/**
 * The outcome of one read. `refusalReason` says why the service must not sign for the chain; it is undefined when the read
 * failed or timed out.
 */
export type NonceReading =
  | { readonly ok: true; readonly nonce: number }
  | { readonly ok: false; readonly refusalReason: string | undefined }

/** The nonce to sign with, or why the service must not sign for the chain. */
export type NonceResult =
  | { readonly ok: true; readonly nonce: number; readonly source: NonceSource }
  | { readonly ok: false; readonly refusalReason: string }

export interface NonceOptions {
  /** Reads the attester's nonce on a chain. The promise must settle and must not reject. */
  readonly read: (chainId: number) => Promise<NonceReading>
  /** Chains that have an RPC. Nonces of other chains are 0 and need no wait. */
  readonly readable: ReadonlySet<number>
  readonly maxAgeMs: number
  /** Time limit of one read. */
  readonly timeoutMs: number
  /** Reads a monotonic clock, in milliseconds. */
  readonly now: () => number
  /** Calls back after `ms` milliseconds; a parameter so that tests can control it. */
  readonly after: (ms: number, call: () => void) => void
}

/** The nonces of our attester, one for each chain. */
export interface Nonces {
  /**
   * Returns at once when the chain has no RPC, the last read is younger than `maxAgeMs`, or the RPC is failing or overdue.
   * Otherwise waits for a read, for at most twice `timeoutMs`.
   */
  get(chainId: number): NonceResult | Promise<NonceResult>
}

interface Read {
  /** Set when the read starts. */
  startedMs: number
  readonly result: Promise<NonceResult>
  /** Resolves `result` for all waiting callers. Later calls have no effect. */
  readonly settle: (isSuccess: boolean) => void
  isOverdue: boolean
}

interface Entry {
  /** From the last successful read; undefined before the first. */
  nonce: number | undefined
  /** When the last successful read started; the nonce was current at this time or later. */
  readAtMs: number
  refusalReason: string | undefined
  current: Read | undefined
  /** Starts when the current read ends. */
  next: Read | undefined
  /** Number of consecutive failed reads. */
  failures: number
  /** After a failed read, no new read starts before this time. */
  retryAtMs: number
}

const WITHOUT_RPC: NonceResult = { ok: true, nonce: 0, source: 'default' }
/** Longest pause after a failed read, as a multiple of `timeoutMs`. */
const MAX_PAUSE_TIMEOUTS = 4

/**
 * Provides the attester's nonce of each chain, from a read that started after the request (decision 127), or less than
 * `maxAgeMs` before it.
 *
 * EAS accepts only the current nonce. A client that submits a result, sees its block and sends another request must therefore
 * not get the nonce of an older read. Requests share reads: for each chain, at most one read is running and one is queued.
 *
 * A nonce is never reserved: all results between two submissions carry the same one. When the chain does not answer in time, the
 * last known nonce is used, or 0 if there is none: a missing nonce never makes signing fail (decision 100). After a failed read
 * the next one is delayed, so that a dead RPC does not slow down every request.
 */
export function createNonces({ read, readable, maxAgeMs, timeoutMs, now, after }: NonceOptions): Nonces {
  const entries = new Map<number, Entry>()
  for (const chainId of readable) {
    entries.set(chainId, {
      nonce: undefined,
      readAtMs: Number.NEGATIVE_INFINITY,
      refusalReason: undefined,
      current: undefined,
      next: undefined,
      failures: 0,
      retryAtMs: Number.NEGATIVE_INFINITY,
    })
  }

  return {
    get(chainId) {
      const entry = entries.get(chainId)
      if (entry === undefined) return WITHOUT_RPC
      const nowMs = now()
      // Strictly younger: with a maxAgeMs of 0, every request waits for a read that starts after it.
      if (nowMs - entry.readAtMs < maxAgeMs) return currentNonce(entry, 'chain')
      const { current } = entry
      if (current === undefined && entry.next === undefined) {
        if (nowMs < entry.retryAtMs) return currentNonce(entry, 'cache')
        entry.next = createRead(entry)
        // Deferred so that other requests of the same message can join this read.
        queueMicrotask(() => startNext(chainId, entry))
        return entry.next.result
      }
      if (current?.isOverdue) return currentNonce(entry, 'cache')
      if (current !== undefined && nowMs - current.startedMs < maxAgeMs) return current.result
      entry.next ??= createRead(entry)
      return entry.next.result
    },
  }

  function startNext(chainId: number, entry: Entry): void {
    const started = entry.next
    entry.next = undefined
    entry.current = started
    if (started === undefined) return
    started.startedMs = now()
    after(timeoutMs, () => {
      if (entry.current !== started) return
      started.isOverdue = true
      started.settle(false)
      dropNext(entry)
    })
    void read(chainId).then((reading) => {
      applyReading(entry, reading, started.startedMs) // useful for later requests even if it came too late for this one's
      started.settle(reading.ok)
      if (!reading.ok) dropNext(entry)
      startNext(chainId, entry)
    })
  }

  /** The RPC is slow or fails, so callers who wait for the next read get the last known nonce now. */
  function dropNext(entry: Entry): void {
    entry.next?.settle(false)
    entry.next = undefined
  }

  function applyReading(entry: Entry, reading: NonceReading, startedMs: number): void {
    if (reading.ok) {
      entry.nonce = reading.nonce
      entry.readAtMs = startedMs
      entry.refusalReason = undefined
      entry.failures = 0
      return
    }
    // A read that fails without a reason does not lift an earlier rejection.
    entry.refusalReason = reading.refusalReason ?? entry.refusalReason
    entry.retryAtMs = now() + timeoutMs * Math.min(2 ** entry.failures, MAX_PAUSE_TIMEOUTS)
    entry.failures++
  }
}

function createRead(entry: Entry): Read {
  let settle: Read['settle'] = () => {}
  const result = new Promise<NonceResult>((resolve) => {
    settle = (isSuccess) => resolve(currentNonce(entry, isSuccess ? 'chain' : 'cache'))
  })
  return { startedMs: Number.NaN, result, settle, isOverdue: false }
}

function currentNonce({ nonce, refusalReason }: Entry, source: NonceSource): NonceResult {
  if (refusalReason !== undefined) return { ok: false, refusalReason }
  return nonce === undefined ? WITHOUT_RPC : { ok: true, nonce, source }
}
