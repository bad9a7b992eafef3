/**
 * `trigpoint/topology`: exact predicates on longitude and latitude, as the service computes them. Edges are straight in longitude
 * and latitude, as GeoJSON and OGC define them. No result is a guess: what cannot be decided exactly throws.
 */
import { checkInterior } from '../compute/validity.ts'
import type { OperationName } from '../wire/values.ts'
import { explained, GeometryError, type GeometryInput, readInputs } from './geometry.ts'
import { kernel } from './kernel.ts'
import { decide, run } from './run.ts'

// biome-ignore lint/performance/noBarrelFile: a module has one entry, which exports everything that callers need
export { GeometryError, type GeometryInput, type Prepared, prepare } from './geometry.ts'

/** Decides a relation of two geometries. @throws {GeometryError} if one is not valid, or the relation cannot be decided exactly */
export type Predicate = (geometry1: GeometryInput, geometry2: GeometryInput) => boolean

const predicate =
  (name: OperationName): Predicate =>
  (geometry1, geometry2) =>
    decide(name, [geometry1, geometry2])

/** True if no point of the second geometry is outside the first, and their interiors meet. Takes (container, containee). */
export const contains = predicate('contains')
/** True if the geometries have a point in common. */
export const intersects = predicate('intersects')
/** True if the geometries have no point in common. */
export const disjoint = predicate('disjoint')
/** True if the geometries are the same set of points. */
export const equals = predicate('equals')
/** True if only boundaries meet. */
export const touches = predicate('touches')
/** True if the interiors meet in less than the larger dimension, and each has points outside the other; two lines: in points. */
export const crosses = predicate('crosses')
/** True if geometries of the same dimension share a part of that dimension, and each has points outside the other. */
export const overlaps = predicate('overlaps')
/** True if no point of the second geometry is outside the first. */
export const covers = predicate('covers')
/** True if no point of the first geometry is outside the second. */
export const coveredBy = predicate('coveredBy')

const PATTERN = /^[TF*012]{9}$/

/**
 * Returns the DE-9IM matrix of two geometries, e.g. `212101212`, or whether it matches a pattern.
 *
 * @param pattern nine of `T` (any dimension), `F` (none), `*` (either), `0`, `1` and `2`, by rows
 * @throws {GeometryError} if a geometry is not valid, or the matrix cannot be determined exactly
 * @throws {TypeError} if the pattern is not one
 */
export function relate(geometry1: GeometryInput, geometry2: GeometryInput): string
export function relate(geometry1: GeometryInput, geometry2: GeometryInput, pattern: string): boolean
export function relate(geometry1: GeometryInput, geometry2: GeometryInput, pattern?: string): string | boolean {
  if (pattern !== undefined) {
    if (!PATTERN.test(pattern)) throw new TypeError(`${JSON.stringify(pattern)} is not nine of T, F, *, 0, 1 and 2`)
    return decide('relate', [geometry1, geometry2], pattern)
  }
  const outcome = run('relate', [geometry1, geometry2])
  if (outcome.kind !== 'matrix') throw new RangeError('relate without a pattern has no matrix')
  return outcome.matrix
}

/**
 * Tells what is wrong with a geometry: a ring that crosses itself, a hole outside its polygon, a position out of range.
 *
 * @returns undefined if it is valid
 */
export function findInvalidity(geometry: GeometryInput): GeometryError | undefined {
  try {
    const [operand] = readInputs([geometry], ['geometry'])
    explained(() => checkInterior(operand!.flat, ['geometry'], kernel))
    return undefined
  } catch (error) {
    if (error instanceof GeometryError) return error
    throw error
  }
}
