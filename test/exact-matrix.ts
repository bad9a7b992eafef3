/**
 * The DE-9IM matrix by brute force in fractions of big integers, for coordinates that are any doubles: it decides who is right where
 * two implementations differ. The same definitions as in `grid-oracle.ts`, which is much faster but needs coordinates on a grid.
 */
import type { Geometry, Position } from '../src/types/generated.ts'

interface Vector {
  readonly x: bigint
  readonly y: bigint
}

/** The point (x/w, y/w), w > 0. */
interface Place extends Vector {
  readonly w: bigint
}

type Edge = readonly [Vector, Vector]

interface Shape {
  readonly points: Vector[]
  readonly lines: Edge[][]
  readonly polygons: Edge[][]
}

/** Returns the matrix as text. @param a in the plane; no edge crosses ±180 */
export function exactMatrix(a: Geometry, b: Geometry): string {
  const scale = scaleOf([a, b])
  const [shapeA, shapeB] = [shapeOf(a, scale), shapeOf(b, scale)]
  const entries: number[] = [-1, -1, -1, -1, -1, -1, -1, -1, 2]
  const record = (place: Place, dimension: number): void => {
    const index = 3 * locate(shapeA, place) + locate(shapeB, place)
    entries[index] = Math.max(entries[index]!, dimension)
  }
  const edges = [shapeA, shapeB].flatMap(({ lines, polygons }) => [...lines.flat(), ...polygons.flat()])
  const points = [...shapeA.points, ...shapeB.points].map((point): Place => ({ ...point, w: 1n }))
  const nodes = edges.map((edge) => [
    { ...edge[0], w: 1n },
    { ...edge[1], w: 1n },
    ...points.filter((point) => isOn(edge, point)),
    ...edges.flatMap((other) => (other === edge ? [] : meetings(edge, other))),
  ])
  for (const place of [...points, ...nodes.flat()]) record(place, 0)
  for (const onEdge of nodes) {
    onEdge.sort((p, q) => compareX(p, q) || compareY(p, q))
    for (let i = 1; i < onEdge.length; i++) {
      const [p, q] = [onEdge[i - 1]!, onEdge[i]!]
      if (compareX(p, q) !== 0 || compareY(p, q) !== 0) record(middle(p, q), 1)
    }
  }
  const columns = [...points, ...nodes.flat()].sort(compareX)
  for (let k = 1; k < columns.length; k++) {
    if (compareX(columns[k - 1]!, columns[k]!) === 0) continue
    const { x, w } = middle(columns[k - 1]!, columns[k]!)
    const heights = edges.filter(([p, q]) => p.x * w < x !== q.x * w < x).map((edge) => heightAt(edge, x, w))
    heights.sort(compareY)
    for (let i = 1; i < heights.length; i++) {
      if (compareY(heights[i - 1]!, heights[i]!) !== 0) record(middle(heights[i - 1]!, heights[i]!), 2)
    }
  }
  return entries.map((entry) => (entry < 0 ? 'F' : entry)).join('')
}

/** Returns the point of an edge at the longitude x/w. */
function heightAt([p, q]: Edge, x: bigint, w: bigint): Place {
  const dx = q.x - p.x
  const sign = dx < 0n ? -1n : 1n
  return { x: sign * x * dx, y: sign * (p.y * w * dx + (x - p.x * w) * (q.y - p.y)), w: sign * w * dx }
}

function meetings([a, b]: Edge, [c, d]: Edge): Place[] {
  const cross = (b.x - a.x) * (d.y - c.y) - (b.y - a.y) * (d.x - c.x)
  const isShared = (place: Place): boolean => isOn([a, b], place) && isOn([c, d], place)
  if (cross === 0n) return [a, b, c, d].map((end): Place => ({ ...end, w: 1n })).filter(isShared)
  const along = (c.x - a.x) * (d.y - c.y) - (c.y - a.y) * (d.x - c.x)
  const sign = cross < 0n ? -1n : 1n
  const x = sign * (a.x * cross + along * (b.x - a.x))
  const y = sign * (a.y * cross + along * (b.y - a.y))
  return [{ x, y, w: sign * cross }].filter(isShared)
}

/** 0 interior, 1 boundary, 2 exterior. */
function locate({ points, lines, polygons }: Shape, place: Place): 0 | 1 | 2 {
  const through = polygons.flatMap((edges) => edges.filter((edge) => isOn(edge, place)))
  if (through.length === 0) {
    if (polygons.some((edges) => isInside(edges, place))) return 0
  } else return isCovered(polygons, through, place) ? 0 : 1
  let ends = 0
  let isOnLine = false
  for (const line of lines) {
    if (line.some((edge) => isOn(edge, place))) isOnLine = true
    if (isAt(line[0]![0], place)) ends++
    if (isAt(line[line.length - 1]![1], place)) ends++
  }
  if (isOnLine) return ends % 2 === 1 ? 1 : 0
  return points.some((point) => isAt(point, place)) ? 0 : 2
}

