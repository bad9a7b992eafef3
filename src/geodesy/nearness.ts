import { remainingWork, spendWork, WorkLimitError } from '../base/work.ts'
import { createPoint, type FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { isPrepared, operandBytes, type PreparedDistance, writeOperand } from './prepared-distance.ts'

/**
 * Two geometries that are nearer than this may touch, metres. Distances near 0 are computed with an error below 0.1 µm, so geometries
 * that are farther apart certainly share no point.
 */
export const MARGIN_METERS = 1e-6

/** Vertices that are written into the kernel in the time of one unit of work. */
const VERTICES_PER_UNIT = 64

/** Geometries in the memory of a kernel, for many comparisons. Any other use of the kernel's arena ends it. */
export class Nearness {
  readonly #kernel: Kernel

  constructor(kernel: Kernel) {
    kernel.release()
    this.#kernel = kernel
  }

  /**
   * Returns the kernel's pointer to a geometry, which is written there unless it is prepared. The work is the same, so that preparing
   * changes no answer.
   *
   * @param vertexCount of the geometry, if it is prepared
   * @throws {RangeError} when the kernel's memory cannot grow
   */
  add(geometry: FlatGeometry): number
  add(geometry: FlatGeometry | PreparedDistance, vertexCount: number): number
  add(geometry: FlatGeometry | PreparedDistance, vertexCount = 0): number {
    if (isPrepared(geometry)) {
      spendWork(vertexCount / VERTICES_PER_UNIT)
      return geometry.pointerIn(this.#kernel)
    }
    spendWork(geometry.vertices.length / 2 / VERTICES_PER_UNIT)
    const block = this.#kernel.reserve(operandBytes(this.#kernel, geometry))
    if (block === 0) throw new RangeError('the kernel is out of memory')
    writeOperand(this.#kernel, geometry, block)
    return block
  }

  /** Runs a computation and frees the geometries that it added. */
  temporarily<T>(compute: () => T): T {
    const mark = this.#kernel.mark()
    const result = compute()
    this.#kernel.releaseTo(mark)
    return result
  }

  /**
   * Returns true if two geometries are certainly more than 0 apart: their least geodesic distance is at least the margin.
   *
   * @throws {WorkLimitError} when the request exceeds its limit of work
   */
  areApart(first: number, second: number): boolean {
    const limit = remainingWork()
    const result = this.#kernel.isWithin(first, second, MARGIN_METERS / 2, MARGIN_METERS, limit)
    spendWork(this.#kernel.workDone())
    if (result === -1) throw new WorkLimitError(`the comparison needs more than ${limit} units of work`)
    return result === 0
  }

  /** Does the same for a geometry and a position in degrees. */
  isAwayFrom(geometry: number, lon: number, lat: number): boolean {
    spendWork(1)
    POINT.vertices[0] = lon
    POINT.vertices[1] = lat
    return this.temporarily(() => this.areApart(geometry, this.add(POINT)))
  }
}

/** Written into the kernel for each position that is compared. */
const POINT: FlatGeometry = createPoint()

/** Makes lines of vertices, interleaved in degrees. */
export function linesFrom(lines: readonly Float64Array[]): FlatGeometry {
  const vertices = new Float64Array(lines.reduce((sum, line) => sum + line.length, 0))
  const starts = Uint32Array.from({ length: lines.length + 1 }, (_, index) => index)
  const sequenceStarts = new Uint32Array(lines.length + 1)
  lines.forEach((line, index) => {
    vertices.set(line, 2 * sequenceStarts[index]!)
    sequenceStarts[index + 1] = sequenceStarts[index]! + line.length / 2
  })
  return {
    type: 'MultiLineString',
    vertices,
    sequenceStarts,
    partStarts: starts,
    partDimensions: new Uint8Array(lines.length).fill(1),
    elementStarts: Uint32Array.of(0, lines.length),
    elementTypes: ['MultiLineString'],
    elementPaths: [[]],
  }
}
