/** RFC 7946 section 3.1.9 for tests: cuts geometries at the antimeridian, with longitudes unrolled around 180. */
import type { Geometry, Position } from '../src/types/generated.ts'

/** A closed ring or a line with longitudes in (0, 360): those above 180 are sent as negative. */
export type Unrolled = readonly Position[]

/** Adds a vertex at 180 to every edge that crosses it, at a latitude rounded to 1/1024; the result defines the shape. */
export function withAntimeridianVertices(chain: Unrolled): Position[] {
  return chain.flatMap(([lon, lat], i): Position[] => {
    const before = chain[i - 1]
    if (before === undefined || (before[0] - 180) * (lon - 180) >= 0) return [[lon, lat]]
    const t = (180 - before[0]) / (lon - before[0])
    const middle: Position = [180, Math.round((before[1] + t * (lat - before[1])) * 1024) / 1024]
    return [middle, [lon, lat]]
  })
}

/** Returns the chain as it is sent uncut: each vertex on the antimeridian has the longitude that `longitudeOfVertex` chooses. */
export function uncut(chain: Unrolled, longitudeOfVertex: () => 180 | -180): Position[] {
  const named = chain.map(
    ([lon, lat]): Position => [lon === 180 ? longitudeOfVertex() : lon > 180 ? lon - 360 : lon, lat],
  )
  const [first, last] = [chain[0]!, chain.at(-1)!]
  return first[0] === last[0] && first[1] === last[1] ? [...named.slice(0, -1), named[0]!] : named
}

/**
 * Cuts a simple closed ring that meets the antimeridian only by crossing it at vertices.
 *
 * The parts between crossings are joined along the antimeridian: the interior lies between the first and second crossing by
 * latitude, between the third and fourth, and so on.
 *
 * @returns undefined when the ring touches the antimeridian in another way, or does not cross it
 */
export function cutRing(ring: Unrolled): Geometry | undefined {
  const open = ring.slice(0, -1)
  const side = (i: number): number => Math.sign(open[(i + open.length) % open.length]![0] - 180)
  const crossings = open.flatMap((_, i) => (side(i) === 0 ? [i] : []))
  if (crossings.length < 2 || crossings.some((i) => side(i - 1) * side(i + 1) >= 0)) return undefined
  const byLatitude = crossings.toSorted((i, j) => open[i]![1] - open[j]![1])
  const partner = (i: number): number => byLatitude[byLatitude.indexOf(i) ^ 1]!
  const members: Position[][][] = []
  const used = new Set<number>()
  for (const start of crossings) {
    if (used.has(start)) continue
    const east = side(start + 1) > 0
    const member: Position[] = []
    const push = (i: number): void => {
      const [lon, lat] = open[i]!
      member.push([lon === 180 ? (east ? -180 : 180) : lon > 180 ? lon - 360 : lon, lat])
    }
    let at = start
    do {
      used.add(at)
      push(at)
      for (at = (at + 1) % open.length; side(at) !== 0; at = (at + 1) % open.length) push(at)
      push(at)
      at = partner(at)
    } while (at !== start && !used.has(at))
    if (at !== start) return undefined
    members.push([[...member, member[0]!]])
  }
  return { type: 'MultiPolygon', coordinates: members }
}

/** Cuts a line at its vertices on the antimeridian where it changes sides. */
export function cutLine(line: Unrolled): Geometry {
  const pieces: Position[][] = [[]]
  let isEast = (line.find(([lon]) => lon !== 180)?.[0] ?? 0) > 180
  line.forEach(([lon, lat], i) => {
    pieces.at(-1)!.push([lon === 180 ? (isEast ? -180 : 180) : lon > 180 ? lon - 360 : lon, lat])
    const next = line[i + 1]
    if (lon !== 180 || next === undefined || next[0] === 180 || next[0] > 180 === isEast) return
    isEast = !isEast
    pieces.push([[isEast ? -180 : 180, lat]])
  })
  return { type: 'MultiLineString', coordinates: pieces.filter((piece) => piece.length > 1) }
}
