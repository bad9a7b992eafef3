import type { Input } from '../messages.ts'
import { type ProblemError, problemAt } from '../problem.ts'
import type { Geometry, VerifiedLocationProof } from '../types/generated.ts'
import { describe, isJsonObject, type JsonObject } from './json-body.ts'
import { validatorOf } from './schemas.ts'
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
/** Members that name a form; exactly one of them may be there (decision 15). */
const FORM_MEMBERS = ['type', 'uid', 'verifiedProof']
const FORMS = 'a GeoJSON geometry, {"uid": "0x…"} or {"verifiedProof": {…}}'

/** Throws where a value is not a geometry that the schema allows. */
export type GeometryCheck = (value: unknown, path: Path, maxCollectionDepth: number) => void

/**
 * Checks one input and says which form it has.
 *
 * @param path where the value stands in the body
 * @param maxCollectionDepth GeometryCollections inside each other
 * @throws {ProblemError} `invalid-input` with the place, or `not-implemented` for `{uid, uri}`
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
  switch (members[0]) {
    case 'type':
      return readGeoJson(value, path, maxCollectionDepth, geometryCheck)
    case 'uid':
      if (Object.hasOwn(value, 'uri')) throw offchain(path)
      check(validatorOf('input-forms#/$defs/OnchainInput'), value, path)
      return { form: 'onchain', uid: (value['uid'] as string).toLowerCase(), path }
    case 'verifiedProof':
      check(validatorOf('verified-proof.schema.json'), value['verifiedProof'], [...path, 'verifiedProof'])
      return { form: 'proof', verifiedProof: value['verifiedProof'] as VerifiedLocationProof, path }
    default:
      throw problemAt('invalid-input', path, 'has none of "type", "uid" and "verifiedProof"', {
        code: 'unknown-input',
        hint: `send ${FORMS}`,
      })
  }
}

/**
 * Checks a GeoJSON geometry object against the schema of its own type.
 *
 * @throws {ProblemError} `invalid-input` at the first place that is wrong
 */
export function checkGeometry(value: unknown, path: Path, maxCollectionDepth: number): asserts value is Geometry {
  if (!isJsonObject(value))
    throw problemAt('invalid-input', path, `must be a GeoJSON geometry, found ${describe(value)}`)
  const type = value['type']
  if (typeof type !== 'string' || !GEOMETRY_TYPES.includes(type)) throw unknownType(type, path)
  check(validatorOf(`geometry.schema.json#/$defs/${type}`), value, path)
  if (type !== 'GeometryCollection') return
  if (maxCollectionDepth === 0) {
    throw problemAt('invalid-input', path, 'too many GeometryCollections inside each other', {
      code: 'collection-depth',
      hint: 'list the geometries in one GeometryCollection',
    })
  }
  const geometries = value['geometries'] as unknown[]
  for (let index = 0; index < geometries.length; index++) {
    checkGeometry(geometries[index], [...path, 'geometries', index], maxCollectionDepth - 1)
  }
}

/** A geometry, or a Feature that stands for its geometry (decision 12). */
function readGeoJson(value: JsonObject, path: Path, maxCollectionDepth: number, geometryCheck: GeometryCheck): Input {
  if (value['type'] === 'FeatureCollection') {
    throw problemAt('invalid-input', path, 'is a FeatureCollection', {
      code: 'feature-collection',
      hint: 'send one geometry; several can be one GeometryCollection',
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
  return problemAt('invalid-input', path, `must be an object, found ${describe(value)}`, {
    code: 'wrong-type',
    hint: isUid ? `use {"uid": ${JSON.stringify(value)}}` : `send ${FORMS}`,
  })
}

function unknownType(type: unknown, path: Path): ProblemError {
  const near = typeof type === 'string' ? nearest(type, GEOMETRY_TYPES) : undefined
  return problemAt('invalid-input', [...path, 'type'], `must be a GeoJSON geometry type, found ${describe(type)}`, {
    code: 'unknown-geometry-type',
    hint: near === undefined ? `one of ${GEOMETRY_TYPES.join(', ')}` : `did you mean "${near}"?`,
  })
}

function offchain(path: Path): ProblemError {
  return problemAt('not-implemented', path, 'attestations behind a uri are not supported yet', {
    code: 'offchain-input',
    hint: 'send the geometry itself, or {"uid": "0x…"} of an on-chain attestation',
  })
}
