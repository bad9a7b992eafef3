import { type ProblemError, problemAt } from '../base/problem.ts'
import { CM_PER_METER, CM2_PER_SQUARE_METER, toScaledInteger } from '../base/units.ts'
import { countWork, spendWork, Work, WorkLimitError, workSoFar } from '../base/work.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { areaSquareMeters } from '../geodesy/area.ts'
import { distanceToBandsMeters, isSinglePoint } from '../geodesy/band-distance.ts'
import { distanceMeters, isWithinCentimeters } from '../geodesy/distance.ts'
import {
  containsOnGeodesics,
  type GeodesicOperand,
  intersectsOnGeodesics,
  LONGEST_EDGE_METERS,
} from '../geodesy/geodesic-predicates.ts'
import { lengthMeters } from '../geodesy/length.ts'
import { MARGIN_METERS } from '../geodesy/nearness.ts'
import { planarDeviationMeters } from '../geodesy/planar-deviation.ts'
import type { PreparedDistance } from '../geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { type GeometryLimits, readGeometry } from '../geometry/read.ts'
import { hasWholeParallel } from '../geometry/whole-parallels.ts'
import { contains } from '../topology/contains.ts'
import { UndecidableError } from '../topology/exact/undecidable.ts'
import { intersects } from '../topology/intersects.ts'
import type { Matrix } from '../topology/matrix.ts'
import type { Topology } from '../topology/plane/prepared.ts'
import { relate } from '../topology/relate.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { ResolvedInput } from '../wire/compute-messages.ts'
import type { StoredShape } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'
import {
  bufferMembers,
  directMembers,
  type GeometryParameters,
  nearestMembers,
  repairMembers,
  waypointMembers,
} from './geometry-answers.ts'
import type { OperationRow } from './operations.ts'
import { areReadingsEqual } from './planar-equivalence.ts'
import type { PreparedGeometries, PreparedGeometry } from './prepared-geometries.ts'
import type { Note } from './response-text.ts'
import {
  checkAntimeridianHoles,
  checkInterior,
  kernelPoleResolver,
  noAreaProblem,
  noMeasureProblem,
} from './validity.ts'

/** One operand: a geometry that matches its schema, and its path in the request. */
export type Operand = { readonly path: readonly (string | number)[] } & (
  | {
      /** GeoJSON as parsed. */
      readonly geometry: Geometry
      /** Its reference, if that is not the hash of the geometry. */
      readonly ref: Hex | undefined
    }
  | {
      /** Vertices already read, within the limits. */
      readonly flat: FlatGeometry
      readonly ref: Hex | undefined
      /** Set if the geometry is stored: it was read and checked when it was stored, and costs no request that work. */
      readonly stored?: StoredShape
    }
)

/** An operand that the scanner has already read. */
export type ReadOperand = Extract<Operand, { readonly flat: FlatGeometry }>

function isReadPoint(operand: Operand | undefined): operand is ReadOperand {
  return operand !== undefined && 'flat' in operand && operand.flat.type === 'Point'
}

/**
 * Returns true if the operand's reference is a hash that we computed. Only such a hash identifies the geometry; an attestation's
 * UID does not.
 */
function hasOwnHash(operand: Operand): boolean {
  return 'flat' in operand || operand.ref === undefined
}

/**
 * Returns the reference given with the operand. For plain GeoJSON, computes it: keccak-256 of the canonical text (decision 19).
 */
function operandRef(operand: Operand, keccak: Keccak): Hex {
  if (operand.ref !== undefined) return operand.ref
  if ('flat' in operand) throw new RangeError('only a distance between two points is computed without references')
  return keccak.hashHex(utf8(canonicalGeometry(operand.geometry)))
}

/**
 * Reads the operand into flat vertices.
 *
 * @param openRings gets the sequences of rings that were closed
 * @throws {ProblemError} `invalid-input` if the operation does not accept its type, or the geometry is not well-formed
 */
