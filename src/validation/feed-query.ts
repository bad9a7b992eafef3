import type { Hex } from '../messages.ts'
import type { ChangePlace, RecordQuery } from '../store-messages.ts'
import { ListParameters, readAddress, readChain, readRecordQuery, recordProblem } from './record-query.ts'

/**
 * Reads the filters of an export: those of a list, without a page of it.
 *
 * @throws {ProblemError} on the first parameter that is malformed, stands twice or names a page
 */
export function readExportQuery(search: string, chains: ReadonlyMap<string, number>): RecordQuery {
  const { names } = new ListParameters(search)
  const page = ['limit', 'offset', 'cursor'].find((name) => names.includes(name))
  if (page !== undefined) {
    throw recordProblem(`Invalid ${page} parameter`, `an export has every record that matches; leave ${page} out`)
  }
  return readRecordQuery(search, chains).query
}

/** What a stream of changes is narrowed by. */
export interface ChangeFilter {
  readonly chain: string | undefined
  readonly prover: Hex | undefined
  readonly subject: Hex | undefined
}

const FILTERS = ['chain', 'prover', 'subject', 'lastEventId'] as const

/**
 * Reads the filters of a stream. What narrows a list alone is refused: a client would take silence for nothing new.
 *
 * @throws {ProblemError}
 */
export function readStreamQuery(search: string, chains: ReadonlyMap<string, number>): ChangeFilter {
  const parameters = new ListParameters(search)
  const unknown = parameters.names.find((name) => !FILTERS.some((known) => known === name))
  if (unknown !== undefined) {
    throw recordProblem(
      'Unknown parameter',
      `${JSON.stringify(unknown.slice(0, 40))}; known here: ${FILTERS.join(', ')}`,
    )
  }
  const [chain, prover, subject] = (['chain', 'prover', 'subject'] as const).map((name) => parameters.single(name))
  if (chain !== undefined) readChain(chain, chains)
  return {
    chain,
    prover: prover === undefined ? undefined : readAddress('prover', prover),
    subject: subject === undefined ? undefined : readAddress('subject', subject),
  }
}

/** A place in the journal of changes as the id of an event. */
export function eventId({ epoch, number, position }: ChangePlace): string {
  return `${epoch}-${number}-${position}`
}

/** @throws {ProblemError} on anything but what `eventId` made */
export function readEventId(text: string): ChangePlace {
  const match = /^([0-9a-f]{12})-(\d{1,15})-(\d{1,16})$/.exec(text)
  if (match === null)
    throw recordProblem('Invalid Last-Event-ID', 'send the id of an event of this stream as it is, or none')
  const [, epoch, number, position] = match as unknown as [string, string, string, string]
  return { epoch, number: Number(number), position: Math.min(Number(position), Number.MAX_SAFE_INTEGER) }
}
