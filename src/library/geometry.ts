/** What a caller of the library passes, and how it is read: GeoJSON, Features, and prepared geometries. */
import { jsonPointer, ProblemError } from '../base/problem.ts'
import { PreparedGeometry } from '../compute/prepared-geometries.ts'
import type { ReadOperand } from '../compute/run.ts'
import { checkShape } from '../geometry/check-shape.ts'
import type { GeometryType } from '../geometry/flat.ts'
import type { GeometryLike } from '../geometry/geometry-like.ts'
import { readGeometry } from '../geometry/read.ts'
import type { Hex } from '../wire/values.ts'
import { kernel } from './kernel.ts'

/** A geometry as GeoJSON, a Feature with one, or one that `prepare` returned. Coordinates are longitude and latitude in degrees. */
export type GeometryInput = GeometryLike | { readonly type: 'Feature'; readonly geometry: GeometryLike } | Prepared

/** Why a geometry cannot be computed with. */
export class GeometryError extends Error {
  override readonly name = 'GeometryError'
  /** Stable short name of the rule, e.g. `self-intersection`; the service uses the same names. */
  readonly code: string
  /** Where in the arguments, as a JSON Pointer that begins with the parameter's name, e.g. `#/container/coordinates/0/3`. */
  readonly pointer: string
  /** What would work instead, if that is known. */
  readonly hint: string | undefined

  constructor(message: string, code: string, pointer: string, hint?: string) {
    super(message)
    this.code = code
    this.pointer = pointer
    this.hint = hint
  }
}

/** A program may compute with geometries as large as its memory allows. */
export const LIMITS = {
  maxVertices: Number.POSITIVE_INFINITY,
  maxParts: Number.POSITIVE_INFINITY,
  maxWork: Number.POSITIVE_INFINITY,
}

/** Geometries that have memory in the kernel, or may get some. */
const preparations = new Set<PreparedGeometry>()
const collected = new FinalizationRegistry((preparation: PreparedGeometry) => {
  preparation.release()
  preparations.delete(preparation)
})
let preparedCount = 0

function freeOne(): boolean {
  for (const preparation of preparations) if (preparation.release()) return true
  return false
}

/** A geometry that is read once, checked once, and indexed when it is first used. `prepare` creates it. */
export class Prepared {
  readonly type: GeometryType
  readonly #operand: ReadOperand
  readonly #preparation: PreparedGeometry

  /** Use `prepare`. */
  constructor(geometry: GeometryInput) {
    const { flat } = readInput(geometry, 'geometry', '0x')
    this.type = flat.type
    this.#preparation = new PreparedGeometry(flat, kernel, freeOne)
    // The first digit tells it from the geometries of one call.
    this.#operand = { flat, path: [], ref: `0x1${preparedCount++}` }
    preparations.add(this.#preparation)
    collected.register(this, this.#preparation)
  }

  /** Returns the geometry as the input of a computation. For this module's functions. */
  static operandOf(prepared: Prepared, name: string): ReadOperand {
    return { ...prepared.#operand, path: [name] }
  }

  /** Returns the prepared geometry among these inputs that has a reference. */
  static find(inputs: readonly GeometryInput[], ref: Hex): PreparedGeometry | undefined {
    for (const input of inputs) if (input instanceof Prepared && input.#operand.ref === ref) return input.#preparation
    return undefined
  }
}

/**
 * Reads a geometry once, for many calls with it. Without it, each call reads, checks and indexes its geometries again.
 *
 * @throws {GeometryError} if it is not a geometry. Whether its polygons are valid is checked when a function needs that.
 */
export function prepare(geometry: GeometryInput): Prepared {
  return geometry instanceof Prepared ? geometry : new Prepared(geometry)
}

/** References of the arguments of one call. */
const REFS: readonly Hex[] = ['0x00', '0x01']
/** What Points among the arguments are read into: no function keeps its arguments, and new arrays would take longer than it. */
const POINTS = REFS.map(() => readGeometry({ type: 'Point', coordinates: [0, 0] }, [], LIMITS))

/** Reads the arguments of a function. @throws {GeometryError} */
export function readInputs(inputs: readonly GeometryInput[], names: readonly string[]): ReadOperand[] {
  return inputs.map((input, index) => {
    if (input instanceof Prepared) return Prepared.operandOf(input, names[index]!)
    const position = pointPosition(input)
    if (position === undefined) return readInput(input, names[index]!, REFS[index]!)
    const flat = POINTS[index]!
    flat.vertices[0] = position[0]
    flat.vertices[1] = position[1]
    return { flat, path: [names[index]!], ref: REFS[index]! }
  })
}

function readInput(input: unknown, name: string, ref: Hex): ReadOperand {
  const isFeature = typeof input === 'object' && input !== null && (input as { type?: unknown }).type === 'Feature'
  const shape = checkShape(isFeature ? (input as { geometry?: unknown }).geometry : input, true)
  if (!shape.ok) throw new GeometryError(`${name}: ${shape.reason}`, 'not-a-geometry', jsonPointer([name]))
  return explained(() => ({ flat: readGeometry(shape.geometry, [name], LIMITS), path: [name], ref }))
}

/** Returns the position of a Point that is certainly one. Points are most of what programs ask about, so they skip the general way. */
export function pointPosition(input: unknown): readonly [longitude: number, latitude: number] | undefined {
  if (typeof input !== 'object' || input === null || (input as { type?: unknown }).type !== 'Point') return undefined
  const { coordinates } = input as { coordinates?: unknown }
  if (!Array.isArray(coordinates) || coordinates.length !== 2) return undefined
  const [longitude, latitude]: readonly unknown[] = coordinates
  if (typeof longitude !== 'number' || typeof latitude !== 'number') return undefined
  if (!(Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90)) return undefined
  // + 0 turns −0 into 0, as the canonical text of the number does.
  return [longitude + 0, latitude + 0]
}

/** Runs a computation whose problems become errors of the library. */
export function explained<T>(compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const { detail, type, invalidParts = [] } = error.data
    const [{ pointer, code = type, hint } = { pointer: '#' }] = invalidParts
    throw new GeometryError(detail, code, pointer, hint)
  }
}
