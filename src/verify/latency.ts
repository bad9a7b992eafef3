import type { CheckCollector, Coordinates, PluginContext } from './plugin.ts'

/** Who measured how long a signal takes to the prover and back. */
export interface Witness {
  /** Address or public key: one that measured twice is one witness. */
  readonly key: string
  readonly position: Coordinates
  /** How well that is known. */
  readonly radiusKm: number
  readonly roundTripMs: number
}

/** What light in vacuum goes in a millisecond there and back, as kilometres one way. */
const VACUUM_KM_PER_MS = 299_792.458 / 2 / 1000
/** The same in glass fibre, at two thirds. */
const FIBRE_KM_PER_MS = (VACUUM_KM_PER_MS * 2) / 3

/**
 * The bound of the speed of light. It is no position: it only says that the prover is not farther from a witness.
 *
 * @returns `boundKm` of the nearest bound, and `feasibleRadiusKm`: how far from the stamp's location the prover can be at
 *   most when every bound holds
 */
export function checkLatency(
  witnesses: readonly Witness[],
  { distanceFrom }: PluginContext,
  checks: CheckCollector,
): { boundKm?: number; feasibleRadiusKm?: number; witnesses?: number } {
  const bounds = witnesses.flatMap(({ key, position, radiusKm, roundTripMs }) => {
    if (!checks.fail('latency-positive', roundTripMs > 0, roundTripMs, '> 0 ms')) return []
    checks.warn('latency-usual', roundTripMs <= 1000, roundTripMs, 1000)
    const boundKm = roundTripMs * VACUUM_KM_PER_MS
    const toLocationKm = distanceFrom(position) / 1000
    const apartKm = Math.max(0, toLocationKm - radiusKm)
    checks.fail('light-speed', apartKm <= boundKm, apartKm, boundKm)
    const fibreKm = roundTripMs * FIBRE_KM_PER_MS
    checks.warn('faster-than-fibre', apartKm <= fibreKm, apartKm, fibreKm)
    return [{ key, boundKm, reachKm: toLocationKm + radiusKm + boundKm }]
  })
  if (bounds.length === 0) return {}
  return {
    witnesses: new Set(bounds.map(({ key }) => key)).size,
    boundKm: Math.min(...bounds.map(({ boundKm }) => boundKm)),
    feasibleRadiusKm: Math.min(...bounds.map(({ reachKm }) => reachKm)),
  }
}
