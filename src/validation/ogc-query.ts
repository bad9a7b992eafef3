import type { Bounds, RecordQuery } from '../store-messages.ts'
import {
  DEFAULT_LIMIT,
  ListParameters,
  MAX_LIMIT,
  readAddress,
  readBbox,
  readChain,
  readCursor,
  readInteger,
  recordProblem,
} from './record-query.ts'
import { readTimestamp } from './timestamp.ts'

/** Query parameters of the features of a collection; what is not among them is refused (Part 1, 7.15.1 and 8.2). */
const ITEM_PARAMETERS = ['bbox', 'datetime', 'limit', 'chain', 'prover', 'subject', 'cursor', 'f'] as const
const FORMATS = ['json', 'geojson']

/** A checked request for features. */
export interface ItemsRequest {
  readonly query: RecordQuery
  /** The parameters again, for the address of the next page: without limit and cursor. */
  readonly filters: readonly (readonly [name: string, value: string])[]
}

/**
 * Reads the parameters of `/items` of OGC API Features.
 *
 * @param search as sent, without the question mark
 * @param chains ids by name
 * @throws {ProblemError} on the first parameter that is unknown, malformed or stands twice
 */
export function readItemsQuery(search: string, chains: ReadonlyMap<string, number>): ItemsRequest {
  const parameters = new ListParameters(search)
  refuseUnknown(parameters, ITEM_PARAMETERS)
  const given = Object.fromEntries(ITEM_PARAMETERS.map((name) => [name, parameters.single(name)] as const))
  const { bbox, datetime, limit, chain, prover, subject, cursor, f } = given
  refuseFormat(f)
  const place = cursor === undefined ? undefined : readCursor(cursor)
  return {
    query: {
      ...(chain === undefined ? {} : { chainId: readChain(chain, chains) }),
      ...(prover === undefined ? {} : { prover: readAddress('prover', prover) }),
      ...(subject === undefined ? {} : { subject: readAddress('subject', subject) }),
      ...(datetime === undefined ? {} : readDatetime(datetime)),
      ...(bbox === undefined ? {} : { bbox: readFeatureBbox(bbox) }),
      limit: Math.min(readInteger('limit', limit, DEFAULT_LIMIT, 1, Number.POSITIVE_INFINITY), MAX_LIMIT),
      ...(place === undefined ? { offset: 0 } : { offset: place.offset, after: place.after }),
    },
    filters: Object.entries({ bbox, datetime, chain, prover, subject, f }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    ),
  }
}

/**
 * Reads the parameters of every other resource: `f` alone.
 *
 * @throws {ProblemError}
 */
export function readFormatOnly(search: string): void {
  const parameters = new ListParameters(search)
  refuseUnknown(parameters, ['f'])
  refuseFormat(parameters.single('f'))
}

function refuseUnknown(parameters: ListParameters, known: readonly string[]): void {
  const unknown = parameters.names.find((name) => !known.includes(name))
  if (unknown === undefined) return
  throw recordProblem('Unknown parameter', `${JSON.stringify(unknown.slice(0, 40))}; known here: ${known.join(', ')}`)
}

function refuseFormat(format: string | undefined): void {
  if (format === undefined || FORMATS.includes(format)) return
  throw recordProblem('Invalid f parameter', `f must be one of ${FORMATS.join(', ')}`)
}

/** Four numbers, or six with heights between them, which say nothing here: records have none. */
function readFeatureBbox(text: string): Bounds {
  const texts = text.split(',')
  if (texts.length !== 6) return readBbox(texts)
  const [west, south, low, east, north, high] = texts as [string, string, string, string, string, string]
  const box = readBbox([west, south, east, north])
  if (low.trim() !== '' && high.trim() !== '' && Number(low) <= Number(high)) return box
  throw recordProblem('Invalid bbox format', 'of six numbers the third and sixth are heights, the lower one first')
}

/** A time, or two with a slash between them of which one may be open, as seconds of the event. */
function readDatetime(text: string): Pick<RecordQuery, 'fromSeconds' | 'toSeconds'> {
  const parts = text.split('/')
  const isOpen = (part: string) => part === '' || part === '..'
  if (parts.length > 2 || parts.every(isOpen)) throw invalidDatetime()
  const [start, end = start] = parts as [string, string?]
  const span = {
    ...(isOpen(start) ? {} : { fromSeconds: Math.ceil(readTime(start, 0) / 1000) }),
    ...(isOpen(end) ? {} : { toSeconds: Math.floor(readTime(end, LAST_OF_DAY_MS) / 1000) }),
  }
  // An instant between two seconds also ends before it begins, and matches nothing: times of events are whole seconds.
  if (parts.length === 2 && span.fromSeconds! > span.toSeconds! + 1) throw invalidDatetime()
  return span
}

const LAST_OF_DAY_MS = 86_400_000 - 1

/** @param ofDayMs which time a date alone stands for, from its beginning */
function readTime(text: string, ofDayMs: number): number {
  const milliseconds = readTimestamp(text)
  if (milliseconds === undefined) throw invalidDatetime()
  return milliseconds + (text.includes('T') || text.includes('t') || text.includes(' ') ? 0 : ofDayMs)
}

function invalidDatetime(): Error {
  return recordProblem(
    'Invalid datetime parameter',
    'datetime must be a time such as 2026-01-31T12:00:00Z, or two with a slash between them, the earlier one first; .. is open',
  )
}
