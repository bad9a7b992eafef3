/** The forms of inputs, and the members of each kind of response with their formats. */

import { findMisplacedSalt } from '../base/misplaced-salt.ts'
import { checksumAddress } from '../crypto/address.ts'
import type { GeometryLike } from '../geometry/geometry-like.ts'
import type {
  AttestationInput,
  EvidenceProof,
  Feature,
  Geometry,
  Input,
  LocationClaim,
  LocationStamp,
  SaltedInput,
  VerifiedLocationProof,
} from '../types/generated.ts'

/** What a caller may pass as an input: anything that the service accepts, or just the UID of a location attestation. */
export type InputLike =
  | Input
  | GeometryLike
  /** As the EAS SDK returns it: its integers may be bigint. */
  | { readonly attestation: object }
  | { readonly type: 'Feature'; readonly geometry: GeometryLike }
  | string

type WithLocationLike<T> = { readonly [Name in keyof T as Name extends 'location' ? never : Name]: T[Name] } & {
  readonly location: GeometryLike | string
}
/** A stamp whose location has the types of another GeoJSON library. */
export type StampLike = LocationStamp | WithLocationLike<LocationStamp>
/** A proof whose locations have the types of another GeoJSON library. */
export type ProofLike =
  | EvidenceProof
  | { readonly claim: LocationClaim | WithLocationLike<LocationClaim>; readonly stamps: readonly StampLike[] }

const UID = /^0x[0-9a-fA-F]{64}$/
/** Each of these members selects a form of input. */
const FORM_MEMBERS = ['type', 'uid', 'attestation', 'verifiedProof', 'ref', 'named', 'input']

/**
 * Converts an input to a form that the service accepts: a UID becomes `{uid}`, a Feature becomes its geometry, also beside a salt; the bigints of an off-chain
 * attestation become text, because JSON has none.
 *
 * @throws {TypeError} on anything that is not an input, with a hint; the content of a geometry is checked only by the service
 */
export function toInput(input: InputLike): Input {
  if (typeof input === 'string') {
    if (UID.test(input)) return { uid: input }
    throw new TypeError(
      `${JSON.stringify(input.slice(0, 80))} is not a UID, which is 0x and 64 hex digits; send a geometry as a GeoJSON object, not as text`,
    )
  }
  if (typeof input !== 'object' || input === null)
    throw new TypeError(
      `an input must be a geometry, a Feature, a UID, an attestation or a verified proof, and is ${input === null ? 'null' : typeof input}`,
    )
  const forms = FORM_MEMBERS.filter((name) => Object.hasOwn(input, name))
  // Whoever reads such an input could take one form for what was signed, while only the other is compared.
  if (forms.length > 1)
    throw new TypeError(`has both "${forms[0]}" and "${forms[1]}" at the same time; an input has exactly one form`)
  if (forms[0] === 'input') return toSaltedInput(input as SaltedInput)
  const salt = findMisplacedSalt(input)
  if (salt !== undefined)
    throw new TypeError(
      `${salt.join('.')} has no input beside it, so it hides nothing: give {"input": …, "salt": "random"}`,
    )
  if (forms[0] === 'attestation') return toAttestationInput(input as { readonly attestation: object })
  const type = (input as { type?: unknown }).type
  if (type === 'FeatureCollection')
    throw new TypeError('a FeatureCollection is not one input: send one of its features')
  if (type !== 'Feature') return input as Input
  const { geometry } = input as Feature
  if (!isObject(geometry)) throw new TypeError('the Feature has no geometry')
  return geometry
}