function readOperand(
  row: OperationRow,
  operand: Operand,
  limits: GeometryLimits,
  openRings: Set<number>,
): FlatGeometry {
  const { type } = 'flat' in operand ? operand.flat : operand.geometry
  if (row.accepts !== undefined && !row.accepts.some((accepted) => accepted === type)) {
    throw problemAt(
      'invalid-input',
      operand.path,
      `${row.name} takes a ${row.accepts.join(' or a ')}, found a ${type}`,
      {
        code: 'wrong-geometry-type',
        ...(row.typeHint === undefined ? {} : { hint: row.typeHint }),
      },
    )
  }
  const geometry =
    'flat' in operand
      ? operand.flat
      : readGeometry(operand.geometry, operand.path, limits, row.closesRings ? openRings : undefined)
  // The schema of a request says so too; this is for geometries that come with no request.
  if (geometry.vertices.length > 0 || row.acceptsEmpty) return geometry
  throw problemAt('invalid-input', operand.path, `is an empty ${type}, for which ${row.name} is not defined`, {
    code: 'empty-geometry',
  })
}

function isStored(operand: Operand): boolean {
  return 'stored' in operand
}

/**
 * Checks the limits for the request as a whole (decision 29). Reading has already checked each operand separately. Stored geometries
 * do not count: they are not read for the request.
 *
 * @throws {ProblemError} `invalid-input` when all operands together exceed a limit
 */
function checkTotals(
  geometries: readonly FlatGeometry[],
  operands: readonly Operand[],
  { limits, counts }: ComputeContext,
): void {
  const received = geometries.filter((_, index) => !isStored(operands[index]!))
  const vertices = received.reduce((sum, geometry) => sum + geometry.vertices.length / 2, 0)
  const parts = received.reduce((sum, geometry) => sum + geometry.sequenceStarts.length - 1, 0)
  if (counts !== undefined) counts.vertices += vertices
  if (vertices <= limits.maxVertices && parts <= limits.maxParts) return
  const most =
    vertices > limits.maxVertices ? `${limits.maxVertices} vertices` : `${limits.maxParts} rings, lines and points`
  throw problemAt('invalid-input', operands.at(-1)!.path, `brings the whole request to more than ${most}`, {
    code: vertices > limits.maxVertices ? 'too-many-vertices' : 'too-many-parts',
    hint: 'simplify the geometries or split them over several requests',
  })
}

/** Units of work for each vertex of a request: reading, hashing and building trees of boxes take linear time. */
export const WORK_PER_VERTEX = 1 / 4

/**
 * Makes the problem for a request that needs more work than its limit.
 *
 * @param what names the computation in the problem's detail
 */
export function tooComplexProblem(what: string, error: WorkLimitError): ProblemError {
  return problemAt('too-complex', [], `${what} needs too much work: ${error.message}`, {
    code: 'too-much-work',
    hint: 'simplify the geometries, or split them into parts and send these as the items of a batch',
  })
}

/** Sees every answer with its request. */
interface AnswerObserver {
  /** @param body the request or the item, whose buffer may be reused afterwards */
  offer(
    row: OperationRow,
    inputs: readonly { readonly path: Operand['path'] }[],
    body: Uint8Array,
    resolved: readonly ResolvedInput[],
    outcome: Outcome,
  ): void
}

/** Everything that a computation may use: no clock, no environment, no network. */
export interface ComputeContext {
  readonly kernel: Kernel
  readonly keccak: Keccak
  /** `maxWork`: units of work that one operation may need. */
  readonly limits: GeometryLimits & { readonly maxWork: number }
  /** Counts the vertices of all operands, and of answers that are geometries. */
  readonly counts?: { vertices: number }
  /** True if no reader needs the references of a distance between two points. They take a fifth of its time. */
  readonly omitsPointRefs?: boolean
  /** The most vertices of an answer that is a geometry, if that is fewer than those of a request. */
  readonly maxAnswerVertices?: number
  /** Prepared geometries by their references, e.g. a cache. Results are the same without it. */
  readonly prepared?: Pick<PreparedGeometries, 'find' | 'holds' | 'trim'> &
    Partial<Pick<PreparedGeometries, 'findStored'>>
  /** Sees every answer, and copies some of them for a check. Results are the same without it. */
  readonly sampler?: AnswerObserver
}

