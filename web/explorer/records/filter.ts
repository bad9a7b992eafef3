/** The filter of the records page: parameters of the record API, which the URL of the page holds too. */
import type { RecordQuery } from '../../../src/client/records.ts'

export interface RecordFilter {
  readonly chain: string
  readonly prover: string
  readonly subject: string
  readonly fromTimestamp: string
  readonly toTimestamp: string
  /** West, south, east, north, separated by commas; empty for everywhere. */
  readonly bbox: string
  readonly limit: number
  readonly offset: number
  /** The record whose details are shown; not a parameter of the list. */
  readonly uid: string
}

export const NO_FILTER: RecordFilter = {
  chain: '',
  prover: '',
  subject: '',
  fromTimestamp: '',
  toTimestamp: '',
  bbox: '',
  limit: 25,
  offset: 0,
  uid: '',
}
export const LIMITS = [25, 50, 100, 250]
/** Records on the map: the most that the API returns in one response. */
export const ON_MAP = 1000

export function readFilter(query: URLSearchParams): RecordFilter {
  const text = (name: keyof RecordFilter) => query.get(name) ?? ''
  const number = (name: 'limit' | 'offset') => {
    const value = Number(query.get(name) ?? Number.NaN)
    return Number.isInteger(value) && value >= 0 ? value : NO_FILTER[name]
  }
  return {
    chain: text('chain'),
    prover: text('prover'),
    subject: text('subject'),
    fromTimestamp: text('fromTimestamp'),
    toTimestamp: text('toTimestamp'),
    bbox: text('bbox'),
    limit: Math.max(1, number('limit')),
    offset: number('offset'),
    uid: text('uid'),
  }
}

export function queryOf(filter: RecordFilter): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== NO_FILTER[name as keyof RecordFilter]) query.set(name, String(value))
  }
  return query
}

/** @param page `page` for one page of the table, `map` for the newest `ON_MAP` records */
export function requestOf(filter: RecordFilter, page: 'page' | 'map'): RecordQuery {
  const given = (text: string) => (text === '' ? undefined : text)
  return {
    chain: given(filter.chain),
    prover: given(filter.prover),
    subject: given(filter.subject),
    fromTimestamp: given(filter.fromTimestamp),
    toTimestamp: given(filter.toTimestamp),
    bbox:
      filter.bbox === ''
        ? undefined
        : (filter.bbox.split(',').map(Number) as unknown as [number, number, number, number]),
    ...(page === 'page' ? { limit: filter.limit, offset: filter.offset } : { limit: ON_MAP }),
  }
}
