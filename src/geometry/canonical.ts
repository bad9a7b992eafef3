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

/** Text that stands in JSON as it is: most names and values. */
const PLAIN = /^[ !#-[\]-~]*$/

/**
 * Canonical text of any JSON value by RFC 8785: members sorted by UTF-16 code units, no white space.
 *
 * @param value as `JSON.parse` gives it
 * @throws {RangeError} on a lone surrogate, a non-finite number or a value JSON cannot hold
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalText(value)
    case 'number':
      if (!Number.isFinite(value)) throw new RangeError(`${value} has no canonical form`)
      return String(value) // −0 is 0
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? canonicalList(value) : canonicalObject(value as Record<string, unknown>)
    default:
      throw new RangeError(`a ${typeof value} has no canonical form`)
  }
}

function canonicalText(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`
  if (/\p{Surrogate}/u.test(text)) throw new RangeError('text with a lone surrogate has no canonical form')
  return JSON.stringify(text)
}

function canonicalList(list: readonly unknown[]): string {
  let text = '['
  for (let index = 0; index < list.length; index++) text += `${index === 0 ? '' : ','}${canonicalJson(list[index])}`
  return `${text}]`
}

function canonicalObject(object: Record<string, unknown>): string {
  let text = '{'
  for (const name of Object.keys(object).sort()) {
    text += `${text.length === 1 ? '' : ','}${canonicalText(name)}:${canonicalJson(object[name])}`
  }
  return `${text}}`
}
