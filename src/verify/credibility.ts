import { OWN_EVALUATION } from '../evidence-messages.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type {
  CredibilityDimensions,
  CredibilityVector,
  EvidenceCheck,
  LocationClaim,
  StampResult,
} from '../types/generated.ts'
import { speedsOf } from './implied-speed.ts'
import { overlapOf } from './overlap.ts'
import { type ReadStamp, type StampVerdict, type VerifyEngine, verifyStamp } from './stamp.ts'

/** A proof whose shape was checked. */
export interface ReadProof {
  readonly claim: LocationClaim
  readonly claimGeometry: FlatGeometry
  /** At least one. */
  readonly stamps: readonly ReadStamp[]
}

/**
 * Judges every stamp of a proof, then what they say together.
 *
 * Sums are taken in the order of their terms' sizes, so that the order of the stamps changes no dimension.
 */
export async function assessProof(
  proof: ReadProof,
  nowSeconds: number,
  engine: VerifyEngine,
): Promise<CredibilityVector> {
  const { claim, claimGeometry, stamps } = proof
  const verdicts = await Promise.all(stamps.map((stamp) => verifyStamp(stamp, nowSeconds, engine, claim.subject)))
  const between = pairDistances(stamps, engine)
  const speeds = speedsOf(stamps, verdicts, between)
  const stampResults = stamps.map((read, index) => {
    const distanceMeters = roundMillimeters(engine.distanceMeters(read.geometry, claimGeometry))
    return resultOf(index, read, verdicts[index]!, distanceMeters, claim, speeds.checks[index]!)
  })
  const count = stamps.length
  const { mode } = engine.config.evaluation ?? OWN_EVALUATION
  const distances = stampResults.map(({ distanceMeters }) => distanceMeters)
  return {
    dimensions: dimensionsOf(proof, stampResults, between),
    stampResults,
    meta: { stampCount: count, evaluatedAt: nowSeconds, evaluationMode: mode },
    extensions: {
      distinctSigners: new Set(verdicts.flatMap(({ signers }) => signers)).size,
      duplicateStamps: count - new Set(verdicts.map((verdict) => verdict.digest())).size,
      weightedMeanDistance: weightedMean(distances, verdicts),
      maxImpliedSpeedMps: speeds.max,
      mockStamps: stamps.filter(({ plugin }) => plugin.name === 'mock').length,
      ...supportOf(stampResults, verdicts),
      boundToSubjectFraction: verdicts.filter(({ isBoundToSubject }) => isBoundToSubject).length / count,
    },
  }
}

/**
 * Different stamps that are valid in every way, near enough and of the claim's time, and the keys behind them: what no bad
 * stamp and no copy adds to, as they do to the means of all.
 */
function supportOf(results: readonly StampResult[], verdicts: readonly StampVerdict[]) {
  const supporting = verdicts.filter((_, index) => {
    const { signaturesValid, structureValid, signalsConsistent, withinRadius, temporalOverlap } = results[index]!
    return signaturesValid && structureValid && signalsConsistent && withinRadius && temporalOverlap > 0
  })
  return {
    supportingStamps: new Set(supporting.map((verdict) => verdict.digest())).size,
    supportingSigners: new Set(supporting.flatMap(({ signers }) => signers)).size,
  }
}

function resultOf(
  stampIndex: number,
  { stamp }: ReadStamp,
  verdict: StampVerdict,
  distanceMeters: number,
  { radius, time }: LocationClaim,
  speedChecks: readonly EvidenceCheck[],
): StampResult {
  const overlap = overlapOf(stamp.temporalFootprint, time)
  const { accuracyMeters, accuracyCapped, details } = verdict
  const evaluation = {
    accuracyMeters: accuracyMeters ?? null,
    accuracyCapped: accuracyCapped ?? null,
    consistentWithClaim: distanceMeters <= radius + (accuracyCapped ?? 0),
    claimCoverage: overlap.claimCoverage,
    stampCoverage: overlap.stampCoverage,
    // Two finite times may be an infinity apart, which JSON has no number for.
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

function dimensionsOf(
  { claim, stamps }: ReadProof,
  results: readonly StampResult[],
  between: readonly (readonly number[])[],
): CredibilityDimensions {
  const count = results.length
  const fraction = (isCounted: (result: StampResult) => boolean) => results.filter(isCounted).length / count
  const distances = results.map(({ distanceMeters }) => distanceMeters)
  const overlaps = results.map(({ temporalOverlap }) => temporalOverlap)
  const pluginNames = [...new Set(results.map(({ plugin }) => plugin))]
  const isFully = ({ stamp }: ReadStamp) => overlapOf(stamp.temporalFootprint, claim.time).isInside
  return {
    spatial: {
      meanDistanceMeters: roundMillimeters(meanOf(distances)),
      maxDistanceMeters: Math.max(...distances),
      withinRadiusFraction: fraction(({ withinRadius }) => withinRadius),
    },
    temporal: {
      meanOverlap: meanOf(overlaps),
      minOverlap: Math.min(...overlaps),
      fullyOverlappingFraction: stamps.filter(isFully).length / count,
    },
    validity: {
      signaturesValidFraction: fraction(({ signaturesValid }) => signaturesValid),
      structureValidFraction: fraction(({ structureValid }) => structureValid),
      signalsConsistentFraction: fraction(({ signalsConsistent }) => signalsConsistent),
    },
    independence: {
      uniquePluginRatio: pluginNames.length / count,
      spatialAgreement: agreementOf(between, claim.radius),
      pluginNames,
    },
  }
}

/** Two places inside the claimed circle are at most two radii apart: 1 is coincident, 0 that far apart or farther. */
function agreementOf(between: readonly (readonly number[])[], radiusMeters: number): number {
  const terms = between.flatMap((row) => row.map((distance) => Math.max(0, 1 - distance / (2 * radiusMeters))))
  return terms.length === 0 ? 1 : meanOf(terms)
}

/** Row i holds the distances of stamp i to those before it. */
function pairDistances(stamps: readonly ReadStamp[], engine: VerifyEngine): number[][] {
  return stamps.map((one, index) =>
    stamps.slice(0, index).map((other) => engine.distanceMeters(one.geometry, other.geometry)),
  )
}

/** By the inverse of what each stamp's own accuracy is believed to be, at least a metre. */
function weightedMean(distances: readonly number[], verdicts: readonly StampVerdict[]): number {
  const terms = distances.map((distance, index) => {
    return { distance, weight: 1 / Math.max(1, verdicts[index]!.weighedAccuracyMeters) }
  })
  const weights = sumOf(terms.map(({ weight }) => weight))
  const mean = sumOf(terms.map(({ distance, weight }) => distance * weight)) / weights
  return roundMillimeters(Math.min(mean, Math.max(...distances)))
}

/** Never outside the values themselves, whatever the sum rounds to. */
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