function toAttestationInput({ attestation }: { readonly attestation: object }): AttestationInput {
  const text = JSON.stringify(attestation, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  if (text === undefined) throw new TypeError('the attestation is not an object')
  return { attestation: JSON.parse(text) as AttestationInput['attestation'] }
}

function toSaltedInput({ input, salt }: SaltedInput): SaltedInput {
  if (isObject(input) && Object.hasOwn(input, 'input')) throw new TypeError('the input has a salt already')
  return { input: toInput(input) as SaltedInput['input'], salt }
}

/** Returns the chain id. @throws {TypeError} when it is undefined: the service does not guess a chain */
export function requireChain(chainId: number | undefined): number {
  if (chainId === undefined) throw new TypeError('no chainId: pass one to createClient or to the call')
  return chainId
}

/** An input without its salt, and the salt: undefined without one, `random` if the service draws it. */
export function splitSalt(given: InputLike): { readonly input: InputLike; readonly salt: string | undefined } {
  if (!isObject(given) || !('input' in given)) return { input: given, salt: undefined }
  return { input: given['input'] as InputLike, salt: String(given['salt']).toLowerCase() }
}

/** An input by its form: a geometry, the UID of an attestation, an off-chain attestation, a verified proof, or the hash of a stored geometry. */
export type InputForm =
  | { readonly form: 'geometry'; readonly geometry: Geometry }
  | { readonly form: 'uid'; readonly uid: string }
  | { readonly form: 'attestation'; readonly attestation: unknown }
  | { readonly form: 'proof'; readonly verifiedProof: VerifiedLocationProof }
  | { readonly form: 'stored'; readonly ref: string }

/** Finds the form of an input, with or without a salt. @throws {TypeError} as `toInput` does, and for a name of a batch */
export function classifyInput(given: InputLike): InputForm {
  const input = splitSalt(toInput(given)).input as Record<string, unknown>
  if ('uid' in input) return { form: 'uid', uid: String(input['uid']) }
  if ('attestation' in input) return { form: 'attestation', attestation: input['attestation'] }
  if ('verifiedProof' in input) {
    return { form: 'proof', verifiedProof: input['verifiedProof'] as VerifiedLocationProof }
  }
  if ('ref' in input) return { form: 'stored', ref: String(input['ref']) }
  if ('named' in input) throw new TypeError('is a name, which says nothing outside its batch: give the geometry itself')
  return { form: 'geometry', geometry: input as unknown as Geometry }
}

interface Member {
  readonly isValid: (value: unknown) => boolean
  /** The expected value, for messages. */
  readonly what: string
  readonly optional?: true
}

/** The required and optional members of an object. Other members are rejected, because they are not signed. */
export type Form = Readonly<Record<string, Member>>

const LARGEST_INTEGER = 2 ** 48 - 1
const hex = (bytes: number, what: string): Member => ({
  isValid: (value) => typeof value === 'string' && new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`).test(value),
  what,
})
const optional = (member: Member): Member => ({ ...member, optional: true })

const BYTES32 = hex(32, '0x and 64 hex digits')
const SIGNATURE = hex(65, '0x and 130 hex digits')
const ZERO_UID: Member = { isValid: (value) => value === `0x${'0'.repeat(64)}`, what: '32 zero bytes' }
const TRUE: Member = { isValid: (value) => value === true, what: 'true' }
const TEXT: Member = { isValid: (value) => typeof value === 'string' && value.length <= 100, what: 'a short text' }
const OBJECT: Member = { isValid: isObject, what: 'an object' }
const ANYTHING: Member = { isValid: () => true, what: 'anything' }
const BYTES: Member = {
  isValid: (value) => typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value),
  what: '0x and pairs of hex digits',
}
const INTEGER: Member = {
  isValid: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST_INTEGER,
  what: 'a whole number from 0 to 2⁴⁸−1',
}
/** In an address with mixed case, the case is a checksum (EIP-55), which reveals an altered digit. */
export const ADDRESS: Member = {
  isValid: (value) => {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return false
    const digits = value.slice(2)
    return digits === digits.toLowerCase() || digits === digits.toUpperCase() || value === checksumAddress(value)
  },
  what: 'an address with a valid checksum',
}
const REFERENCES: Member = {
  isValid: (value) =>
    Array.isArray(value) && value.length >= 1 && value.length <= 2 && value.every((item) => BYTES32.isValid(item)),
  what: 'one or two references of 32 bytes',
}

const PROOF_WORDS: Member = {
  isValid: (value) => Array.isArray(value) && value.length <= 32 && value.every((item) => BYTES32.isValid(item)),
  what: 'at most 32 words of 32 bytes',
}

const RESULT_MEMBERS: Form = {
  result: {
    isValid: (value) => typeof value === 'boolean' || Number.isFinite(value),
    what: 'a number or a truth value',
  },
  units: optional(TEXT),
  operation: TEXT,
  timestamp: INTEGER,
  inputRefs: REFERENCES,
  inputSalts: optional({
    isValid: (value) =>
      Array.isArray(value) && value.length <= 2 && value.every((item) => item === null || BYTES32.isValid(item)),
    what: 'for each input a salt of 32 bytes or null',
  }),
  proofInputs: optional(ANYTHING),
  notes: optional({
    isValid: (value) =>
      Array.isArray(value) && value.length <= 10 && value.every((note) => isObject(note) && TEXT.isValid(note['code'])),
    what: 'a list of notes, each with a code',
  }),
  id: optional({
    isValid: (value) => typeof value === 'string' || typeof value === 'number',
    what: 'text or a number',
  }),
}

export const COMPUTE_FORM: Form = {
  ...RESULT_MEMBERS,
  attestation: OBJECT,
  delegatedAttestation: OBJECT,
  resultSignature: optional(OBJECT),
  submission: optional(OBJECT),
}
/** A signed match of a point with a set: the result of a single request, and what the line says of the feature. */
export const MATCH_FORM: Form = {
  ...COMPUTE_FORM,
  feature: RESULT_MEMBERS['id']!,
  properties: optional({ isValid: (value) => value === null || isObject(value), what: 'an object or null' }),
  distance: optional({ isValid: Number.isFinite, what: 'a number' }),
}
export const MERKLE_ITEM_FORM: Form = {
  ...RESULT_MEMBERS,
  schema: BYTES32,
  recipient: ADDRESS,
  data: BYTES,
  proof: PROOF_WORDS,
}
/** The answer of `GET …/jobs/{id}/results/{n}/proof`. */
export const JOB_PROOF_FORM: Form = { operation: INTEGER, leaf: BYTES32, root: BYTES32, proof: PROOF_WORDS }
/** An operation of a job with `attest=each`. */
export const SIGNED_RESULT_FORM: Form = {
  ...RESULT_MEMBERS,
  schema: BYTES32,
  recipient: ADDRESS,
  data: BYTES,
  resultSignature: OBJECT,
  submission: optional(OBJECT),
}
export const MERKLE_ROOT_FORM: Form = {
  root: BYTES32,
  leafCount: INTEGER,
  attestation: OBJECT,
  delegatedAttestation: OBJECT,
  submission: optional(OBJECT),
}
/** The answer of `GET …/jobs/{id}/attestation`. */
export const JOB_ROOT_FORM: Form = { merkle: OBJECT, submission: optional(OBJECT) }
/** The state of a submission. It is not signed, but `uid` can be compared with the chain. */
export const SUBMISSION_FORM: Form = {
  id: TEXT,
  status: TEXT,
  chainId: INTEGER,
  uid: optional(BYTES32),
  time: optional(INTEGER),
  transactionHash: optional(BYTES32),
  blockNumber: optional(INTEGER),
  error: optional(ANYTHING),
}
export const SIGNED_FORM: Form = { attestation: OBJECT, delegatedAttestation: OBJECT }
export const ATTESTATION_FORM: Form = {
  schema: BYTES32,
  attester: ADDRESS,
  recipient: ADDRESS,
  data: BYTES,
  revocable: TRUE,
  refUID: ZERO_UID,
  signature: SIGNATURE,
}
export const DELEGATION_FORM: Form = { signature: SIGNATURE, attester: ADDRESS, deadline: INTEGER, nonce: INTEGER }
export const RESULT_SIGNATURE_FORM: Form = {
  signature: SIGNATURE,
  attester: ADDRESS,
  deadline: INTEGER,
  salt: BYTES32,
}
export const PROOF_FORM: Form = {
  proof: OBJECT,
  credibility: OBJECT,
  evaluationMethod: TEXT,
  evaluatedAt: INTEGER,
  chainId: INTEGER,
  attestation: OBJECT,
  delegatedAttestation: OBJECT,
  submission: optional(OBJECT),
}
export const PROOF_ATTESTATION_FORM: Form = {
  ...ATTESTATION_FORM,
  uid: BYTES32,
  time: INTEGER,
  expirationTime: { isValid: (value) => value === 0, what: '0 (never)' },
  revocationTime: INTEGER,
  signature: optional(SIGNATURE),
}

const UINT64: Member = {
  isValid: (value) =>
    (Number.isSafeInteger(value) && (value as number) >= 0) ||
    (typeof value === 'string' && /^(?:0|[1-9][0-9]{0,19})$/.test(value) && BigInt(value) < 2n ** 64n),
  what: 'a whole number below 2⁶⁴, or its digits',
}
const VERSION: Member = { isValid: (value) => value === 1 || value === 2, what: '1 or 2' }
const BOOLEAN: Member = { isValid: (value) => typeof value === 'boolean', what: 'true or false' }
/** An off-chain attestation of EAS, without the signer that may stand beside its members. */
export const OFFCHAIN_FORM: Form = {
  uid: BYTES32,
  version: optional(VERSION),
  domain: OBJECT,
  primaryType: { isValid: (value) => value === 'Attest', what: '"Attest"' },
  types: optional(OBJECT),
  message: OBJECT,
  signature: {
    isValid: (value) =>
      SIGNATURE.isValid(value) ||
      (isObject(value) && BYTES32.isValid(value['r']) && BYTES32.isValid(value['s']) && INTEGER.isValid(value['v'])),
    what: 'r, s and v, or 65 bytes in hex',
  },
}
export const OFFCHAIN_DOMAIN_FORM: Form = {
  name: { isValid: (value) => value === 'EAS Attestation', what: '"EAS Attestation"' },
  version: TEXT,
  chainId: UINT64,
  verifyingContract: ADDRESS,
}
export const OFFCHAIN_MESSAGE_FORM: Form = {
  version: VERSION,
  schema: {
    isValid: (value) => typeof value === 'string' && /^0x[0-9a-f]{64}$/.test(value),
    what: '0x and 64 hex digits in lower case',
  },
  recipient: ADDRESS,
  time: UINT64,
  expirationTime: UINT64,
  revocable: BOOLEAN,
  refUID: BYTES32,
  data: BYTES,
  salt: optional(BYTES32),
}

/**
 * Compares the members of a value with a form.
 *
 * @param path written before each name, e.g. `attestation.`
 * @returns a message for each fault; empty when there is none
 */
export function findFaults(value: unknown, form: Form, path = ''): string[] {
  if (!isObject(value)) return [`${path === '' ? 'the response' : path.slice(0, -1)} is not an object`]
  const faults: string[] = []
  for (const [name, { isValid, what, optional: isOptional }] of Object.entries(form)) {
    if (!Object.hasOwn(value, name)) {
      if (isOptional !== true) faults.push(`${path}${name} is missing`)
    } else if (!isValid(value[name])) {
      faults.push(`${path}${name} is not ${what}`)
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(form, name)) faults.push(`${path}${name.slice(0, 40)} is an unknown member, which is not signed`)
  }
  return faults
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns what a request needs whose results the service submits. Without a key, a repeated request could be paid for twice. */
export function submissionCall({ idempotencyKey }: { readonly idempotencyKey?: string | undefined }) {
  return {
    members: { options: { submitOnchain: true } },
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
    mayRepeat: idempotencyKey !== undefined,
  }
}
