import { findMisplacedSalt } from '../base/misplaced-salt.ts'
import { type ProblemError, problemAt } from '../base/problem.ts'
import type { Geometry, OffchainAttestation, VerifiedLocationProof } from '../types/generated.ts'
import type { Input, Salt } from '../wire/compute-messages.ts'
import type { Hex } from '../wire/values.ts'
import { describeValue, isJsonObject, type JsonObject } from './json-body.ts'
import { getValidator } from './schemas.ts'
import { check, nearest, type Path } from './sentences.ts'

const GEOMETRY_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
]
/** Each of these members selects a form of input. An input must have exactly one of them (decision 15). */
const FORM_MEMBERS = ['type', 'uid', 'attestation', 'verifiedProof', 'ref', 'named', 'input']
const FORMS =
  'a GeoJSON geometry, {"uid": "0x…"}, {"attestation": {…}}, {"ref": "0x…"}, {"verifiedProof": {…}} or one of them as {"input": {…}, "salt": "random"}'

/** Throws if a value is not a geometry that the schema allows. */
export type GeometryCheck = (value: unknown, path: Path, maxCollectionDepth: number, acceptsEmpty?: boolean) => void

/**
 * Validates one input and returns it with its form.
 *
 * @param path path of the value in the body
 * @param maxCollectionDepth largest nesting of GeometryCollections
 * @throws {ProblemError} `invalid-input` with the path, or `not-implemented` for `{uid, uri}`
 */
export function readInput(
  value: unknown,
  path: Path,
  maxCollectionDepth: number,
  geometryCheck: GeometryCheck = checkGeometry,
): Input {
  if (!isJsonObject(value)) throw notAnObject(value, path)
  const members = FORM_MEMBERS.filter((name) => Object.hasOwn(value, name))
  if (members.length > 1) {
    throw problemAt(
      'invalid-input',
      path,
      `has both "${members[0]}" and "${members[1]}"; an input has exactly one form`,
      {
        code: 'ambiguous-input',
        hint: `send ${FORMS}`,
      },
    )
  }
  // Other unknown members are ignored, but an answer without a salt must not pass for one with a salt.
  if (members[0] !== 'input') rejectSalt(value, path)
  switch (members[0]) {
    case 'type':
      return readGeoJson(value, path, maxCollectionDepth, geometryCheck)
    case 'uid':
      if (Object.hasOwn(value, 'uri')) throw offchain(path)
      check(getValidator('input-forms#/$defs/OnchainInput'), value, path)
      return { form: 'onchain', uid: (value['uid'] as string).toLowerCase(), path }
    case 'attestation':
      return readAttestation(value['attestation'], [...path, 'attestation'], path)
    case 'verifiedProof':
      check(getValidator('verified-proof.schema.json'), value['verifiedProof'], [...path, 'verifiedProof'])
      return { form: 'proof', verifiedProof: value['verifiedProof'] as VerifiedLocationProof, path }
    case 'ref':
      check(getValidator('input-forms#/$defs/StoredInput'), value, path)
      return { form: 'stored', ref: (value['ref'] as string).toLowerCase() as Hex, path }
    case 'named':
      check(getValidator('input-forms#/$defs/NamedInput'), value, path)
      return { form: 'named', name: value['named'] as string, path }
    case 'input':
      return readSalted(value, path, maxCollectionDepth, geometryCheck)
    default:
      throw problemAt(
        'invalid-input',
        path,
        'has none of "type", "uid", "attestation", "ref", "named", "verifiedProof" and "input"',
        {
          code: 'unknown-input',
          hint: `send ${FORMS}`,
        },
      )
  }
}

/**
 * Rejects a salt that would not be hashed, wherever it is in an input.
 *
 * @throws {ProblemError} `invalid-input` with the path of the salt
 */
export function rejectSalt(value: unknown, path: Path, { detail, hint }: SaltAdvice = NO_INPUT): void {
  const found = findMisplacedSalt(value)
  if (found === undefined) return
  throw problemAt('invalid-input', [...path, ...found], detail, { code: 'salt-without-input', hint })
}

interface SaltAdvice {
  readonly detail: string
  readonly hint: string
}

