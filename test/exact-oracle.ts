/**
 * Predicates by brute force over exact fractions: the reference for the predicates of `src/topology`, with which it shares no
 * code.
 *
 * Doubles are fractions; here they stay fractions of BigInts from the first to the last step. Edges are cut at every point where
 * they meet another edge, faces are sampled in every vertical slab between such points, and each sample is located separately.
 * Slow: for a few dozen edges.
 */
import type { Geometry, Position } from '../src/types/generated.ts'

interface Fraction {
  readonly n: bigint
  /** > 0 */
  readonly d: bigint
}

interface Place {
  readonly x: Fraction
  readonly y: Fraction
}

type Edge = readonly [Place, Place]

/** An element of one kind: points, lines (as chains of points) or polygons (as lists of rings). */
export interface Shape {
  readonly points: readonly Place[]
  readonly lines: readonly (readonly Place[])[]
  readonly polygons: readonly (readonly (readonly Place[])[])[]
}

/**
 * @param geometry longitudes are taken as they are
 * @param isUnrolled true: 360 is added to negative longitudes, exactly
 */
export function shapeOf(geometry: Geometry, isUnrolled = false): Shape {
  const place = ([lon, lat]: Position): Place => {
    const x = fraction(lon)
    return { x: isUnrolled && lon < 0 ? add(x, fraction(360)) : x, y: fraction(lat) }
  }
  const chain = (positions: readonly Position[]): Place[] => positions.map(place)
  const none: Shape = { points: [], lines: [], polygons: [] }
  switch (geometry.type) {
    case 'Point':
      return { ...none, points: [place(geometry.coordinates)] }
    case 'MultiPoint':
      return { ...none, points: chain(geometry.coordinates) }
    case 'LineString':
      return { ...none, lines: [chain(geometry.coordinates)] }
    case 'MultiLineString':
      return { ...none, lines: geometry.coordinates.map(chain) }
    case 'Polygon':
      return { ...none, polygons: [geometry.coordinates.map(chain)] }
    case 'MultiPolygon':
      return { ...none, polygons: geometry.coordinates.map((rings) => rings.map(chain)) }
    case 'GeometryCollection': {
      const shapes = geometry.geometries.map((member) => shapeOf(member, isUnrolled))
      return {
        points: shapes.flatMap(({ points }) => points),
        lines: shapes.flatMap(({ lines }) => lines),
        polygons: shapes.flatMap(({ polygons }) => polygons),
      }
    }
  }
}

/** Whether two shapes share a point, boundaries included. */
export function oracleIntersects(a: Shape, b: Shape): boolean {
  const edgesA = edgesOf(a)
  const edgesB = edgesOf(b)
  if (edgesA.some((e) => edgesB.some((f) => edgesMeet(e, f)))) return true
  const places = (shape: Shape): Place[] => [
    ...shape.points,
    ...shape.lines.map((line) => line[0]!),
    ...shape.polygons.flatMap((rings) => rings.map((ring) => ring[0]!)),
  ]
  return places(a).some((p) => covers(b, p)) || places(b).some((p) => covers(a, p))
}

/**
 * Whether a contains b by DE-9IM.
 *
 * @param a points, lines or one polygonal element; several polygons only for a b of polygons
 */
export function oracleContains(a: Shape, b: Shape): boolean {
  const cuts = edgesOf(a)
  const pieces = b.lines.flatMap((line) => chainEdges(line)).flatMap((edge) => middles(edge, cuts))
  const lonePlaces = [...b.points, ...b.lines.filter((line) => chainEdges(line).length === 0).map((line) => line[0]!)]
  if (!pieces.every((p) => covers(a, p)) || !lonePlaces.every((p) => covers(a, p))) return false
  let isInteriorMet = false
  for (const p of faceSamples([...cuts, ...edgesOf(b)])) {
    if (!b.polygons.some((rings) => isInside(rings, p))) continue
    if (!a.polygons.some((rings) => isInside(rings, p))) return false
    isInteriorMet = true
  }
  return isInteriorMet || [...pieces, ...lonePlaces].some((p) => isInterior(a, p))
}

