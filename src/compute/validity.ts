import { enclosedPole, partAreaSquareMeters } from '../geodesy/area.ts'
import { type FlatGeometry, placeOf } from '../geometry/flat.ts'
import { type ProblemError, problemAt } from '../problem.ts'
import type { InvalidityReason } from '../topology/invalidity.ts'
import type { PoleOf } from '../topology/unwrap.ts'
import { findInvalidity } from '../topology/validity.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Area below which a polygon with an edge over half the globe counts as nothing, m²: such a ring is degenerate. */
const NOTHING_SQUARE_METERS = 1

const HINT = 'a polygon needs rings that do not cross or overlap, holes inside, and parts that touch at points at most'
const HINT_HALF_GLOBE =
  'edges are shortest geodesics: insert vertices along edges over 180° of longitude, or cut at the antimeridian'
const HINTS: Partial<Record<InvalidityReason, string>> = {
  'ring without an inside': HINT_HALF_GLOBE,
  'inside not defined by edges along the poles': HINT_HALF_GLOBE,
}

/** The pole a winding ring encloses, by the same decision that its area rests on (decision 92). */
export function poleOf(kernel: Kernel): PoleOf {
  return (ring) => (enclosedPole(kernel, ring) < 0 ? -1 : 1)
}

/**
 * Refuses polygons whose interior is not defined: a signed number of a bowtie would be worse than an error (decision 32).
 *
 * @param path where the geometry stands in the request
 * @throws {ProblemError} `invalid-input` that names the place
 */
export function checkInterior(geometry: FlatGeometry, path: readonly (string | number)[], kernel: Kernel): void {
  if (!geometry.partDimensions.includes(2)) return
  const invalidity = findInvalidity(geometry, poleOf(kernel))
  if (invalidity !== undefined) {
    const { reason, lon, lat, sequence, vertex } = invalidity
    throw problemAt(
      'invalid-input',
      [...path, ...placeOf(geometry, sequence, vertex)],
      `${reason} at [${lon}, ${lat}]`,
      {
        code: reason.replaceAll(' ', '-'),
        hint: HINTS[reason] ?? HINT,
      },
    )
  }
  checkExtent(geometry, path, kernel)
}

/**
 * A band drawn halfway around the globe has vertices on one meridian circle only: as geodesics its edges run back and forth,
 * and it encloses nothing, as exterior ring or as hole (decision 93). Only an edge over half the globe can bring that about,
 * so only then an area is computed.
 */
function checkExtent(geometry: FlatGeometry, path: readonly (string | number)[], kernel: Kernel): void {
  const { partDimensions, partStarts, sequenceStarts, vertices } = geometry
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!hasHalfGlobeEdge(vertices, start, end)) continue
      const ring = { ...geometry, sequenceStarts: Uint32Array.of(start, end), partStarts: Uint32Array.of(0, 1) }
      const isSmall = partAreaSquareMeters(kernel, ring, 0) < NOTHING_SQUARE_METERS
      if (!isSmall && partAreaSquareMeters(kernel, geometry, part) >= NOTHING_SQUARE_METERS) continue
      throw noArea([...path, ...placeOf(geometry, sequence)])
    }
  }
}

/** The refusal of a polygon that encloses nothing. */
export function noArea(path: readonly (string | number)[]): ProblemError {
  return problemAt('invalid-input', path, 'the polygon encloses no area on the ground', {
    code: 'no-area',
    hint: HINT_HALF_GLOBE,
  })
}

function hasHalfGlobeEdge(vertices: Float64Array, start: number, end: number): boolean {
  for (let vertex = start + 1; vertex < end; vertex++) {
    if (Math.abs(vertices[2 * vertex]! - vertices[2 * vertex - 2]!) >= 180) return true
  }
  return false
}
