/**
 * Laws of predicates and distances, checked on generated pairs of geometries (`contact-cases.ts`). Each law is a row of
 * `LAWS`; each transformation that changes no result is a row of `FORMS` or `MOVES`.
 */
import { setImmediate } from 'node:timers/promises'
import { CM_PER_METER, toScaledInteger } from '../src/base/units.ts'
import { distanceMeters, isWithinCentimeters } from '../src/geodesy/distance.ts'
import { readGeometry } from '../src/geometry/read.ts'
import { ContainsSweep, contains } from '../src/topology/contains.ts'
import { IntersectsSweep, intersects } from '../src/topology/intersects.ts'
import { buildSegmentSet, unrollOntoCylinder } from '../src/topology/layout/build-segments.ts'
import { LineBoundary } from '../src/topology/layout/line-boundary.ts'
import { SegmentSet } from '../src/topology/layout/segment-set.ts'
import { prepareTopology, type Topology } from '../src/topology/plane/prepared.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import { CONTACTS, type ContactCase, contactCases, isValidGeometry, KINDS, pick, TARGETS } from './contact-cases.ts'
import { oracleContains, oracleIntersects, shapeOf } from './exact-oracle.ts'
import { type GridAnswers, gridAnswers, gridShapeOf } from './grid-oracle.ts'
import type { Random } from './random-shapes.ts'

const kernel = loadKernel()
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const MAX_SOLVES = 1e6
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const north = () => 1 as const

interface LawCase extends ContactCase {
  /** The results of `grid-oracle.ts`. */
  readonly truth: GridAnswers
}

export interface Law {
  readonly name: string
  /** Checked on one random case out of this many: for laws that take long. */
  readonly oneOf?: number
  /** @returns a description of the violation; undefined when the law holds for the case or does not apply to it */
  check(one: LawCase): string | undefined
}

/** Changes one geometry into another with the same meaning. */
export interface Form {
  readonly name: string
  change(geometry: Geometry, random: Random): Geometry
}

/** Changes both geometries in the same way; no result depends on it. */
export interface Move {
  readonly name: string
  make(random: Random): (position: Position) => Position
}

export const FORMS: readonly Form[] = [
  { name: 'a collection of its members', change: (geometry) => collectionOf(membersOf(geometry)) },
  {
    name: 'a vertex added on each edge',
    change: (geometry, random) => withChains(geometry, (chain) => divided(chain, () => (random() < 0.7 ? 2 : 1))),
  },
  {
    name: 'each edge in 16 pieces',
    change: (geometry) => withChains(geometry, (chain) => divided(chain, () => 16)),
  },
  {
    name: 'rings started elsewhere',
    change: (geometry, random) =>
      withChains(geometry, (chain) => {
        if (!isClosed(chain)) return chain
        const at = Math.floor(random() * (chain.length - 1))
        return [...chain.slice(at, -1), ...chain.slice(0, at + 1)]
      }),
  },
  { name: 'reversed', change: (geometry) => withChains(geometry, (chain) => chain.toReversed()) },
  {
    name: 'repeated vertices',
    change: (geometry, random) =>
      withChains(geometry, (chain) => chain.flatMap((vertex) => (random() < 0.5 ? [vertex, vertex] : [vertex]))),
  },
  { name: 'members in another order', change: (geometry) => withMembers(geometry, membersOf(geometry).toReversed()) },
]

export const MOVES: readonly Move[] = [
  {
    name: 'moved onto the antimeridian',
    make: (random) => {
      const east = 170 + Math.floor(random() * 13)
      const antimeridian = pick(random, [180, -180])
      return ([lon, lat]) => {
        const moved = lon + east
        return [moved === 180 ? antimeridian : moved > 180 ? moved - 360 : moved, lat]
      }
    },
  },
  {
    name: 'moved within the plane',
    make: (random) => {
      const [east, up] = [Math.floor(random() * 300) - 160, Math.floor(random() * 140) - 75]
      return ([lon, lat]) => [lon + east, lat + up]
    },
  },
  {
    name: 'scaled by powers of two',
    make: (random) => {
      const [x, y] = [2 ** (3 - Math.floor(random() * 60)), 2 ** (3 - Math.floor(random() * 60))]
      return ([lon, lat]) => [lon * x, lat * y]
    },
  },
  {
    name: 'mirrored',
    make:
      () =>
      ([lon, lat]) => [-lon, lat],
  },
  {
    name: 'with its axes exchanged',
    make:
      () =>
      ([lon, lat]) => [lat, lon],
  },
]

