import type { FlatGeometry } from './flat.ts'

/** Largest difference of longitude between two positions: from −180 to 180. */
const WHOLE_TURN = 360

/**
 * Tells whether an edge of a ring runs along the whole parallel of its two ends: from −180 to 180 or back, at one latitude
 * between the poles.
 *
 * The two ends are also two names of one place, and an edge between two names of one place has zero length. The edge is the whole
 * parallel only where the ring continues along the antimeridian at both ends and to the same side, as the ring of a box does. If it
 * had zero length there, its two neighbours would overlap and the ring would be invalid. A ring that continues in any other way
 * crosses the antimeridian there, or touches it.
 *
 * @param vertices interleaved lon, lat in degrees
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 * @param vertex index of the vertex at which the edge starts
 */
export function isWholeParallel(vertices: Float64Array, start: number, end: number, vertex: number): boolean {
  const lat = vertices[2 * vertex + 1]!
  if (!isWholeTurn(vertices, vertex) || lat !== vertices[2 * vertex + 3] || Math.abs(lat) === 90) return false
  const before = neighbourLatitudeAt180(vertices, start, end, vertex, -1)
  const after = neighbourLatitudeAt180(vertices, start, end, vertex + 1, 1)
  return (before < lat && after < lat) || (before > lat && after > lat)
}

function isWholeTurn(vertices: Float64Array, vertex: number): boolean {
  return Math.abs(vertices[2 * vertex + 2]! - vertices[2 * vertex]!) === WHOLE_TURN
}

/**
 * Returns the latitude of the nearest vertex of a closed ring, in one direction, that differs from a given vertex at ±180. NaN if
 * there is none or if it is not at ±180. For all edges of a ring together, each vertex is visited at most twice.
 */
function neighbourLatitudeAt180(
  vertices: Float64Array,
  start: number,
  end: number,
  vertex: number,
  step: 1 | -1,
): number {
  const [lon, lat] = [vertices[2 * vertex]!, vertices[2 * vertex + 1]!]
  const count = end - start - 1
  for (let k = 1; k < count; k++) {
    const other = start + ((((vertex - start + step * k) % count) + count) % count)
    const [otherLon, otherLat] = [vertices[2 * other]!, vertices[2 * other + 1]!]
    if (otherLon !== lon || otherLat !== lat) return Math.abs(otherLon) === 180 ? otherLat : Number.NaN
  }
  return Number.NaN
}

/**
 * How a ring runs around the globe. `ordinary`: no edge is a whole parallel. `band`: all edges run along whole parallels, the
 * antimeridian or poles, so that a valid ring encloses everything between two latitudes. `mixed`: whole parallels and other edges.
 */
export type RingForm = { readonly kind: 'ordinary' | 'mixed' } | Band

/** Everything between two parallels, the ends included; ±90 is a pole. */
export interface Band {
  readonly kind: 'band'
  readonly south: number
  readonly north: number
}

const ORDINARY: RingForm = { kind: 'ordinary' }
const MIXED: RingForm = { kind: 'mixed' }

/**
 * Classifies a ring by its edges. An edge from −180 to 180 along a pole has no length. It makes a ring a band or mixed only when
 * the ring also reaches the other pole, as the ring of a box around the world does.
 *
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function ringForm(vertices: Float64Array, start: number, end: number): RingForm {
  const parallels = new Set<number>()
  let poles = 0
  let hasWholeTurnAtPole = false
  let isOnMeridian = true
  for (let vertex = start; vertex < end - 1; vertex++) {
    const lat = vertices[2 * vertex + 1]!
    const isPole = Math.abs(lat) === 90
    if (isPole) poles |= lat > 0 ? 1 : 2
    else if (Math.abs(vertices[2 * vertex]!) !== 180) isOnMeridian = false
    const isNextPole = Math.abs(vertices[2 * vertex + 3]!) === 90
    if (isPole !== isNextPole && Math.abs(vertices[2 * vertex + (isPole ? 0 : 2)]!) !== 180) isOnMeridian = false
    if (!isWholeTurn(vertices, vertex)) continue
    if (isPole && lat === vertices[2 * vertex + 3]) hasWholeTurnAtPole = true
    else if (isWholeParallel(vertices, start, end, vertex)) parallels.add(lat)
  }
  const isAround = parallels.size > 0 || (hasWholeTurnAtPole && poles === 3)
  if (!isAround) return ORDINARY
  const latitudes = [...parallels]
  if ((poles & 1) !== 0) latitudes.push(90)
  if ((poles & 2) !== 0) latitudes.push(-90)
  if (!isOnMeridian || latitudes.length !== 2) return MIXED
  return { kind: 'band', south: Math.min(...latitudes), north: Math.max(...latitudes) }
}

/** Tells whether a polygon of a geometry has a ring that is not ordinary. Takes one comparison per vertex for most geometries. */
export function hasWholeParallel(geometry: FlatGeometry): boolean {
  return findRing(geometry, ({ kind }) => kind !== 'ordinary') !== undefined
}

/** Tells whether an edge of a ring leads from −180 to 180 or back, along a parallel or not. */
export function hasWholeTurn(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start; i < 2 * end - 2; i += 2) {
    const difference = vertices[i + 2]! - vertices[i]!
    if (difference === WHOLE_TURN || difference === -WHOLE_TURN) return true
  }
  return false
}

/**
 * Returns the index of the first vertex of a ring at which an edge along a whole parallel or around a pole starts; −1 for none.
 */
export function firstWholeParallel(vertices: Float64Array, start: number, end: number): number {
  for (let vertex = start; vertex < end - 1; vertex++) {
    const isLevel = vertices[2 * vertex + 1] === vertices[2 * vertex + 3]
    if (isLevel && isWholeTurn(vertices, vertex)) {
      if (Math.abs(vertices[2 * vertex + 1]!) === 90 || isWholeParallel(vertices, start, end, vertex)) return vertex
    }
  }
  return -1
}

/**
 * Returns the index of the first sequence that is a ring of a matching form. Rings without an edge from −180 to 180 are skipped.
 *
 * @param part restricts the search to one part
 */
export function findRing(
  { vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry,
  isMatch: (form: RingForm) => boolean,
  part?: number,
): number | undefined {
  const last = part ?? partDimensions.length - 1
  for (let p = part ?? 0; p <= last; p++) {
    if (partDimensions[p] !== 2) continue
    for (let sequence = partStarts[p]!; sequence < partStarts[p + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (hasWholeTurn(vertices, start, end) && isMatch(ringForm(vertices, start, end))) return sequence
    }
  }
  return undefined
}
