/** Laws of DE-9IM matrices, checked on generated pairs of geometries (`contact-cases.ts`). Each law is a row of `LAWS`. */
import { setImmediate } from 'node:timers/promises'
import { readGeometry } from '../src/geometry/read.ts'
import { contains } from '../src/topology/contains.ts'
import { intersects } from '../src/topology/intersects.ts'
import { unrollOntoCylinder } from '../src/topology/layout/build-segments.ts'
import { LineBoundary } from '../src/topology/layout/line-boundary.ts'
import { SegmentSet } from '../src/topology/layout/segment-set.ts'
import type { Matrix } from '../src/topology/matrix.ts'
import { prepareTopology, type Topology } from '../src/topology/plane/prepared.ts'
import { RelateSweep, relate, relateBySweep } from '../src/topology/relate.ts'
import type { Geometry, Position } from '../src/types/generated.ts'
import { loadKernel } from '../src/wasm/loader.ts'
import type { MatrixPredicate } from '../src/wire/values.ts'
import { type ContactCase, contactCases, isValidGeometry, pick } from './contact-cases.ts'
import { FORMS, MOVES, withChains } from './contact-laws.ts'
import { gridMatrix, gridShapeOf } from './grid-oracle.ts'

const kernel = loadKernel()
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const read = (geometry: Geometry) => readGeometry(geometry, [], LIMITS)
const north = () => 1 as const

interface LawCase extends ContactCase {
  /** The matrix of `grid-oracle.ts`. */
  readonly truth: string
}

interface Law {
  readonly name: string
  /** Checked on one random case out of this many: for laws that take long. */
  readonly oneOf?: number
  /** @returns a description of the violation; undefined when the law holds */
  check(one: LawCase): string | undefined
}

/** Other code paths to the same matrix. */
const WAYS: readonly { readonly name: string; ask(a: Geometry, b: Geometry): Matrix }[] = [
  { name: 'with a prepared', ask: (a, b) => matrixOf(prepareTopology(read(a)), read(b)) },
  { name: 'with both prepared', ask: (a, b) => matrixOf(prepareTopology(read(a)), prepareTopology(read(b))) },
  { name: 'by the sweep alone', ask: (a, b) => relateBySweep(unknownTouches(a, b), north) },
  {
    name: 'on the cylinder',
    ask: (a, b) => {
      const matrix = relateOnCylinder(a, b)
      matrix.unite(relateOnCylinder(b, a).transposed())
      return matrix
    },
  },
]

/** The patterns of the predicates by the dimensions of both geometries, as OGC 06-103r4 and the documentation of JTS list them. */
const PATTERNS: Readonly<Record<MatrixPredicate, (dimensions: readonly [number, number]) => readonly string[]>> = {
  equals: () => ['T*F**FFF*'],
  disjoint: () => ['FF*FF****'],
  touches: () => ['FT*******', 'F**T*****', 'F***T****'],
  crosses: ([a, b]) => (a < b ? ['T*T******'] : a > b ? ['T*****T**'] : a === 1 ? ['0********'] : []),
  overlaps: ([a, b]) => (a !== b ? [] : a === 1 ? ['1*T***T**'] : ['T*T***T**']),
  covers: () => ['T*****FF*', '*T****FF*', '***T**FF*', '****T*FF*'],
  coveredBy: () => ['T*F**F***', '*TF**F***', '**FT*F***', '**F*TF***'],
}

