/** Pairs of small geometries that touch in every way, on a grid of halves: the cases where shortcuts of predicates go wrong. */
import { readGeometry } from '../src/geometry/read.ts'
import { findInvalidity } from '../src/topology/validity.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { coversPlace, type GridShape, gridShapeOf } from './grid-oracle.ts'
import { seededNumbers } from './near-touch-cases.ts'
import type { Random } from './random-shapes.ts'

/** Coordinates of the grid run from 0 to this value, in steps of a half. */
const SIZE = 8

export const CONTACTS = [
  'vertex on vertex',
  'vertex on edge',
  'edge over vertex',
  'edge along edge',
  'edge over edge',
  'by chance',
] as const
export const TARGETS = ['ring', 'hole', 'island in a hole', 'second polygon', 'member of a collection', 'line'] as const
export const KINDS = ['point', 'line', 'lines', 'polygon', 'polygons'] as const
type Contact = (typeof CONTACTS)[number]
type Target = (typeof TARGETS)[number]
type Kind = (typeof KINDS)[number]
type Ring = readonly Position[]
type Rings = readonly Ring[]

/** The cases of one seed share their geometry a, which takes longest to make. */
const CASES_PER_SEED = 8

export interface ContactCase {
  readonly seed: number
  /** The way in which b was made to touch a. */
  readonly contact: Contact
  /** The part of a that b touches. */
  readonly target: Target
  readonly kind: Kind
  readonly a: Geometry
  readonly b: Geometry
  /** Random numbers for the laws; the same for the same seed. */
  readonly random: Random
}

const LIMITS = { maxVertices: 5000, maxParts: 500 }
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const north = () => 1 as const

export function isValidGeometry(geometry: Geometry): boolean {
  return findInvalidity(read(geometry), north) === undefined
}

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!
}

/** Makes the cases of a seed: valid geometries where b touches a in a chosen way, and often in other ways too. */
export function contactCases(seed: number): ContactCase[] {
  const random = seededNumbers(seed)
  const target = pick(random, TARGETS)
  let container: Container | undefined
  while (container === undefined) container = makeContainer(random, target)
  const { geometry: a, rings } = container
  const shape = gridShapeOf(a)
  const cases: ContactCase[] = []
  while (cases.length < CASES_PER_SEED) {
    const contact = pick(random, CONTACTS)
    const kind = pick(random, KINDS)
    // Containment is rare by chance, so several attempts are made.
    let b: Geometry | undefined
    for (let tries = random() < 0.5 ? 6 : 1; tries > 0; tries--) {
      b = makeTouching(random, kind, contact, rings)
      if (b !== undefined && isMostlyCovered(shape, b)) break
    }
    if (b !== undefined) cases.push({ seed, contact, target, kind, a, b, random })
  }
  return cases
}

/** Whether a shape covers the vertices of a geometry and the midpoints of its edges. */
function isMostlyCovered(shape: GridShape, geometry: Geometry): boolean {
  const { vertices, sequenceStarts } = read(geometry)
  for (let i = 0; i < vertices.length / 2; i++) {
    const [x, y] = [vertices[2 * i]!, vertices[2 * i + 1]!]
    if (!coversPlace(shape, [x, y])) return false
    if (sequenceStarts.includes(i + 1)) continue
    if (!coversPlace(shape, [(x + vertices[2 * i + 2]!) / 2, (y + vertices[2 * i + 3]!) / 2])) return false
  }
  return true
}

interface Container {
  readonly geometry: Geometry
  /** The rings and lines that b should touch. */
  readonly rings: Rings
}

