import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'
import { bandAreaSquareMeters } from './band-area.ts'
import { compensatedSum } from './compensated-sum.ts'

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

/** Yields the areas of the rings of one Polygon part, those of holes negative. */
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
  return kernel.ringArea(kernel.write(ring), count)
}

/**
 * Returns the pole that a ring encloses: 1 north, −1 south, 0 neither. The area of the ring rests on the same decision.
 *
 * @param ring interleaved lon, lat, closed, with geodesic edges only
 */
export function enclosedPole(kernel: Kernel, ring: Float64Array): -1 | 0 | 1 {
  kernel.release()
  kernel.ringArea(kernel.write(ring), ring.length / 2)
  return kernel.enclosedPole() as -1 | 0 | 1
}
