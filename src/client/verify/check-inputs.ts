import { decodeVerify } from '../../attest/data.ts'
import { authenticateOffchain } from '../../attest/offchain.ts'
import { attestationUid } from '../../attest/uid.ts'
import { canonicalBytes, canonicalGeometry } from '../../crypto/canonical.ts'
import { hexToBytes, utf8 } from '../../crypto/hex.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import { checkShape } from '../../geometry/check-shape.ts'
import type { Geometry, OffchainAttestation, ProofAttestation, VerifiedLocationProof } from '../../types/generated.ts'
import type { Hex } from '../../wire/values.ts'
import {
  ADDRESS,
  classifyInput,
  findFaults,
  type InputLike,
  isObject,
  OFFCHAIN_DOMAIN_FORM,
  OFFCHAIN_FORM,
  OFFCHAIN_MESSAGE_FORM,
  PROOF_ATTESTATION_FORM,
  splitSalt,
} from '../forms.ts'
import type { CheckContext } from './check-attestation.ts'
import { decimalText, parseOperation, type ResultData } from './signed-data.ts'
import type { CheckList, Recompute, VerifyResultOptions } from './verdict.ts'

interface ResolvedInput {
  readonly ref: string
  /** undefined for an attestation and a stored geometry, whose layout or geometry only their service or chain knows, and for a proof whose location is not GeoJSON. */
  readonly geometry: Geometry | undefined
}

type InputContext = Pick<CheckContext, 'keccak' | 'secp256k1'>

/** The member `inputSalts` of an answer: for each input its salt, or null. */
export type InputSalts = readonly (string | null)[] | undefined

/**
 * Checks that the signed references are those of these inputs, with the salts of the answer: adds `inputs`. With `recompute`, also checks that the operation
 * gives the signed result on them: adds `recomputed`.
 */
export function checkInputs(
  data: ResultData,
  salts: InputSalts,
  { inputs, recompute }: Pick<VerifyResultOptions, 'inputs' | 'recompute'>,
  context: InputContext,
  list: CheckList,
): void {
  if (inputs === undefined) {
    list.skip('inputs', 'no inputs were given, so the references were not compared')
    return
  }
  const resolved: ResolvedInput[] = []
  const faults: string[] = []
  for (const [index, input] of inputs.entries()) {
    const read = readInput(input, salts?.[index] ?? undefined, context)
    if (typeof read === 'string') faults.push(`input ${index + 1} ${read}`)
    else resolved.push(read)
  }
  if (inputs.length !== data.inputRefs.length) {
    faults.push(`${inputs.length} inputs were given, but ${data.inputRefs.length} were signed`)
  } else if (faults.length === 0) {
    for (const [index, { ref }] of resolved.entries()) {
      const signed = data.inputRefs[index]
      if (ref !== signed) faults.push(`input ${index + 1} has the reference ${ref}, but ${signed} was signed`)
    }
  }
  const named = resolved.flatMap(({ geometry }, index) => (geometry === undefined ? [index + 1] : []))
  const exception = named.length === 0 ? '' : `; only the reference of input ${named.join(' and of input ')} is given`
  if (!list.judge('inputs', faults, `the references match the given inputs${exception}`)) return
  if (inputs.some(isOffchain))
    list.skip(
      'inputs-signer',
      'a reference does not cover who signed an off-chain attestation: ask getRevokeOffchain of the EAS contract whether its signer has revoked it',
    )
  if (recompute !== undefined) checkResult(data, resolved, recompute, list)
}

/**
 * Adds a failed check if there are inputs for a response without inputs of its own: nothing of them was signed, or they belong to a part of
 * it. `recompute` alone is skipped.
 */
export function refuseInputs({ inputs, recompute }: VerifyResultOptions, reason: string, list: CheckList): void {
  if (inputs !== undefined && inputs.length > 0) list.fail('inputs', reason)
  else if (recompute !== undefined) list.skip('recomputed', `the result was not computed again: ${reason}`)
}

function isOffchain(input: unknown): boolean {
  return isObject(input) && 'attestation' in input
}

function checkResult(data: ResultData, inputs: readonly ResolvedInput[], recompute: Recompute, list: CheckList): void {
  const geometries = inputs.flatMap(({ geometry }) => (geometry === undefined ? [] : [geometry]))
  if (geometries.length < inputs.length) {
    list.skip(
      'recomputed',
      'an input is an attestation, a stored geometry, or a proof whose location is not GeoJSON: its geometry is not known here',
    )
    return
  }
  const outcome = recompute(data.operation, geometries)
  if (!outcome.ok && outcome.isTooComplex === true)
    list.skip('recomputed', `the result was not computed again: ${outcome.reason}`)
  else if (!outcome.ok) list.fail('recomputed', `the inputs are rejected: ${outcome.reason}`)
  else if (outcome.result === data.result) list.pass('recomputed', `gives ${resultText(data, outcome.result)} again`)
  else {
    const recomputed = resultText(data, outcome.result)
    list.fail('recomputed', `gives ${recomputed}, but ${resultText(data, data.result)} was signed`)
  }
}

function resultText({ operation }: ResultData, result: bigint | boolean): string {
  if (typeof result === 'boolean') return String(result)
  return parseOperation(operation)?.row.name === 'area' ? `${decimalText(result, 4)} m²` : `${decimalText(result, 2)} m`
}

/**
 * Computes the reference of an input.
 *
 * @param named the salt that the answer names for it
 * @returns a string that says what is wrong, for an invalid input
 */