/** An operand's geometry with its cached preparation, if there is one. */
interface Subject {
  readonly geometry: FlatGeometry
  readonly prepared: PreparedGeometry | undefined
  readonly stored: StoredShape | undefined
  readonly path: Operand['path']
  /** True if one of its polygons has an edge that is read as a whole parallel. */
  readonly hasWholeParallel: boolean
  /** Sequences of rings that were received open; only for operations that close them. */
  readonly openRings: ReadonlySet<number>
}

export type Outcome = {
  /** e.g. `distance`, `within:50000`. */
  readonly operation: string
  readonly inputRefs: readonly Hex[]
  /** The salt with which each input was hashed, or null; only if one has a salt. */
  readonly inputSalts?: readonly (Hex | null)[]
  /** Says how an input was read, where a caller may expect something else. */
  readonly notes?: readonly Note[]
} & (
  | {
      readonly kind: 'numeric'
      readonly integer: bigint
      /** Metres or square metres, before they are rounded to the integer. */
      readonly measure: number
    }
  | { readonly kind: 'boolean'; readonly value: boolean }
  // Not signed.
  | { readonly kind: 'matrix'; readonly matrix: string }
  // Not signed. The members of the response that only this operation has, as JSON without braces.
  | { readonly kind: 'geometry'; readonly members: string }
)

/** An outcome that can be attested. */
export type SignedOutcome = Exclude<Outcome, { readonly kind: 'matrix' | 'geometry' }>

export function isSignable(outcome: Outcome): outcome is Outcome & SignedOutcome {
  return outcome.kind === 'numeric' || outcome.kind === 'boolean'
}

/** What some operations take beside their inputs. */
export interface OperationParameters extends GeometryParameters {
  /** For `relate` only. Without it, the result is the matrix. */
  readonly pattern?: string | undefined
  /** For `contains` and `intersects` only. Without it, edges are straight lines in longitude and latitude. */
  readonly edges?: 'geodesic' | undefined
}

/**
 * Runs one operation.
 *
 * @param operands in the order of the row's inputs
 * @returns the on-chain integer (centimetres, square centimetres), the boolean or the matrix, with the references
 * @throws {ProblemError} `invalid-input`, with the pointer of the geometry that the operation is not defined for; `too-complex` if it
 *   needs more work than its limit
 */
export function runOperation(
  row: OperationRow,
  operands: readonly Operand[],
  parameters: OperationParameters,
  context: ComputeContext,
): Outcome {
  const [a, b] = operands
  const mayTakePoints = row.name === 'distance' && context.limits.maxParts > 1
  if (mayTakePoints && isReadPoint(a) && isReadPoint(b)) return pointDistance(row, a, b, context)
  try {
    return countWork(new Work(context.limits.maxWork), () => runOperands(row, operands, parameters, context))
  } catch (error) {
    throw error instanceof WorkLimitError ? tooComplexProblem(row.name, error) : error
  }
}

function runOperands(
  row: OperationRow,
  operands: readonly Operand[],
  parameters: OperationParameters,
  context: ComputeContext,
): Outcome {
  const openRings = new Set<number>()
  const geometries = operands.map((operand) => readOperand(row, operand, context.limits, openRings))
  checkTotals(geometries, operands, context)
  geometries.forEach(({ vertices }, index) => {
    if (!isStored(operands[index]!)) spendWork((vertices.length / 2) * WORK_PER_VERTEX)
  })
  const inputRefs = operands.map((operand) => operandRef(operand, context.keccak))
  const subjects = geometries.map((geometry, index): Subject => {
    const operand = operands[index]!
    const { path } = operand
    const stored = 'flat' in operand ? operand.stored : undefined
    const prepared = findPrepared(operand, inputRefs[index]!, geometry, context)
    if (prepared === undefined)
      return { geometry, prepared, stored, path, hasWholeParallel: hasWholeParallel(geometry), openRings }
    prepared.hasWholeParallel ??= hasWholeParallel(prepared.geometry)
    const { geometry: cached, hasWholeParallel: hasParallel } = prepared
    return { geometry: cached, prepared, stored, path, hasWholeParallel: hasParallel, openRings }
  })
  try {
    const outcome = computeRow(row, subjects, operands, inputRefs, parameters, context)
    const notes = notesOn(subjects, row.takesEdges && parameters.edges === undefined)
    return notes.length > 0 ? { ...outcome, notes } : outcome
  } finally {
    for (const { prepared } of subjects) prepared?.endUse()
    context.prepared?.trim()
  }
}

