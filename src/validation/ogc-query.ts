import { parseDecimal } from '../base/decimal.ts'
import type { Bounds, RecordFilter, RecordQuery } from '../wire/store-messages.ts'
import type { Hex } from '../wire/values.ts'
import { readFilter } from './cql2.ts'
import {
  DEFAULT_LIMIT,
  ListParameters,
  MAX_LIMIT,
  readAddress,
  readChain,
  readCursor,
  readInteger,
  readTimestamp,
  recordProblem,
} from './record-query.ts'
import { type Crs, readBoxIn, readCrs } from './reference-systems.ts'

/** The parameters that `addFilter` reads. */
export const FILTER_PARAMETERS = ['filter', 'filter-lang', 'filter-crs'] as const

/** Query parameters of the features of a collection. All others are rejected (Part 1, 7.15.1 and 8.2). */
const ITEM_PARAMETERS = [
  'bbox',
  'bbox-crs',
  'datetime',
  'limit',
  'chain',
  'prover',
  'subject',
  ...FILTER_PARAMETERS,
  'crs',
  'cursor',
  'f',
] as const
const FORMATS = ['json', 'geojson', 'html']
const FILTER_LANGUAGES = ['cql2-text', 'cql2-json'] as const

/** A validated request for features. */
export interface ItemsRequest {
  readonly query: RecordQuery
  /** Reference system of the coordinates in the response. */
  readonly crs: Crs
  /** The parameters without limit and cursor, for the URL of the next page. */
  readonly filters: readonly (readonly [name: string, value: string])[]
}

/**
 * Reads the query parameters of `/items` of OGC API Features.
 *
 * @param search the raw query string, without the question mark
 * @param chains chain IDs by name
 * @throws {ProblemError} on the first parameter that is unknown, malformed or repeated
 */
export function readItemsQuery(search: string, chains: ReadonlyMap<string, number>): ItemsRequest {
  const parameters = new ListParameters(search)
  parameters.requireKnown(ITEM_PARAMETERS)
  const values = Object.fromEntries(ITEM_PARAMETERS.map((name) => [name, parameters.single(name)] as const))
  const { bbox, datetime, limit, chain, prover, subject, crs, cursor, f } = values
  checkFormat(f)
  const continuation = cursor === undefined ? undefined : readCursor(cursor)
  const bboxCrs = readCrs('bbox-crs', values['bbox-crs'])
  const query: RecordQuery = {
    ...(chain === undefined ? {} : { chainId: readChain(chain, chains) }),
    ...(prover === undefined ? {} : { prover: readAddress('prover', prover) }),
    ...(subject === undefined ? {} : { subject: readAddress('subject', subject) }),
    ...(datetime === undefined ? {} : readDatetime(datetime)),
    ...(bbox === undefined ? {} : { bbox: readFeatureBbox(bbox, bboxCrs) }),
    limit: Math.min(readInteger('limit', limit, DEFAULT_LIMIT, 1, Number.POSITIVE_INFINITY), MAX_LIMIT),
    ...(continuation === undefined ? { offset: 0 } : { offset: continuation.offset, after: continuation.after }),
  }
  const { limit: _, cursor: __, ...filters } = values
  return {
    query: addFilter(query, parameters, chains),
    crs: readCrs('crs', crs),
    filters: Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined),
  }
}

/**
 * Adds the condition in CQL2 to a query, if the parameters have one.
 *
 * @throws {ProblemError} on a condition, language or reference system that is not supported
 */
export function addFilter(
  query: RecordQuery,
  parameters: ListParameters,
  chains: ReadonlyMap<string, number>,
): RecordQuery {
  const [filter, language, crs] = FILTER_PARAMETERS.map((name) => parameters.single(name))
  const context = { chains, crs: readCrs('filter-crs', crs) }
  const knownLanguage = readFilterLanguage(language)
  return filter === undefined ? query : withFilter(query, readFilter(filter, knownLanguage, context))
}

function readFilterLanguage(text = 'cql2-text'): (typeof FILTER_LANGUAGES)[number] {
  const language = FILTER_LANGUAGES.find((known) => known === text)
  if (language !== undefined) return language
  throw recordProblem('Invalid filter-lang parameter', `filter-lang must be one of ${FILTER_LANGUAGES.join(', ')}`)
}

