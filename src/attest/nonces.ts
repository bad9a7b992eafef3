import type { NonceSource } from '../messages.ts'

/** What a reader found: the attester's nonce on the chain, why the chain must not be signed for, or nothing in time. */
export type NonceReading =
  | { readonly ok: true; readonly nonce: number }
  | { readonly ok: false; readonly refusal: string | undefined }

/** What to sign with. */
export type NonceAnswer =
  | { readonly ok: true; readonly nonce: number; readonly source: NonceSource }
  | { readonly ok: false; readonly refusal: string }

export interface NonceOptions {
  /** Reads a nonce; settles in the end and never rejects. */
  readonly read: (chainId: number) => Promise<NonceReading>
  /** Chains that have an RPC; the others never wait and always get 0. */
  readonly readable: ReadonlySet<number>
  readonly maxAgeMs: number
  /** Longest wait for one read. */
  readonly timeoutMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Calls back after some milliseconds; a parameter so that tests can fix it. */
  readonly after: (ms: number, call: () => void) => void
}

/** Nonces of our attester, one per chain. */
export interface Nonces {
  /** At once where the nonce is young enough or the chain has no RPC; otherwise within the time limit. */
  get(chainId: number): NonceAnswer | Promise<NonceAnswer>
}

interface Entry {
  /** Of the last good read; undefined before it. */
  nonce: number | undefined
  /** When the last good read began: its answer is at least this young. */
  readAtMs: number
  refusal: string | undefined
  isReading: boolean
  /** What callers wait for: true when the read under way was good, false when it failed or the time is over. */
  outcome: Promise<boolean> | undefined
  /** No new read before this time, after one that failed. */
  retryAtMs: number
}

const WITHOUT_RPC: NonceAnswer = { ok: true, nonce: 0, source: 'default' }

/**
 * The attester's nonce of each chain, at most `maxAgeMs` old (decision 88), read by one call at a time and chain.
 *
 * A nonce is never reserved: every answer in between carries the same one, for EAS takes only the current one. When the
 * chain does not answer in time the last known nonce serves, else 0: signing never fails for want of a nonce
 * (decision 100). After a failure the next read waits, so that a dead RPC costs one wait and not one per request.
 */
export function createNonces({ read, readable, maxAgeMs, timeoutMs, now, after }: NonceOptions): Nonces {
  const entries = new Map<number, Entry>()
  for (const chainId of readable) {
    entries.set(chainId, {
      nonce: undefined,
      readAtMs: Number.NEGATIVE_INFINITY,
      refusal: undefined,
      isReading: false,
      outcome: undefined,
      retryAtMs: Number.NEGATIVE_INFINITY,
    })
  }

  return {
    get(chainId) {
      const entry = entries.get(chainId)
      if (entry === undefined) return WITHOUT_RPC
      const nowMs = now()
      // Strictly younger: with 0 every call that finds no read under way starts one.
      if (nowMs - entry.readAtMs < maxAgeMs) return answerOf(entry, 'chain')
      if (!entry.isReading && nowMs >= entry.retryAtMs) start(chainId, entry)
      return entry.outcome === undefined
        ? answerOf(entry, 'cache')
        : entry.outcome.then((isGood) => answerOf(entry, isGood ? 'chain' : 'cache'))
    },
  }

  function start(chainId: number, entry: Entry): void {
    const startedMs = now()
    entry.isReading = true
    const outcome = new Promise<boolean>((resolve) => {
      const end = (isGood: boolean) => {
        if (entry.outcome === outcome) entry.outcome = undefined
        resolve(isGood)
      }
      after(timeoutMs, () => end(false))
      void read(chainId).then((reading) => {
        entry.isReading = false
        note(entry, reading, startedMs) // also when it comes too late for those who waited
        end(reading.ok)
      })
    })
    entry.outcome = outcome
  }

  function note(entry: Entry, reading: NonceReading, startedMs: number): void {
    if (reading.ok) {
      entry.nonce = reading.nonce
      entry.readAtMs = startedMs
      entry.refusal = undefined
      return
    }
    // Silence does not lift a refusal.
    entry.refusal = reading.refusal ?? entry.refusal
    entry.retryAtMs = now() + Math.max(maxAgeMs, timeoutMs)
  }

  function answerOf({ nonce, refusal }: Entry, source: NonceSource): NonceAnswer {
    if (refusal !== undefined) return { ok: false, refusal }
    return nonce === undefined ? WITHOUT_RPC : { ok: true, nonce, source }
  }
}