/** Deviations up to this are not noted, metres. */
const SMALL_DEVIATION_METERS = 1

/** @param isPlanar true if a request could have asked for geodesic edges, and did not */
function notesOn(subjects: readonly Subject[], isPlanar: boolean): readonly Note[] {
  const notes: Note[] = subjects.some(({ hasWholeParallel }) => hasWholeParallel) ? [{ code: 'full-parallel' }] : []
  if (!isPlanar) return notes
  const meters = subjects.reduce((most, subject) => Math.max(most, deviationMeters(subject)), 0)
  if (meters > SMALL_DEVIATION_METERS) notes.push({ code: 'planar-deviation', meters: Math.ceil(meters) })
  return notes
}

function deviationMeters({ geometry, prepared }: Subject): number {
  if (prepared === undefined) return planarDeviationMeters(geometry)
  prepared.deviationMeters ??= planarDeviationMeters(geometry)
  return prepared.deviationMeters
}

function findPrepared(
  operand: Operand,
  ref: Hex,
  geometry: FlatGeometry,
  { prepared }: ComputeContext,
): PreparedGeometry | undefined {
  if ('flat' in operand && operand.stored !== undefined) return prepared?.findStored?.(operand.stored)
  return hasOwnHash(operand) ? prepared?.find(ref, geometry) : undefined
}

/** Computes the most frequent request, a distance between two points. Skips the checks that two points cannot fail. */
function pointDistance(row: OperationRow, a: ReadOperand, b: ReadOperand, { kernel, counts }: ComputeContext): Outcome {
  if (counts !== undefined) counts.vertices += 2
  const inputRefs = a.ref === undefined || b.ref === undefined ? NO_REFS : [a.ref, b.ref]
  return numeric(row, inputRefs, distanceMeters(kernel, a.flat, b.flat))
}

const NO_REFS: readonly Hex[] = []

function computeRow(
  row: OperationRow,
  subjects: readonly Subject[],
  operands: readonly Operand[],
  inputRefs: readonly Hex[],
  parameters: OperationParameters,
  context: ComputeContext,
): Outcome {
  const { kernel } = context
  const { radiusMeters, pattern } = parameters
  const asksGeodesics = row.takesEdges && parameters.edges === 'geodesic'
  if (row.usesInterior) {
    const isGeodesic = row.isGeodesic || asksGeodesics
    // If both inputs are the same geometry, it is checked once.
    const isSame = inputRefs[0] === inputRefs[1] && operands.every(hasOwnHash)
    for (const subject of isSame ? subjects.slice(0, 1) : subjects) requireValid(isGeodesic, subject, context)
  }
  if (asksGeodesics) return onGeodesics(row, subjects, operands, inputRefs, context)
  const first = subjects[0]!
  const second = subjects[1]!
  switch (row.name) {
    case 'distance':
      return numeric(row, inputRefs, geometryDistance(first, second, context))
    case 'area':
      return numeric(row, inputRefs, polygonArea(first, context))
    case 'length':
      return numeric(row, inputRefs, lengthMeters(kernel, first.geometry))
    case 'within':
      return within(first, second, radiusMeters!, inputRefs, context)
    case 'contains':
    case 'intersects':
      return truth(row.name, inputRefs, inPlane(row.name, subjects, operands, kernel))
    case 'relate': {
      const matrix = matrixOf(first, second, operands, context)
      if (pattern === undefined) return { kind: 'matrix', operation: row.name, inputRefs, matrix: matrix.toString() }
      return truth(`relate:${pattern}`, inputRefs, matrix.matches(pattern))
    }
    case 'buffer':
      return shape(row.name, inputRefs, bufferMembers(context, first.geometry, parameters))
    case 'direct':
      return shape(row.name, inputRefs, directMembers(context, first.geometry, parameters))
    case 'nearest':
      for (const subject of [first, second]) {
        if (subject.hasWholeParallel) throw noMeasureProblem(subject.geometry, subject.path, 'nearest')
        checkSubjectHoles(subject, kernel)
      }
      return shape(row.name, inputRefs, nearestMembers(context, distanceOperand(first), distanceOperand(second)))
    case 'repair':
      return shape(row.name, inputRefs, repairMembers(context, first.geometry, first.openRings, operands[0]!))
    case 'waypoints':
      return shape(row.name, inputRefs, waypointMembers(context, first.geometry, second.geometry, parameters))
    default:
      return truth(row.name, inputRefs, matrixOf(first, second, operands, context).decides(row.name))
  }
}