const NO_INPUT: SaltAdvice = {
  detail: 'has no input beside it',
  hint: 'replace the whole input by {"input": …, "salt": "random"}',
}

/**
 * Validates a GeoJSON geometry object against the schema of its type.
 *
 * @param acceptsEmpty whether it and members of collections may be empty: `coordinates` or `geometries` is an empty array
 * @throws {ProblemError} `invalid-input` for the first error
 */
export function checkGeometry(
  value: unknown,
  path: Path,
  maxCollectionDepth: number,
  acceptsEmpty = false,
): asserts value is Geometry {
  if (!isJsonObject(value))
    throw problemAt('invalid-input', path, `must be a GeoJSON geometry, found ${describeValue(value)}`)
  const type = value['type']
  if (typeof type !== 'string' || !GEOMETRY_TYPES.includes(type)) throw unknownType(type, path)
  if (acceptsEmpty && isEmptyArray(value[type === 'GeometryCollection' ? 'geometries' : 'coordinates'])) return
  check(getValidator(`geometry.schema.json#/$defs/${type}`), value, path)
  if (type !== 'GeometryCollection') return
  if (maxCollectionDepth === 0) {
    throw problemAt('invalid-input', path, 'too many nested GeometryCollections', {
      code: 'collection-depth',
      hint: 'put all geometries into one GeometryCollection',
    })
  }
  const geometries = value['geometries'] as unknown[]
  for (let index = 0; index < geometries.length; index++) {
    checkGeometry(geometries[index], [...path, 'geometries', index], maxCollectionDepth - 1, acceptsEmpty)
  }
}

function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/**
 * Reads an off-chain attestation: the object that the EAS SDK returns with a `signer` beside its members, or `{sig, signer}`.
 *
 * @param path of the value; `inputPath` is that of the input
 */
function readAttestation(value: unknown, path: Path, inputPath: Path): Input {
  if (!isJsonObject(value))
    throw problemAt('invalid-input', path, `must be an object, found ${describeValue(value)}`, {
      code: 'wrong-type',
      hint: ATTESTATION_HINT,
    })
  const isPackage = Object.hasOwn(value, 'sig')
  const attestationPath = isPackage ? [...path, 'sig'] : path
  const attestation = isPackage ? value['sig'] : value
  requireVersion(attestation, attestationPath)
  check(getValidator('input-forms#/$defs/OffchainAttestation'), attestation, attestationPath)
  const { signer } = value
  // The UID does not cover the signer: any signature is one of somebody.
  if (signer === undefined)
    throw problemAt('invalid-input', [...path, 'signer'], 'is missing', {
      code: 'missing-member',
      hint: 'send the address that signed, as {"attestation": {"sig": {…}, "signer": "0x…"}}',
    })
  check(getValidator('input-forms#/$defs/SignerAddress'), signer, [...path, 'signer'])
  return {
    form: 'attested',
    attestation: attestation as unknown as OffchainAttestation,
    attestationPath,
    signer: signer as string,
    path: inputPath,
  }
}

/** Rejects other versions before their members, which have other names and types. */
function requireVersion(attestation: unknown, path: Path): void {
  if (!isJsonObject(attestation) || !isJsonObject(attestation['message'])) {
    const [found, at] = isJsonObject(attestation) ? [attestation['message'], [...path, 'message']] : [attestation, path]
    const detail = found === undefined ? 'is missing' : `must be an object, found ${describeValue(found)}`
    const code = found === undefined ? 'missing-member' : 'wrong-type'
    throw problemAt('invalid-input', at, detail, { code, hint: ATTESTATION_HINT })
  }
  const { version } = attestation['message']
  if (version === 1 || version === 2) return
  const isLegacy = version === undefined || version === 0
  const detail = isLegacy
    ? 'is not 1 or 2: attestations of version 0 (legacy) are not accepted, because they were signed in several ways'
    : `must be 1 or 2, found ${describeValue(version)}`
  throw problemAt('invalid-input', [...path, 'message', 'version'], detail, {
    code: 'attestation-version',
    hint: 'have it signed again with version 2, the default of the EAS SDK',
  })
}

const ATTESTATION_HINT =
  'send what signOffchainAttestation of the EAS SDK returns, with its signer: {"sig": {"uid": …, "domain": …, "message": …, "signature": …}, "signer": "0x…"}'

