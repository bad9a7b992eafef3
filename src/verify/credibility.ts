import type { FlatGeometry } from '../geometry/flat.ts'
import type {
  CredibilityDimensions,
  CredibilityVector,
  EvidenceCheck,
  LocationClaim,
  StampResult,
  TemporalFootprint,
} from '../types/generated.ts'
import { OWN_EVALUATION } from '../wire/compute-messages.ts'
import { computeImpliedSpeeds } from './implied-speed.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from './stamp.ts'

/** How two intervals of time overlap. */
interface Overlap {
  /** Shared time over the length of the shorter interval, 0 … 1. An instant inside the other interval counts as 1. */
  readonly ratio: number
  /** Shared time over the duration of the claim. */
  readonly claimCoverage: number
  /** Shared time over the duration of the stamp. */
  readonly stampCoverage: number
  /** True when the stamp lies within the claim. */
  readonly isInside: boolean
}

const NO_OVERLAP: Overlap = { ratio: 0, claimCoverage: 0, stampCoverage: 0, isInside: false }

/** Computes how a stamp's time overlaps the claim's. A stamp that ends before it starts overlaps nothing. */
export function computeOverlap(stamp: TemporalFootprint, claim: TemporalFootprint): Overlap {
  const shared = Math.min(stamp.end, claim.end) - Math.max(stamp.start, claim.start)
  if (stamp.end < stamp.start || shared < 0) return NO_OVERLAP
  const stampLength = stamp.end - stamp.start
  const claimLength = claim.end - claim.start
  return {
    ratio: fractionOf(shared, Math.min(stampLength, claimLength)),
    claimCoverage: fractionOf(shared, claimLength),
    stampCoverage: fractionOf(shared, stampLength),
    isInside: claim.start <= stamp.start && stamp.end <= claim.end,
  }
}

function fractionOf(shared: number, length: number): number {
  return length === 0 ? 1 : Math.min(1, shared / length)
}

/** A proof whose shape has been validated. */
interface ReadProof {
  readonly claim: LocationClaim
  readonly claimGeometry: FlatGeometry
  /** At least one. */
  readonly stamps: readonly ReadStamp[]
}

/**
 * Judges every stamp of a proof, then computes how well they support the claim together.
 *
 * Sums add their terms in order of size, so that the order of the stamps does not change any dimension.
 */
export async function assessProof(
  proof: ReadProof,
  nowSeconds: number,
  engine: VerifyEngine,
): Promise<CredibilityVector> {
  const { claim, claimGeometry, stamps } = proof
  const verdicts = await Promise.all(stamps.map((stamp) => verifyStamp(stamp, nowSeconds, engine, claim.subject)))
  const pairDistances = computePairDistances(stamps, engine)
  const speeds = computeImpliedSpeeds(stamps, verdicts, pairDistances)
  const stampResults = stamps.map((read, index) => {
    const distanceMeters = roundMillimeters(engine.distanceMeters(read.geometry, claimGeometry))
    return stampResult(index, read, verdicts[index]!, distanceMeters, claim, speeds.checks[index]!)
  })
  const count = stamps.length
  const { mode } = engine.config.evaluation ?? OWN_EVALUATION
  const distances = stampResults.map(({ distanceMeters }) => distanceMeters)
  return {
    dimensions: computeDimensions(proof, stampResults, pairDistances),
    stampResults,
    meta: { stampCount: count, evaluatedAt: nowSeconds, evaluationMode: mode },
    extensions: {
      distinctSigners: new Set(verdicts.flatMap(({ signers }) => signers)).size,
      duplicateStamps: count - new Set(verdicts.map((verdict) => verdict.digest())).size,
      weightedMeanDistance: weightedMean(distances, verdicts),
      maxImpliedSpeedMps: speeds.max,
      mockStamps: stamps.filter(({ plugin }) => plugin.name === 'mock').length,
      ...countSupport(stampResults, verdicts),
      boundToSubjectFraction: verdicts.filter(({ isBoundToSubject }) => isBoundToSubject).length / count,
    },
  }
}

/**
 * Counts the different stamps that support the claim (fully valid, within the radius, overlapping in time) and the keys
 * that signed them. Unlike the means over all stamps, bad stamps and copies do not change these counts.
 */
function countSupport(results: readonly StampResult[], verdicts: readonly StampVerdict[]) {
  const supporting = verdicts.filter((_, index) => {
    const { signaturesValid, structureValid, signalsConsistent, withinRadius, temporalOverlap } = results[index]!
    return signaturesValid && structureValid && signalsConsistent && withinRadius && temporalOverlap > 0
  })
  return {
    supportingStamps: new Set(supporting.map((verdict) => verdict.digest())).size,
    supportingSigners: new Set(supporting.flatMap(({ signers }) => signers)).size,
  }
}

