import type { PackedBytes } from '../../base/bytes.ts'
import type { ItemComposer } from '../../compute/chunk.ts'
import type { LineRange } from '../inputs/pieces.ts'
import { SourceError } from '../inputs/source-item.ts'
import { type Entry, GROUP_ITEMS, type ShownItem } from './feeder.ts'

/** Items of a file as bytes, for the engine in this process. Valid until the next group is taken. */
export interface PackedGroup {
  /** The items as JSON, without those that have a fault: operations, or objects from which `composer` makes operations. */
  readonly items: PackedBytes
  readonly composer: ItemComposer | undefined
  /** The index in the group of each of `items`. */
  readonly positions: Uint32Array
  /** The indexes in the group of the items that have a fault, ascending. */
  readonly faults: readonly number[]
  /** Returns what a table of results shows of the item at an index in the group. */
  shown(index: number): ShownItem
  /** Parses the item at an index in the group, which finds every fault. */
  read(index: number): Entry
}

type TakeOptions = Pick<PackedGroup, 'read'> & Partial<Pick<PackedGroup, 'shown' | 'composer'>>

const INITIAL_BYTES = 65_536

/** Collects the items of a group in one buffer. An object and a string for each took longer than computing its result. */
export class ItemPacker {
  readonly #offsets = new Uint32Array(GROUP_ITEMS + 1)
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  /** The items that had to be parsed, by index. */
  #parsed = new Map<number, Entry>()
  readonly #positions = new Uint32Array(GROUP_ITEMS)
  #faults: number[] = []
  /** Number of items without a fault. */
  #count = 0

  get isEmpty(): boolean {
    return this.#size === 0
  }

  get isFull(): boolean {
    return this.#size === GROUP_ITEMS
  }

  get #size(): number {
    return this.#count + this.#faults.length
  }

  /** Adds an item that was parsed. The engine does not get one that has a fault. */
  addEntry(entry: Entry): void {
    this.#parsed.set(this.#size, entry)
    if (entry.item === undefined) this.#faults.push(this.#size)
    else this.addText(JSON.stringify(entry.item))
  }

  addText(text: string): void {
    const at = this.#reserve(3 * text.length)
    this.#endItem(at + this.#bytes.write(text, at))
  }

  /** Adds the bytes of a line as an item. */
  addLine(bytes: Buffer, { start, end }: LineRange): void {
    const at = this.#reserve(end - start)
    this.#endItem(at + bytes.copy(this.#bytes, at, start, end))
  }

  /**
   * Returns the items, and begins a new group.
   *
   * @param composer makes the operation from an object that was added, by its index in the group
   * @param read parses an item that was added unparsed
   */
  take({ read, shown = read, composer }: TakeOptions): PackedGroup {
    const offsets = this.#offsets.subarray(0, this.#count + 1)
    const positions = this.#positions.subarray(0, offsets.length - 1)
    const [parsed, faults] = [this.#parsed, this.#faults]
    this.#parsed = new Map()
    this.#faults = []
    this.#count = 0
    return {
      items: { buffer: this.#bytes.buffer, offsets },
      composer: composer && {
        compose: (object, item) => composer.compose(object, positions[item]!),
        idOf: (item) => composer.idOf(positions[item]!),
      },
      positions,
      faults,
      shown,
      read: (index) => parsed.get(index) ?? read(index),
    }
  }

  /** Makes room for bytes. Returns where the next item begins. */
  #reserve(bytes: number): number {
    const at = this.#offsets[this.#count]!
    if (at + bytes <= this.#bytes.length) return at
    const larger = Buffer.allocUnsafeSlow(2 * (at + bytes))
    this.#bytes.copy(larger, 0, 0, at)
    this.#bytes = larger
    return at
  }

  #endItem(at: number): void {
    this.#positions[this.#count] = this.#size
    this.#offsets[++this.#count] = at
  }
}

export const SHORTER = 'shorter than when the interrupted run read it: start again with --restart'

/** @throws {SourceError} if the input has fewer items than an earlier run has done */
export function requireItems(items: number, skippedItems: number): void {
  if (items < skippedItems) throw new SourceError('', SHORTER)
}