/** Decides `contains`, or otherwise `intersects`, for edges that are straight in longitude and latitude. */
function inPlane(
  name: OperationRow['name'],
  [a, b]: readonly Subject[],
  operands: readonly Operand[],
  kernel: Kernel,
): boolean {
  const predicate = name === 'contains' ? contains : intersects
  return decide(() => predicate(topologyFrom(a!), topologyFrom(b!), kernelPoleResolver(kernel), kernel), operands)
}

function matrixOf(a: Subject, b: Subject, operands: readonly Operand[], { kernel }: ComputeContext): Matrix {
  return decide(() => relate(topologyFrom(a), topologyFrom(b), kernelPoleResolver(kernel), kernel), operands)
}

/** Decides `contains` or `intersects` on geodesic edges. @throws {ProblemError} `undecided` if the margin leaves both answers open */
function onGeodesics(
  { name }: OperationRow,
  subjects: readonly Subject[],
  operands: readonly Operand[],
  inputRefs: readonly Hex[],
  { kernel }: ComputeContext,
): Outcome {
  const operation = `${name}:geodesic`
  for (const subject of subjects) {
    if (subject.hasWholeParallel) throw noMeasureProblem(subject.geometry, subject.path, operation)
    checkSubjectHoles(subject, kernel)
  }
  const [a, b] = subjects.map((subject): GeodesicOperand => {
    return { geometry: subject.geometry, distance: distanceOperand(subject), walls: subject.prepared?.walls }
  }) as [GeodesicOperand, GeodesicOperand]
  const value = name === 'contains' ? containsOnGeodesics(kernel, a, b) : intersectsOnGeodesics(kernel, a, b)
  if (value !== undefined) return truth(operation, inputRefs, value)
  // Geometries that share vertices and edges, which exact arithmetic compares.
  if (areReadingsEqual(kernel, a.geometry, b.geometry)) {
    return truth(operation, inputRefs, inPlane(name, subjects, operands, kernel))
  }
  throw problemAt(
    'undecided',
    [],
    `${name} with geodesic edges is not certain: the geometries touch within the margin of ${MARGIN_METERS.toFixed(6)} m, or an edge is longer than ${LONGEST_EDGE_METERS / 1000} km`,
    {
      code: 'within-margin',
      hint: 'move the vertices that lie on an edge of the other geometry, give both geometries a vertex there, or divide long edges; without edges the answer is that of straight lines in longitude and latitude',
    },
  )
}

function requireValid(
  isGeodesic: boolean,
  { geometry, prepared, stored, path }: Subject,
  context: ComputeContext,
): void {
  // It was checked when it was stored, and no request pays for that.
  if (!isGeodesic && stored?.validityWork !== undefined) return
  const known = isGeodesic ? prepared?.geodesicValidityWork : prepared?.validityWork
  // A cached check costs the same work as a check that runs, so that the cache cannot change the result.
  if (known !== undefined) {
    spendWork(known)
    return
  }
  const before = workSoFar()
  checkInterior(geometry, path, context.kernel, isGeodesic)
  if (prepared === undefined) return
  if (isGeodesic) prepared.geodesicValidityWork = workSoFar() - before
  else prepared.validityWork = workSoFar() - before
}

function topologyFrom({ geometry, prepared }: Subject): Topology {
  return prepared?.topology ?? geometry
}

/**
 * Decides `within` on the distance rounded to centimetres, inclusive. So two geometries are within the distance that
 * `distance` reports for them, and the attested boolean agrees with the attested radius (decision 7).
 */
