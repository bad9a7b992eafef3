/** A closed ring on the unrolled cylinder. A ring that winds around the axis is closed over its pole by auxiliary edges. */
export interface UnwrappedRing {
  readonly lon: Float64Array
  readonly lat: Float64Array
  /** Position i has the longitude lon[i] + 360 · turn[i]. */
  readonly turn: Int32Array
  /**
   * Index of the original vertex at which edge i starts; −1 for an auxiliary edge, which is no boundary: it only closes the ring
   * over its pole, or follows the antimeridian with the interior on both sides.
   */
  readonly source: Int32Array
  /** Number of times it winds around the axis, eastward positive; a simple ring has −1, 0 or 1. */
  readonly winding: number
  /** The pole over which it is closed; 0 when it closes without one. */
  readonly pole: -1 | 0 | 1
  /** False when its edges along the poles imply another interior than the rule by which areas are measured. */
  readonly isInteriorCertain: boolean
  /** Whether it has edges along the antimeridian with the interior on both sides, which are no boundary. */
  readonly isOpenAtAntimeridian: boolean
}

/** Returns the turn within which a ring stays, from −180 to 180; undefined when it crosses the antimeridian. */
export function findRingTurn({ lon, turn }: UnwrappedRing): number | undefined {
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (let i = 0; i < lon.length; i++) {
    // 180 is the end of its turn; −180 is the end of the turn before.
    least = Math.min(least, turn[i]! + (lon[i] === 180 ? 1 : 0))
    most = Math.max(most, turn[i]! - (lon[i] === -180 ? 1 : 0))
  }
  return least === most ? least : undefined
}

/** An edge along the antimeridian. */
interface AntimeridianEdge {
  readonly edge: number
  readonly south: number
  readonly north: number
  readonly isUpward: boolean
}

/**
 * Makes edges along the antimeridian auxiliary where the interior of the ring lies on both sides of it. A ring that goes up at
 * 180 and down at −180, such as that of a box around the globe, follows the same meridian twice. An edge is split where only a
 * part of it has a counterpart.
 *
 * @returns the ring itself when it has no such edges
 */
export function openAntimeridian(ring: UnwrappedRing): UnwrappedRing {
  const ringTurn = turnAtAntimeridian(ring)
  if (ringTurn === undefined) return ring
  const east = edgesAt(ring, ringTurn + 1)
  const west = edgesAt(ring, ringTurn)
  if (east === undefined || west === undefined || east.length === 0 || west.length === 0) return ring
  const open = sharedRanges(east, west)
  if (open.length === 0) return ring
  const lon: number[] = []
  const lat: number[] = []
  const turn: number[] = []
  const source: number[] = []
  const addVertex = (i: number, latitude: number, from: number): void => {
    lon.push(ring.lon[i]!)
    lat.push(latitude)
    turn.push(ring.turn[i]!)
    source.push(from)
  }
  const antimeridianEdges = new Map([...east, ...west].map((edge) => [edge.edge, edge]))
  for (let i = 0; i < ring.lon.length; i++) {
    const edge = antimeridianEdges.get(i)
    if (edge === undefined) {
      addVertex(i, ring.lat[i]!, ring.source[i]!)
      continue
    }
    const openRanges = rangesWithin(open, edge)
    if (!edge.isUpward) openRanges.reverse()
    let at = ring.lat[i]!
    for (const { south, north } of openRanges) {
      const [from, to] = edge.isUpward ? [south, north] : [north, south]
      if (at !== from) addVertex(i, at, ring.source[i]!)
      addVertex(i, from, -1)
      at = to
    }
    if (at !== ring.lat[i + 1]) addVertex(i, at, ring.source[i]!)
  }
  return {
    ...ring,
    isOpenAtAntimeridian: true,
    lon: Float64Array.from(lon),
    lat: Float64Array.from(lat),
    turn: Int32Array.from(turn),
    source: Int32Array.from(source),
  }
}

/** Returns the turn within which a ring stays; undefined when it crosses the antimeridian or has no vertex there. */
function turnAtAntimeridian(ring: UnwrappedRing): number | undefined {
  return ring.lon.includes(180) || ring.lon.includes(-180) ? findRingTurn(ring) : undefined
}

/** Tells whether a ring that stays within one turn has edges along its end at 180, and along its end at −180. */
export function findAntimeridianSides(ring: UnwrappedRing): readonly [east: boolean, west: boolean] {
  const ringTurn = turnAtAntimeridian(ring)
  if (ringTurn === undefined) return [false, false]
  const [east, west] = [edgesAt(ring, ringTurn + 1), edgesAt(ring, ringTurn)]
  return [east === undefined || east.length > 0, west === undefined || west.length > 0]
}

/** Returns the edges along one end of a turn, from south to north; undefined when they overlap, which is a fault of the ring. */
function edgesAt({ lon, lat, turn, source }: UnwrappedRing, end: number): AntimeridianEdge[] | undefined {
  const isAtEnd = (i: number): boolean => Math.abs(lon[i]!) === 180 && turn[i]! + (lon[i] === 180 ? 1 : 0) === end
  const edges: AntimeridianEdge[] = []
  for (let edge = 0; edge + 1 < lon.length; edge++) {
    if (source[edge]! < 0 || !isAtEnd(edge) || !isAtEnd(edge + 1) || lat[edge] === lat[edge + 1]) continue
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

/** Returns the ranges of latitude along which edges on both sides run in opposite directions, from south to north. */
function sharedRanges(east: readonly AntimeridianEdge[], west: readonly AntimeridianEdge[]): Range[] {
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

/** Returns those of the sorted, disjoint ranges that lie on an edge. The edge contains each range wholly or not at all. */
function rangesWithin(ranges: readonly Range[], { south, north }: AntimeridianEdge): Range[] {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.south < south) low = middle + 1
    else high = middle
  }
  const contained: Range[] = []
  for (let i = low; i < ranges.length && ranges[i]!.north <= north; i++) contained.push(ranges[i]!)
  return contained
}
