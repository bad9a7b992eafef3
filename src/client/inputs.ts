import type { Feature, Geometry, Input, VerifiedLocationProof } from '../types/generated.ts'

/** What a caller may give for a geometry: any form the service takes, or the UID of a location attestation alone. */
export type InputLike = Input | Feature | string

const UID = /^0x[0-9a-fA-F]{64}$/

/**
 * One of the forms the service takes: a UID becomes `{uid}`, a Feature its geometry.
 *
 * @throws {TypeError} on what is none, with the remedy; what stands inside a geometry is for the service to judge
 */
export function toInput(input: InputLike): Input {
  if (typeof input === 'string') {
    if (UID.test(input)) return { uid: input }
    throw new TypeError(`${JSON.stringify(input.slice(0, 80))} is no UID: it takes 0x and 64 hex digits`)
  }
  if (typeof input !== 'object' || input === null) throw new TypeError('an input is a geometry, a Feature or a UID')
  const type = (input as { type?: unknown }).type
  if (type === 'FeatureCollection') throw new TypeError('a FeatureCollection is many inputs: send one of its features')
  if (type !== 'Feature') return input
  const { geometry } = input as Feature
  if (geometry === null || geometry === undefined) throw new TypeError('the Feature has no geometry')
  return geometry
}

/** What an input points to: a geometry itself, an attestation by its UID, or a verified proof. */
export type InputForm =
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'uid'; readonly uid: string }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }

/** @throws {TypeError} as `toInput` */
export function formOf(given: InputLike): InputForm {
  const input = toInput(given) as Record<string, unknown>
  if ('uid' in input) return { form: 'uid', uid: String(input['uid']) }
  if ('verifiedProof' in input) {
    return { form: 'proof', verifiedProof: input['verifiedProof'] as VerifiedLocationProof }
  }
  return { form: 'geometry', geometry: input as unknown as Geometry }
}
