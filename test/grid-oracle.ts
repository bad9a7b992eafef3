/**
 * Predicates by brute force for geometries on a small grid: the reference for the generated laws, which shares no code with
 * `src/topology`.
 *
 * Every point is a fraction of integers that doubles hold exactly, so it is much faster than `exact-oracle.ts`; and it handles
 * unions of any elements. The plane is cut at all edges of both geometries. One sample of each node, piece of an edge and face
 * is located in each geometry, and the locations give the results by definition.
 */
import type { Geometry, Position } from '../src/types/generated.ts'

/** Coordinates are multiples of a half; they are doubled here. */
const SCALE = 2

interface Vector {
  readonly x: number
  readonly y: number
}

/** The point (x/w, y/w), with integers and w > 0. */
interface Place extends Vector {
  readonly w: number
}

type Edge = readonly [Vector, Vector]
type Where = 'interior' | 'boundary' | 'exterior'

/** The union of all elements of a geometry. Lines without length count as points. */
export interface GridShape {
  readonly points: readonly Vector[]
  readonly lines: readonly (readonly Edge[])[]
  /** The edges of all rings, by polygon. */
  readonly polygons: readonly (readonly Edge[])[]
}

export interface GridAnswers {
  readonly contains: boolean
  readonly isWithin: boolean
  readonly intersects: boolean
}

/** @throws {RangeError} for coordinates that are not multiples of a half */
export function gridShapeOf(geometry: Geometry): GridShape {
  const points: Vector[] = []
  const lines: Edge[][] = []
  const polygons: Edge[][] = []
  const addLine = (line: readonly Position[]): void => {
    const edges = edgesOf(line)
    if (edges.length === 0) points.push(vectorOf(line[0]!))
    else lines.push(edges)
  }
  const add = (member: Geometry): void => {
    if (member.type === 'GeometryCollection') member.geometries.forEach(add)
    else if (member.type === 'Point') points.push(vectorOf(member.coordinates))
    else if (member.type === 'MultiPoint') points.push(...member.coordinates.map(vectorOf))
    else if (member.type === 'LineString') addLine(member.coordinates)
    else if (member.type === 'MultiLineString') member.coordinates.forEach(addLine)
    else if (member.type === 'Polygon') polygons.push(member.coordinates.flatMap(edgesOf))
    else polygons.push(...member.coordinates.map((rings) => rings.flatMap(edgesOf)))
  }
  add(geometry)
  return { points, lines, polygons }
}

/** Returns `contains` and `intersects` of two geometries by the definitions of OGC 06-103r4, 6.1.15; `isWithin`: b contains a. */
export function gridAnswers(a: GridShape, b: GridShape): GridAnswers {
  let doInteriorsMeet = false
  let intersects = false
  let isOutsideA = false
  let isOutsideB = false
  for (const place of samples(a, b)) {
    if (isOutsideA && isOutsideB && intersects) break
    const inA = locate(a, place)
    const inB = locate(b, place)
    if (inA === 'interior' && inB === 'interior') doInteriorsMeet = true
    if (inA !== 'exterior' && inB !== 'exterior') intersects = true
    if (inA === 'exterior' && inB !== 'exterior') isOutsideA = true
    if (inA !== 'exterior' && inB === 'exterior') isOutsideB = true
  }
  return { contains: doInteriorsMeet && !isOutsideA, isWithin: doInteriorsMeet && !isOutsideB, intersects }
}

/**
 * Returns the DE-9IM matrix of two geometries as text. Each sample stands for the node, piece or face that it lies in, of dimension 0,
 * 1 or 2.
 */
export function gridMatrix(a: GridShape, b: GridShape): string {
  const entries: number[] = [-1, -1, -1, -1, -1, -1, -1, -1, 2]
  for (const { dimension, ...place } of samples(a, b)) {
    const index = 3 * PLACES.indexOf(locate(a, place)) + PLACES.indexOf(locate(b, place))
    entries[index] = Math.max(entries[index]!, dimension)
  }
  return entries.map((entry) => (entry < 0 ? 'F' : entry)).join('')
}

const PLACES: readonly Where[] = ['interior', 'boundary', 'exterior']

