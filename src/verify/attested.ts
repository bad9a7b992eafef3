import type { CredibilityVector } from '../types/generated.ts'
import type { Hex } from '../wire/messages.ts'

/**
 * Returns the numbers of a credibility vector that are attested, as whole metres and basis points, rounded to nearest
 * (decision 25).
 *
 * @param proofHash keccak-256 of the canonical JSON of the proof as received
 */
export function verifyData(proofHash: Hex, { dimensions, meta }: CredibilityVector) {
  const { spatial, temporal, validity, independence } = dimensions
  return {
    proofHash,
    meanDistanceMeters: Math.round(spatial.meanDistanceMeters),
    maxDistanceMeters: Math.round(spatial.maxDistanceMeters),
    withinRadiusBp: basisPoints(spatial.withinRadiusFraction),
    meanOverlapBp: basisPoints(temporal.meanOverlap),
    minOverlapBp: basisPoints(temporal.minOverlap),
    signaturesValidBp: basisPoints(validity.signaturesValidFraction),
    structureValidBp: basisPoints(validity.structureValidFraction),
    signalsConsistentBp: basisPoints(validity.signalsConsistentFraction),
    uniquePluginRatioBp: basisPoints(independence.uniquePluginRatio),
    stampCount: meta.stampCount,
  }
}

function basisPoints(fraction: number): number {
  return Math.round(fraction * 10_000)
}
