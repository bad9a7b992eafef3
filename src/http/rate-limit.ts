import type { Tier } from '../config.ts'
import type { ProblemData } from '../problem.ts'

/** Whose requests are counted together: an address key or the name of an API key. */
export type Subject = number | string

/** The running hour of one subject. */
export interface RateWindow {
  /** Requests counted, at most the limit. */
  used: number
  /** Unix seconds; the window is over from then on. */
  readonly endSeconds: number
}

const WINDOW_SECONDS = 3600

/**
 * Counts requests in windows of one hour, each beginning with its subject's first request (decision 91).
 *
 * All windows have the same length, so the map's order of insertion is the order of their ends, and what is over stands
 * in front. When the map is full the oldest window goes: memory stays bounded, at the price that its
 * subject begins a new hour early.
 */
export class RateLimiter {
  readonly #windows = new Map<Subject, RateWindow>()
  readonly #maxSubjects: number

  constructor(maxSubjects: number) {
    this.#maxSubjects = maxSubjects
  }

  get size(): number {
    return this.#windows.size
  }

  /** @returns undefined when the subject has no running window; none is begun */
  peek(subject: Subject, nowMs: number): RateWindow | undefined {
    const window = this.#windows.get(subject)
    return window !== undefined && window.endSeconds * 1000 > nowMs ? window : undefined
  }

  /** The subject's running window; begins one when there is none. */
  open(subject: Subject, nowMs: number): RateWindow {
    const window = this.#windows.get(subject)
    if (window !== undefined) {
      if (window.endSeconds * 1000 > nowMs) return window
      this.#windows.delete(subject)
    }
    this.#forgetSome(nowMs)
    // From the start of the second: what the client is told is exactly what counts.
    const fresh = { used: 0, endSeconds: Math.floor(nowMs / 1000) + WINDOW_SECONDS }
    this.#windows.set(subject, fresh)
    return fresh
  }

  /** Two a new one: the map shrinks faster than it grows, and nobody pays for a long sweep. */
  #forgetSome(nowMs: number): void {
    let isFull = this.#windows.size >= this.#maxSubjects
    let looked = 0
    for (const [subject, window] of this.#windows) {
      if (looked++ === 2 || (!isFull && window.endSeconds * 1000 > nowMs)) return
      this.#windows.delete(subject)
      isFull = false
    }
  }
}

/** Counts as many of some requests as the window still has. @returns how many */
export function takeSome(window: RateWindow, limit: number, requests: number): number {
  const granted = Math.max(0, Math.min(requests, limit - window.used))
  window.used += granted
  return granted
}

/** Where an answer says how long to wait: a refusal as a whole has `Retry-After`, what is refused within an answer has not. */
const WAITS = {
  answer: 'Retry-After has the seconds to wait',
  item: 'X-RateLimit-Reset has the Unix seconds when the hour ends',
} as const

/**
 * The refusal of what the window does not allow any more.
 *
 * @param tier of the caller: only who has no key is told to send one
 */
export function limitReached(limit: number, tier: Tier, refused: keyof typeof WAITS): ProblemData {
  const reached = `the limit of ${limit} requests per hour is reached`
  const more = tier === 'public' ? ', and an API key (X-API-Key or Authorization: Bearer) raises the limit' : ''
  return {
    type: 'rate-limited',
    detail: `${reached}; ${WAITS[refused]}${more}`,
    places: [{ pointer: '#', detail: reached, code: 'limit' }],
  }
}

/** The numbers of the headers, as the request that carries them saw them. */
export interface RateStatus {
  limit: number
  remaining: number
  /** Unix seconds. */
  resetSeconds: number
}

/** @param window undefined: nothing was counted yet, an hour would begin now */
export function rateStatus(window: RateWindow | undefined, limit: number, nowMs: number): RateStatus {
  return window === undefined
    ? { limit, remaining: limit, resetSeconds: Math.floor(nowMs / 1000) + WINDOW_SECONDS }
    : { limit, remaining: Math.max(0, limit - window.used), resetSeconds: window.endSeconds }
}

/** Seconds until the reset, at least 0; what `Retry-After` and `RateLimit-Reset` say. */
export function secondsUntil(resetSeconds: number, nowMs: number): number {
  return Math.max(0, resetSeconds - Math.floor(nowMs / 1000))
}
