import { parseDecimal } from '../base/decimal.ts'
import { ProblemError } from '../base/problem.ts'
import type { Bounds, RecordKey, RecordQuery } from '../wire/store-messages.ts'
import type { Hex } from '../wire/values.ts'

const PATTERN =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:Z|([+ -])(\d\d):?(\d\d))?)?$/i

/**
 * Reads an ISO 8601 date, or date and time with an optional offset from UTC. Without an offset it is UTC. A space instead of the
 * offset's plus sign is accepted, because form decoding turns the plus sign into a space.
 *
 * @returns milliseconds since the epoch; undefined for any other text and for days that do not exist
 */
export function readTimestamp(text: string): number | undefined {
  const match = PATTERN.exec(text)
  if (match === null) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map((part) => Number(part ?? 0)) as number[]
  const fraction = Number(`0.${match[7] ?? '0'}`) * 1000
  const offsetMinutes = Number(match[9] ?? 0) * 60 + Number(match[10] ?? 0)
  if (hour! > 24 || minute! > 59 || second! > 59 || Number(match[9] ?? 0) > 23 || Number(match[10] ?? 0) > 59)
    return undefined
  // 24:00:00 is the end of the day (ISO 8601-1, 5.3.2). A later time on that day does not exist.
  if (hour === 24 && (minute! > 0 || second! > 0 || fraction > 0)) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year!, month! - 1, day!)
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return undefined
  const local = date.getTime() + ((hour! * 60 + minute!) * 60 + second!) * 1000 + fraction
  return local - (match[8] === '-' ? -1 : 1) * offsetMinutes * 60_000
}

/** Default and largest length of a page. A larger `limit` is reduced to the largest (decision 58). */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1000
const MAX_OFFSET = 10_000_000
const MAX_QUERY_LENGTH = 4096

/** A validated list request. */
interface RecordListRequest {
  readonly query: RecordQuery
  /** True if the client waits for an exact count. */
  readonly wantsExactCount: boolean
  /** The parameters without limit, offset and cursor, for the URL of the next page. */
  readonly filters: readonly (readonly [name: string, value: string])[]
}

/** Creates a problem in the form of the record API: `message` names the kind, `detail` says what is valid. */
export function recordProblem(message: string, detail: string): ProblemError {
  return new ProblemError({ type: 'invalid-input', message, detail })
}

/**
 * Reads the query parameters of a list. Unknown parameters are ignored; known ones must be valid.
 *
 * @param search the raw query string, without the question mark
 * @param chains chain IDs by name
 * @throws {ProblemError} on the first parameter that is malformed or repeated
 */
export function readRecordQuery(search: string, chains: ReadonlyMap<string, number>): RecordListRequest {
  const parameters = new ListParameters(search)
  const chain = parameters.single('chain')
  const prover = parameters.single('prover')
  const subject = parameters.single('subject')
  const from = parameters.single('fromTimestamp')
  const to = parameters.single('toTimestamp')
  const bbox = parameters.bbox()
  const limit = readInteger('limit', parameters.single('limit'), DEFAULT_LIMIT, 1, Number.POSITIVE_INFINITY)
  const offset = readInteger('offset', parameters.single('offset'), 0, 0, MAX_OFFSET)
  const cursor = parameters.single('cursor')
  const count = parameters.single('count')
  if (count !== undefined && count !== 'exact')
    throw recordProblem('Invalid count parameter', 'count must be exact, or be left out')
  const filters = Object.entries({
    chain,
    prover,
    subject,
    fromTimestamp: from,
    toTimestamp: to,
    bbox: bbox?.join(','),
    count,
  })
  const continuation = cursor === undefined ? undefined : readCursor(cursor)
  return {
    wantsExactCount: count === 'exact',
    query: {
      ...(chain === undefined ? {} : { chainId: readChain(chain, chains) }),
      ...(prover === undefined ? {} : { prover: readAddress('prover', prover) }),
      ...(subject === undefined ? {} : { subject: readAddress('subject', subject) }),
      ...(from === undefined ? {} : { fromSeconds: Math.ceil(readTime('fromTimestamp', from) / 1000) }),
      ...(to === undefined ? {} : { toSeconds: Math.floor(readTime('toTimestamp', to) / 1000) }),
      ...(bbox === undefined ? {} : { bbox: readBbox(bbox) }),
      limit: Math.min(limit, MAX_LIMIT),
      ...(continuation === undefined ? { offset } : { offset: continuation.offset, after: continuation.after }),
    },
    filters: filters.filter((entry): entry is [string, string] => entry[1] !== undefined),
  }
}

/** Reads `0x` and 64 hex digits in any case and returns lower case (decision 65). */
export function readUid(text: string): Hex {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase() as Hex
  throw recordProblem('Invalid UID format', 'UID must be a 66-character hex string starting with 0x')
}

/** All spellings of the name of a box (decision 54). */
const BBOX = /^bbox(\[\d?\])?$/

/** The decoded names and values of a query string. */
export class ListParameters {
  readonly #entries: (readonly [name: string, value: string])[]

