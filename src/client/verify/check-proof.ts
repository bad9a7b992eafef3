import { VERIFY_FIELDS, type VerifyData } from '../../attest/data.ts'
import { attestationUid } from '../../attest/uid.ts'
import { loadNobleEd25519 } from '../../crypto/noble.ts'
import type { Keccak, Secp256k1 } from '../../crypto/primitives.ts'
import { checkShape } from '../../geometry/check-shape.ts'
import type { LocationStamp, ProofAttestation, VerifyProofResponse } from '../../types/generated.ts'
import { StampMessages } from '../../verify/message.ts'
import { verifySignatures } from '../../verify/signatures.ts'
import { isObject } from '../forms.ts'
import { hashCanonicalJson } from './check-inputs.ts'
import type { CheckList } from './verdict.ts'

/** Maximum number of signatures of a stamp (decision 106). */
const MAX_SIGNATURES = 16

/**
 * Checks the form of a stamp and who signed it: adds `form`, `location`, `signature`. Its signals are evaluated only by the
 * service (`verify.stamp`), which has the plugins.
 */
export async function checkStamp(value: object, keccak: Keccak, secp256k1: Secp256k1, list: CheckList): Promise<void> {
  const stamp = value as LocationStamp
  if (!list.judge('form', stampFaults(stamp), 'has the members of a stamp')) return
  const { location, locationType } = stamp
  if (typeof location === 'string')
    list.skip('location', `is text of the type ${locationType}, which only the service reads`)
  else {
    const shaped = checkShape(location)
    list.judge('location', shaped.ok ? [] : [shaped.reason], `is a ${location.type}`)
  }
  let messages: StampMessages
  try {
    messages = new StampMessages(stamp, keccak)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    list.fail('signature', error.message)
    return
  }
  const ed25519 = await loadNobleEd25519()
  const { verdicts } = verifySignatures(stamp.signatures, messages, undefined, { keccak, secp256k1, ed25519 })
  for (const { ok, reason, recovered } of verdicts) {
    if (ok) list.pass('signature', `${recovered} signed the stamp (${reason})`)
    else if (reason === 'did-resolution-disabled')
      list.skip('signature', 'names a DID, whose document is not resolved here')
    else list.fail('signature', reason)
  }
  list.skip('signals', 'are evaluated only by the service, which has the plugins: verify.stamp')
}

function stampFaults(stamp: LocationStamp): string[] {
  const faults: string[] = []
  const { lpVersion, temporalFootprint, signals, signatures, location } = stamp
  if (lpVersion !== '0.2') faults.push(`lpVersion is ${JSON.stringify(lpVersion)}, not "0.2"`)
  for (const name of ['locationType', 'srs', 'plugin', 'pluginVersion'] as const) {
    if (typeof stamp[name] !== 'string' || stamp[name] === '') faults.push(`${name} is not a text`)
  }
  if (!isObject(location) && typeof location !== 'string') faults.push('location is not a geometry')
  if (!isObject(signals)) faults.push('signals is not an object')
  if (!isObject(temporalFootprint)) faults.push('temporalFootprint is not an object')
  else {
    const { start, end } = temporalFootprint
    if (!Number.isFinite(start) || !Number.isFinite(end) || end < start)
      faults.push('temporalFootprint has no valid start and end')
  }
  if (!Array.isArray(signatures) || signatures.length === 0) faults.push('has no signatures')
  else if (signatures.length > MAX_SIGNATURES) faults.push(`has more than ${MAX_SIGNATURES} signatures`)
  else if (!signatures.every(isSignature)) faults.push('a signature has no signer, algorithm or value')
  return faults
}

function isSignature(value: unknown): boolean {
  if (!isObject(value) || !isObject(value['signer'])) return false
  const texts = [value['signer']['scheme'], value['signer']['value'], value['algorithm'], value['value']]
  return texts.every((text) => typeof text === 'string')
}