function isInterior(a: Shape, p: Place): boolean {
  if (a.polygons.some((rings) => isInside(rings, p))) return true
  if (a.polygons.some((rings) => rings.some((ring) => chainEdges(ring).some((edge) => isOn(edge, p))))) return false
  if (a.lines.some((line) => chainCovers(line, p))) {
    const ends = a.lines.flatMap((line) => [line[0]!, line[line.length - 1]!]).filter((end) => same(end, p))
    return ends.length % 2 === 0
  }
  return a.points.some((point) => same(point, p))
}

function covers(a: Shape, p: Place): boolean {
  return (
    a.points.some((point) => same(point, p)) ||
    a.lines.some((line) => chainCovers(line, p)) ||
    a.polygons.some(
      (rings) => rings.some((ring) => chainEdges(ring).some((edge) => isOn(edge, p))) || isInside(rings, p),
    )
  )
}

function chainCovers(line: readonly Place[], p: Place): boolean {
  return same(line[0]!, p) || chainEdges(line).some((edge) => isOn(edge, p))
}

/** Counts the crossings of a ray to the east; false for a point on a ring. */
function isInside(rings: readonly (readonly Place[])[], p: Place): boolean {
  let crossings = 0
  for (const ring of rings) {
    for (const [a, b] of chainEdges(ring)) {
      if (isOn([a, b], p)) return false
      if (compare(a.y, p.y) > 0 === compare(b.y, p.y) > 0) continue
      const side = sideOf(a, b, p)
      if (compare(b.y, a.y) > 0 ? side > 0 : side < 0) crossings++
    }
  }
  return crossings % 2 === 1
}

/** Returns one point inside every face that is crossed by a vertical line halfway between two neighbouring event points. */
function faceSamples(edges: readonly Edge[]): Place[] {
  const xs = edges.flatMap(([a, b]) => [a.x, b.x])
  edges.forEach((e, i) => {
    for (const f of edges.slice(i + 1)) {
      const at = edgesMeet(e, f) ? crossing(e, f) : undefined
      if (at !== undefined) xs.push(at.x)
    }
  })
  const samples: Place[] = []
  for (const x of gaps(xs)) {
    const ys = edges
      .filter(([a, b]) => compare(a.x, x) * compare(b.x, x) < 0)
      .map(([a, b]) => add(a.y, multiply(divide(subtract(x, a.x), subtract(b.x, a.x)), subtract(b.y, a.y))))
    for (const y of gaps(ys)) samples.push({ x, y })
  }
  return samples
}

/** Returns the midpoints between neighbouring different numbers. */
function gaps(numbers: Fraction[]): Fraction[] {
  const sorted = numbers.toSorted(compare)
  return sorted.slice(1).flatMap((high, i) => (compare(sorted[i]!, high) < 0 ? [half(add(sorted[i]!, high))] : []))
}

/** Returns the midpoints of the pieces into which other edges cut an edge. */
function middles(edge: Edge, others: readonly Edge[]): Place[] {
  const [a, b] = edge
  const cuts = [a, b]
  for (const other of others) {
    for (const end of other) if (isOn(edge, end)) cuts.push(end)
    const at = edgesMeet(edge, other) ? crossing(edge, other) : undefined
    if (at !== undefined) cuts.push(at)
  }
  const order = (p: Place, q: Place): number => compare(p.x, q.x) || compare(p.y, q.y)
  const sorted = cuts.toSorted(order)
  return sorted
    .slice(1)
    .flatMap((q, i) =>
      order(sorted[i]!, q) === 0 ? [] : [{ x: half(add(sorted[i]!.x, q.x)), y: half(add(sorted[i]!.y, q.y)) }],
    )
}

