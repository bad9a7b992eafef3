import { parseDecimal } from '../base/decimal.ts'
import { ProblemError, problemAt, withHint } from '../base/problem.ts'
import type { MatchOptions } from '../wire/set-messages.ts'
import type { Hex } from '../wire/values.ts'
import { rejectSalt } from './input.ts'
import { type JsonObject, parseJsonObject } from './json-body.ts'

const MAX_RADIUS_METERS = 20_037_508
const MAX_MATCHES = 1000
const DEFAULT_MATCHES = 100
const MAX_PROPERTIES = 32
const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`
const PARAMETERS = ['predicate', 'within', 'nearest', 'limit', 'properties', 'attest', 'chainId', 'recipient']

/** The options of a request that matches points with a set. */
export interface SetMatchQuery {
  readonly match: MatchOptions
  /** Set if each match is signed. */
  readonly signed: { readonly chainId: number; readonly recipient: Hex } | undefined
}

/**
 * Reads the options of a match from its query: `predicate=contains`, `within=500`, `nearest=3&properties=name`. All are optional.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readMatchQuery(query: string): SetMatchQuery {
  const given = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.includes(name))
      throw wrong(name.slice(0, 40), 'is not an option of a match', `the options are ${PARAMETERS.join(', ')}`)
    if (given.has(name)) throw wrong(name, 'appears more than once in the query')
    given.set(name, value)
  }
  const within = readNumber(given, 'within', 0.005, MAX_RADIUS_METERS)
  const nearest = readInteger(given, 'nearest', 1, MAX_MATCHES)
  const limit = readInteger(given, 'limit', 1, MAX_MATCHES) ?? Math.max(DEFAULT_MATCHES, nearest ?? 0)
  const predicate = given.get('predicate')
  const usesDistance = within !== undefined || nearest !== undefined
  if (predicate !== undefined && usesDistance)
    throw wrong('predicate', 'cannot be combined with within or nearest', 'send one of them')
  if (predicate !== undefined && predicate !== 'contains' && predicate !== 'intersects')
    throw wrong(
      'predicate',
      `is ${JSON.stringify(predicate.slice(0, 40))}, and must be contains or intersects`,
      'for distances use within=<meters> or nearest=<number> in place of predicate',
    )
  return {
    match: {
      predicate: usesDistance ? undefined : (predicate ?? 'intersects'),
      withinMeters: within,
      nearest,
      properties: readProperties(given.get('properties')),
      limit,
    },
    signed: readSigned(given),
  }
}

function readSigned(given: ReadonlyMap<string, string>): SetMatchQuery['signed'] {
  const attest = given.get('attest') ?? 'none'
  if (attest !== 'none' && attest !== 'each') throw wrong('attest', 'must be each or none')
  const chainId = readInteger(given, 'chainId', 1, Number.MAX_SAFE_INTEGER)
  const recipient = given.get('recipient')
  if (recipient !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(recipient))
    throw wrong('recipient', 'must be an address: 0x and 40 hex digits')
  if (attest === 'none') return undefined
  if (chainId === undefined) throw wrong('chainId', 'is missing, and each match is signed for a chain', 'chainId=84532')
  return { chainId, recipient: (recipient?.toLowerCase() as Hex | undefined) ?? ZERO_ADDRESS }
}

function readProperties(text: string | undefined): MatchOptions['properties'] {
  if (text === undefined || text === 'false' || text === '') return 'none'
  if (text === 'true') return 'all'
  const names = text.split(',')
  if (names.length <= MAX_PROPERTIES) return names
  throw wrong('properties', `names ${names.length} properties, more than ${MAX_PROPERTIES}`, 'true returns all')
}

function readInteger(given: ReadonlyMap<string, string>, name: string, low: number, high: number): number | undefined {
  const value = readNumber(given, name, low, high)
  if (value !== undefined && !Number.isInteger(value)) throw wrong(name, 'must be a whole number')
  return value
}

function readNumber(given: ReadonlyMap<string, string>, name: string, low: number, high: number): number | undefined {
  const text = given.get(name)
  if (text === undefined) return undefined
  const value = parseDecimal(text)
  if (value === undefined || value < low || value > high) throw wrong(name, `must be a number from ${low} to ${high}`)
  return value
}

function wrong(name: string, detail: string, hint?: string) {
  return problemAt('invalid-input', [name], detail, { code: 'match-option', ...(hint === undefined ? {} : { hint }) })
}

/** Why a feature of a set has no salt, and what to do with one. */
export const NO_SALTED_FEATURE = {
  detail: 'is not for features of a set, whose references are their plain hashes',
  hint: 'leave it out, or put it into "properties"',
}
const NOTHING: JsonObject = {}

/** The features of a FeatureCollection that were cut without parsing them. */
interface CutFeatures {
  readonly envelope: Uint8Array
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  readonly count: number
}

/**
 * Checks what remains of a FeatureCollection without its features.
 *
 * @param cut undefined if the body has no list of features
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readFeatureCollection(
  cut: CutFeatures | undefined,
  body: Uint8Array,
  { maxBatchEnvelopeBytes, maxJsonDepth }: { readonly maxBatchEnvelopeBytes: number; readonly maxJsonDepth: number },
): CutFeatures {
  const envelope = cut?.envelope ?? body
  if (envelope.length > maxBatchEnvelopeBytes && cut !== undefined)
    throw problemAt(
      'payload-too-large',
      [],
      `the FeatureCollection without its features has more than ${maxBatchEnvelopeBytes} bytes`,
    )
  const { type, salt } = envelope.length > maxBatchEnvelopeBytes ? NOTHING : parseEnvelope(envelope, maxJsonDepth)
  if (salt !== undefined) rejectSalt({ salt }, [], NO_SALTED_FEATURE)
  if (cut !== undefined && type === 'FeatureCollection') return cut
  throw problemAt('invalid-input', [], 'must be a FeatureCollection', {
    code: 'wrong-type',
    hint: 'send {"type": "FeatureCollection", "features": […]}, or one Feature per line as application/x-ndjson',
  })
}

function parseEnvelope(envelope: Uint8Array, maxJsonDepth: number): JsonObject {
  try {
    return parseJsonObject(envelope, maxJsonDepth)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    // Several lines of JSON are the usual reason.
    const hint = 'for one Feature per line send content-type: application/x-ndjson'
    throw new ProblemError(withHint(error.data, 'not-json', hint), { cause: error })
  }
}
