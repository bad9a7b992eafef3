import type { Hex } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import type { Bounds, RecordKey, RecordQuery } from '../store-messages.ts'
import { readTimestamp } from './timestamp.ts'

/** Default and greatest length of a page; a greater one is asked for in vain (decision 58). */
export const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1000
const MAX_OFFSET = 10_000_000
const MAX_QUERY_LENGTH = 4096

/** A checked list request. */
export interface RecordListRequest {
  readonly query: RecordQuery
  /** The parameters again, for the address of the next page: without limit, offset and cursor. */
  readonly filters: readonly (readonly [name: string, value: string])[]
}

/** A refusal in the words of the record API: `message` is the kind, `detail` what would do. */
export function recordProblem(message: string, detail: string): ProblemError {
  return new ProblemError({ type: 'invalid-input', message, detail })
}

/**
 * Reads the parameters of a list. Names it does not know are ignored; what it knows has to be right.
 *
 * @param search as sent, without the question mark
 * @param chains ids by name
 * @throws {ProblemError} on the first parameter that is malformed or stands twice
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
  const filters = Object.entries({
    chain,
    prover,
    subject,
    fromTimestamp: from,
    toTimestamp: to,
    bbox: bbox?.join(','),
  })
  const place = cursor === undefined ? undefined : readCursor(cursor)
  return {
    query: {
      ...(chain === undefined ? {} : { chainId: readChain(chain, chains) }),
      ...(prover === undefined ? {} : { prover: readAddress('prover', prover) }),
      ...(subject === undefined ? {} : { subject: readAddress('subject', subject) }),
      ...(from === undefined ? {} : { fromSeconds: Math.ceil(readTime('fromTimestamp', from) / 1000) }),
      ...(to === undefined ? {} : { toSeconds: Math.floor(readTime('toTimestamp', to) / 1000) }),
      ...(bbox === undefined ? {} : { bbox: readBbox(bbox) }),
      limit: Math.min(limit, MAX_LIMIT),
      ...(place === undefined ? { offset } : { offset: place.offset, after: place.after }),
    },
    filters: filters.filter((entry): entry is [string, string] => entry[1] !== undefined),
  }
}

/** `0x` and 64 hex digits of any case → lower case (decision 65). */
export function readUid(text: string): Hex {
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return text.toLowerCase() as Hex
  throw recordProblem('Invalid UID format', 'UID must be a 66-character hex string starting with 0x')
}

/** Names and values of a query string, with the traps of decoding taken care of once. */
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

  /** Each name once. */
  get names(): readonly string[] {
    return [...new Set(this.#entries.map(([name]) => name))]
  }

  /** @throws {ProblemError} when it stands twice */
  single(name: string): string | undefined {
    const values = this.#entries.filter((entry) => entry[0] === name)
    if (values.length > 1)
      throw recordProblem('Duplicate parameter', `${name} stands ${values.length} times; send it once`)
    return values[0]?.[1]
  }

  /** The four numbers as text: `a,b,c,d`, `[a,b,c,d]`, `bbox=a&bbox=b…`, `bbox[]=a…` or `bbox[0]=a…` (decision 54). */
  bbox(): readonly string[] | undefined {
    const spellings = this.#entries.filter(([name]) => /^bbox(\[\d?\])?$/.test(name))
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

/** Name of a chain → its id. */
export function readChain(name: string, chains: ReadonlyMap<string, number>): number {
  const chainId = chains.get(name)
  if (chainId !== undefined) return chainId
  throw recordProblem('Invalid chain parameter', `Supported chains: ${[...chains.keys()].join(', ')}`)
}

/** `0x` and 40 hex digits of any case → lower case (decision 57). */
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

/** A whole number, both ends included. */
export function readInteger(
  name: string,
  text: string | undefined,
  fallback: number,
  low: number,
  high: number,
): number {
  if (text === undefined) return fallback
  // Digits beyond what a number holds are still a number: a limit without an upper bound is clamped by its caller.
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (value >= low && value <= high) return value
  const range = high === Number.POSITIVE_INFINITY ? `of at least ${low}` : `from ${low} to ${high}`
  throw recordProblem(`Invalid ${name} parameter`, `${name} must be a whole number ${range}`)
}

/** `west,south,east,north` as texts; west above east crosses the antimeridian (decision 54). */
export function readBbox(texts: readonly string[]): Bounds {
  const numbers = texts.map((text) =>
    /^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$/.test(text) ? Number(text) : Number.NaN,
  )
  const [west, south, east, north] = numbers as unknown as Bounds
  const wrong =
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
  if (wrong === undefined) return [west, south, east, north]
  throw recordProblem('Invalid bbox format', `Expected format: minLng,minLat,maxLng,maxLat; ${wrong}`)
}

/** Where the next page begins, as a text that clients pass on unread. */
export function cursorText({ timeSeconds, uid, chainId }: RecordKey, offset: number): string {
  return Buffer.from(`${timeSeconds} ${uid} ${chainId} ${offset}`).toString('base64url')
}

/** @throws {ProblemError} on anything but what `cursorText` made */
export function readCursor(text: string): { after: RecordKey; offset: number } {
  const match = /^(\d{1,12}) (0x[0-9a-f]{64}) (\d{1,15}) (\d{1,15})$/.exec(Buffer.from(text, 'base64url').toString())
  if (match === null) throw recordProblem('Invalid cursor', 'use the cursor of a Link header as it is, or offset')
  const [, timeSeconds, uid, chainId, offset] = match
  return {
    after: { timeSeconds: Number(timeSeconds), uid: uid as Hex, chainId: Number(chainId) },
    offset: Number(offset),
  }
}