function makeContainer(random: Random, target: Target): Container | undefined {
  if (target === 'line') return makeLines(random)
  const shell = makeRing(random, [0, 0, SIZE, SIZE])
  const holes: Ring[] = []
  const polygons: Rings[] = [[shell, ...holes]]
  const grow = (tries: number, build: () => Rings[]): boolean => {
    for (let i = 0; i < tries; i++) {
      const grown = build()
      if (!isValidGeometry(polygonal(grown))) continue
      polygons.splice(0, polygons.length, ...grown)
      return true
    }
    return false
  }
  if (!grow(1, () => polygons)) return undefined
  const addHole = (): boolean =>
    grow(12, () => [[...polygons[0]!, makeRing(random, boxOf(pick(random, polygons[0]!)), polygons[0]!)]])
  const wantsHole = target === 'hole' || target === 'island in a hole'
  if ((wantsHole || random() < 0.3) && !addHole() && wantsHole) return undefined
  if (random() < 0.3) addHole()
  if (target === 'ring') return { geometry: polygonal(polygons), rings: [polygons[0]![0]!] }
  if (target === 'hole') return { geometry: polygonal(polygons), rings: polygons[0]!.slice(1) }
  if (target === 'island in a hole') {
    const hole = polygons[0]![1]!
    if (!grow(12, () => [...polygons, [makeRing(random, boxOf(hole), [hole])]])) return undefined
    const island = polygons[polygons.length - 1]!
    return { geometry: polygonal(polygons, random), rings: random() < 0.5 ? island : [hole, ...island] }
  }
  const addPolygon = (): boolean =>
    grow(12, () => [...polygons, [makeRing(random, boxSomewhere(random), polygons.flat())]])
  if (target === 'second polygon') {
    if (!addPolygon()) return undefined
    if (random() < 0.4) addPolygon()
    const second = polygons[1]!
    return { geometry: polygonal(polygons, random), rings: random() < 0.5 ? second : polygons.flat() }
  }
  if (random() < 0.3) addPolygon()
  const [member, rings] = makeMember(random, polygons.flat())
  if (!isValidGeometry(member)) return undefined
  const members = [polygonal(polygons), member]
  if (random() < 0.3) members.push(makeMember(random, polygons.flat())[0])
  if (random() < 0.5) members.reverse()
  const geometry: Geometry = { type: 'GeometryCollection', geometries: [members[0]!, ...members.slice(1)] }
  if (!isValidGeometry(geometry)) return undefined
  return { geometry, rings: random() < 0.5 ? rings : [...polygons.flat(), ...rings] }
}

/** Makes one line, several lines, or lines and points in a collection. */
function makeLines(random: Random): Container {
  const lines: Position[][] = [several(random, 2, 6, () => place(random))]
  while (random() < 0.6) lines.push(makeLine(random, pick(random, CONTACTS), lines))
  if (lines.length === 1) return { geometry: { type: 'LineString', coordinates: lines[0]! }, rings: lines }
  if (random() < 0.5) return { geometry: { type: 'MultiLineString', coordinates: lines }, rings: lines }
  const points: Geometry = { type: 'MultiPoint', coordinates: [placeOn(random, lines), place(random)] }
  const members = lines.map((coordinates): Geometry => ({ type: 'LineString', coordinates }))
  return { geometry: { type: 'GeometryCollection', geometries: [points, ...members] }, rings: lines }
}

/** Makes another member of a collection: it may overlap the first, or share edges with it. */
function makeMember(random: Random, rings: Rings): readonly [Geometry, Rings] {
  const kind = random()
  if (kind < 0.15) return [{ type: 'Point', coordinates: placeOn(random, rings) }, rings]
  if (kind < 0.4) {
    const line = makeLine(random, pick(random, CONTACTS), rings)
    return [{ type: 'LineString', coordinates: line }, [line]]
  }
  const from = pick(random, rings)
  const at = Math.floor(random() * (from.length - 1))
  const shared: Rings = random() < 0.5 ? [makeRing(random, boxSomewhere(random), rings)] : [[from[at]!, from[at + 1]!]]
  const ring =
    shared[0]!.length > 2 ? shared[0]! : closed([...shared[0]!, ...several(random, 1, 2, () => place(random))])
  return [polygonal([[ring]]), [ring]]
}