/** Whether a position, in multiples of a quarter, lies in a shape or on its boundary. */
export function coversPlace(shape: GridShape, [lon, lat]: Position): boolean {
  return locate(shape, { x: 2 * SCALE * lon, y: 2 * SCALE * lat, w: 2 }) !== 'exterior'
}

/** A point of a node, a piece or a face, with the dimension of what it lies in. */
interface Sample extends Place {
  readonly dimension: 0 | 1 | 2
}

/** Yields one point of every node, piece and face of the arrangement, and some further points of them. */
function* samples(a: GridShape, b: GridShape): Generator<Sample> {
  const edges = [a, b].flatMap(({ lines, polygons }) => [...lines.flat(), ...polygons.flat()])
  const points = [...a.points, ...b.points].map((point): Place => ({ ...point, w: 1 }))
  for (const point of points) yield { ...point, dimension: 0 }
  for (const point of edges.flat()) yield { ...point, w: 1, dimension: 0 }
  const cuts: Place[][] = edges.map((edge) => [
    { ...edge[0], w: 1 },
    { ...edge[1], w: 1 },
    ...points.filter((point) => isOn(edge, point)),
  ])
  for (let i = 0; i < edges.length; i++) {
    for (let j = i + 1; j < edges.length; j++) {
      const met = meetingPlaces(edges[i]!, edges[j]!)
      for (const place of met) yield { ...place, dimension: 0 }
      cuts[i]!.push(...met)
      cuts[j]!.push(...met)
    }
  }
  for (const onEdge of cuts) {
    onEdge.sort((p, q) => compareX(p, q) || compareY(p, q))
    for (let k = 1; k < onEdge.length; k++) {
      const [from, to] = [onEdge[k - 1]!, onEdge[k]!]
      if (compareX(from, to) !== 0 || compareY(from, to) !== 0) yield { ...middle(from, to), dimension: 1 }
    }
  }
  // Faces: halfway between neighbouring nodes by x, and there halfway between neighbouring edges.
  const columns = [...points, ...cuts.flat()].sort(compareX)
  for (let k = 1; k < columns.length; k++) {
    if (compareX(columns[k - 1]!, columns[k]!) === 0) continue
    const { x, w } = middle(columns[k - 1]!, columns[k]!)
    const heights = edges
      .filter(([from, to]) => from.x * w < x !== to.x * w < x)
      .map(([from, to]): Place => {
        const dx = to.x - from.x
        const sign = Math.sign(dx)
        return { x: sign * x * dx, y: sign * (from.y * w * dx + (x - from.x * w) * (to.y - from.y)), w: sign * w * dx }
      })
      .sort(compareY)
    for (let i = 1; i < heights.length; i++) {
      if (compareY(heights[i - 1]!, heights[i]!) !== 0) yield { ...middle(heights[i - 1]!, heights[i]!), dimension: 2 }
    }
  }
}

function compareX(p: Place, q: Place): number {
  return p.x * q.w - q.x * p.w
}

function compareY(p: Place, q: Place): number {
  return p.y * q.w - q.y * p.w
}

function middle(p: Place, q: Place): Place {
  return reduced({ x: p.x * q.w + q.x * p.w, y: p.y * q.w + q.y * p.w, w: 2 * p.w * q.w })
}

/** Returns the points where two edges meet: a crossing, or ends that lie on the other edge. */
function meetingPlaces([a, b]: Edge, [c, d]: Edge): Place[] {
  const cross = (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x)
  if (cross === 0) {
    const ends = [a, b, c, d].map((end): Place => ({ ...end, w: 1 }))
    return ends.filter((end) => isOn([a, b], end) && isOn([c, d], end))
  }
  const along = (c.x - a.x) * (d.y - c.y) - (c.y - a.y) * (d.x - c.x)
  const sign = Math.sign(cross)
  const x = sign * (a.x * cross + along * (b.x - a.x))
  const y = sign * (a.y * cross + along * (b.y - a.y))
  const place = reduced({ x, y, w: sign * cross })
  return isOn([a, b], place) && isOn([c, d], place) ? [place] : []
}

function reduced({ x, y, w }: Place): Place {
  let [a, b] = [w, Math.abs(x)]
  while (b > 0) [a, b] = [b, a % b]
  b = Math.abs(y)
  while (b > 0) [a, b] = [b, a % b]
  return { x: x / a, y: y / a, w: w / a }
}