const LAWS: readonly Law[] = [
  {
    name: 'the matrix is that of exact arithmetic, in both orders',
    check: ({ a, b, truth }) => compare(matrixOf(read(a), read(b)), truth),
  },
  {
    name: 'contains and intersects agree with the matrix',
    check: ({ a, b, truth }) => {
      const [flatA, flatB] = [read(a), read(b)]
      const contained = contains(flatA, flatB, north, kernel) === matchesText(truth, 'T*****FF*')
      const within = contains(flatB, flatA, north, kernel) === matchesText(truth, 'T*F**F***')
      const met = intersects(flatA, flatB, north, kernel) !== matchesText(truth, 'FF*FF****')
      return contained && within && met ? undefined : truth
    },
  },
  {
    name: 'predicates are their patterns',
    check: ({ a, b, truth }) => {
      const matrix = relate(read(a), read(b), north, kernel)
      const dimensions = [dimensionOf(a), dimensionOf(b)] as const
      const wrong = (Object.keys(PATTERNS) as MatrixPredicate[]).filter((name) => {
        const expected = PATTERNS[name](dimensions).some((pattern) => matchesText(truth, pattern))
        return matrix.decides(name) !== expected
      })
      return wrong.length === 0 ? undefined : `${wrong.join(', ')} of ${truth}`
    },
  },
  {
    name: 'a geometry equals itself',
    oneOf: 4,
    check: ({ a, b }) => {
      const wrong = [a, b].filter((one) => !relate(read(one), read(one), north, kernel).decides('equals'))
      return wrong.length === 0 ? undefined : JSON.stringify(wrong)
    },
  },
  {
    name: 'equal forms have equal matrices, and are equal',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const form = pick(random, FORMS)
      const which = random()
      const formA = which < 0.7 ? form.change(a, random) : a
      const formB = which > 0.3 ? form.change(b, random) : b
      if (!isValidGeometry(formA) || !isValidGeometry(formB)) return `${form.name}: no longer valid`
      if (!relate(read(formA), read(a), north, kernel).decides('equals')) return `${form.name}: not equal`
      return compareIn(form.name, formA, formB, truth)
    },
  },
  {
    name: 'moved together, the matrix stays',
    oneOf: 2,
    check: ({ a, b, truth, random }) => {
      const move = pick(random, MOVES)
      const position = move.make(random)
      const moved = (geometry: Geometry): Geometry => withChains(geometry, (chain: Position[]) => chain.map(position))
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
]

interface LawReport {
  readonly cases: number
  /** The number of cases that break each law; laws that always hold are absent. */
  readonly broken: Readonly<Record<string, number>>
  /** The first violations of each law, as text with the seed. */
  readonly examples: readonly string[]
  /** The number of cases by matrix. */
  readonly matrices: ReadonlyMap<string, number>
}

/** Examples for each law. */
const MAX_EXAMPLES = 3

/** Checks all laws on the given number of cases. */
export async function checkRelateLaws(cases: number, firstSeed: number): Promise<LawReport> {
  const broken: Record<string, number> = {}
  const examples: string[] = []
  const matrices = new Map<string, number>()
  let checked = 0
  for (let seed = firstSeed; checked < cases; seed++) {
    for (const one of contactCases(seed)) {
      checked++
      const truth = gridMatrix(gridShapeOf(one.a), gridShapeOf(one.b))
      matrices.set(truth, (matrices.get(truth) ?? 0) + 1)
      for (const { name, oneOf = 1, check } of LAWS) {
        if (oneOf > 1 && one.random() * oneOf >= 1) continue
        const wrong = outcomeOf(() => check({ ...one, truth }))
        if (wrong === undefined) continue
        broken[name] = (broken[name] ?? 0) + 1
        if (broken[name] > MAX_EXAMPLES) continue
        examples.push(`${name} (seed ${seed}): ${wrong}; a ${JSON.stringify(one.a)}; b ${JSON.stringify(one.b)}`)
      }
    }
    // Yields to the event loop, because the test runner has to hear from this thread now and then.
    if (seed % 100 === 0) await setImmediate()
  }
  return { cases: checked, broken, examples, matrices }
}

/** Runs a check. An exception breaks the law, because all cases are decidable. */
function outcomeOf(check: () => string | undefined): string | undefined {
  try {
    return check()
  } catch (error) {
    return String(error)
  }
}

function matrixOf(a: Topology, b: Topology): Matrix {
  const matrix = relate(a, b, north, kernel)
  const exchanged = relate(b, a, north, kernel)
  if (matrix.transposed().toString() !== exchanged.toString()) throw new Error(`${matrix}, but ${exchanged} exchanged`)
  return matrix
}

/** Returns the matrix in the window of b. */
function relateOnCylinder(a: Geometry, b: Geometry): Matrix {
  const scene = new SegmentSet(100, false)
  unrollOntoCylinder(scene, read(a), read(b), north, true)
  const everything = Int32Array.from({ length: scene.count }, (_, segment) => segment)
  return new RelateSweep(scene, [new LineBoundary(read(a), false), new LineBoundary(read(b), false)]).run(everything)
}

function unknownTouches(a: Geometry, b: Geometry) {
  return { a: read(a), b: read(b), edgesOfA: undefined, edgesOfB: undefined }
}

function compare(matrix: Matrix, truth: string): string | undefined {
  return matrix.toString() === truth ? undefined : `${matrix} is not ${truth}`
}

function compareIn(name: string, a: Geometry, b: Geometry, truth: string): string | undefined {
  const wrong = compare(matrixOf(read(a), read(b)), truth)
  return wrong === undefined ? undefined : `${name}: ${wrong}; as ${JSON.stringify(a)} and ${JSON.stringify(b)}`
}

/** Matches as text, apart from the code under test. */
function matchesText(matrix: string, pattern: string): boolean {
  return [...pattern].every(
    (wanted, i) => wanted === '*' || wanted === matrix[i] || (wanted === 'T' && matrix[i] !== 'F'),
  )
}

/** Returns the dimension of a geometry; lines without length are points. */
function dimensionOf(geometry: Geometry): number {
  const { points, lines, polygons } = gridShapeOf(geometry)
  return polygons.length > 0 ? 2 : lines.length > 0 ? 1 : points.length > 0 ? 0 : -1
}