function readInput(given: InputLike, named: string | undefined, context: InputContext): ResolvedInput | string {
  const { keccak } = context
  let input: ReturnType<typeof classifyInput>
  try {
    input = classifyInput(given)
  } catch (error) {
    return (error as Error).message
  }
  const salt = findSalt(given, named)
  if (typeof salt === 'string') return salt
  const hash = (text: Uint8Array) => keccak.hashHex(salt === undefined ? text : concat(text, salt))
  if (input.form === 'geometry') {
    const shaped = checkShape(input.geometry, true)
    if (!shaped.ok) return shaped.reason
    return { ref: hash(utf8(canonicalGeometry(shaped.geometry))), geometry: shaped.geometry }
  }
  if (input.form === 'stored') {
    if (salt !== undefined) return 'is stored and has a salt: give its geometry, because its hash is not enough'
    return { ref: input.ref.toLowerCase(), geometry: undefined }
  }
  const isAttested = input.form !== 'proof' || input.verifiedProof?.attestation !== undefined
  if (salt !== undefined && isAttested) return 'is an attestation, which cannot have a salt'
  if (input.form === 'uid') return { ref: input.uid.toLowerCase(), geometry: undefined }
  if (input.form === 'attestation') return readOffchain(input.attestation, context)
  return readProof(input.verifiedProof, hash, keccak)
}

/**
 * Checks that an off-chain attestation has the UID of its message and was signed by the signer that it names, for the contract that it
 * names. Only the service knows the contracts of chains, and whether the attestation is revoked.
 */
function readOffchain(attestation: unknown, { keccak, secp256k1 }: InputContext): ResolvedInput | string {
  if (!isObject(attestation)) return 'is not an off-chain attestation'
  const { signer, ...others } = attestation
  const sig = Object.hasOwn(attestation, 'sig') ? attestation['sig'] : others
  const parts = isObject(sig) ? sig : {}
  const faults = [
    ...findFaults(sig, OFFCHAIN_FORM),
    ...findFaults(parts['domain'], OFFCHAIN_DOMAIN_FORM, 'domain.'),
    ...findFaults(parts['message'], OFFCHAIN_MESSAGE_FORM, 'message.'),
    ...findFaults({ signer }, { signer: ADDRESS }),
  ]
  if (faults.length > 0) return `is not an off-chain attestation: ${faults.join('; ')}`
  const signed = sig as unknown as OffchainAttestation
  const { chainId, verifyingContract } = signed.domain
  const id = Number(chainId)
  const chains = new Map([[id, { id, name: 'stated', easAddress: verifyingContract as Hex }]])
  const checked = authenticateOffchain({ attestation: signed, signer: String(signer) }, { chains, keccak, secp256k1 })
  return checked.ok
    ? { ref: checked.uid, geometry: undefined }
    : `is an off-chain attestation whose ${checked.member.join('.')} ${checked.reason}`
}

/** @param hash hashes with the salt of the input, if it has one */
function readProof(verified: unknown, hash: (bytes: Uint8Array) => Hex, keccak: Keccak): ResolvedInput | string {
  if (!isObject(verified) || !isObject(verified['proof'])) return 'is not a verified proof'
  const { proof, attestation } = verified as unknown as VerifiedLocationProof
  const proofHash = hashCanonicalJson(proof, hash)
  if (proofHash === undefined) return 'has no canonical form'
  const ref = attestation === undefined ? proofHash : provenUid(attestation, proofHash, keccak)
  if (ref === undefined) return 'has an attestation whose UID is not that of this proof'
  const location = isObject(proof.claim) ? proof.claim.location : undefined
  if (typeof location === 'string') return { ref, geometry: undefined }
  const shaped = checkShape(location)
  return shaped.ok ? { ref, geometry: shaped.geometry } : shaped.reason
}

/** Returns the UID of an attestation if it is the hash of its fields, and these name the proof with this hash. */
function provenUid(attestation: ProofAttestation, proofHash: Hex, keccak: Keccak): string | undefined {
  if (findFaults(attestation, PROOF_ATTESTATION_FORM).length > 0) return undefined
  const data = decodeVerify(attestation.data as Hex)
  if (!data.ok || data.value.proofHash !== proofHash) return undefined
  const { time, expirationTime } = attestation
  const uid = attestationUid({ ...attestation, timeSeconds: time, expirationTimeSeconds: expirationTime }, keccak)
  return uid === attestation.uid.toLowerCase() ? uid : undefined
}

/** Returns the salt of an input, undefined if it has none, or a string that says what is wrong. */
function findSalt(given: InputLike, named: string | undefined): Uint8Array | undefined | string {
  const own = splitSalt(given).salt
  if (own === 'random' && named === undefined) return 'has a random salt, and the answer does not name it'
  const salt = own === undefined || own === 'random' ? named?.toLowerCase() : own
  if (salt === undefined) return undefined
  if (named !== undefined && salt !== named.toLowerCase()) return `has the salt ${own}, but the answer names ${named}`
  const bytes = hexToBytes(salt)
  return bytes?.length === 32 ? bytes : 'has a salt that is not 32 bytes in hex'
}

function concat(text: Uint8Array, salt: Uint8Array): Uint8Array {
  const joined = new Uint8Array(text.length + salt.length)
  joined.set(text)
  joined.set(salt, text.length)
  return joined
}

/** Hashes the canonical JSON (RFC 8785); returns undefined for a value that has no canonical form. */
export function hashCanonicalJson(value: unknown, hash: (bytes: Uint8Array) => Hex): Hex | undefined {
  try {
    return hash(canonicalBytes(value))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