/** Tells whether polygons cover every direction from a point on some of their edges. */
function isCovered(polygons: readonly Edge[][], through: readonly Edge[], place: Place): boolean {
  const half = ({ x, y }: Vector): number => (y > 0n || (y === 0n && x > 0n) ? 0 : 1)
  const directions = through
    .flat()
    .map(({ x, y }): Vector => ({ x: x * place.w - place.x, y: y * place.w - place.y }))
    .filter(({ x, y }) => x !== 0n || y !== 0n)
    .sort((p, q) => half(p) - half(q) || sign(p.y * q.x - p.x * q.y))
  return directions.every((from, i) => {
    const to = directions[(i + 1) % directions.length]!
    const turn = from.x * to.y - from.y * to.x
    if (turn === 0n && from.x * to.x + from.y * to.y > 0n && i + 1 < directions.length) return true
    const toward = turn > 0n ? { x: from.x + to.x, y: from.y + to.y } : { x: -from.y, y: from.x }
    return polygons.some((edges) => isInside(edges, place, toward))
  })
}

/** Counts the crossings of a ray to the east that begins an infinitely small step away from the point. */
function isInside(edges: readonly Edge[], { x, y, w }: Place, toward: Vector = { x: 0n, y: 0n }): boolean {
  let crossings = 0
  for (const [a, b] of edges) {
    const isAbove = (a.y * w - y || -toward.y) > 0n
    if (isAbove === (b.y * w - y || -toward.y) > 0n) continue
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const side = dx * (y - a.y * w) - dy * (x - a.x * w) || dx * toward.y - dy * toward.x
    if (isAbove ? side < 0n : side > 0n) crossings++
  }
  return crossings % 2 === 1
}

function isOn([a, b]: Edge, { x, y, w }: Place): boolean {
  return (
    (a.x * w - x) * (b.x * w - x) <= 0n &&
    (a.y * w - y) * (b.y * w - y) <= 0n &&
    (b.x - a.x) * (y - a.y * w) === (b.y - a.y) * (x - a.x * w)
  )
}

function isAt(point: Vector, { x, y, w }: Place): boolean {
  return point.x * w === x && point.y * w === y
}

function middle(p: Place, q: Place): Place {
  return { x: p.x * q.w + q.x * p.w, y: p.y * q.w + q.y * p.w, w: 2n * p.w * q.w }
}

function compareX(p: Place, q: Place): number {
  return sign(p.x * q.w - q.x * p.w)
}

function compareY(p: Place, q: Place): number {
  return sign(p.y * q.w - q.y * p.w)
}

function sign(value: bigint): number {
  return value < 0n ? -1 : value > 0n ? 1 : 0
}

/** Returns the power of two that makes integers of all coordinates. */
function scaleOf(geometries: readonly Geometry[]): number {
  const numbers = JSON.stringify(geometries).match(/-?\d+(?:\.\d+)?(?:e[-+]?\d+)?/gi) ?? []
  let scale = 1
  while (!numbers.every((number) => Number.isInteger(Number(number) * scale))) scale *= 2
  return scale
}

function shapeOf(geometry: Geometry, scale: number): Shape {
  const shape: Shape = { points: [], lines: [], polygons: [] }
  const vectorOf = ([lon, lat]: Position): Vector => ({ x: BigInt(lon * scale), y: BigInt(lat * scale) })
  const edgesOf = (chain: readonly Position[]): Edge[] => {
    const vectors = chain.map(vectorOf)
    return vectors
      .slice(1)
      .map((to, i): Edge => [vectors[i]!, to])
      .filter(([p, q]) => p.x !== q.x || p.y !== q.y)
  }
  const addLine = (line: readonly Position[]): void => {
    const edges = edgesOf(line)
    if (edges.length === 0) shape.points.push(vectorOf(line[0]!))
    else shape.lines.push(edges)
  }
  const add = (member: Geometry): void => {
    if (member.type === 'GeometryCollection') member.geometries.forEach(add)
    else if (member.type === 'Point') shape.points.push(vectorOf(member.coordinates))
    else if (member.type === 'MultiPoint') shape.points.push(...member.coordinates.map(vectorOf))
    else if (member.type === 'LineString') addLine(member.coordinates)
    else if (member.type === 'MultiLineString') member.coordinates.forEach(addLine)
    else if (member.type === 'Polygon') shape.polygons.push(member.coordinates.flatMap(edgesOf))
    else shape.polygons.push(...member.coordinates.map((rings) => rings.flatMap(edgesOf)))
  }
  add(geometry)
  return shape
}
