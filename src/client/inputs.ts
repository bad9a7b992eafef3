import type { Feature, Geometry, Input, VerifiedLocationProof } from '../types/generated.ts'

/** What a caller may pass as an input: anything that the service accepts, or just the UID of a location attestation. */
export type InputLike = Input | Feature | string

const UID = /^0x[0-9a-fA-F]{64}$/

/**
 * Converts an input to a form that the service accepts: a UID becomes `{uid}`, a Feature becomes its geometry.
 *
 * @throws {TypeError} on anything that is not an input, with a hint; the content of a geometry is checked only by the service
 */
export function toInput(input: InputLike): Input {
  if (typeof input === 'string') {
    if (UID.test(input)) return { uid: input }
    throw new TypeError(`${JSON.stringify(input.slice(0, 80))} is not a UID: a UID is 0x and 64 hex digits`)
  }
  if (typeof input !== 'object' || input === null)
    throw new TypeError('an input must be a geometry, a Feature or a UID')
  const type = (input as { type?: unknown }).type
  if (type === 'FeatureCollection')
    throw new TypeError('a FeatureCollection is not one input: send one of its features')
  if (type !== 'Feature') return input
  const { geometry } = input as Feature
  if (geometry === null || geometry === undefined) throw new TypeError('the Feature has no geometry')
  return geometry
}

/** An input by its form: a geometry, the UID of an attestation, or a verified proof. */
export type InputForm =
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'uid'; readonly uid: string }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }

/** Finds the form of an input. @throws {TypeError} as `toInput` does */
export function classifyInput(given: InputLike): InputForm {
  const input = toInput(given) as Record<string, unknown>
  if ('uid' in input) return { form: 'uid', uid: String(input['uid']) }
  if ('verifiedProof' in input) {
    return { form: 'proof', verifiedProof: input['verifiedProof'] as VerifiedLocationProof }
  }
  return { form: 'geometry', geometry: input as unknown as Geometry }
}