function within(
  a: Subject,
  b: Subject,
  radiusMeters: number,
  inputRefs: readonly Hex[],
  { kernel }: ComputeContext,
): Outcome {
  for (const subject of [a, b])
    if (subject.hasWholeParallel) throw noMeasureProblem(subject.geometry, subject.path, 'within')
  checkSubjectHoles(a, kernel)
  checkSubjectHoles(b, kernel)
  const radiusCm = toScaledInteger(radiusMeters, CM_PER_METER)
  if (radiusCm === 0n) {
    throw problemAt('invalid-input', ['radius'], `${radiusMeters} m rounds to 0 cm`, {
      code: 'radius-too-small',
      hint: 'the radius is in metres; the smallest is 0.005',
    })
  }
  const isWithin = isWithinCentimeters(kernel, distanceOperand(a), distanceOperand(b), radiusCm)
  return truth(`within:${radiusCm}`, inputRefs, isWithin)
}

function numeric(row: OperationRow, inputRefs: readonly Hex[], measure: number): Outcome {
  if (row.result.kind !== 'numeric') throw new RangeError(`${row.name} is not numeric`)
  const integer = toScaledInteger(measure, row.result.scale)
  return { kind: 'numeric', operation: row.name, inputRefs, integer, measure }
}

function shape(operation: string, inputRefs: readonly Hex[], members: string): Outcome {
  return { kind: 'geometry', operation, inputRefs, members }
}

function truth(operation: string, inputRefs: readonly Hex[], value: boolean): Outcome {
  return { kind: 'boolean', operation, inputRefs, value }
}

/** Half a square centimetre. A smaller area would be 0 on the chain, like a polygon filled by its holes; neither is attested. */
const SMALLEST_SQUARE_METERS = 0.5 / CM2_PER_SQUARE_METER

function polygonArea({ geometry, prepared, path }: Subject, { kernel }: ComputeContext): number {
  const area = cachedArea(geometry, prepared, kernel)
  if (area < SMALLEST_SQUARE_METERS) throw noAreaProblem(path)
  return area
}

function cachedArea(geometry: FlatGeometry, prepared: PreparedGeometry | undefined, kernel: Kernel): number {
  if (prepared?.area !== undefined) {
    spendWork(prepared.area.work)
    return prepared.area.squareMeters
  }
  const before = workSoFar()
  const squareMeters = areaSquareMeters(kernel, geometry)
  if (prepared !== undefined) prepared.area = { squareMeters, work: workSoFar() - before }
  return squareMeters
}

function checkSubjectHoles({ geometry, prepared, path }: Subject, kernel: Kernel): void {
  if (prepared?.areHolesChecked === true) return
  checkAntimeridianHoles(geometry, path, kernelPoleResolver(kernel))
  if (prepared !== undefined) prepared.areHolesChecked = true
}

function geometryDistance(a: Subject, b: Subject, context: ComputeContext): number {
  const { kernel } = context
  checkSubjectHoles(a, kernel)
  checkSubjectHoles(b, kernel)
  if (a.hasWholeParallel) return distanceToBands(b, a, context)
  if (b.hasWholeParallel) return distanceToBands(a, b, context)
  return distanceMeters(kernel, distanceOperand(a), distanceOperand(b))
}

/**
 * Computes the distance between a point and a geometry with whole parallels. Distance is symmetric, so the request may name
 * either first.
 */
function distanceToBands(point: Subject, { geometry, path }: Subject, { kernel }: ComputeContext): number {
  if (!isSinglePoint(point.geometry)) throw noMeasureProblem(geometry, path, 'the distance to anything but a point')
  return distanceToBandsMeters(kernel, point.geometry, geometry)
}

function distanceOperand({ geometry, prepared }: Subject): PreparedDistance | FlatGeometry {
  return prepared?.distance ?? geometry
}

/** Runs a predicate. @throws {ProblemError} if it cannot be decided exactly, because the result must never be a guess */
function decide<T>(predicate: () => T, operands: readonly Operand[]): T {
  try {
    return predicate()
  } catch (error) {
    if (!(error instanceof UndecidableError)) throw error
    throw problemAt('invalid-input', operands[0]!.path, error.message, {
      code: 'undecidable',
      hint: 'simplify the geometries, send their parts in separate requests, or cut polygons around a pole at the antimeridian',
    })
  }
}
