/** Deeper values are accepted nowhere. Receipts are searched too, and their nesting has no limit. */
const MAX_DEPTH = 64

interface Searched {
  readonly salt?: unknown
  readonly geometry?: unknown
  readonly geometries?: unknown
  readonly attestation?: unknown
  readonly sig?: unknown
  readonly verifiedProof?: unknown
}

/** Members in which an input has further objects. */
const MEMBERS = ['geometry', 'attestation', 'sig', 'verifiedProof'] as const

/**
 * Finds a salt where it hides nothing: in a geometry, a Feature or evidence, at any depth (decision 176). It does not search `properties`,
 * which are not read, nor the content of a proof and the message of an attestation, which the reference covers.
 *
 * @param value an input; if it has a salt of its own, the value of its member `input`
 * @returns the path of the salt in the value; undefined if there is none
 */
export function findMisplacedSalt(value: unknown, depth = 0): readonly (string | number)[] | undefined {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined
  const object: Searched = value
  if (object.salt !== undefined) return ['salt']
  for (const name of MEMBERS) {
    if (object[name] === undefined) continue
    const found = findMisplacedSalt(object[name], depth + 1)
    if (found !== undefined) return [name, ...found]
  }
  if (!Array.isArray(object.geometries)) return undefined
  for (let index = 0; index < object.geometries.length; index++) {
    const found = findMisplacedSalt(object.geometries[index], depth + 1)
    if (found !== undefined) return ['geometries', index, ...found]
  }
  return undefined
}