/** Makes b: its first part touches in the requested way, the others by chance. */
function makeTouching(random: Random, kind: Kind, contact: Contact, rings: Rings): Geometry | undefined {
  const line = (): Position[] => makeLine(random, contact, rings)
  switch (kind) {
    case 'point': {
      const isAnywhere = contact === 'by chance'
      const at = isAnywhere
        ? near(random, rings, 0)
        : placeOn(random, rings, contact.endsWith('vertex') ? 'vertex' : 'edge')
      return random() < 0.5
        ? { type: 'Point', coordinates: at }
        : { type: 'MultiPoint', coordinates: [at, ...several(random, 0, 2, () => placeOn(random, rings))] }
    }
    case 'line':
      return { type: 'LineString', coordinates: line() }
    case 'lines': {
      const first = line()
      const next = (): Position[] => {
        if (random() < 0.2) return [...pick(random, rings)]
        const other = makeLine(random, pick(random, CONTACTS), rings)
        return random() < 0.5 ? other : [first[first.length - 1]!, ...other]
      }
      return { type: 'MultiLineString', coordinates: [first, ...several(random, 1, 2, next)] }
    }
    case 'polygon':
    case 'polygons':
      for (let i = 0; i < 12; i++) {
        const ring =
          random() < 0.15
            ? boxAround(rings.flat(), pick(random, [0, 0, 0.5]))
            : closed([...line().slice(0, 3), ...several(random, 1, 2, () => near(random, rings))])
        const polygons: Rings[] = [[ring]]
        if (kind === 'polygons')
          polygons.push([makeRing(random, boxSomewhere(random), random() < 0.5 ? [ring] : rings)])
        else if (random() < 0.3) polygons[0] = [ring, makeRing(random, boxOf(ring), rings)]
        if (kind === 'polygons' && random() < 0.2) {
          const [first, second] = [polygonal([polygons[0]!]), polygonal([polygons[1]!])]
          const both: Geometry = { type: 'GeometryCollection', geometries: [first, second] }
          if (isValidGeometry(both)) return both
        } else if (isValidGeometry(polygonal(polygons))) {
          return polygonal(polygons, random)
        }
      }
      return undefined
  }
}

/** Makes a line of 2 to 5 positions; one or two of them, or one edge, touch rings in the given way. */
function makeLine(random: Random, contact: Contact, rings: Rings): Position[] {
  const isOverVertex = contact === 'vertex on vertex' || contact === 'edge over vertex'
  const [at, along] = touchPlace(random, isOverVertex ? 'vertex' : 'edge', rings)
  if (contact === 'by chance') {
    const [x, y] = placeIn(random, boxOf(pick(random, rings)))
    const [right, up] = [pick(random, [0, 0.5, 1, 3]), pick(random, [0, 0.5, 1, 3])]
    return several(random, 2, 4, () => placeIn(random, [x - right, y - up, x + right, y + up]))
  }
  const isEnd = contact.startsWith('vertex')
  const direction =
    contact === 'edge along edge'
      ? along
      : ([pick(random, [-2, -1, 0, 1, 2]), pick(random, [-2, -1, 0, 1, 2])] as const)
  const step = (factor: number): Position => [at[0] + factor * direction[0], at[1] + factor * direction[1]]
  const reach = (): number => pick(random, contact === 'edge along edge' ? [0.5, 1, 2] : [0.5, 1, 1.5, 2])
  const from = isEnd ? at : step(-reach())
  let to = step(reach())
  // Halfway along an edge may be off the grid; an edge without length touches as a vertex does.
  if (![...from, ...to].every((value) => Number.isInteger(2 * value) && value >= -2 && value <= SIZE + 2)) to = at
  const edge = isInBounds(from) && isInBounds(to) ? [from, to] : [at, near(random, rings)]
  const before = random() < 0.3 ? [near(random, rings)] : []
  const after = random() < 0.5 ? several(random, 1, 2, () => near(random, rings)) : []
  return [...before, ...edge, ...after]
}

function isInBounds(position: Position): boolean {
  return position.every((value) => Number.isInteger(2 * value) && value >= -2 && value <= SIZE + 2)
}

/** Returns a vertex or a position within an edge, with the direction of the edge; often one where two rings meet. */
function touchPlace(
  random: Random,
  on: 'vertex' | 'edge',
  rings: Rings,
): readonly [Position, readonly [number, number]] {
  const ring = pick(random, rings)
  const at = Math.floor(random() * (ring.length - 1))
  const [a, b] = [ring[at]!, ring[at + 1]!]
  const way = [(b[0] - a[0]) / 2, (b[1] - a[1]) / 2] as const
  const shared = rings.flatMap((one) =>
    one.filter((vertex) => rings.some((other) => other !== one && isOnRing(other, vertex))),
  )
  if (shared.length > 0 && random() < 0.5) return [pick(random, shared), way]
  return [on === 'vertex' ? a : (pick(random, placesWithin(a, b)) ?? a), way]
}

