/** Which members an answer has, and what each looks like. What is signed has one spelling, so nothing else may stand beside it. */
import { checksumAddress } from '../attest/address.ts'

interface Member {
  readonly isFine: (value: unknown) => boolean
  readonly what: string
  readonly optional?: true
}

/** Members that must or may be there; no others, for nothing vouches for them. */
export type Form = Readonly<Record<string, Member>>

const LARGEST_INTEGER = 2 ** 48 - 1
const hex = (bytes: number, what: string): Member => ({
  isFine: (value) => typeof value === 'string' && new RegExp(`^0x[0-9a-fA-F]{${2 * bytes}}$`).test(value),
  what,
})
const optional = (member: Member): Member => ({ ...member, optional: true })

const BYTES32 = hex(32, '0x and 64 hex digits')
const SIGNATURE = hex(65, '0x and 130 hex digits')
const ZERO_UID: Member = { isFine: (value) => value === `0x${'0'.repeat(64)}`, what: '32 zero bytes' }
const TRUE: Member = { isFine: (value) => value === true, what: 'true' }
const TEXT: Member = { isFine: (value) => typeof value === 'string' && value.length <= 100, what: 'a short text' }
const OBJECT: Member = { isFine: isObject, what: 'an object' }
const ANYTHING: Member = { isFine: () => true, what: 'anything' }
const BYTES: Member = {
  isFine: (value) => typeof value === 'string' && /^0x(?:[0-9a-fA-F]{2})*$/.test(value),
  what: '0x and pairs of hex digits',
}
const INTEGER: Member = {
  isFine: (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST_INTEGER,
  what: 'a whole number from 0 to 2⁴⁸−1',
}
/** Letters of both cases are a checksum (EIP-55), which an altered digit breaks. */
const ADDRESS: Member = {
  isFine: (value) => {
    if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(value)) return false
    const digits = value.slice(2)
    return digits === digits.toLowerCase() || digits === digits.toUpperCase() || value === checksumAddress(value)
  },
  what: 'an address whose mixed case is its checksum',
}
const REFERENCES: Member = {
  isFine: (value) =>
    Array.isArray(value) && value.length >= 1 && value.length <= 2 && value.every((item) => BYTES32.isFine(item)),
  what: 'one or two references of 32 bytes',
}

const RESULT_MEMBERS: Form = {
  result: {
    isFine: (value) => typeof value === 'boolean' || Number.isFinite(value),
    what: 'a number or a truth value',
  },
  units: optional(TEXT),
  operation: TEXT,
  timestamp: INTEGER,
  inputRefs: REFERENCES,
  proofInputs: optional(ANYTHING),
  notes: optional({
    isFine: (value) =>
      Array.isArray(value) && value.length <= 10 && value.every((note) => isObject(note) && TEXT.isFine(note['code'])),
    what: 'a list of notes, each with a code',
  }),
  id: optional({ isFine: (value) => typeof value === 'string' || typeof value === 'number', what: 'text or a number' }),
}

export const COMPUTE_FORM: Form = {
  ...RESULT_MEMBERS,
  attestation: OBJECT,
  delegatedAttestation: OBJECT,
  resultSignature: optional(OBJECT),
}
export const MERKLE_ITEM_FORM: Form = {
  ...RESULT_MEMBERS,
  schema: BYTES32,
  recipient: ADDRESS,
  data: BYTES,
  proof: {
    isFine: (value) => Array.isArray(value) && value.length <= 32 && value.every((item) => BYTES32.isFine(item)),
    what: 'at most 32 words of 32 bytes',
  },
}
export const MERKLE_ROOT_FORM: Form = {
  root: BYTES32,
  leafCount: INTEGER,
  attestation: OBJECT,
  delegatedAttestation: OBJECT,
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
  expirationTime: { isFine: (value) => value === 0, what: '0, never' },
  revocationTime: INTEGER,
  signature: optional(SIGNATURE),
}

/**
 * What is wrong with the members of a value.
 *
 * @param where stands before each name
 */
export function faultsOf(value: unknown, form: Form, where = ''): string[] {
  if (!isObject(value)) return [`${where === '' ? 'the answer' : where.slice(0, -1)} is no object`]
  const faults: string[] = []
  for (const [name, { isFine, what, optional: isOptional }] of Object.entries(form)) {
    if (!Object.hasOwn(value, name)) {
      if (isOptional !== true) faults.push(`${where}${name} is missing`)
    } else if (!isFine(value[name])) {
      faults.push(`${where}${name} is not ${what}`)
    }
  }
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(form, name))
      faults.push(`${where}${name.slice(0, 40)} is unknown here, and nothing vouches for it`)
  }
  return faults
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