/** Other code paths to the same results. */
const WAYS: readonly { readonly name: string; ask(a: Geometry, b: Geometry): GridAnswers }[] = [
  { name: 'with a prepared', ask: (a, b) => askOf(prepareTopology(read(a)), read(b)) },
  { name: 'with b prepared', ask: (a, b) => askOf(read(a), prepareTopology(read(b))) },
  { name: 'with both prepared', ask: (a, b) => askOf(prepareTopology(read(a)), prepareTopology(read(b))) },
  { name: 'by the sweep alone', ask: (a, b) => askSweep(a, b, (p, q) => buildSegmentSet(read(p), read(q), north)) },
  {
    name: 'on the cylinder',
    ask: (a, b) =>
      askSweep(a, b, (p, q) => {
        const scene = new SegmentSet(100, false)
        unrollOntoCylinder(scene, read(p), read(q), north)
        return scene
      }),
  },
]

/** Metres: far above the error of a distance of a few metres, and far below the distance of geometries that do not touch. */
const TOUCHES_METERS = 1e-6
const ERROR_METERS = 1e-8

export const LAWS: readonly Law[] = [
  {
    name: 'answers are those of exact arithmetic, in both orders',
    check: ({ a, b, truth }) => compare(askOf(read(a), read(b)), truth),
  },
  {
    name: 'what is contained intersects',
    // These are laws of the expected results, with which the others are compared.
    check: ({ truth }) =>
      (truth.contains || truth.isWithin) && !truth.intersects ? 'contained, but does not intersect' : undefined,
  },
  {
    name: 'equal forms have equal answers',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const form = pick(random, FORMS)
      const which = random()
      const formA = which < 0.7 ? form.change(a, random) : a
      const formB = which > 0.3 ? form.change(b, random) : b
      return compareIn(form.name, formA, formB, truth)
    },
  },
  {
    name: 'moved together, answers stay',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const move = pick(random, MOVES)
      const position = move.make(random)
      const moved = (geometry: Geometry): Geometry => withChains(geometry, (chain) => chain.map(position))
      // The geometry is also given in another form, because then few vertices help to decide.
      const form = random() < 0.3 ? pick(random, FORMS) : undefined
      const formOf = (geometry: Geometry): Geometry => form?.change(geometry, random) ?? geometry
      return compareIn(`${move.name}, ${form?.name ?? 'as it is'}`, moved(formOf(a)), moved(formOf(b)), truth)
    },
  },
  {
    name: 'every way to ask has one answer',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const way = pick(random, WAYS)
      const wrong = compare(way.ask(a, b), truth)
      return wrong === undefined ? undefined : `${way.name}: ${wrong}`
    },
  },
  {
    name: 'a hole makes nothing contained and nothing met',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const filledA = withoutHole(a, random)
      if (filledA !== undefined) {
        const { contains: holds, intersects: meets } = askOf(read(filledA), read(b))
        if ((truth.contains && !holds) || (truth.intersects && !meets)) return `a without a hole: ${text(filledA)}`
      }
      const filledB = withoutHole(b, random)
      if (filledB === undefined || !truth.intersects) return undefined
      return intersects(read(a), read(filledB), north, kernel) ? undefined : `b without a hole: ${text(filledB)}`
    },
  },
  {
    name: 'a member added leaves contained what a polygon contained, and met what was met',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const less = withoutMember(a, random)
      if (less === undefined) return undefined
      const answers = askOf(read(less), read(b))
      if (answers.intersects && !truth.intersects) return `met without a member: ${text(less)}`
      // A line or point of a may lie on the boundary of the added part.
      if (!less.type.endsWith('Polygon')) return undefined
      return answers.contains && !truth.contains ? `contained without a member: ${text(less)}` : undefined
    },
  },
  {
    name: 'two oracles agree',
    oneOf: 200,
    check: ({ a, b, truth }) => {
      const [shapeA, shapeB] = [shapeOf(a), shapeOf(b)]
      if (oracleIntersects(shapeA, shapeB) !== truth.intersects) return 'intersects'
      if (a.type !== 'Polygon' && !a.type.endsWith('LineString')) return undefined
      return oracleContains(shapeA, shapeB) === truth.contains ? undefined : 'contains'
    },
  },
  {
    name: 'what meets is at distance 0, and nothing else',
    oneOf: 4,
    check: ({ a, b, truth }) => {
      const distance = metersBetween(a, b)
      return distance < TOUCHES_METERS === truth.intersects ? undefined : `${distance} m`
    },
  },
  {
    name: 'a hole never lowers a distance, a member never raises one',
    oneOf: 4,
    check: ({ a, b, random }) => {
      const distance = metersBetween(a, b)
      const filled = withoutHole(a, random)
      if (filled !== undefined && metersBetween(filled, b) > distance + ERROR_METERS) return 'a hole'
      const less = withoutMember(a, random)
      if (less !== undefined && metersBetween(less, b) < distance - ERROR_METERS) return 'a member'
      return undefined
    },
  },
  {
    name: 'within holds from the rounded distance on',
    oneOf: 4,
    check: ({ a, b, random }) => {
      const [flatA, flatB] = [read(small(a)), read(small(b))]
      const atLeast = toScaledInteger(distanceMeters(kernel, flatA, flatB, MAX_SOLVES), CM_PER_METER)
      for (const away of [-1n, 0n, 1n, BigInt(Math.floor(random() * 2000) - 1000)]) {
        const radius = atLeast + away
        if (radius < 1n) continue
        const isWithin = isWithinCentimeters(kernel, flatA, flatB, radius, MAX_SOLVES)
        if (isWithin !== radius >= atLeast) return `within ${radius} cm: ${isWithin}, distance ${atLeast} cm`
      }
      return undefined
    },
  },
]

