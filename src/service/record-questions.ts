import type { Config } from '../config.ts'
import { ProblemError } from '../problem.ts'
import { type StoreArgument, StoreFault, type StoreOperation, type StoreResult } from '../store-messages.ts'
import type { StoreClient } from '../threads/store-client.ts'
import type { RequestContext } from './services.ts'

/** Seconds after which a store that is too busy, opening or damaged is worth another try. */
const RETRY_SECONDS = 1
const OPENING_RETRY_SECONDS = 2
const DAMAGED_RETRY_SECONDS = 60

/** Asks the store for a client: what it cannot answer is refused, never an empty answer. */
export type RecordQuestion = <O extends StoreOperation>(
  operation: O,
  argument: StoreArgument<O>,
  context: Pick<RequestContext, 'deadlineMs'>,
) => Promise<StoreResult<O>>

export interface RecordQuestionParts {
  readonly config: Config
  /** undefined when no records are kept. */
  readonly store: StoreClient | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

export function createRecordQuestions({ config, store, now }: RecordQuestionParts): RecordQuestion {
  return async (operation, argument, context) => {
    if (store === undefined) throw recordsUnavailable('this deployment keeps no records (RECORDS=0)')
    try {
      await store.untilOpen(Math.min(context.deadlineMs, now() + config.limits.storeWaitMs))
      return await store.ask(operation, argument, Math.min(context.deadlineMs, now() + config.limits.storeReadMs))
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error
      if (error.kind === 'unavailable') throw recordsUnavailable('the database is not available; try again', error)
      if (error.kind === 'busy') throw recordsUnavailable('too many requests wait for the database; try again', error)
      if (error.kind === 'opening')
        throw recordsUnavailable('the store is opening; try again in a few seconds', error, OPENING_RETRY_SECONDS)
      if (error.kind === 'damaged') throw recordsUnavailable(DAMAGED, error, DAMAGED_RETRY_SECONDS)
      if (error.kind === 'late')
        throw recordsUnavailable('the database did not answer in time; try again, or ask for less', error)
      if (error.kind === 'large') throw pageTooLarge(error.message, error)
      throw error
    }
  }
}

const DAMAGED =
  'the store is damaged: its operator has to restore a backup or let the records be read from the chains again'

/** 400: the client can ask for less. */
export function pageTooLarge(found: string, cause?: unknown): ProblemError {
  const detail = `${found}: ask for a smaller limit, or for an export`
  return new ProblemError({ type: 'invalid-input', message: 'Page too large', detail }, { cause })
}

/** 503 in the words of the record API. */
export function recordsUnavailable(detail: string, cause?: unknown, retryAfterSeconds = RETRY_SECONDS): ProblemError {
  return new ProblemError(
    { type: 'overloaded', message: 'Records are not available', detail, retryAfterSeconds },
    { cause },
  )
}
