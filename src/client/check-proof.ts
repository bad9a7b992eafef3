import { VERIFY_FIELDS, type VerifyData } from '../attest/encode.ts'
import { attestationUid } from '../attest/uid.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { ProofAttestation, VerifyProofResponse } from '../types/generated.ts'
import { hashOfJson } from './check-inputs.ts'
import { isObject } from './forms.ts'
import type { CheckList } from './verdict.ts'

const BASIS_POINTS = 10_000

/** Member of `credibility.dimensions` → field of the data, and the unit the data has it in. */
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

/** Whether the signed data is that of this proof and these numbers: checks `proof`, `measures`, `uid`, `revoked`. */
export function checkProof(answer: VerifyProofResponse, data: VerifyData, keccak: Keccak, list: CheckList): void {
  const hash = hashOfJson(answer.proof, keccak)
  const isSame = hash === data.proofHash
  list.judge(
    'proof',
    isSame ? [] : [`the proof hashes to ${hash ?? 'nothing'}, signed was ${data.proofHash}`],
    'is the one that was judged',
  )
  list.judge(
    'measures',
    measureFaults(answer, data),
    `the ${VERIFY_FIELDS.length} signed numbers are those of the answer`,
  )
  list.skip(
    'credibility',
    'stamp results, extensions and the independence beside its ratio are not signed: the service judges the proof again where it is used',
  )
}

/** The signed numbers are rounded, the answer's are not: half a unit apart at most. */
function measureFaults({ credibility, proof }: VerifyProofResponse, data: VerifyData): string[] {
  const faults: string[] = []
  const dimensions = isObject(credibility.dimensions) ? (credibility.dimensions as Record<string, unknown>) : {}
  for (const [group, name, field, scale] of MEASURES) {
    const members = dimensions[group]
    const told = isObject(members) ? members[name] : undefined
    const signed = data[field] as number
    if (typeof told !== 'number' || Math.abs(told * scale - signed) > 0.5 + 1e-9) {
      faults.push(`${name} is ${JSON.stringify(told)}, signed was ${signed / scale}`)
    }
  }
  const stamps = (proof as { stamps?: unknown }).stamps
  const count = Array.isArray(stamps) ? stamps.length : undefined
  if (count !== data.stampCount) faults.push(`the proof has ${count} stamps, signed were ${data.stampCount}`)
  const told = isObject(credibility.meta) ? credibility.meta.stampCount : undefined
  if (told !== data.stampCount)
    faults.push(`meta.stampCount is ${JSON.stringify(told)}, signed were ${data.stampCount}`)
  return faults
}

/** The UID covers the time, which no signature does. */
export function checkUid(attestation: ProofAttestation, keccak: Keccak, list: CheckList): void {
  const uid = attestationUid(
    { ...attestation, timeSeconds: attestation.time, expirationTimeSeconds: attestation.expirationTime },
    keccak,
  )
  const isSame = uid === attestation.uid.toLowerCase()
  list.judge('uid', isSame ? [] : [`the fields have the UID ${uid}, not ${attestation.uid}`], 'is that of the fields')
  if (attestation.revocationTime === 0) list.pass('revoked', 'is not marked as revoked')
  else list.fail('revoked', 'is marked as revoked')
}