export interface LawReport {
  readonly cases: number
  /** The number of cases that break each law; laws that always hold are absent. */
  readonly broken: Readonly<Record<string, number>>
  /** The first violations of each law, as text with the seed. */
  readonly examples: readonly string[]
  /** The number of cases by target, contact and kind, and by result. */
  readonly tally: ReadonlyMap<string, number>
}

/** Examples for each law. */
const MAX_EXAMPLES = 3

/** Checks all laws on the given number of cases. */
export async function checkLaws(cases: number, firstSeed: number): Promise<LawReport> {
  const broken: Record<string, number> = {}
  const examples: string[] = []
  const tally = new Map<string, number>()
  const count = (name: string): void => void tally.set(name, (tally.get(name) ?? 0) + 1)
  let checked = 0
  for (let seed = firstSeed; checked < cases; seed++) {
    for (const one of contactCases(seed)) {
      checked++
      const truth = gridAnswers(gridShapeOf(one.a), gridShapeOf(one.b))
      count(combination(one.target, one.contact, one.kind))
      for (const answer of ['contains', 'isWithin', 'intersects'] as const) count(`${answer}: ${truth[answer]}`)
      for (const { name, oneOf = 1, check } of LAWS) {
        if (oneOf > 1 && one.random() * oneOf >= 1) continue
        const wrong = outcomeOf(() => check({ ...one, truth }))
        if (wrong === undefined) continue
        broken[name] = (broken[name] ?? 0) + 1
        if (broken[name] <= MAX_EXAMPLES) {
          examples.push(`${name} (seed ${seed}): ${wrong}; a ${text(one.a)}; b ${text(one.b)}`)
        }
      }
    }
    // Yields to the event loop, because the test runner has to hear from this thread now and then.
    if (seed % 100 === 0) await setImmediate()
  }
  return { cases: checked, broken, examples, tally }
}

function combination(target: string, contact: string, kind: string): string {
  return `${kind} on ${target}, ${contact}`
}

/** Returns the combinations of target, contact and kind for which a report has fewer than `least` cases. */
export function rareCombinations({ tally }: LawReport, least: number): string[] {
  const all = TARGETS.flatMap((target) =>
    CONTACTS.flatMap((contact) => KINDS.map((kind) => combination(target, contact, kind))),
  )
  return all.filter((name) => (tally.get(name) ?? 0) < least)
}

/** Runs a check. An exception breaks the law, because all cases are decidable. */
function outcomeOf(check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch (error) {
    return String(error)
  }
}

function askOf(a: Topology, b: Topology): GridAnswers {
  const meets = intersects(a, b, north, kernel)
  if (intersects(b, a, north, kernel) !== meets) throw new Error(`intersects is ${meets}, and ${!meets} exchanged`)
  return { contains: contains(a, b, north, kernel), isWithin: contains(b, a, north, kernel), intersects: meets }
}

function askSweep(a: Geometry, b: Geometry, lay: (a: Geometry, b: Geometry) => SegmentSet): GridAnswers {
  const everything = ({ count }: SegmentSet): Int32Array => Int32Array.from({ length: count }, (_, segment) => segment)
  const holds = (p: Geometry, q: Geometry): boolean => {
    const scene = lay(p, q)
    return new ContainsSweep(scene, new LineBoundary(read(p), scene.positions.planar)).decide(everything(scene))
  }
  const scene = lay(a, b)
  return {
    contains: holds(a, b),
    isWithin: holds(b, a),
    intersects: !new IntersectsSweep(scene).isDisjoint(everything(scene)),
  }
}

function compare(answers: GridAnswers, truth: GridAnswers): string | undefined {
  const wrong = (['contains', 'isWithin', 'intersects'] as const).filter((name) => answers[name] !== truth[name])
  return wrong.length === 0 ? undefined : wrong.map((name) => `${name} is ${answers[name]}`).join(', ')
}

