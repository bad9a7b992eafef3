import type { ErrorObject } from 'ajv'
import { latitudeHint, longitudeHint } from '../base/coordinate-hints.ts'
import { type ProblemError, type ProblemType, problemAt } from '../base/problem.ts'
import { describeValue, isJsonObject } from './json-body.ts'
import type { Validator } from './schemas.ts'

/** A path in the body: member names and array indices. */
export type Path = readonly (string | number)[]

/**
 * Runs a validator and throws its first error as a problem with a path, one sentence and, where known, a hint.
 *
 * @param path path of `value` in the body
 * @param type problem type of a violation
 */
export function check(validator: Validator, value: unknown, path: Path, type: ProblemType = 'invalid-input'): void {
  if (validator(value)) return
  const error = validator.errors?.[0]
  throw error === undefined || error === null
    ? problemAt(type, path, 'does not match its schema')
    : problemFromError(error, [...path, ...parsePointer(error.instancePath)], type)
}

/** Parses a JSON Pointer: `/coordinates/0/2` → ['coordinates', 0, 2]. */
function parsePointer(instancePath: string): (string | number)[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((segment) => (/^\d+$/.test(segment) ? Number(segment) : segment.replaceAll('~1', '/').replaceAll('~0', '~')))
}

function problemFromError(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const value = error.data
  switch (error.keyword) {
    case 'required':
      return missingMember(error, path, type)
    case 'type':
      return wrongType(String(error.params['type']), value, path, type)
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
      return outOfRange(error, path, type)
    case 'minItems':
    case 'maxItems':
      return wrongCount(error, path, type)
    case 'minLength':
      return problemAt(type, path, 'is empty', { code: 'empty' })
    case 'pattern':
      return wrongPattern(error, path, type)
    case 'const':
      return problemAt(
        type,
        path,
        `must be ${JSON.stringify(error.params['allowedValue'])}, found ${describeValue(value)}`,
        {
          code: 'wrong-value',
        },
      )
    case 'enum':
      return unknownEnumValue(error, path, type)
    default:
      return problemAt(type, path, error.message ?? 'does not match its schema', { code: error.keyword })
  }
}

function unknownEnumValue(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const allowed = (error.params['allowedValues'] as readonly unknown[]).map(String)
  const near = typeof error.data === 'string' ? nearest(error.data, allowed) : undefined
  return problemAt(type, path, `must be one of ${allowed.join(', ')}, found ${describeValue(error.data)}`, {
    code: 'enum',
    ...(near === undefined ? {} : { hint: `did you mean "${near}"?` }),
  })
}

function missingMember(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const name = String(error.params['missingProperty'])
  const properties = (error.parentSchema?.['properties'] ?? {}) as Record<string, { enum?: readonly string[] }>
  const { data } = error
  const unknown = isJsonObject(data)
    ? Object.keys(data).filter((key) => !(key in properties) && data[key] !== undefined)
    : []
  const near = nearest(name, unknown)
  const allowed = properties[name]?.enum
  const hint =
    near !== undefined
      ? `found "${near}": did you mean "${name}"?`
      : allowed !== undefined
        ? `send one of ${allowed.join(', ')}`
        : HINTS[name] !== undefined
          ? HINTS[name]
          : unknown.length > 0
            ? `found the unknown ${unknown.length === 1 ? 'member' : 'members'} ${unknown
                .slice(0, 3)
                .map((key) => JSON.stringify(key.slice(0, 40)))
                .join(', ')}`
            : undefined
  return problemAt(type, [...path, name], 'is missing', {
    code: 'missing-member',
    ...(hint === undefined ? {} : { hint }),
  })
}

/** Hint for a batch that is not a document with a list of items. */
export const ITEMS_HINT =
  'send {"chainId": …, "items": [{"op": "distance", …}, …]}, or one item per line with content-type: application/x-ndjson'

/** Hints for the members that clients omit most often. */
const HINTS: Readonly<Record<string, string>> = {
  items: ITEMS_HINT,
  chainId: 'send the ID of the chain that the result is signed for, for example "chainId": 84532',
  azimuthDegrees: 'send the direction in degrees clockwise from north, for example "azimuthDegrees": 90',
  distanceMeters: 'send the length in metres, for example "distanceMeters": 1000',
  everyMeters: 'send the distance between two places in metres, for example "everyMeters": 1000',
  radius: 'send the largest distance from the location in metres, for example "radius": 100',
}

