import { spendWork } from '../base/work.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'
import { compensatedSum } from './length.ts'

/** Number of fraction bits of the fixed-point numbers in this file, and the number 1 in this form. */
const FRACTION_BITS = 128n
const ONE = 1n << FRACTION_BITS
/** π with 60 decimal places. */
const PI = (3141592653589793238462643383279502884197169399375105820974944n * ONE) / 10n ** 60n

/** WGS 84: a in metres, 1/f in units of 10⁻⁹. */
const A = 6378137n
const INVERSE_F = 298257223563n
const F_UNIT = 10n ** 9n
const E2 = (F_UNIT * (2n * INVERSE_F - F_UNIT) * ONE) / INVERSE_F ** 2n
/** 2π b², m². */
const SCALE = (2n * PI * (A * (INVERSE_F - F_UNIT)) ** 2n) / INVERSE_F ** 2n

/**
 * Returns the area between two parallels on WGS 84, by the closed form behind authalic latitudes. Integer arithmetic makes the
 * result the double nearest to the true value, on every machine.
 *
 * 2π b² (q(sin north) − q(sin south)), q(s) = ∫ ds/(1 − e²s²)² = Σ (j + 1)/(2j + 1) e²ʲ s²ʲ⁺¹
 *
 * @param south degrees, ±90 for the pole
 * @param north degrees, ≥ south
 * @returns square metres
 * @see C. F. F. Karney, Algorithms for geodesics, J. Geodesy 87 (2013), section 6
 */
export function bandAreaSquareMeters(south: number, north: number): number {
  const area =
    (SCALE * (authalicIntegral(sineOfDegrees(north)) - authalicIntegral(sineOfDegrees(south)))) >> FRACTION_BITS
  return Number(area) / Number(ONE)
}

function authalicIntegral(sine: bigint): bigint {
  const ratio = (((sine * sine) >> FRACTION_BITS) * E2) >> FRACTION_BITS
  let sum = 0n
  let power = sine
  for (let j = 0n; power !== 0n && power !== -1n; j++) {
    sum += ((j + 1n) * power) / (2n * j + 1n)
    power = (power * ratio) >> FRACTION_BITS
  }
  return sum
}

function sineOfDegrees(degrees: number): bigint {
  const radians = (fixedPoint(degrees) * PI) / (180n << FRACTION_BITS)
  const square = (radians * radians) >> FRACTION_BITS
  let sum = 0n
  let term = radians
  for (let k = 1n; term !== 0n && term !== -1n; k += 2n) {
    sum += term
    term = -(((term * square) >> FRACTION_BITS) / ((k + 1n) * (k + 2n)))
  }
  return Math.abs(degrees) === 90 ? (degrees > 0 ? ONE : -ONE) : sum
}

/** Returns a latitude in fixed-point form, exactly down to 2⁻¹²⁸. */
function fixedPoint(degrees: number): bigint {
  const whole = Math.trunc(degrees)
  // The upper 50 bits of the fraction, then the lower 78. Both products are exact: they only move the binary point.
  const upper = Math.trunc((degrees - whole) * 2 ** 50)
  const lower = ((degrees - whole) * 2 ** 50 - upper) * 2 ** 78
  return (BigInt(whole) << FRACTION_BITS) + (BigInt(upper) << 78n) + BigInt(Math.trunc(lower))
}

/**
 * Returns the area of the polygons of a geometry on WGS 84: exterior rings minus their holes.
 *
 * Orientation has no meaning. A ring encloses the side without poles. One that winds around the axis encloses the pole on which
 * it has a vertex, or else the smaller side. A ring of whole parallels encloses what lies between them.
 *
 * @param geometry has no ring that mixes whole parallels and other edges
 * @returns square metres, before any rounding; ≤ 0 when the holes are at least as large as the exterior rings
 * @see C. F. F. Karney, Algorithms for geodesics, section 6
 */
export function areaSquareMeters(kernel: Kernel, geometry: FlatGeometry): number {
  return compensatedSum(allRingTerms(kernel, geometry))
}

/** Returns the area of one Polygon part, in the same way. */
export function partAreaSquareMeters(kernel: Kernel, geometry: FlatGeometry, part: number): number {
  return compensatedSum(ringTerms(kernel, geometry, part))
}

function* allRingTerms(kernel: Kernel, geometry: FlatGeometry): Iterable<number> {
  for (let part = 0; part < geometry.partDimensions.length; part++) {
    if (geometry.partDimensions[part] === 2) yield* ringTerms(kernel, geometry, part)
  }
}

/** Yields the areas of the rings of one Polygon part; the areas of holes are negative. */
function* ringTerms(kernel: Kernel, geometry: FlatGeometry, part: number): Iterable<number> {
  const { vertices, sequenceStarts, partStarts } = geometry
  const exterior = partStarts[part]!
  for (let sequence = exterior; sequence < partStarts[part + 1]!; sequence++) {
    const ring = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
    const area = ringAreaSquareMeters(kernel, ring)
    yield sequence === exterior ? area : -area
  }
}

function ringAreaSquareMeters(kernel: Kernel, ring: Float64Array): number {
  const count = ring.length / 2
  // All vertices of a band lie on the antimeridian or at a pole.
  const mayBeBand = Math.abs(ring[0]!) === 180 || Math.abs(ring[1]!) === 90
  if (mayBeBand && hasWholeTurn(ring, 0, count)) {
    const form = ringForm(ring, 0, count)
    if (form.kind === 'band') return bandAreaSquareMeters(form.south, form.north)
  }
  kernel.release()
  kernel.startWork(Number.POSITIVE_INFINITY)
  const area = kernel.ringArea(kernel.write(ring), count)
  spendWork(kernel.workDone())
  return area
}
