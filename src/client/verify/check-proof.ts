import { VERIFY_FIELDS, type VerifyData } from '../../attest/encode.ts'
import { attestationUid } from '../../attest/uid.ts'
import type { Keccak } from '../../crypto/keccak.ts'
import type { ProofAttestation, VerifyProofResponse } from '../../types/generated.ts'
import { isObject } from '../forms.ts'
import { hashCanonicalJson } from './check-inputs.ts'
import type { CheckList } from './verdict.ts'

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

/** Checks that the signed data is that of this proof and these numbers: adds `proof` and `measures`. */
export function checkProof(response: VerifyProofResponse, data: VerifyData, keccak: Keccak, list: CheckList): void {
  const hash = hashCanonicalJson(response.proof, keccak)
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
    'stamp results, extensions and independence (except its ratio) are not signed: the service evaluates the proof again when it is used',
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

/** Checks the UID, which also covers the time, and `revocationTime`; neither is signed. Adds `uid` and `revoked`. */
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
