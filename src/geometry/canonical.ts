import type { Geometry } from '../types/generated.ts'

/**
 * Canonical text of a geometry: RFC 8785 (JCS) of the object with only `type` and `coordinates` or `geometries`.
 * Its keccak-256 is the geometry's reference in `inputRefs` (decision 19).
 *
 * Coordinates stay as received, altitudes included. Numbers need no care: JCS prescribes ECMAScript's own form.
 */
export function canonicalGeometry(geometry: Geometry): string {
  return geometry.type === 'GeometryCollection'
    ? `{"geometries":[${geometry.geometries.map(canonicalGeometry).join(',')}],"type":"GeometryCollection"}`
    : `{"coordinates":${JSON.stringify(geometry.coordinates)},"type":"${geometry.type}"}`
}

/**
 * Canonical text of any JSON value by RFC 8785: members sorted by UTF-16 code units, no white space.
 *
 * @param value as `JSON.parse` gives it
 * @throws {RangeError} on a lone surrogate, a non-finite number or a value JSON cannot hold
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      if (/\p{Surrogate}/u.test(value)) throw new RangeError('text with a lone surrogate has no canonical form')
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} has no canonical form`)
      return JSON.stringify(value)
    case 'boolean':
      return String(value)
    case 'object': {
      if (value === null) return 'null'
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
      const members = Object.keys(value)
        .sort()
        .map((key) => `${canonicalJson(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
      return `{${members.join(',')}}`
    }
    default:
      throw new RangeError(`a ${typeof value} has no canonical form`)
  }
}