function stampResult(
  stampIndex: number,
  { stamp }: ReadStamp,
  verdict: StampVerdict,
  distanceMeters: number,
  { radius, time }: LocationClaim,
  speedChecks: readonly EvidenceCheck[],
): StampResult {
  const overlap = computeOverlap(stamp.temporalFootprint, time)
  const { accuracyMeters, accuracyCapped, details } = verdict
  const evaluation = {
    accuracyMeters: accuracyMeters ?? null,
    accuracyCapped: accuracyCapped ?? null,
    consistentWithClaim: distanceMeters <= radius + (accuracyCapped ?? 0),
    claimCoverage: overlap.claimCoverage,
    stampCoverage: overlap.stampCoverage,
    // The difference of two finite times may be infinite, which JSON cannot represent.
    stampDurationSeconds: Math.min(stamp.temporalFootprint.end - stamp.temporalFootprint.start, Number.MAX_VALUE),
    insideClaimTime: overlap.isInside,
  }
  return {
    stampIndex,
    plugin: stamp.plugin,
    signaturesValid: verdict.signaturesValid,
    structureValid: verdict.structureValid,
    signalsConsistent: verdict.signalsConsistent && speedChecks.every(({ ok, severity }) => ok || severity !== 'fail'),
    distanceMeters,
    temporalOverlap: overlap.ratio,
    withinRadius: distanceMeters <= radius,
    details: { ...details, checks: [...details.checks, ...speedChecks], evaluation },
  }
}

function computeDimensions(
  { claim, stamps }: ReadProof,
  results: readonly StampResult[],
  pairDistances: readonly (readonly number[])[],
): CredibilityDimensions {
  const count = results.length
  const fraction = (isCounted: (result: StampResult) => boolean) => results.filter(isCounted).length / count
  const distances = results.map(({ distanceMeters }) => distanceMeters)
  const overlaps = results.map(({ temporalOverlap }) => temporalOverlap)
  const pluginNames = [...new Set(results.map(({ plugin }) => plugin))]
  const isWithinClaim = ({ stamp }: ReadStamp) => computeOverlap(stamp.temporalFootprint, claim.time).isInside
  return {
    spatial: {
      meanDistanceMeters: roundMillimeters(meanOf(distances)),
      maxDistanceMeters: Math.max(...distances),
      withinRadiusFraction: fraction(({ withinRadius }) => withinRadius),
    },
    temporal: {
      meanOverlap: meanOf(overlaps),
      minOverlap: Math.min(...overlaps),
      fullyOverlappingFraction: stamps.filter(isWithinClaim).length / count,
    },
    validity: {
      signaturesValidFraction: fraction(({ signaturesValid }) => signaturesValid),
      structureValidFraction: fraction(({ structureValid }) => structureValid),
      signalsConsistentFraction: fraction(({ signalsConsistent }) => signalsConsistent),
    },
    independence: {
      uniquePluginRatio: pluginNames.length / count,
      spatialAgreement: spatialAgreement(pairDistances, claim.radius),
      pluginNames,
    },
  }
}

/**
 * Returns how closely the stamps agree: 1 when they coincide, 0 when they are two radii apart or farther. Positions
 * inside the claimed circle are at most two radii apart.
 */
function spatialAgreement(pairDistances: readonly (readonly number[])[], radiusMeters: number): number {
  const terms = pairDistances.flatMap((row) => row.map((distance) => Math.max(0, 1 - distance / (2 * radiusMeters))))
  return terms.length === 0 ? 1 : meanOf(terms)
}

/** Returns the distances between stamps; row i holds those from stamp i to the stamps before it. */
function computePairDistances(stamps: readonly ReadStamp[], engine: VerifyEngine): number[][] {
  return stamps.map((stamp, index) =>
    stamps.slice(0, index).map((other) => engine.distanceMeters(stamp.geometry, other.geometry)),
  )
}

/**
 * Returns the mean distance, each weighted by the inverse of the stamp's accuracy; the accuracy counts as at least 1 m.
 */
function weightedMean(distances: readonly number[], verdicts: readonly StampVerdict[]): number {
  const terms = distances.map((distance, index) => {
    return { distance, weight: 1 / Math.max(1, verdicts[index]!.weightAccuracyMeters) }
  })
  const weights = sumOf(terms.map(({ weight }) => weight))
  const mean = sumOf(terms.map(({ distance, weight }) => distance * weight)) / weights
  return roundMillimeters(Math.min(mean, Math.max(...distances)))
}

/** Returns the mean, clamped to the range of the values in case the sum rounds outside of it. */
function meanOf(values: readonly number[]): number {
  const mean = sumOf(values) / values.length
  return Math.min(Math.max(mean, Math.min(...values)), Math.max(...values))
}

function sumOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b).reduce((sum, value) => sum + value, 0)
}

function roundMillimeters(meters: number): number {
  return Math.round(meters * 1000) / 1000
}
