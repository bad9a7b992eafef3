/** Messages between the main thread and the thread that checks answers with independent libraries. */
import type { AnswerSample } from './compute-messages.ts'

/**
 * What became of a sample. `agreed` and `disagreed`: an independent library computed it too. `undecided`: the library computes with
 * doubles, which cannot decide this case. `unchecked`: no library judges this answer, or the check failed. `dropped`: too many
 * samples waited.
 */
export const CROSS_CHECK_OUTCOMES = ['agreed', 'disagreed', 'undecided', 'unchecked', 'dropped'] as const

export type CrossCheckOutcome = (typeof CROSS_CHECK_OUTCOMES)[number]

/** The result of one check. */
export interface Verdict {
  readonly outcome: Exclude<CrossCheckOutcome, 'dropped'>
  /** The library's name and version; undefined if none was asked. */
  readonly engine?: string
  /** The library's answer, if it differs from ours: also for an undecided sample. */
  readonly other?: number | boolean | string
}

export type CrossCheckRequest = { readonly type: 'check'; readonly sample: AnswerSample } | { readonly type: 'close' }

export type CrossCheckReply =
  | { readonly type: 'ready' }
  | { readonly type: 'verdict'; readonly verdict: Verdict; readonly tookMs: number }