/** Adds a filter to a query. A condition that is also a list parameter becomes one, because the columns in memory serve those. */
function withFilter(query: RecordQuery, filter: RecordFilter): RecordQuery {
  const listed: { -readonly [Member in keyof RecordQuery]: RecordQuery[Member] } = { ...query }
  const remaining = (filter.op === 'and' ? filter.args : [filter]).filter((condition) => {
    if (condition.op === 's_intersects' && listed.bbox === undefined) listed.bbox = condition.bbox
    else if (condition.op === '=' && condition.property === 'chain' && listed.chainId === undefined)
      listed.chainId = condition.value as number
    else if (condition.op === '=' && condition.property === 'prover' && listed.prover === undefined)
      listed.prover = condition.value as Hex
    else if (condition.op === '=' && condition.property === 'subject' && listed.subject === undefined)
      listed.subject = condition.value as Hex
    else return true
    return false
  })
  if (remaining.length === 0) return listed
  return { ...listed, filter: remaining.length === 1 ? remaining[0]! : { op: 'and', args: remaining } }
}

/**
 * Reads the query parameters of all other resources, which only take `f`.
 *
 * @throws {ProblemError} on another parameter or an unknown format
 */
export function readFormatOnly(search: string): void {
  const parameters = new ListParameters(search)
  parameters.requireKnown(['f'])
  checkFormat(parameters.single('f'))
}

/**
 * Reads the query parameters of one feature.
 *
 * @throws {ProblemError} on an unknown parameter, format or reference system
 */
export function readItemQuery(search: string): Crs {
  const parameters = new ListParameters(search)
  parameters.requireKnown(['crs', 'f'])
  checkFormat(parameters.single('f'))
  return readCrs('crs', parameters.single('crs'))
}

function checkFormat(format: string | undefined): void {
  if (format === undefined || FORMATS.includes(format)) return
  throw recordProblem('Invalid f parameter', `f must be one of ${FORMATS.join(', ')}`)
}

/** Reads a box of four numbers, or of six with heights. Heights are ignored, because records have none. */
function readFeatureBbox(text: string, crs: Crs): Bounds {
  const texts = text.split(',')
  if (texts.length === 4) return readBoxIn(crs, texts)
  if (texts.length !== 6)
    throw recordProblem('Invalid bbox format', `Expected 4 or 6 numbers: ${texts.length} are given`)
  const [west, south, low, east, north, high] = texts as [string, string, string, string, string, string]
  const box = readBoxIn(crs, [west, south, east, north])
  const [lowMeters, highMeters] = [parseDecimal(low), parseDecimal(high)]
  if (lowMeters !== undefined && highMeters !== undefined && lowMeters <= highMeters) return box
  throw recordProblem('Invalid bbox format', 'in six numbers, the third and the sixth are heights, the lower one first')
}

/** Reads a time, or an interval of which one end may be open, as a range of event times. */
function readDatetime(text: string): Pick<RecordQuery, 'fromSeconds' | 'toSeconds'> {
  const parts = text.split('/')
  const isOpen = (part: string) => part === '' || part === '..'
  if (parts.length > 2 || parts.every(isOpen)) throw invalidDatetime()
  const [start, end = start] = parts as [string, string?]
  const range = {
    ...(isOpen(start) ? {} : { fromSeconds: Math.ceil(readTime(start, 0) / 1000) }),
    ...(isOpen(end) ? {} : { toSeconds: Math.floor(readTime(end, END_OF_DAY_MS) / 1000) }),
  }
  // An instant between two whole seconds also gives an end before its start. It matches nothing, because event times are whole
  // seconds.
  if (parts.length === 2 && range.fromSeconds! > range.toSeconds! + 1) throw invalidDatetime()
  return range
}

const END_OF_DAY_MS = 86_400_000 - 1

/** @param timeOfDayMs time of day for a date without a time */
function readTime(text: string, timeOfDayMs: number): number {
  const milliseconds = readTimestamp(text)
  if (milliseconds === undefined) throw invalidDatetime()
  return milliseconds + (text.includes('T') || text.includes('t') || text.includes(' ') ? 0 : timeOfDayMs)
}

function invalidDatetime(): Error {
  return recordProblem(
    'Invalid datetime parameter',
    'datetime must be a time such as 2026-01-31T12:00:00Z, or start/end with the earlier time first; .. is an open end',
  )
}