/** Returns the point where the lines of two edges meet; undefined when they are parallel. */
function crossing([a, b]: Edge, [c, d]: Edge): Place | undefined {
  const ux = subtract(b.x, a.x)
  const uy = subtract(b.y, a.y)
  const vx = subtract(d.x, c.x)
  const vy = subtract(d.y, c.y)
  const cross = subtract(multiply(ux, vy), multiply(uy, vx))
  if (cross.n === 0n) return undefined
  const along = subtract(multiply(subtract(c.x, a.x), vy), multiply(subtract(c.y, a.y), vx))
  const t = divide(along, cross)
  return { x: add(a.x, multiply(t, ux)), y: add(a.y, multiply(t, uy)) }
}

function edgesMeet([a, b]: Edge, [c, d]: Edge): boolean {
  if (isOn([a, b], c) || isOn([a, b], d) || isOn([c, d], a) || isOn([c, d], b)) return true
  return sideOf(a, b, c) * sideOf(a, b, d) < 0 && sideOf(c, d, a) * sideOf(c, d, b) < 0
}

function edgesOf(shape: Shape): Edge[] {
  return [
    ...shape.points.map((p): Edge => [p, p]),
    ...shape.lines.flatMap((line) =>
      chainEdges(line).length > 0 ? chainEdges(line) : [[line[0]!, line[0]!] as const],
    ),
    ...shape.polygons.flatMap((rings) => rings.flatMap((ring) => chainEdges(ring))),
  ]
}

const chains = new WeakMap<readonly Place[], readonly Edge[]>()

function chainEdges(line: readonly Place[]): readonly Edge[] {
  const known = chains.get(line)
  if (known !== undefined) return known
  const edges = line.slice(1).flatMap((b, i): Edge[] => (same(line[i]!, b) ? [] : [[line[i]!, b]]))
  chains.set(line, edges)
  return edges
}

function isOn([a, b]: Edge, p: Place): boolean {
  return (
    compare(a.x, p.x) * compare(b.x, p.x) <= 0 && compare(a.y, p.y) * compare(b.y, p.y) <= 0 && sideOf(a, b, p) === 0
  )
}

function same(p: Place, q: Place): boolean {
  return compare(p.x, q.x) === 0 && compare(p.y, q.y) === 0
}

/** Returns 1 when p lies left of a → b. */
function sideOf(a: Place, b: Place, p: Place): number {
  const left = multiply(subtract(b.x, a.x), subtract(p.y, a.y))
  const right = multiply(subtract(b.y, a.y), subtract(p.x, a.x))
  return compare(left, right)
}

/** Returns the double as a fraction. Doubles it, which is exact, until it is an integer. */
function fraction(value: number): Fraction {
  let d = 1n
  let n = value
  while (!Number.isInteger(n)) {
    n *= 2
    d *= 2n
  }
  return { n: BigInt(n), d }
}

function compare(p: Fraction, q: Fraction): number {
  const difference = p.d === q.d ? p.n - q.n : p.n * q.d - q.n * p.d
  return difference > 0n ? 1 : difference < 0n ? -1 : 0
}

function add(p: Fraction, q: Fraction): Fraction {
  return p.d === q.d ? { n: p.n + q.n, d: p.d } : { n: p.n * q.d + q.n * p.d, d: p.d * q.d }
}

function subtract(p: Fraction, q: Fraction): Fraction {
  return add(p, { n: -q.n, d: q.d })
}

function multiply(p: Fraction, q: Fraction): Fraction {
  return { n: p.n * q.n, d: p.d * q.d }
}

function divide(p: Fraction, q: Fraction): Fraction {
  return q.n < 0n ? { n: p.n * -q.d, d: p.d * -q.n } : { n: p.n * q.d, d: p.d * q.n }
}

function half(p: Fraction): Fraction {
  return { n: p.n, d: 2n * p.d }
}

/** Returns the side of c relative to the line a → b: 1 left, −1 right, 0 on it. */
export function oracleSide(a: Position, b: Position, c: Position): number {
  const place = ([x, y]: Position): Place => ({ x: fraction(x), y: fraction(y) })
  return sideOf(place(a), place(b), place(c))
}