function compareIn(name: string, a: Geometry, b: Geometry, truth: GridAnswers): string | undefined {
  const wrong = isValidGeometry(a) && isValidGeometry(b) ? compare(askOf(read(a), read(b)), truth) : 'no longer valid'
  return wrong === undefined ? undefined : `${name}: ${wrong}; as ${text(a)} and ${text(b)}`
}

/**
 * Scales a geometry down to a few metres near the equator, where planar edges and geodesics are less than 1e-11 m apart
 * (decision 94).
 */
function small(geometry: Geometry): Geometry {
  return withChains(geometry, (chain) => chain.map(([lon, lat]): Position => [lon * 2 ** -16, lat * 2 ** -16]))
}

function metersBetween(a: Geometry, b: Geometry): number {
  return distanceMeters(kernel, read(small(a)), read(small(b)), MAX_SOLVES)
}

function text(geometry: Geometry): string {
  return JSON.stringify(geometry)
}

/** Returns the same geometry with `change` applied to every line, ring and list of points. */
export function withChains(geometry: Geometry, change: (chain: Position[]) => Position[]): Geometry {
  switch (geometry.type) {
    case 'Point':
      return { ...geometry, coordinates: change([geometry.coordinates])[0]! }
    case 'MultiPoint':
      return { ...geometry, coordinates: geometry.coordinates.map((point) => change([point])[0]!) }
    case 'LineString':
      return { ...geometry, coordinates: change(geometry.coordinates) }
    case 'MultiLineString':
    case 'Polygon':
      return { ...geometry, coordinates: geometry.coordinates.map(change) }
    case 'MultiPolygon':
      return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(change)) }
    case 'GeometryCollection':
      return { ...geometry, geometries: geometry.geometries.map((member) => withChains(member, change)) }
  }
}

function isClosed(chain: readonly Position[]): boolean {
  const [first, last] = [chain[0]!, chain[chain.length - 1]!]
  return chain.length > 3 && first[0] === last[0] && first[1] === last[1]
}

/** Divides edges into equal pieces. Their number is a power of two, so that the division is exact on the grid. */
function divided(chain: Position[], piecesOf: () => number): Position[] {
  return chain.flatMap((b, i): Position[] => {
    const a = chain[i - 1]
    if (a === undefined) return [b]
    const pieces = piecesOf()
    return Array.from({ length: pieces }, (_, k): Position => {
      const t = (k + 1) / pieces
      return [a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]
    })
  })
}

/** Returns the members of a collection, or the parts of a multi-part geometry. */
function membersOf(geometry: Geometry): readonly Geometry[] {
  switch (geometry.type) {
    case 'MultiPoint':
      return geometry.coordinates.map((coordinates) => ({ type: 'Point', coordinates }))
    case 'MultiLineString':
      return geometry.coordinates.map((coordinates) => ({ type: 'LineString', coordinates }))
    case 'MultiPolygon':
      return geometry.coordinates.map((coordinates) => ({ type: 'Polygon', coordinates }))
    case 'GeometryCollection':
      return geometry.geometries
    default:
      return [geometry]
  }
}

function collectionOf(members: readonly Geometry[]): Geometry {
  return { type: 'GeometryCollection', geometries: [members[0]!, ...members.slice(1)] }
}

/** Returns a geometry of the same type with other members, in the form that `membersOf` returns. */
function withMembers(geometry: Geometry, members: readonly Geometry[]): Geometry {
  if (geometry.type === 'GeometryCollection') return collectionOf(members)
  if (!geometry.type.startsWith('Multi')) return geometry
  return {
    type: geometry.type,
    coordinates: members.map((member) => 'coordinates' in member && member.coordinates),
  } as Geometry
}

/** Returns the geometry without one of its members; undefined when it has only one. */
function withoutMember(geometry: Geometry, random: Random): Geometry | undefined {
  const members = membersOf(geometry)
  if (members.length < 2) return undefined
  const rest = members.toSpliced(Math.floor(random() * members.length), 1)
  return rest.length === 1 ? rest[0] : withMembers(geometry, rest)
}

/** Returns the geometry with one hole filled; undefined when it has no hole or would become invalid. */
function withoutHole(geometry: Geometry, random: Random): Geometry | undefined {
  const members = membersOf(geometry)
  const at = members.findIndex((member) => member.type === 'Polygon' && member.coordinates.length > 1)
  const holed = members[at]
  if (holed?.type !== 'Polygon') return undefined
  const hole = 1 + Math.floor(random() * (holed.coordinates.length - 1))
  const filled: Geometry = { ...holed, coordinates: holed.coordinates.toSpliced(hole, 1) }
  const whole = geometry.type === 'Polygon' ? filled : withMembers(geometry, members.toSpliced(at, 1, filled))
  return isValidGeometry(whole) ? whole : undefined
}
