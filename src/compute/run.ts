import type { Keccak } from '../crypto/keccak.ts'
import { areaSquareMeters } from '../geodesy/area.ts'
import { distanceToBandsMeters, isOnePoint } from '../geodesy/band-distance.ts'
import { distanceMeters, isWithinCentimeters } from '../geodesy/distance.ts'
import { lengthMeters } from '../geodesy/length.ts'
import type { PreparedDistance } from '../geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { GeometryLimits } from '../geometry/read.ts'
import { hasWholeParallel } from '../geometry/whole-parallels.ts'
import type { Hex } from '../messages.ts'
import { problemAt } from '../problem.ts'
import { contains } from '../topology/contains.ts'
import { intersects } from '../topology/intersects.ts'
import type { Topology } from '../topology/prepared.ts'
import { UndecidableError } from '../topology/undecidable.ts'
import { CM_PER_METER, CM2_PER_SQUARE_METER, toScaledInteger } from '../units.ts'
import type { Kernel } from '../wasm/loader.ts'
import { checkSeamHoles, noMeasure } from './measurable.ts'
import { checkTotals, isOwnHash, isReadPoint, type Operand, type ReadOperand, readOperand, refOf } from './operands.ts'
import type { OperationRow } from './operations.ts'
import type { PreparedGeometries, PreparedGeometry } from './prepared-geometries.ts'
import type { Note } from './result-text.ts'
import { checkInterior, noArea, poleOf } from './validity.ts'
import { withinLimit } from './work-limit.ts'

/** What a computation needs and nothing else: no clock, no environment, no network. */
export interface Engine {
  readonly kernel: Kernel
  readonly keccak: Keccak
  readonly limits: GeometryLimits & { readonly maxDistanceSolves: number }
  /** Geometries met before; without it each is looked at anew, and every answer is the same. */
  readonly prepared?: PreparedGeometries
}

/** A geometry and, when it came before, what was found out about it. */
interface Subject {
  readonly geometry: FlatGeometry
  readonly kept: PreparedGeometry | undefined
  readonly path: Operand['path']
  /** Whether a polygon of it has an edge that is read as a whole parallel. */
  readonly isAround: boolean
}

export type Outcome = {
  /** e.g. `distance`, `within:50000`. */
  readonly operation: string
  readonly inputRefs: readonly Hex[]
  /** How the inputs were read, where a reader may expect something else. */
  readonly notes?: readonly Note[]
} & ({ readonly kind: 'numeric'; readonly integer: bigint } | { readonly kind: 'boolean'; readonly value: boolean })

/**
 * Runs one operation.
 *
 * @param operands in the order of the row's inputs
 * @param radiusMeters for `within` alone
 * @returns the on-chain integer (centimetres, square centimetres) or the truth value, with the references
 * @throws {ProblemError} `invalid-input` for a geometry the operation is not defined for, at its place
 */
export function runOperation(
  row: OperationRow,
  operands: readonly Operand[],
  radiusMeters: number | undefined,
  engine: Engine,
): Outcome {
  const [a, b] = operands
  const isQuick = row.name === 'distance' && engine.limits.maxParts > 1
  if (isQuick && isReadPoint(a) && isReadPoint(b)) return distanceOfPoints(row, a, b, engine)
  const geometries = operands.map((operand) => readOperand(row, operand, engine.limits))
  checkTotals(geometries, operands, engine.limits)
  const inputRefs = operands.map((operand) => refOf(operand, engine.keccak))
  const subjects = geometries.map((geometry, index): Subject => {
    const kept = isOwnHash(operands[index]!) ? engine.prepared?.find(inputRefs[index]!, geometry) : undefined
    const { path } = operands[index]!
    if (kept === undefined) return { geometry, kept, path, isAround: hasWholeParallel(geometry) }
    kept.hasWholeParallel ??= hasWholeParallel(kept.geometry)
    return { geometry: kept.geometry, kept, path, isAround: kept.hasWholeParallel }
  })
  try {
    const outcome = runOn(row, subjects, operands, inputRefs, radiusMeters, engine)
    return subjects.some(({ isAround }) => isAround) ? { ...outcome, notes: FULL_PARALLEL } : outcome
  } finally {
    for (const { kept } of subjects) kept?.endUse()
    engine.prepared?.trim()
  }
}

const FULL_PARALLEL: readonly Note[] = [{ code: 'full-parallel' }]

/** The question that is asked most, without a list for everything that two points have not. */
function distanceOfPoints(row: OperationRow, a: ReadOperand, b: ReadOperand, { kernel, limits }: Engine): Outcome {
  return numeric(row, [a.ref, b.ref], distanceMeters(kernel, a.flat, b.flat, limits.maxDistanceSolves))
}

