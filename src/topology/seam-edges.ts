import type { UnwrappedRing } from './unwrap.ts'

/** The turn on which a ring stays, from −180 to 180; undefined when it goes over the seam. */
export function turnOfRing({ lon, turn }: UnwrappedRing): number | undefined {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    // 180 is the end of its turn, −180 is the end of the turn before.
    least = Math.min(least, turn[i]! + (lon[i] === 180 ? 1 : 0))
    most = Math.max(most, turn[i]! - (lon[i] === -180 ? 1 : 0))
  }
  return least === most ? least : undefined
}

/** An edge along the seam. */
interface SeamEdge {
  readonly edge: number
  readonly south: number
  readonly north: number
  readonly isUpward: boolean
}

/**
 * Makes the seam no boundary where the inside of a ring lies on both sides of it: a ring that goes up at 180 and down at −180,
 * as that of a box around the globe does, follows the same meridian twice. Edges are split where only a part of them has its
 * counterpart.
 *
 * @returns the ring itself when there is nothing of this kind
 */
export function withoutSeam(ring: UnwrappedRing): UnwrappedRing {
  const own = seamTurns(ring)
  if (own === undefined) return ring
  const east = edgesAt(ring, own + 1)
  const west = edgesAt(ring, own)
  if (east === undefined || west === undefined || east.length === 0 || west.length === 0) return ring
  const shared = sharedRanges(east, west)
  if (shared.length === 0) return ring
  const lon: number[] = []
  const lat: number[] = []
  const turn: number[] = []
  const source: number[] = []
  const put = (i: number, latitude: number, from: number): void => {
    lon.push(ring.lon[i]!)
    lat.push(latitude)
    turn.push(ring.turn[i]!)
    source.push(from)
  }
  const onSeam = new Map([...east, ...west].map((edge) => [edge.edge, edge]))
  for (let i = 0; i < ring.lon.length; i++) {
    const edge = onSeam.get(i)
    if (edge === undefined) {
      put(i, ring.lat[i]!, ring.source[i]!)
      continue
    }
    const inside = rangesWithin(shared, edge)
    if (!edge.isUpward) inside.reverse()
    let at = ring.lat[i]!
    for (const { south, north } of inside) {
      const [from, to] = edge.isUpward ? [south, north] : [north, south]
      if (at !== from) put(i, at, ring.source[i]!)
      put(i, from, -1)
      at = to
    }
    if (at !== ring.lat[i + 1]) put(i, at, ring.source[i]!)
  }
  return {
    ...ring,
    isOpenAtSeam: true,
    lon: Float64Array.from(lon),
    lat: Float64Array.from(lat),
    turn: Int32Array.from(turn),
    source: Int32Array.from(source),
  }
}

/** The turn of a ring that stays on one; quick for those with nothing on the seam. */
function seamTurns(ring: UnwrappedRing): number | undefined {
  return ring.lon.includes(180) || ring.lon.includes(-180) ? turnOfRing(ring) : undefined
}

/** Whether a ring on one turn has edges along its end at 180, and at −180. */
export function seamSides(ring: UnwrappedRing): readonly [east: boolean, west: boolean] {
  const own = seamTurns(ring)
  if (own === undefined) return [false, false]
  const [east, west] = [edgesAt(ring, own + 1), edgesAt(ring, own)]
  return [east === undefined || east.length > 0, west === undefined || west.length > 0]
}

/** Edges along one end of a turn, from south to north; undefined when they overlap, which is a fault of the ring. */
function edgesAt({ lon, lat, turn, source }: UnwrappedRing, end: number): SeamEdge[] | undefined {
  const isThere = (i: number): boolean => Math.abs(lon[i]!) === 180 && turn[i]! + (lon[i] === 180 ? 1 : 0) === end
  const edges: SeamEdge[] = []
  for (let edge = 0; edge + 1 < lon.length; edge++) {
    if (source[edge]! < 0 || !isThere(edge) || !isThere(edge + 1) || lat[edge] === lat[edge + 1]) continue
    const isUpward = lat[edge]! < lat[edge + 1]!
    const [south, north] = isUpward ? [lat[edge]!, lat[edge + 1]!] : [lat[edge + 1]!, lat[edge]!]
    edges.push({ edge, south, north, isUpward })
  }
  edges.sort((a, b) => a.south - b.south)
  return edges.some(({ north }, i) => i + 1 < edges.length && north > edges[i + 1]!.south) ? undefined : edges
}

interface Range {
  readonly south: number
  readonly north: number
}

/** Latitudes along which there are edges on both sides that run opposite ways, from south to north. */
function sharedRanges(east: readonly SeamEdge[], west: readonly SeamEdge[]): Range[] {
  const ranges: Range[] = []
  for (let i = 0, j = 0; i < east.length && j < west.length; ) {
    const [a, b] = [east[i]!, west[j]!]
    const [south, north] = [Math.max(a.south, b.south), Math.min(a.north, b.north)]
    if (south < north && a.isUpward !== b.isUpward) ranges.push({ south, north })
    if (a.north <= b.north) i++
    else j++
  }
  return ranges
}

/** Those of sorted, disjoint ranges that lie on an edge, which holds each of them wholly or not at all. */
function rangesWithin(ranges: readonly Range[], { south, north }: SeamEdge): Range[] {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.south < south) low = middle + 1
    else high = middle
  }
  const found: Range[] = []
  for (let i = low; i < ranges.length && ranges[i]!.north <= north; i++) found.push(ranges[i]!)
  return found
}
