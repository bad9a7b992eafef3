import type { FlatGeometry } from '../geometry/flat.ts'
import { hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'
import { bandAreaSquareMeters } from './band-area.ts'
import { compensatedSum } from './compensated-sum.ts'

/**
 * Area of the polygons of a geometry on WGS 84: exterior rings minus their holes.
 *
 * Orientation carries no meaning. A ring encloses the side without poles; one that winds around the axis encloses the pole
 * it has a vertex on, or else the smaller side. A ring of whole parallels encloses what lies between them.
 *
 * @param geometry without rings that mix whole parallels and other edges
 * @returns square metres, before any rounding; ≤ 0 when holes take more than there is
 * @see C. F. F. Karney, Algorithms for geodesics, section 6
 */
export function areaSquareMeters(kernel: Kernel, geometry: FlatGeometry): number {
  return compensatedSum(allRingTerms(kernel, geometry))
}

/** The same for one Polygon part. */
export function partAreaSquareMeters(kernel: Kernel, geometry: FlatGeometry, part: number): number {
  return compensatedSum(ringTerms(kernel, geometry, part))
}

function* allRingTerms(kernel: Kernel, geometry: FlatGeometry): Iterable<number> {
  for (let part = 0; part < geometry.partDimensions.length; part++) {
    if (geometry.partDimensions[part] === 2) yield* ringTerms(kernel, geometry, part)
  }
}

/** The areas of the rings of one Polygon part, those of holes negative. */
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
  // All vertices of a band stand on the antimeridian or at a pole.
  const mayBeBand = Math.abs(ring[0]!) === 180 || Math.abs(ring[1]!) === 90
  if (mayBeBand && hasWholeTurn(ring, 0, count)) {
    const form = ringForm(ring, 0, count)
    if (form.kind === 'band') return bandAreaSquareMeters(form.south, form.north)
  }
  kernel.release()
  return kernel.ringArea(kernel.write(ring), count)
}

/**
 * The pole a ring encloses: 1 north, −1 south, 0 neither. The same decision that its area rests on.
 *
 * @param ring interleaved lon, lat, closed, with geodesic edges alone
 */
export function enclosedPole(kernel: Kernel, ring: Float64Array): -1 | 0 | 1 {
  kernel.release()
  kernel.ringArea(kernel.write(ring), ring.length / 2)
  return kernel.enclosedPole() as -1 | 0 | 1
}