const BASIS_POINTS = 10_000

/** Members of `credibility.dimensions` with the field of the signed data, and the factor between them. */
const MEASURES: readonly (readonly [group: string, name: string, field: keyof VerifyData, scale: number])[] = [
  ['spatial', 'meanDistanceMeters', 'meanDistanceMeters', 1],
  ['spatial', 'maxDistanceMeters', 'maxDistanceMeters', 1],
  ['spatial', 'withinRadiusFraction', 'withinRadiusBp', BASIS_POINTS],
  ['temporal', 'meanOverlap', 'meanOverlapBp', BASIS_POINTS],
  ['temporal', 'minOverlap', 'minOverlapBp', BASIS_POINTS],
  ['validity', 'signaturesValidFraction', 'signaturesValidBp', BASIS_POINTS],
  ['validity', 'structureValidFraction', 'structureValidBp', BASIS_POINTS],
  ['validity', 'signalsConsistentFraction', 'signalsConsistentBp', BASIS_POINTS],
  ['independence', 'uniquePluginRatio', 'uniquePluginRatioBp', BASIS_POINTS],
]

/** Checks that this proof and these numbers are the signed ones: adds `proof` and `measures`. */
export function checkProof(response: VerifyProofResponse, data: VerifyData, keccak: Keccak, list: CheckList): void {
  const hash = hashCanonicalJson(response.proof, (bytes) => keccak.hashHex(bytes))
  const isSame = hash === data.proofHash
  list.judge(
    'proof',
    isSame ? [] : [`the proof has the hash ${hash ?? 'none'}, but ${data.proofHash} was signed`],
    'is the proof that was evaluated',
  )
  list.judge(
    'measures',
    measureFaults(response, data),
    `the ${VERIFY_FIELDS.length} signed numbers are those of the response`,
  )
  list.skip(
    'credibility',
    'its other members and evaluationMethod are not signed: the service evaluates the proof again when it is used',
  )
}

/** Compares the numbers. The signed ones are rounded and the response's are not, so they may differ by half a unit. */
function measureFaults({ credibility, proof }: VerifyProofResponse, data: VerifyData): string[] {
  const faults: string[] = []
  const dimensions = isObject(credibility.dimensions) ? (credibility.dimensions as Record<string, unknown>) : {}
  for (const [group, name, field, scale] of MEASURES) {
    const members = dimensions[group]
    const stated = isObject(members) ? members[name] : undefined
    const signed = data[field] as number
    if (typeof stated !== 'number' || Math.abs(stated * scale - signed) > 0.5 + 1e-9) {
      faults.push(`${name} is ${JSON.stringify(stated)}, but ${signed / scale} was signed`)
    }
  }
  const stamps = (proof as { stamps?: unknown }).stamps
  const count = Array.isArray(stamps) ? stamps.length : undefined
  if (count !== data.stampCount) faults.push(`the proof has ${count} stamps, but ${data.stampCount} were signed`)
  const stated = isObject(credibility.meta) ? credibility.meta.stampCount : undefined
  if (stated !== data.stampCount)
    faults.push(`meta.stampCount is ${JSON.stringify(stated)}, but ${data.stampCount} were signed`)
  return faults
}

/** Checks the UID, a hash of the fields and the time, and checks `revocationTime`. Neither is signed. Adds `uid` and `revoked`. */
export function checkUid(attestation: ProofAttestation, keccak: Keccak, list: CheckList): void {
  const uid = attestationUid(
    { ...attestation, timeSeconds: attestation.time, expirationTimeSeconds: attestation.expirationTime },
    keccak,
  )
  const isSame = uid === attestation.uid.toLowerCase()
  list.judge('uid', isSame ? [] : [`the fields have the UID ${uid}, not ${attestation.uid}`], 'matches the fields')
  if (attestation.revocationTime === 0) list.pass('revoked', 'is not marked as revoked')
  else list.fail('revoked', 'is marked as revoked')
}
