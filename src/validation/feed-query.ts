import type { JournalPosition, RecordQuery } from '../wire/store-messages.ts'
import type { Hex } from '../wire/values.ts'
import { addFilter, FILTER_PARAMETERS } from './ogc-query.ts'
import { ListParameters, readAddress, readChain, readRecordQuery, recordProblem } from './record-query.ts'

const EXPORT_PARAMETERS = [
  ...['f', 'chain', 'prover', 'subject', 'fromTimestamp', 'toTimestamp', 'bbox'],
  ...FILTER_PARAMETERS,
] as const
/** What an export has in place of parameters of `/ogc`. */
const EXPORT_HINTS = {
  datetime: 'fromTimestamp and toTimestamp',
  'bbox-crs': 'a bbox in degrees',
  crs: 'ogr2ogr -t_srs',
}

/**
 * Reads the filters of an export: those of a list, without paging, and a filter in CQL2. Unknown parameters are rejected rather than
 * ignored, because a client of all records would not notice that its filter has no effect (decision 172).
 *
 * @throws {ProblemError} on the first parameter that is unknown, is malformed, is repeated or selects a page
 */
export function readExportQuery(search: string, chains: ReadonlyMap<string, number>): RecordQuery {
  const parameters = new ListParameters(search)
  const pageParameter = ['limit', 'offset', 'cursor'].find((name) => parameters.names.includes(name))
  if (pageParameter !== undefined) {
    throw recordProblem(
      `Invalid ${pageParameter} parameter`,
      `an export contains every matching record; remove ${pageParameter}`,
    )
  }
  parameters.requireKnown(EXPORT_PARAMETERS, EXPORT_HINTS, true)
  return addFilter(readRecordQuery(search, chains).query, parameters, chains)
}

/** The filters of a stream of changes, combined with AND. */
export interface ChangeFilter {
  readonly chain: string | undefined
  readonly prover: Hex | undefined
  readonly subject: Hex | undefined
}

const STREAM_PARAMETERS = ['chain', 'prover', 'subject', 'lastEventId'] as const

/**
 * Reads the filters of a stream. Parameters that only lists support are rejected rather than ignored, because a client of a quiet
 * stream would not notice that its filter has no effect.
 *
 * @throws {ProblemError} on an unknown, malformed or repeated parameter
 */
export function readStreamQuery(search: string, chains: ReadonlyMap<string, number>): ChangeFilter {
  const parameters = new ListParameters(search)
  parameters.requireKnown(STREAM_PARAMETERS)
  const [chain, prover, subject] = (['chain', 'prover', 'subject'] as const).map((name) => parameters.single(name))
  if (chain !== undefined) readChain(chain, chains)
  return {
    chain,
    prover: prover === undefined ? undefined : readAddress('prover', prover),
    subject: subject === undefined ? undefined : readAddress('subject', subject),
  }
}

/** Formats a position in the journal of changes as the ID of an event. */
export function encodeEventId({ epoch, number, position }: JournalPosition): string {
  return `${epoch}-${number}-${position}`
}

/**
 * Parses the ID of an event.
 *
 * @throws {ProblemError} on a text that `encodeEventId` would not return
 */
export function readEventId(text: string): JournalPosition {
  const match = /^([0-9a-f]{12})-(\d{1,15})-(\d{1,16})$/.exec(text)
  if (match === null)
    throw recordProblem('Invalid Last-Event-ID', 'send the unchanged id of an event of this stream, or omit it')
  const [, epoch, number, position] = match as unknown as [string, string, string, string]
  return { epoch, number: Number(number), position: Math.min(Number(position), Number.MAX_SAFE_INTEGER) }
}

/**
 * Reads one query parameter of the sync API. Other parameters are ignored.
 *
 * @param search the raw query string, without the question mark
 * @returns undefined if it is absent
 * @throws {ProblemError} if it is repeated
 */
export function readSyncParameter(search: string, name: string): string | undefined {
  const values = new URLSearchParams(search.slice(0, 4096)).getAll(name)
  if (values.length > 1) throw recordProblem('Duplicate parameter', `${name} appears more than once; send it once`)
  return values[0]
}
