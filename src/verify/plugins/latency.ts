import type { CheckCollector, Coordinates, PluginContext } from '../plugin.ts'

/** A witness that measured the round-trip time to the prover. */
export interface Witness {
  /** Address or public key; several measurements by one key count as one witness. */
  readonly key: string
  readonly position: Coordinates
  /** The uncertainty of the position. */
  readonly radiusKm: number
  readonly roundTripMs: number
}

/** Kilometres one way that light in vacuum covers per millisecond of round-trip time. */
const VACUUM_KM_PER_MS = 299_792.458 / 2 / 1000
/** The same in optical fibre, where light has two thirds of the speed. */
const FIBRE_KM_PER_MS = (VACUUM_KM_PER_MS * 2) / 3

/**
 * Checks that the measured latencies are possible at the speed of light. A latency bounds only the distance from the
 * witness; it does not give a position.
 *
 * @returns `boundKm`, the smallest bound, and `feasibleRadiusKm`, the largest distance from the stamp's location at
 *   which the prover can be when every bound holds
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
