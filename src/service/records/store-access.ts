import { ProblemError } from '../../base/problem.ts'
import { PROGRAM } from '../../base/version.ts'
import type { Config } from '../../config/config.ts'
import type { StoreCaller, StoreClient } from '../../threads/store-client.ts'
import { encodeCursor } from '../../validation/record-query.ts'
import {
  type RecordPage,
  type RecordQuery,
  type StoreArgument,
  StoreFault,
  type StoreOperation,
  type StoreResult,
} from '../../wire/store-messages.ts'
import type { RequestContext } from '../request.ts'
import { lastKey } from './documents.ts'

/** Seconds after which a client may try again when the store is busy, opening or damaged. */
const RETRY_SECONDS = 1
const OPENING_RETRY_SECONDS = 2
const DAMAGED_RETRY_SECONDS = 60

/** The problem of a request for records that would wait too long. One object, because an overload makes many refusals. */
export const STORE_BUSY = recordsUnavailable('too many requests wait for the database; try again').data

/** Runs a store operation for a client. A fault of the store becomes a problem, never an empty result. */
export type StoreAccess = <O extends StoreOperation>(
  operation: O,
  argument: StoreArgument<O>,
  context: Pick<RequestContext, 'deadlineMs'> & StoreCaller,
) => Promise<StoreResult<O>>

export interface StoreAccessParts {
  readonly config: Config
  /** Undefined if the service stores no records. */
  readonly store: StoreClient | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Longest time that an operation may take; that of a read by default. */
  readonly answerMs?: number
}

export function createStoreAccess({
  config,
  store,
  now,
  answerMs = config.limits.storeReadMs,
}: StoreAccessParts): StoreAccess {
  return async (operation, argument, context) => {
    if (store === undefined) throw recordsUnavailable('this deployment keeps no records (RECORDS=0)')
    try {
      await store.untilOpen(Math.min(context.deadlineMs, now() + config.limits.storeWaitMs), context)
      const deadlineMs = Math.min(context.deadlineMs, now() + answerMs)
      return await store.ask(operation, argument, deadlineMs, context)
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error
      if (error.kind === 'unavailable') throw recordsUnavailable('the database is not available; try again', error)
      if (error.kind === 'busy') throw new ProblemError(STORE_BUSY, { cause: error })
      if (error.kind === 'opening')
        throw recordsUnavailable('the store is opening; try again in a few seconds', error, OPENING_RETRY_SECONDS)
      if (error.kind === 'damaged') throw recordsUnavailable(DAMAGED, error, DAMAGED_RETRY_SECONDS)
      if (error.kind === 'full') throw recordsUnavailable(FULL, error, OPENING_RETRY_SECONDS)
      if (error.kind === 'late')
        throw recordsUnavailable('the database did not answer in time; try again, or request fewer records', error)
      if (error.kind === 'large') throw pageTooLarge(error.message, error)
      if (error.kind === 'deep') throw offsetTooLarge(error.message, error)
      throw error
    }
  }
}

/** A page of records as JSON, joined with commas, and the number of matching records on all pages. */
type ListedPage = Pick<RecordPage, 'length' | 'count' | 'isEstimate' | 'next'> & { readonly documents: string | Buffer }

/** Returns the header of a page whose count is an estimate. */
export function estimateHeader({ isEstimate }: Pick<RecordPage, 'isEstimate'>): Record<string, string> {
  return isEstimate === true ? { 'X-Count': 'estimated' } : {}
}

/**
 * Returns the cursor of the next page; undefined on the last page.
 *
 * The count tells whether a page follows. But when a reorganisation has removed records since the first page, the count is lower
 * than the offset of the cursor assumes. So the store is asked before a full page after a cursor is called the last one.
 *
 * @param idsByName chain IDs by name
 */
export async function findNextCursor(
  ask: StoreAccess,
  { documents, length, count, isEstimate, next }: ListedPage,
  query: RecordQuery,
  idsByName: ReadonlyMap<string, number>,
  context: Parameters<StoreAccess>[2],
): Promise<string | undefined> {
  if (next !== undefined) return encodeCursor(next, query.offset + length)
  if (length < query.limit) return undefined
  const end = query.offset + query.limit
  const after = lastKey(documents, idsByName)
  // With an estimate, the page after the last one may be empty.
  if (end < count || isEstimate === true) return encodeCursor(after, end)
  if (query.after === undefined) return undefined
  const following = await ask('page', { ...query, after, limit: 1 }, context)
  return following.length === 0 ? undefined : encodeCursor(after, end)
}

const DAMAGED = `the store is damaged: its operator has to run \`${PROGRAM} store check\`, then \`${PROGRAM} store rebuild\``
const FULL = 'the disk of the store is full: its operator has to make room; then it continues by itself'

/** Makes the problem for a page that is too large (400); the client can request a smaller one. */
export function pageTooLarge(size: string, cause?: unknown): ProblemError {
  const detail = `${size}: ask for a smaller limit, or for an export`
  return new ProblemError({ type: 'invalid-input', message: 'Page too large', detail }, { cause })
}

/** Makes the problem for an offset that cannot be reached in time (400). */
function offsetTooLarge(reason: string, cause: unknown): ProblemError {
  const detail = `${reason}: start without offset and follow the Link header, or narrow the filter`
  return new ProblemError({ type: 'invalid-input', message: 'Offset too large', detail }, { cause })
}

/** Makes the record API's problem for records that cannot be read now (503). */
export function recordsUnavailable(detail: string, cause?: unknown, retryAfterSeconds = RETRY_SECONDS): ProblemError {
  return new ProblemError(
    { type: 'overloaded', message: 'Records are not available', detail, retryAfterSeconds },
    { cause },
  )
}
