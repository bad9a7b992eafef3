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
  /**
   * Returns at once when the chain has no RPC or the operator allows the age of the last read; otherwise after a read, and after
   * two time limits at most.
   */
  get(chainId: number): NonceAnswer | Promise<NonceAnswer>
}

interface Read {
  /** Set when the read begins. */
  startedMs: number
  readonly answer: Promise<NonceAnswer>
  /** Gives the answer to all who wait for this read. Further calls change nothing. */
  readonly settle: (isGood: boolean) => void
  isOverdue: boolean
}

interface Entry {
  /** Of the last good read; undefined before it. */
  nonce: number | undefined
  /** When the last good read began: its nonce is at least this young. */
  readAtMs: number
  refusal: string | undefined
  current: Read | undefined
  /** Begins when the current read ends. */
  next: Read | undefined
  /** Reads that failed in a row. */
  failures: number
  /** No new read before this time, after one that failed. */
  retryAtMs: number
}

const WITHOUT_RPC: NonceAnswer = { ok: true, nonce: 0, source: 'default' }
/** Longest pause after a failed read, in time limits of a read. */
const LONGEST_PAUSE = 4

/**
 * The attester's nonce of each chain, from a read that began after the question (decision 127), or at most `maxAgeMs` before it.
 *
 * EAS accepts only the current nonce. A client that submits an answer, sees its block and asks again must therefore not get the
 * result of an older read. Questions share reads: at most one read of a chain is under way and one waits for its end.
 *
 * A nonce is never reserved: all answers between two submissions carry the same one. When the chain does not answer in time,
 * the last known nonce serves, else 0: signing never fails for lack of a nonce (decision 100). After a failure the next read
 * waits, so that a dead RPC does not delay every request.
 */
export function createNonces({ read, readable, maxAgeMs, timeoutMs, now, after }: NonceOptions): Nonces {
  const entries = new Map<number, Entry>()
  for (const chainId of readable) {
    entries.set(chainId, {
      nonce: undefined,
      readAtMs: Number.NEGATIVE_INFINITY,
      refusal: undefined,
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
      // Strictly younger: with an age of 0 every question waits for a read of its own time.
      if (nowMs - entry.readAtMs < maxAgeMs) return answerOf(entry, 'chain')
      const { current } = entry
      if (current === undefined && entry.next === undefined) {
        if (nowMs < entry.retryAtMs) return answerOf(entry, 'cache')
        entry.next = createRead(entry)
        // Questions of the same message still join this read.
        queueMicrotask(() => begin(chainId, entry))
        return entry.next.answer
      }
      if (current?.isOverdue) return answerOf(entry, 'cache')
      if (current !== undefined && nowMs - current.startedMs < maxAgeMs) return current.answer
      entry.next ??= createRead(entry)
      return entry.next.answer
    },
  }

  function begin(chainId: number, entry: Entry): void {
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
      note(entry, reading, started.startedMs) // also when it comes too late for those who waited
      started.settle(reading.ok)
      if (!reading.ok) dropNext(entry)
      begin(chainId, entry)
    })
  }

  /** The RPC is slow or fails: those who wait for the next read are answered now, with what is known. */
  function dropNext(entry: Entry): void {
    entry.next?.settle(false)
    entry.next = undefined
  }

  function note(entry: Entry, reading: NonceReading, startedMs: number): void {
    if (reading.ok) {
      entry.nonce = reading.nonce
      entry.readAtMs = startedMs
      entry.refusal = undefined
      entry.failures = 0
      return
    }
    // Silence does not lift a refusal.
    entry.refusal = reading.refusal ?? entry.refusal
    entry.retryAtMs = now() + timeoutMs * Math.min(2 ** entry.failures, LONGEST_PAUSE)
    entry.failures++
  }
}

function createRead(entry: Entry): Read {
  let settle: Read['settle'] = () => {}
  const answer = new Promise<NonceAnswer>((resolve) => {
    settle = (isGood) => resolve(answerOf(entry, isGood ? 'chain' : 'cache'))
  })
  return { startedMs: Number.NaN, answer, settle, isOverdue: false }
}

function answerOf({ nonce, refusal }: Entry, source: NonceSource): NonceAnswer {
  if (refusal !== undefined) return { ok: false, refusal }
  return nonce === undefined ? WITHOUT_RPC : { ok: true, nonce, source }
}
