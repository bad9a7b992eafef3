import type { LocationRecord } from '../wire/store-messages.ts'
import type { BlockId } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import { type ChainReader, type EasLog, type Heads, takeWholeBlocks } from './chain-reader.ts'
import type { GatheredChanges, Gatherer } from './gather.ts'
import { RangeSize } from './range-size.ts'
import { type RpcClient, RpcError } from './rpc.ts'

interface FinalRangesParts {
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly limits: { readonly maxRangeBlocks: number; readonly logsAtOnce: number }
}

/** The changes of some whole blocks, which are stored in one step. */
export interface FinalPiece extends GatheredChanges {
  /** The last of the blocks. */
  readonly to: BlockId
}

interface FinalRange {
  readonly logs: readonly EasLog[]
  readonly end: BlockId
}

/** Only pieces with less text than this are held while the next one is read. */
const MAX_CHARACTERS_AHEAD = 16 * 1_048_576

/** Reads final blocks in ranges that are as wide as the endpoint accepts. */
export class FinalRanges {
  readonly #parts: FinalRangesParts
  readonly #size: RangeSize

  constructor(parts: FinalRangesParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.limits.maxRangeBlocks)
  }

  /**
   * Reads all final blocks after a block. The next piece is read while the caller stores the one before.
   *
   * @param from the first block
   * @param previous the block before `from`; undefined when nothing has been read before
   * @param maxPieces the most pieces to yield
   * @returns the pieces in the order of the chain; undefined, as the last one, if the endpoint has another block before it
   * @throws {RpcError} when the endpoint has no usable response
   */
  read(
    rpc: RpcClient,
    heads: Heads,
    from: number,
    previous: BlockId | undefined,
    maxPieces: number,
  ): AsyncGenerator<FinalPiece | undefined> {
    const isSmall = (piece: FinalPiece | undefined) =>
      piece !== undefined && countCharacters(piece.records) < MAX_CHARACTERS_AHEAD
    return readAhead(this.#readPieces(rpc, heads, from, previous, maxPieces), isSmall)
  }

  async *#readPieces(
    rpc: RpcClient,
    heads: Heads,
    from: number,
    previous: BlockId | undefined,
    maxPieces: number,
  ): AsyncGenerator<FinalPiece | undefined> {
    const { gatherer, limits } = this.#parts
    let last = previous
    let pieces = 0
    // The piece before is not in the store yet, because the caller stores it now.
    let beingStored: ReadonlySet<Hex> = new Set()
    for (let next = from; next <= heads.finalized && pieces < maxPieces; next = (last?.number ?? from - 1) + 1) {
      const range = await this.#readRange(rpc, heads, next, last)
      if (range === 'rejected') continue
      if (range === 'replaced') {
        yield undefined
        return
      }
      let rest = range.logs
      do {
        const logs = takeWholeBlocks(rest, limits.logsAtOnce)
        rest = rest.slice(logs.length)
        const changes = await gatherer.gather(rpc, logs, beingStored)
        beingStored = new Set([...changes.records, ...changes.quarantine].map(({ uid }) => uid))
        last = rest.length === 0 ? range.end : blockOf(logs.at(-1)!)
        yield { ...changes, to: last }
        pieces++
      } while (rest.length > 0 && pieces < maxPieces)
    }
  }

  /** Reads the logs of a range. `rejected`: the next range is narrower. `replaced`: the block before the range is another one. */
  async #readRange(
    rpc: RpcClient,
    { head, finalized }: Heads,
    from: number,
    previous: BlockId | undefined,
  ): Promise<FinalRange | 'rejected' | 'replaced'> {
    const requestedBlocks = Math.min(this.#size.blocks, finalized - from + 1)
    const to = from + requestedBlocks - 1
    let response: Awaited<ReturnType<ChainReader['range']>>
    try {
      response = await this.#parts.reader.range(rpc, from, to, previous === undefined ? [to] : [to, previous.number])
    } catch (error) {
      if (error instanceof RpcError && this.#size.shrink(from, requestedBlocks, error)) return 'rejected'
      throw error
    }
    const { logs, blocks } = response
    const [end, before] = blocks
    if (end === undefined) throw new RpcError(`an endpoint with head ${head.number} does not have block ${to}`)
    if (previous !== undefined && before?.hash !== previous.hash) return 'replaced'
    if (logs.some(({ blockNumber, blockHash }) => blockNumber === to && blockHash !== end.hash))
      throw new RpcError(`the logs and block ${to} of an endpoint belong to different versions of the chain`)
    this.#size.grow(requestedBlocks, logs.length)
    return { logs, end: { number: end.number, hash: end.hash } }
  }
}

function blockOf({ blockNumber, blockHash }: EasLog): BlockId {
  return { number: blockNumber, hash: blockHash }
}

/** Counts the characters of the texts that may be long. */
function countCharacters(records: readonly LocationRecord[]): number {
  let count = 0
  for (const { srs, locationType, location, memo, recipeTypes, recipePayloads, mediaTypes, mediaData } of records) {
    const texts = [srs, locationType, location, memo ?? '', recipeTypes, recipePayloads, mediaTypes, mediaData].flat()
    for (const text of texts) count += text.length
  }
  return count
}

/**
 * Yields the items of a generator, which makes the next item while the caller works on this one.
 *
 * @param mayReadAhead tells whether the next item may be made while the caller holds this one
 */
async function* readAhead<T>(items: AsyncGenerator<T>, mayReadAhead: (item: T) => boolean): AsyncGenerator<T> {
  let next: Promise<IteratorResult<T>> | undefined
  try {
    for (;;) {
      const { done, value } = await (next ?? items.next())
      if (done) return
      next = mayReadAhead(value) ? items.next() : undefined
      next?.catch(() => {}) // the next turn awaits it
      yield value
    }
  } finally {
    // If the caller stops early, nothing may go on in the background.
    await next?.catch(() => {})
    await items.return(undefined)
  }
}