/** Reads an input whose reference nobody can guess, because a salt is hashed with it (decision 138). */
function readSalted(value: JsonObject, path: Path, maxCollectionDepth: number, geometryCheck: GeometryCheck): Input {
  const inner = value['input']
  if (isJsonObject(inner) && Object.hasOwn(inner, 'input')) {
    throw problemAt('invalid-input', [...path, 'input'], 'has a salt already', {
      code: 'salted-twice',
      hint: 'send one salt for each input',
    })
  }
  const salt = readSalt(value['salt'], [...path, 'salt'])
  const input = readInput(inner, [...path, 'input'], maxCollectionDepth, geometryCheck)
  rejectPublic(input, [...path, 'salt'])
  return { ...input, salt }
}

/** @throws {ProblemError} `invalid-input` for an input that a salt cannot hide, with the path of the salt */
export function rejectPublic(input: Input, path: Path): void {
  const isPublic =
    input.form === 'onchain' ||
    input.form === 'attested' ||
    (input.form === 'proof' && input.verifiedProof.attestation !== undefined)
  if (isPublic) {
    throw problemAt('invalid-input', path, 'cannot hide an attestation, whose UID is public', {
      code: 'salted-attestation',
      hint: 'send the input without a salt, or the geometry itself',
    })
  }
}

function readSalt(value: unknown, path: Path): Salt {
  if (value === 'random') return value
  if (typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase() as Hex
  const found =
    value === undefined ? 'is missing' : `must be "random" or 32 bytes in hex, found ${describeValue(value)}`
  throw problemAt('invalid-input', path, found, {
    code: value === undefined ? 'missing-member' : 'invalid-salt',
    hint: 'send "random", and the service draws the salt and returns it in inputSalts, or draw 32 bytes yourself and send 0x and 64 hex digits',
  })
}

/** Reads a geometry, or the geometry of a Feature; the other members of a Feature are ignored (decision 12). */
function readGeoJson(value: JsonObject, path: Path, maxCollectionDepth: number, geometryCheck: GeometryCheck): Input {
  if (value['type'] === 'FeatureCollection') {
    throw problemAt('invalid-input', path, 'is a FeatureCollection', {
      code: 'feature-collection',
      hint: 'send one geometry; combine several in one GeometryCollection',
    })
  }
  if (value['type'] === 'Feature') {
    const geometry = value['geometry']
    if (geometry === null || geometry === undefined) {
      throw problemAt('invalid-input', [...path, 'geometry'], 'is null: the Feature has no geometry', {
        code: 'null-geometry',
        hint: 'send one geometry',
      })
    }
    geometryCheck(geometry, [...path, 'geometry'], maxCollectionDepth)
    return { form: 'geometry', geometry: geometry as Geometry, path: [...path, 'geometry'] }
  }
  geometryCheck(value, path, maxCollectionDepth)
  return { form: 'geometry', geometry: value as unknown as Geometry, path }
}

function notAnObject(value: unknown, path: Path): ProblemError {
  const isUid = typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)
  return problemAt('invalid-input', path, `must be an object, found ${describeValue(value)}`, {
    code: 'wrong-type',
    hint: isUid ? `use {"uid": ${JSON.stringify(value)}}` : `send ${FORMS}`,
  })
}

function unknownType(type: unknown, path: Path): ProblemError {
  const near = typeof type === 'string' ? nearest(type, GEOMETRY_TYPES) : undefined
  return problemAt(
    'invalid-input',
    [...path, 'type'],
    `must be a GeoJSON geometry type, found ${describeValue(type)}`,
    {
      code: 'unknown-geometry-type',
      hint: near === undefined ? `one of ${GEOMETRY_TYPES.join(', ')}` : `did you mean "${near}"?`,
    },
  )
}

function offchain(path: Path): ProblemError {
  return problemAt(
    'not-implemented',
    path,
    'references to off-chain attestations (uid and uri) are not supported yet',
    {
      code: 'offchain-input',
      hint: 'send the attestation itself as {"attestation": {…}}, or {"uid": "0x…"} of an on-chain attestation',
    },
  )
}
