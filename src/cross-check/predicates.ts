/** Predicates by jsts, the JavaScript port of JTS. */
import type IntersectionMatrix from 'jsts/org/locationtech/jts/geom/IntersectionMatrix.js'
import GeoJSONReader from 'jsts/org/locationtech/jts/io/GeoJSONReader.js'
import RelateOp from 'jsts/org/locationtech/jts/operation/relate/RelateOp.js'
import type { Geometry, Position } from '../types/generated.ts'
import type { SampledAnswer } from '../wire/compute-messages.ts'
import type { Verdict } from '../wire/cross-check-messages.ts'
import type { OperationName } from '../wire/values.ts'
import { canDecide, Segments } from './near-contact.ts'

const ENGINE = 'jsts 2.12.1'
/** More vertices are not checked: the time of a check grows faster than their number. */
const MAX_VERTICES = 10_000
const DIMENSIONS: Readonly<Record<string, number>> = {
  Point: 0,
  MultiPoint: 0,
  LineString: 1,
  MultiLineString: 1,
  Polygon: 2,
  MultiPolygon: 2,
}

/** How a matrix decides each predicate. @param a dimension of the first geometry @param b of the second */
const DECISIONS: {
  readonly [Name in OperationName]?: (matrix: IntersectionMatrix, a: number, b: number) => boolean
} = {
  contains: (matrix) => matrix.isContains(),
  intersects: (matrix) => matrix.isIntersects(),
  disjoint: (matrix) => matrix.isDisjoint(),
  covers: (matrix) => matrix.isCovers(),
  coveredBy: (matrix) => matrix.isCoveredBy(),
  equals: (matrix, a, b) => matrix.isEquals(a, b),
  touches: (matrix, a, b) => matrix.isTouches(a, b),
  crosses: (matrix, a, b) => matrix.isCrosses(a, b),
  overlaps: (matrix, a, b) => matrix.isOverlaps(a, b),
}

/**
 * Judges a predicate or a matrix. The answer is unchecked where jsts reads the input in another way than the service does: it knows
 * no antimeridian and no poles, and collections, empty geometries and lines without length mean something else to it.
 *
 * @param pattern of `relate`; undefined if the answer is the matrix
 */
export function judgePredicate(
  operation: OperationName,
  inputs: readonly Geometry[],
  answer: SampledAnswer,
  pattern: string | undefined,
): Verdict {
  const segments = new Segments()
  if (!inputs.every((input) => addGeometry(input, segments)) || segments.vertexCount > MAX_VERTICES)
    return { outcome: 'unchecked' }
  const decidable = canDecide(segments)
  if (decidable === 'too-many') return { outcome: 'unchecked' }
  const [a, b] = inputs
  // The parameter is a GeometryFactory, which the reader makes itself if there is none.
  const reader = new GeoJSONReader(undefined as never)
  const matrix: IntersectionMatrix = RelateOp.relate(reader.read(a as never), reader.read(b as never))
  const [ours, other] = answers(operation, answer, matrix, DIMENSIONS[a!.type]!, DIMENSIONS[b!.type]!, pattern)
  if (ours === undefined || other === undefined) return { outcome: 'unchecked' }
  const difference = ours === other ? {} : { other }
  if (decidable === 'no') return { outcome: 'undecided', engine: ENGINE, ...difference }
  return { outcome: ours === other ? 'agreed' : 'disagreed', engine: ENGINE, ...difference }
}

/** Returns our answer and that of jsts. */
function answers(
  operation: OperationName,
  answer: SampledAnswer,
  matrix: IntersectionMatrix,
  a: number,
  b: number,
  pattern: string | undefined,
): readonly [boolean | string | undefined, boolean | string | undefined] {
  if (answer.kind === 'matrix') return [answer.matrix, matrix.toString()]
  if (answer.kind !== 'boolean') return [undefined, undefined]
  if (operation === 'relate') return [answer.value, pattern === undefined ? undefined : matrix.matches(pattern)]
  return [answer.value, DECISIONS[operation]?.(matrix, a, b)]
}

/** Adds the vertices and edges of a geometry. Returns false if jsts reads it in another way. */
function addGeometry(geometry: Geometry, segments: Segments): boolean {
  switch (geometry.type) {
    case 'Point':
      return addPoints([geometry.coordinates], segments)
    case 'MultiPoint':
      return addPoints(geometry.coordinates, segments)
    case 'LineString':
      return addLines([geometry.coordinates], segments)
    case 'MultiLineString':
      return addLines(geometry.coordinates, segments)
    case 'Polygon':
      return addLines(geometry.coordinates, segments)
    case 'MultiPolygon':
      return geometry.coordinates.length > 0 && geometry.coordinates.every((rings) => addLines(rings, segments))
    default:
      return false
  }
}

function addPoints(points: readonly Position[], segments: Segments): boolean {
  for (const [lon, lat] of points) segments.addVertex(lon, lat)
  return points.length > 0 && points.every(isInPlane)
}

function addLines(lines: readonly (readonly Position[])[], segments: Segments): boolean {
  for (const line of lines) {
    if (!line.every(isInPlane)) return false
    const [lon0, lat0] = line[0] ?? []
    if (line.every(([lon, lat]) => lon === lon0 && lat === lat0)) return false
    for (let index = 0; index < line.length; index++) {
      const [lon, lat] = line[index]!
      segments.addVertex(lon, lat)
      if (index === 0) continue
      const [lastLon, lastLat] = line[index - 1]!
      if (Math.abs(lon - lastLon) >= 180) return false
      segments.addEdge(lastLon, lastLat, lon, lat)
    }
  }
  return lines.length > 0
}

/** Returns false for undefined coordinates, on the antimeridian and at the poles. */
function isInPlane([lon, lat]: Position): boolean {
  return Math.abs(lon) < 180 && Math.abs(lat) < 90
}