/** Polygons take precedence over lines, lines over points; line ends follow the mod-2 rule. */
function locate(shape: GridShape, place: Place): Where {
  const toPolygons = locateInPolygons(shape, place)
  if (toPolygons !== 'exterior') return toPolygons
  let isOnLine = false
  let ends = 0
  for (const line of shape.lines) {
    if (line.some((edge) => isOn(edge, place))) isOnLine = true
    if (isAt(line[0]![0], place)) ends++
    if (isAt(line[line.length - 1]![1], place)) ends++
  }
  if (isOnLine) return ends % 2 === 1 ? 'boundary' : 'interior'
  return shape.points.some((point) => isAt(point, place)) ? 'interior' : 'exterior'
}

/** A point on rings is inside the union when polygons cover every direction from it. */
function locateInPolygons({ polygons }: GridShape, place: Place): Where {
  const around: (readonly Edge[])[] = []
  const through: Edge[] = []
  for (const edges of polygons) {
    const before = through.length
    for (const edge of edges) if (isOn(edge, place)) through.push(edge)
    if (through.length > before) around.push(edges)
    else if (isInside(edges, place)) return 'interior'
  }
  if (around.length === 0) return 'exterior'
  const directions = through
    .flat()
    .map((end): Vector => ({ x: end.x * place.w - place.x, y: end.y * place.w - place.y }))
    .filter(({ x, y }) => x !== 0 || y !== 0)
    .sort(compareDirections)
  const isCovered = directions.every((from, i) => {
    const to = directions[(i + 1) % directions.length]!
    const turn = from.x * to.y - from.y * to.x
    if (turn === 0 && from.x * to.x + from.y * to.y > 0 && i + 1 < directions.length) return true
    const between = turn > 0 ? { x: from.x + to.x, y: from.y + to.y } : { x: -from.y, y: from.x }
    return around.some((edges) => isInside(edges, place, between))
  })
  return isCovered ? 'interior' : 'boundary'
}

/** Compares directions counter-clockwise from the east. */
function compareDirections(p: Vector, q: Vector): number {
  const half = ({ x, y }: Vector): number => (y > 0 || (y === 0 && x > 0) ? 0 : 1)
  return half(p) - half(q) || p.y * q.x - p.x * q.y
}

/**
 * Counts the crossings of a ray to the east.
 *
 * @param toward direction of the infinitely small step from the point to the start of the ray
 */
function isInside(edges: readonly Edge[], { x, y, w }: Place, toward: Vector = { x: 0, y: 0 }): boolean {
  let crossings = 0
  for (const [a, b] of edges) {
    const isAbove = (a.y * w - y || -toward.y) > 0
    if (isAbove === (b.y * w - y || -toward.y) > 0) continue
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const side = dx * (y - a.y * w) - dy * (x - a.x * w) || dx * toward.y - dy * toward.x
    if (isAbove ? side < 0 : side > 0) crossings++
  }
  return crossings % 2 === 1
}

function isOn(edge: Edge, { x, y, w }: Place): boolean {
  const a = edge[0]
  const b = edge[1]
  return (
    (a.x * w - x) * (b.x * w - x) <= 0 &&
    (a.y * w - y) * (b.y * w - y) <= 0 &&
    (b.x - a.x) * (y - a.y * w) === (b.y - a.y) * (x - a.x * w)
  )
}

function isAt(point: Vector, { x, y, w }: Place): boolean {
  return point.x * w === x && point.y * w === y
}

function vectorOf([lon, lat]: Position): Vector {
  const [x, y] = [SCALE * lon, SCALE * lat]
  if (!Number.isInteger(x) || !Number.isInteger(y)) throw new RangeError(`${lon} ${lat} is not on the grid`)
  return { x, y }
}

/** Returns all edges except those without length. */
function edgesOf(chain: readonly Position[]): Edge[] {
  const vectors = chain.map(vectorOf)
  return vectors
    .slice(1)
    .flatMap((to, i): Edge[] => (to.x === vectors[i]!.x && to.y === vectors[i]!.y ? [] : [[vectors[i]!, to]]))
}
