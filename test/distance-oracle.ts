import geodesic from 'geographiclib-geodesic'

/**
 * Least geodesic distance by brute force, with geographiclib-geodesic and nothing else: every vertex against every edge by
 * sampling and golden-section search, every pair of edges by bisection, interiors by counting crossings on the way from a point
 * that is known to be inside or outside. Shares no code and no formula with the kernel; slow.
 */

const { WGS84 } = geodesic.Geodesic
type Line = ReturnType<typeof WGS84.InverseLine>
export type LonLat = readonly [lon: number, lat: number]

/** A polygon, and one point off its rings that is known to be inside or outside. */
export interface KnownPolygon {
  readonly rings: readonly (readonly LonLat[])[]
  readonly reference: LonLat
  readonly isInside: boolean
}

/** What the oracle needs to know of a geometry. */
export interface Shape {
  readonly points: readonly LonLat[]
  readonly lines: readonly (readonly LonLat[])[]
  readonly polygons: readonly KnownPolygon[]
}

class Edge {
  readonly line: Line
  readonly length: number

  constructor(from: LonLat, to: LonLat) {
    // Starts at the same end in both directions: an edge between antipodal points may be one of several geodesics.
    const isOrdered = from[1] < to[1] || (from[1] === to[1] && from[0] <= to[0])
    const [a, b] = isOrdered ? [from, to] : [to, from]
    this.line = WGS84.InverseLine(a[1], a[0], b[1], b[0])
    this.length = inverse(a, b)
  }

  at(s: number): LonLat {
    const { lat2, lon2 } = this.line.Position(s)
    return [lon2!, lat2!]
  }
}

const inverse = (p: LonLat, q: LonLat) => WGS84.Inverse(p[1], p[0], q[1], q[0]).s12!

/** Returns metres, accurate to about 1e-5 m. */
export function oracleDistance(a: Shape, b: Shape): number {
  if (holdsPartOf(a, b) || holdsPartOf(b, a)) return 0
  const edgesA = edgesOf(a)
  const edgesB = edgesOf(b)
  for (const s of edgesA) {
    for (const t of edgesB) if (cross(s, 0, s.length, t, 0, t.length)) return 0
  }
  const verticesA = verticesOf(a)
  const verticesB = verticesOf(b)
  let best = Infinity
  for (const p of verticesA) for (const q of verticesB) best = Math.min(best, inverse(p, q))
  for (const p of verticesA) for (const edge of edgesB) best = Math.min(best, toEdge(p, edge, best))
  for (const p of verticesB) for (const edge of edgesA) best = Math.min(best, toEdge(p, edge, best))
  return best
}

/** Returns all sequences of a shape, from which its edges and vertices are taken. */
const sequences = ({ points, lines, polygons }: Shape) => [
  ...points.map((point) => [point]),
  ...lines,
  ...polygons.flatMap(({ rings }) => rings),
]
const verticesOf = (shape: Shape) => sequences(shape).flat()
const edgesOf = (shape: Shape) => sequences(shape).flatMap(edgesOfSequence)
const edgesOfSequence = (sequence: readonly LonLat[]) =>
  sequence.slice(1).map((to, index) => new Edge(sequence[index]!, to))

function holdsPartOf(container: Shape, shape: Shape): boolean {
  const firsts = [
    ...shape.points,
    ...shape.lines.map((line) => line[0]!),
    ...shape.polygons.map((polygon) => polygon.rings[0]![0]!),
  ]
  return container.polygons.some((polygon) => firsts.some((point) => contains(polygon, point)))
}

/** Every crossing on the way from the reference point changes the side. */
function contains({ rings, reference, isInside }: KnownPolygon, point: LonLat): boolean {
  const way = new Edge(reference, point)
  const edges = rings.flatMap(edgesOfSequence)
  const crossings = edges.filter((edge) => cross(way, 0, way.length, edge, 0, edge.length)).length
  return isInside === (crossings % 2 === 0)
}

/** Returns the least distance from P to an edge where it may be below `best`; otherwise some value that is not below it. */
function toEdge(p: LonLat, edge: Edge, best: number): number {
  const { length } = edge
  const f = (s: number) => inverse(p, edge.at(s))
  // The distance changes by at most one metre per metre.
  if (f(length / 2) - length / 2 > best) return best
  const count = length > 2e6 ? 64 : 12
  const step = length / count
  const samples = Array.from({ length: count + 1 }, (_, index) => f(index * step))
  let least = best
  for (let i = 0; i <= count; i++) {
    const isLow = samples[i]! <= (samples[i - 1] ?? Infinity) && samples[i]! <= (samples[i + 1] ?? Infinity)
    if (!isLow || samples[i]! - step > least) continue
    least = Math.min(least, goldenSection(f, Math.max(0, i - 1) * step, Math.min(count, i + 1) * step))
  }
  return least
}

function goldenSection(f: (s: number) => number, low: number, high: number): number {
  const ratio = (Math.sqrt(5) - 1) / 2
  let x1 = high - ratio * (high - low)
  let x2 = low + ratio * (high - low)
  let f1 = f(x1)
  let f2 = f(x2)
  let least = Math.min(f1, f2, f(low), f(high))
  while (high - low > 1e-5) {
    if (f1 <= f2) {
      high = x2
      x2 = x1
      f2 = f1
      x1 = high - ratio * (high - low)
      f1 = f(x1)
    } else {
      low = x1
      x1 = x2
      f1 = f2
      x2 = low + ratio * (high - low)
      f2 = f(x2)
    }
    least = Math.min(least, f1, f2)
  }
  return least
}

/** Whether two pieces of edges meet. Halves them until they are 200 m long, where they are straight to a micrometre. */
function cross(s: Edge, s0: number, s1: number, t: Edge, t0: number, t1: number): boolean {
  const middleS = s.at((s0 + s1) / 2)
  const middleT = t.at((t0 + t1) / 2)
  const halfS = (s1 - s0) / 2
  const halfT = (t1 - t0) / 2
  if (inverse(middleS, middleT) > halfS + halfT + 1e-6) return false
  if (halfS <= 100 && halfT <= 100) {
    const flat = (point: LonLat) => {
      const { s12, azi1 } = WGS84.Inverse(middleS[1], middleS[0], point[1], point[0])
      const azimuth = (azi1! * Math.PI) / 180
      return [s12! * Math.sin(azimuth), s12! * Math.cos(azimuth)] as const
    }
    return crossFlat(flat(s.at(s0)), flat(s.at(s1)), flat(t.at(t0)), flat(t.at(t1)))
  }
  if (halfS >= halfT) {
    return cross(s, s0, s0 + halfS, t, t0, t1) || cross(s, s0 + halfS, s1, t, t0, t1)
  }
  return cross(s, s0, s1, t, t0, t0 + halfT) || cross(s, s0, s1, t, t0 + halfT, t1)
}

type Flat = readonly [x: number, y: number]

/** Half-open, so that a crossing at the joint of two pieces is counted once. */
function crossFlat(a: Flat, b: Flat, c: Flat, d: Flat): boolean {
  const side = (p: Flat, q: Flat, r: Flat) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0
  return side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b)
}
