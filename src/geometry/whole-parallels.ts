import type { FlatGeometry } from './flat.ts'

/** Longest difference of longitude between two positions: from −180 to 180. */
const WHOLE_TURN = 360

/**
 * Whether an edge of a ring runs along the whole parallel of its two ends: from −180 to 180 or back, at one latitude between
 * the poles.
 *
 * The same two positions are also two names of one place, and an edge between two names has no length. So the edge is the whole
 * parallel only where the ring goes on along the antimeridian at both ends, to the same side, as that of a box does: with an edge of
 * no length those two edges would lie on each other, and the ring would not be valid. A ring that goes on elsewhere crosses the
 * antimeridian there, or touches it.
 *
 * @param vertices interleaved lon, lat in degrees
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 * @param vertex index of the vertex at which the edge starts
 */
export function isWholeParallel(vertices: Float64Array, start: number, end: number, vertex: number): boolean {
  const lat = vertices[2 * vertex + 1]!
  if (!isWholeTurn(vertices, vertex) || lat !== vertices[2 * vertex + 3] || Math.abs(lat) === 90) return false
  const before = seamLatitudeBeside(vertices, start, end, vertex, -1)
  const after = seamLatitudeBeside(vertices, start, end, vertex + 1, 1)
  return (before < lat && after < lat) || (before > lat && after > lat)
}

function isWholeTurn(vertices: Float64Array, vertex: number): boolean {
  return Math.abs(vertices[2 * vertex + 2]! - vertices[2 * vertex]!) === WHOLE_TURN
}

/**
 * Latitude of the nearest vertex of a closed ring that is not at the same place on ±180; NaN if there is none, or if it does not lie
 * on ±180. All edges of a ring together look at each vertex twice at most.
 */
function seamLatitudeBeside(vertices: Float64Array, start: number, end: number, vertex: number, step: 1 | -1): number {
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
 * How a ring was drawn. `ordinary`: no edge of it is a whole parallel. `band`: it has edges along whole parallels, along the
 * antimeridian and along poles, and no others, so that a valid ring encloses all that lies between two latitudes. `mixed`:
 * whole parallels and other edges.
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
 * Reads the edges of a ring. An edge from −180 to 180 along a pole has no length; it makes a ring a band or mixed only when the
 * ring also reaches the other pole, as that of a box around the world does.
 *
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function ringForm(vertices: Float64Array, start: number, end: number): RingForm {
  const parallels = new Set<number>()
  let poles = 0
  let isTurnedAtPole = false
  let isOnMeridian = true
  for (let vertex = start; vertex < end - 1; vertex++) {
    const lat = vertices[2 * vertex + 1]!
    const isPole = Math.abs(lat) === 90
    if (isPole) poles |= lat > 0 ? 1 : 2
    else if (Math.abs(vertices[2 * vertex]!) !== 180) isOnMeridian = false
    const isNextPole = Math.abs(vertices[2 * vertex + 3]!) === 90
    if (isPole !== isNextPole && Math.abs(vertices[2 * vertex + (isPole ? 0 : 2)]!) !== 180) isOnMeridian = false
    if (!isWholeTurn(vertices, vertex)) continue
    if (isPole && lat === vertices[2 * vertex + 3]) isTurnedAtPole = true
    else if (isWholeParallel(vertices, start, end, vertex)) parallels.add(lat)
  }
  const isAround = parallels.size > 0 || (isTurnedAtPole && poles === 3)
  if (!isAround) return ORDINARY
  const rims = [...parallels]
  if ((poles & 1) !== 0) rims.push(90)
  if ((poles & 2) !== 0) rims.push(-90)
  if (!isOnMeridian || rims.length !== 2) return MIXED
  return { kind: 'band', south: Math.min(...rims), north: Math.max(...rims) }
}

/** Whether a polygon of a geometry has a ring that is not ordinary. One comparison for each vertex of most geometries. */
export function hasWholeParallel(geometry: FlatGeometry): boolean {
  return findRing(geometry, ({ kind }) => kind !== 'ordinary') !== undefined
}

/** Whether an edge of a ring leads from −180 to 180 or back, in which way soever. */
export function hasWholeTurn(vertices: Float64Array, start: number, end: number): boolean {
  for (let i = 2 * start; i < 2 * end - 2; i += 2) {
    const difference = vertices[i + 2]! - vertices[i]!
    if (difference === WHOLE_TURN || difference === -WHOLE_TURN) return true
  }
  return false
}

/** Index of the first vertex of a ring at which an edge along a whole parallel or around a pole starts; −1 when there is none. */
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
 * Index of the first sequence that is a ring of a wanted form, of those that have an edge from −180 to 180.
 *
 * @param part only rings of this one
 */
export function findRing(
  { vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry,
  isWanted: (form: RingForm) => boolean,
  part?: number,
): number | undefined {
  const last = part ?? partDimensions.length - 1
  for (let p = part ?? 0; p <= last; p++) {
    if (partDimensions[p] !== 2) continue
    for (let sequence = partStarts[p]!; sequence < partStarts[p + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (hasWholeTurn(vertices, start, end) && isWanted(ringForm(vertices, start, end))) return sequence
    }
  }
  return undefined
}