function runOn(
  row: OperationRow,
  subjects: readonly Subject[],
  operands: readonly Operand[],
  inputRefs: readonly Hex[],
  radiusMeters: number | undefined,
  engine: Engine,
): Outcome {
  const { kernel } = engine
  if (row.takesInterior) {
    subjects.forEach((subject, index) => {
      requireValid(row, subject, operands[index]!.path, engine)
    })
  }
  const first = subjects[0]!
  const second = subjects[1]!
  switch (row.name) {
    case 'distance':
      return numeric(row, inputRefs, distanceOf(first, second, engine))
    case 'area':
      return numeric(row, inputRefs, areaOf(first, engine))
    case 'length':
      return numeric(row, inputRefs, lengthMeters(kernel, first.geometry))
    case 'within':
      return within(first, second, radiusMeters!, inputRefs, engine)
    case 'contains':
      return truth(
        row.name,
        inputRefs,
        decide(() => contains(topologyOf(first), topologyOf(second), poleOf(kernel), kernel), operands),
      )
    case 'intersects':
      return truth(
        row.name,
        inputRefs,
        decide(() => intersects(topologyOf(first), topologyOf(second), poleOf(kernel), kernel), operands),
      )
  }
}

function requireValid(row: OperationRow, { geometry, kept }: Subject, path: Operand['path'], engine: Engine): void {
  if (row.isGeodesic ? kept?.isValidGeodesic === true : kept?.isValid === true) return
  const { kernel, limits } = engine
  if (row.isGeodesic) {
    withinLimit(limits, () => checkInterior(geometry, path, kernel, { maxSolves: limits.maxDistanceSolves }), row.name)
  } else {
    checkInterior(geometry, path, kernel)
  }
  if (kept === undefined) return
  kept.isValid = true
  kept.isValidGeodesic ||= row.isGeodesic
}

function topologyOf({ geometry, kept }: Subject): Topology {
  return kept?.topology ?? geometry
}

/**
 * `within` is decided on the rounded distance in centimetres, inclusive: what `distance` answers is within itself,
 * and the attested radius agrees with the attested truth (decision 7).
 */
function within(
  a: Subject,
  b: Subject,
  radiusMeters: number,
  inputRefs: readonly Hex[],
  { kernel, limits }: Engine,
): Outcome {
  for (const subject of [a, b]) if (subject.isAround) throw noMeasure(subject.geometry, subject.path, 'within')
  checkSeam(a, kernel)
  checkSeam(b, kernel)
  const radiusCm = toScaledInteger(radiusMeters, CM_PER_METER)
  if (radiusCm === 0n) {
    throw problemAt('invalid-input', ['radius'], `${radiusMeters} m rounds to 0 cm`, {
      code: 'radius-too-small',
      hint: 'the radius is in metres; the smallest is 0.005',
    })
  }
  const isWithin = withinLimit(limits, () =>
    isWithinCentimeters(kernel, operandOf(a), operandOf(b), radiusCm, limits.maxDistanceSolves),
  )
  return truth(`within:${radiusCm}`, inputRefs, isWithin)
}

function numeric(row: OperationRow, inputRefs: readonly Hex[], value: number): Outcome {
  if (row.result.kind !== 'numeric') throw new RangeError(`${row.name} is not numeric`)
  return { kind: 'numeric', operation: row.name, inputRefs, integer: toScaledInteger(value, row.result.scale) }
}

function truth(operation: string, inputRefs: readonly Hex[], value: boolean): Outcome {
  return { kind: 'boolean', operation, inputRefs, value }
}

/** Half a square centimetre: what rounds to 0 on the chain is nothing to attest, nor is what holes take wholly. */
const SMALLEST_SQUARE_METERS = 0.5 / CM2_PER_SQUARE_METER

function areaOf({ geometry, kept, path }: Subject, { kernel }: Engine): number {
  const area = kept?.areaSquareMeters ?? areaSquareMeters(kernel, geometry)
  if (kept !== undefined) kept.areaSquareMeters = area
  if (area < SMALLEST_SQUARE_METERS) throw noArea(path)
  return area
}

function checkSeam({ geometry, kept, path }: Subject, kernel: Kernel): void {
  if (kept?.isSeamChecked === true) return
  checkSeamHoles(geometry, path, poleOf(kernel))
  if (kept !== undefined) kept.isSeamChecked = true
}

function distanceOf(a: Subject, b: Subject, engine: Engine): number {
  const { kernel, limits } = engine
  checkSeam(a, kernel)
  checkSeam(b, kernel)
  if (a.isAround) return distanceToBands(b, a, engine)
  if (b.isAround) return distanceToBands(a, b, engine)
  return withinLimit(limits, () => distanceMeters(kernel, operandOf(a), operandOf(b), limits.maxDistanceSolves))
}

/** Distances between a point and a geometry with whole parallels, in either order of the request. */
function distanceToBands(point: Subject, { geometry, path }: Subject, { kernel, limits }: Engine): number {
  if (!isOnePoint(point.geometry)) throw noMeasure(geometry, path, 'the distance to anything but a point')
  return withinLimit(limits, () => distanceToBandsMeters(kernel, point.geometry, geometry, limits.maxDistanceSolves))
}

function operandOf({ geometry, kept }: Subject): PreparedDistance | FlatGeometry {
  return kept?.distance ?? geometry
}

/** A predicate that cannot be decided exactly is refused, never guessed. */
function decide(predicate: () => boolean, operands: readonly Operand[]): boolean {
  try {
    return predicate()
  } catch (error) {
    if (!(error instanceof UndecidableError)) throw error
    throw problemAt('invalid-input', operands[0]!.path, error.message, {
      code: 'undecidable',
      hint: 'simplify the geometries, ask about their parts one by one, or cut what winds around a pole at the antimeridian',
    })
  }
}
