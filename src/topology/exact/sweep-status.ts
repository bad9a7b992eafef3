/** Largest number of segments in a block; a full block is halved. Moving 1 KB costs less than walking a tree. */
const BLOCK = 256

interface Block {
  readonly items: Int32Array
  count: number
  /** Index of the block in the list of blocks. */
  index: number
}

/**
 * The status structure of the sweep: the segments that the sweep line meets, from bottom to top. It is a deterministic list in
 * blocks, with neighbours in O(1), search in O(log n) comparisons, and changes in O(√n) moves of memory.
 */
export class SweepStatus {
  /** Neighbour above and below each segment; −1 for none. */
  readonly above: Int32Array
  readonly below: Int32Array
  readonly #blocks: Block[] = [{ items: new Int32Array(BLOCK), count: 0, index: 0 }]
  readonly #blockOf: (Block | undefined)[]

  /** @param size segments are 0 … size − 1 */
  constructor(size: number) {
    this.above = new Int32Array(size).fill(-1)
    this.below = new Int32Array(size).fill(-1)
    this.#blockOf = new Array<Block | undefined>(size).fill(undefined)
  }

  get lowest(): number {
    const first = this.#blocks[0]!
    return first.count === 0 ? -1 : first.items[0]!
  }

  /**
   * Returns the highest segment for which the predicate holds; −1 for none.
   *
   * @param isBelow holds for the lowest segments up to some height and for none above it
   */
  highest(isBelow: (segment: number) => boolean): number {
    const blocks = this.#blocks
    let low = 0
    let high = blocks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const block = blocks[middle]!
      if (block.count > 0 && isBelow(block.items[0]!)) low = middle + 1
      else high = middle
    }
    if (low === 0) return -1
    const { items, count } = blocks[low - 1]!
    let from = 1
    let to = count
    while (from < to) {
      const middle = (from + to) >>> 1
      if (isBelow(items[middle]!)) from = middle + 1
      else to = middle
    }
    return items[from - 1]!
  }

  /** @param after the segment below the new one; −1 inserts it as the lowest */
  insert(after: number, segment: number): void {
    let block = after < 0 ? this.#blocks[0]! : this.#blockOf[after]!
    let at = after < 0 ? 0 : block.items.indexOf(after) + 1
    if (block.count === BLOCK) {
      const upper = this.#halve(block)
      if (at > block.count) {
        at -= block.count
        block = upper
      }
    }
    block.items.copyWithin(at + 1, at, block.count)
    block.items[at] = segment
    block.count++
    this.#blockOf[segment] = block
    const next = after < 0 ? this.#segmentAfter(block, at) : this.above[after]!
    this.#link(after, segment)
    this.#link(segment, next)
  }

  remove(segment: number): void {
    const block = this.#blockOf[segment]!
    const at = block.items.indexOf(segment)
    block.items.copyWithin(at, at + 1, block.count)
    block.count--
    this.#blockOf[segment] = undefined
    this.#link(this.below[segment]!, this.above[segment]!)
    this.above[segment] = -1
    this.below[segment] = -1
    if (block.count === 0 && this.#blocks.length > 1) {
      this.#blocks.splice(block.index, 1)
      this.#renumber(block.index)
    }
  }

  /** Replaces a segment by another one in the same position of the order. */
  replace(old: number, segment: number): void {
    const block = this.#blockOf[old]!
    block.items[block.items.indexOf(old)] = segment
    this.#blockOf[old] = undefined
    this.#blockOf[segment] = block
    this.#link(this.below[old]!, segment)
    this.#link(segment, this.above[old]!)
    this.above[old] = -1
    this.below[old] = -1
  }

  #segmentAfter(block: Block, at: number): number {
    if (block.count > at + 1) return block.items[at + 1]!
    const next = this.#blocks[block.index + 1]
    return next === undefined ? -1 : next.items[0]!
  }

  #link(lower: number, upper: number): void {
    if (lower >= 0) this.above[lower] = upper
    if (upper >= 0) this.below[upper] = lower
  }

  #halve(block: Block): Block {
    const half = BLOCK / 2
    const upper: Block = { items: new Int32Array(BLOCK), count: BLOCK - half, index: block.index + 1 }
    upper.items.set(block.items.subarray(half))
    block.count = half
    for (let i = 0; i < upper.count; i++) this.#blockOf[upper.items[i]!] = upper
    this.#blocks.splice(upper.index, 0, upper)
    this.#renumber(upper.index)
    return upper
  }

  #renumber(from: number): void {
    for (let i = from; i < this.#blocks.length; i++) this.#blocks[i]!.index = i
  }
}
