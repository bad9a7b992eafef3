import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { BlockList } from './block-list.ts'

/** Room for prepared geometries in a kernel, bytes, unless `setPreparedRoom` says otherwise: 500,000 vertices. */
export const DEFAULT_PREPARED_ROOM = 64 << 20

/** The blocks of each kernel that has room set aside. */
const rooms = new WeakMap<Kernel, BlockList>()

/**
 * Sets memory of a kernel aside for prepared geometries, once and before the first of them. Pages that are never used cost
 * no memory of the machine.
 *
 * @throws {RangeError} when it has been done, or the memory cannot grow so far
 */
export function setPreparedRoom(kernel: Kernel, byteLength: number): void {
  if (rooms.has(kernel)) throw new RangeError('the kernel has its room for prepared geometries')
  const pointer = kernel.setAside(byteLength)
  if (pointer === 0) throw new RangeError('the kernel is out of memory')
  rooms.set(kernel, new BlockList(pointer, byteLength))
}

/** A geometry laid out in the memory of a kernel for any number of distances. */
export class PreparedDistance {
  /** What it takes of the room. */
  readonly byteLength: number
  readonly #kernel: Kernel
  #block: number

  /** Use `prepareDistance`. */
  constructor(kernel: Kernel, block: number, byteLength: number) {
    this.#kernel = kernel
    this.#block = block
    this.byteLength = byteLength
  }

  /** Gives the memory back; the geometry cannot be used any more. A second call does nothing. */
  release(): void {
    if (this.#block === 0) return
    rooms.get(this.#kernel)!.free(this.#block, this.byteLength)
    this.#block = 0
  }

  /** @returns pointer to the operand, for `minimumDistance` */
  operandIn(kernel: Kernel): number {
    if (kernel !== this.#kernel) throw new RangeError('the geometry was prepared in another kernel')
    if (this.#block === 0) throw new RangeError('the prepared geometry was released')
    return this.#block
  }
}

/**
 * Prepares a geometry for distances: a point is then compared with 10,000 vertices in microseconds. Results are the same
 * bits as without. Voids what lies in the kernel's arena when it is the first.
 *
 * @returns undefined when there is no room: release others, or do without
 */
export function prepareDistance(kernel: Kernel, geometry: FlatGeometry): PreparedDistance | undefined {
  if (!rooms.has(kernel)) setPreparedRoom(kernel, DEFAULT_PREPARED_ROOM)
  const byteLength = operandBytes(kernel, geometry)
  const block = rooms.get(kernel)!.allocate(byteLength)
  if (block === undefined) return undefined
  layOperand(kernel, geometry, block)
  return new PreparedDistance(kernel, block, byteLength)
}

export function isPrepared(geometry: FlatGeometry | PreparedDistance): geometry is PreparedDistance {
  return geometry instanceof PreparedDistance
}

/** Bytes of the block that `layOperand` fills, at most. */
export function operandBytes(kernel: Kernel, { vertices, sequenceStarts, partDimensions }: FlatGeometry): number {
  return kernel.operandBytes(vertices.length / 2, sequenceStarts.length - 1, partDimensions.length)
}

/** Writes a geometry into a block of the kernel's memory and prepares it there. */
export function layOperand(
  kernel: Kernel,
  { vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry,
  block: number,
): void {
  const { bytes, words, doubles } = kernel.views()
  let pointer = kernel.operandInputs(block)
  doubles.set(vertices, pointer / 8)
  pointer += vertices.byteLength
  words.set(sequenceStarts, pointer / 4)
  pointer += sequenceStarts.byteLength
  words.set(partStarts, pointer / 4)
  pointer += partStarts.byteLength
  bytes.set(partDimensions, pointer)
  kernel.prepareOperand(block, vertices.length / 2, sequenceStarts.length - 1, partDimensions.length)
}