  constructor(search: string) {
    if (search.length > MAX_QUERY_LENGTH) {
      throw recordProblem('Invalid query', `the parameters are longer than ${MAX_QUERY_LENGTH} characters`)
    }
    this.#entries = search
      .split('&')
      .filter((pair) => pair !== '')
      .map((pair) => {
        const equals = pair.indexOf('=')
        return equals < 0 ? [decode(pair), ''] : [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))]
      })
  }

  /** All names, without duplicates. */
  get names(): readonly string[] {
    return [...new Set(this.#entries.map(([name]) => name))]
  }

  /**
   * @param hintOf says what to use in place of a parameter
   * @param takesBoxes true if all spellings of `bbox` are known, which `bbox()` reads
   * @throws {ProblemError} on the first parameter that is not known, with the list of those that are
   */
  requireKnown(known: readonly string[], hintOf: Readonly<Record<string, string>> = {}, takesBoxes = false): void {
    const unknown = this.names.find((name) => !known.includes(name) && !(takesBoxes && BBOX.test(name)))
    if (unknown === undefined) return
    const hint = Object.hasOwn(hintOf, unknown) ? `; use ${hintOf[unknown]} instead` : ''
    throw recordProblem(
      'Unknown parameter',
      `${JSON.stringify(unknown.slice(0, 40))}${hint}; supported parameters: ${known.join(', ')}`,
    )
  }

  /** @throws {ProblemError} if the parameter is repeated */
  single(name: string): string | undefined {
    const values = this.#entries.filter((entry) => entry[0] === name)
    if (values.length > 1)
      throw recordProblem('Duplicate parameter', `${name} appears ${values.length} times; send it once`)
    return values[0]?.[1]
  }

  /**
   * Returns the numbers of the box as text. Accepts `a,b,c,d`, `[a,b,c,d]`, `bbox=a&bbox=b…`, `bbox[]=a…` and `bbox[0]=a…`
   * (decision 54).
   */
  bbox(): readonly string[] | undefined {
    const spellings = this.#entries.filter(([name]) => BBOX.test(name))
    if (spellings.length === 0) return undefined
    const values = spellings.map(([, value]) => value)
    if (values.length > 1) return values
    return values[0]!.replace(/^\s*\[(.*)\]\s*$/s, '$1').split(',')
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw recordProblem('Invalid query', `${JSON.stringify(text.slice(0, 40))} is not percent-encoded UTF-8`)
  }
}

/** Returns the ID of a chain by its name. */
export function readChain(name: string, chains: ReadonlyMap<string, number>): number {
  const chainId = chains.get(name)
  if (chainId !== undefined) return chainId
  throw recordProblem('Invalid chain parameter', `Supported chains: ${[...chains.keys()].join(', ')}`)
}

/** Reads `0x` and 40 hex digits in any case and returns lower case (decision 57). */
export function readAddress(name: string, text: string): Hex {
  if (/^0x[0-9a-fA-F]{40}$/.test(text)) return text.toLowerCase() as Hex
  throw recordProblem('Invalid address format', `${name} must be a 42-character hex string starting with 0x`)
}

function readTime(name: string, text: string): number {
  const milliseconds = readTimestamp(text)
  if (milliseconds !== undefined) return milliseconds
  throw recordProblem(
    'Invalid timestamp format',
    `${name} must be ISO 8601, such as 2026-01-31T12:00:00Z or 2026-01-31`,
  )
}

/** Reads a whole number from `low` to `high`, inclusive. */
export function readInteger(
  name: string,
  text: string | undefined,
  fallback: number,
  low: number,
  high: number,
): number {
  if (text === undefined) return fallback
  // A number too large for a double becomes Infinity, which is valid without an upper bound. The caller clamps it.
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= low && value <= high) return value
  const range = high === Number.POSITIVE_INFINITY ? `of at least ${low}` : `from ${low} to ${high}`
  throw recordProblem(`Invalid ${name} parameter`, `${name} must be a whole number ${range}`)
}

/** Reads west, south, east and north. A box with west above east crosses the antimeridian (decision 54). */
export function readBbox(texts: readonly string[]): Bounds {
  const numbers = texts.map((text) => parseDecimal(text) ?? Number.NaN)
  const [west, south, east, north] = numbers as unknown as Bounds
  const error =
    numbers.length !== 4
      ? `${numbers.length} numbers instead of 4`
      : !numbers.every(Number.isFinite)
        ? `${JSON.stringify(texts[numbers.findIndex((number) => !Number.isFinite(number))]!.slice(0, 40))} is not a number`
        : Math.abs(west) > 180 || Math.abs(east) > 180
          ? `longitude ${Math.abs(west) > 180 ? west : east} is outside -180..180`
          : Math.abs(south) > 90 || Math.abs(north) > 90
            ? `latitude ${Math.abs(south) > 90 ? south : north} is outside -90..90`
            : south > north
              ? `minLat ${south} is above maxLat ${north}`
              : undefined
  if (error === undefined) return [west, south, east, north]
  throw recordProblem('Invalid bbox format', `Expected format: minLng,minLat,maxLng,maxLat; ${error}`)
}

/** Encodes the start of the next page as an opaque text. */
export function encodeCursor({ timeSeconds, uid, chainId }: RecordKey, offset: number): string {
  return Buffer.from(`${timeSeconds} ${uid} ${chainId} ${offset}`).toString('base64url')
}

/**
 * Decodes a cursor.
 *
 * @throws {ProblemError} on a text that `encodeCursor` would not return
 */
export function readCursor(text: string): { after: RecordKey; offset: number } {
  const match = /^(\d{1,12}) (0x[0-9a-f]{64}) (\d{1,15}) (\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString())
  if (match === null) throw recordProblem('Invalid cursor', 'use the unchanged cursor of a Link header, or use offset')
  const [, timeSeconds, uid, chainId, offset] = match
  return {
    after: { timeSeconds: Number(timeSeconds), uid: uid as Hex, chainId: Number(chainId) },
    offset: Number(offset),
  }
}