/** Returns the grid positions on an edge, except its ends. */
function placesWithin(a: Position, b: Position): Position[] {
  const places: Position[] = []
  const steps = 2 * Math.max(Math.abs(b[0] - a[0]), Math.abs(b[1] - a[1]))
  for (let i = 1; i < steps; i++) {
    const [x, y] = [a[0] + (i * (b[0] - a[0])) / steps, a[1] + (i * (b[1] - a[1])) / steps]
    if (Number.isInteger(2 * x) && Number.isInteger(2 * y)) places.push([x, y])
  }
  return places
}

function isOnRing(ring: Ring, [x, y]: Position): boolean {
  return ring.slice(1).some((b, i) => {
    const a = ring[i]!
    const isInBox = (a[0] - x) * (b[0] - x) <= 0 && (a[1] - y) * (b[1] - y) <= 0
    return isInBox && (b[0] - a[0]) * (y - a[1]) === (b[1] - a[1]) * (x - a[0])
  })
}

function placeOn(random: Random, rings: Rings, on: 'vertex' | 'edge' = random() < 0.5 ? 'vertex' : 'edge'): Position {
  return touchPlace(random, on, rings)[0]
}

/** Returns a position anywhere in the box of some rings, or on them. */
function near(random: Random, rings: Rings, onRings = 0.5): Position {
  if (random() < onRings) return placeOn(random, rings)
  const [west, south, east, north_] = boxOf(pick(random, rings))
  return placeIn(random, [west - 1, south - 1, east + 1, north_ + 1])
}

function place(random: Random): Position {
  return placeIn(random, [0, 0, SIZE, SIZE])
}

type Box = readonly [number, number, number, number]

/** Returns a position in a box, with integer coordinates most of the time. */
function placeIn(random: Random, [west, south, east, north_]: Box): Position {
  const step = random() < 0.8 ? 1 : 2
  const on = (from: number, to: number): number => Math.round(step * (from + random() * (to - from))) / step
  return [on(west, east), on(south, north_)]
}

function boxOf(ring: Ring): Box {
  const [xs, ys] = [ring.map(([x]) => x), ring.map(([, y]) => y)]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** Returns a rectangle around positions. */
function boxAround(positions: Ring, room: number): Ring {
  const [west, south, east, north_] = boxOf(positions)
  return closed([
    [west - room, south - room],
    [east + room, south - room],
    [east + room, north_ + room],
    [west - room, north_ + room],
  ])
}

function boxSomewhere(random: Random): Box {
  const [[x, y], [x2, y2]] = [place(random), place(random)]
  return [Math.min(x, x2) - 1, Math.min(y, y2) - 1, Math.max(x, x2) + 1, Math.max(y, y2) + 1]
}

/** Makes a rectangle, or a ring around the center of a box, often with a vertex on one of the given rings. */
function makeRing(random: Random, box: Box, onto: Rings = []): Ring {
  const anchors = onto.length > 0 && random() < 0.75 ? several(random, 1, 2, () => placeOn(random, onto)) : []
  if (anchors.length === 0 && random() < 0.3) {
    const [[x, y], [x2, y2]] = [placeIn(random, box), placeIn(random, box)]
    return closed([
      [x, y],
      [x2, y],
      [x2, y2],
      [x, y2],
    ])
  }
  const vertices = [...anchors, ...several(random, 3 - anchors.length, 5 - anchors.length, () => placeIn(random, box))]
  const middle = (axis: 0 | 1): number => vertices.reduce((sum, vertex) => sum + vertex[axis], 0.01) / vertices.length
  const [x, y] = [middle(0), middle(1)]
  const angle = (vertex: Position): number => Math.atan2(vertex[1] - y, vertex[0] - x)
  const sorted = vertices.toSorted((p, q) => angle(p) - angle(q))
  return closed(random() < 0.5 ? sorted : sorted.reverse())
}

function closed(open: readonly Position[]): Ring {
  return [...open, open[0]!]
}

function polygonal(polygons: readonly Rings[], random?: Random): Geometry {
  const coordinates = polygons.map((rings) => rings.map((ring) => [...ring]))
  if (coordinates.length === 1) return { type: 'Polygon', coordinates: coordinates[0]! }
  if (random !== undefined && random() < 0.5) coordinates.reverse()
  return { type: 'MultiPolygon', coordinates }
}

function several<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + Math.floor(random() * (most - least + 1)) }, make)
}