function wrongType(names: string, value: unknown, path: Path, type: ProblemType): ProblemError {
  const expected = names.replaceAll(',', ' or ')
  const article = /^[aeiou]/.test(expected) ? 'an' : 'a'
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return problemAt(type, path, 'is too large to be a finite number', { code: 'not-finite' })
  }
  const hint =
    typeof value === 'string' && expected !== 'string' && value.trim() !== '' && Number.isFinite(Number(value))
      ? `send the number ${Number(value)} without quotes`
      : undefined
  return problemAt(type, path, `must be ${article} ${expected}, found ${describeValue(value)}`, {
    code: 'wrong-type',
    ...(hint === undefined ? {} : { hint }),
  })
}

function outOfRange(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const value = error.data as number
  const axis = path.at(-1)
  if (error.schemaPath.includes('prefixItems') || error.schemaPath.includes('/Position/')) {
    const position = error.parentSchema
    if (axis === 0 && position !== undefined) {
      return problemAt(type, path, `longitude ${value} is outside -180..180`, {
        code: 'longitude-range',
        hint: longitudeHint(value),
      })
    }
    return problemAt(type, path, `latitude ${value} is outside -90..90`, {
      code: 'latitude-range',
      hint: latitudeHint(value, 'GeoJSON order is [longitude, latitude]'),
    })
  }
  const limit = error.params['limit'] as number
  const relation = error.keyword === 'maximum' ? 'at most' : error.keyword === 'minimum' ? 'at least' : 'greater than'
  return problemAt(type, path, `must be ${relation} ${limit}, found ${value}`, { code: 'out-of-range' })
}

function wrongCount(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const count = (error.data as unknown[]).length
  const limit = error.params['limit'] as number
  if (count === 0) {
    return problemAt(type, path, 'is empty; empty geometries have no measure', { code: 'empty-geometry' })
  }
  if (error.keyword === 'maxItems') {
    return problemAt(type, path, `a position has 2 or 3 numbers, found ${count}`, { code: 'position-length' })
  }
  const what = limit === 4 ? 'a ring' : error.schemaPath.includes('Position') ? 'a position' : 'a line'
  const needs =
    what === 'a ring'
      ? 'a ring needs at least 4 positions, the last equal to the first'
      : what === 'a position'
        ? 'a position needs a longitude and a latitude'
        : 'a line needs at least 2 positions'
  return problemAt(type, path, `${what} with ${count === 1 ? '1 entry' : `${count} entries`}; ${needs}`, {
    code: 'too-few',
  })
}

const ADDRESS_NAMES: ReadonlySet<unknown> = new Set(['recipient', 'attester', 'signer', 'verifyingContract'])

/** A pattern of hex digits of one length. */
const HEX_PATTERN = /^\^0x\[[^\]]*\]\{(\d+)\}\$$/

function wrongPattern(error: ErrorObject, path: Path, type: ProblemType): ProblemError {
  const value: unknown = error.data
  const name = path.at(-1)
  const digits = HEX_PATTERN.exec(String(error.params['pattern']))?.[1]
  const expected = ADDRESS_NAMES.has(name)
    ? 'an address: 0x and 40 hex digits'
    : name === 'schema' && typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
      ? 'in lower case, because the UID of an off-chain attestation hashes it as text'
      : name === 'time' || name === 'expirationTime' || name === 'chainId'
        ? typeof value === 'string' && /^[1-9][0-9]{20,}$/.test(value)
          ? 'below 2^64, the limit of a uint64'
          : 'a whole number, or its decimal digits'
        : name === 'version'
          ? 'a version such as "1.2.0"'
          : name === 'uid' || name === 'schema' || name === 'refUID'
            ? 'a UID: 0x and 64 hex digits'
            : name === 'pattern'
              ? 'nine characters of T, F, *, 0, 1 and 2'
              : digits === undefined
                ? 'a hex string of the right length'
                : `0x and ${digits} hex digits`
  return problemAt(type, path, `must be ${expected}, found ${describeValue(value)}`, { code: 'wrong-format' })
}

/**
 * Returns the candidate that is most similar to `name`, or undefined if none is similar.
 *
 * @param maxEdits largest edit distance; 1 for short names, because two edits turn a short name into almost any other
 */
export function nearest(
  name: string,
  candidates: readonly string[],
  maxEdits = name.length > 3 ? 2 : 1,
): string | undefined {
  let best: string | undefined
  let bestEdits = maxEdits + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= bestEdits) continue
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (edits < bestEdits) {
      best = candidate
      bestEdits = edits
    }
  }
  return best
}

/** Computes the Levenshtein distance, one row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[b.length]!
}
