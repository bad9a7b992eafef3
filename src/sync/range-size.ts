import type { RpcError } from './rpc.ts'

const FIRST_BLOCKS = 2000
/** Logs that an answer should have at most for the next range to be wider. */
const FEW_LOGS = 1000

/** What an endpoint says of its own limits, as providers word it; each with the numbers it holds. */
const RANGE_HINT = /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i
const SIZE_HINT =
  /(?:limited to|limit(?:ed)? (?:is|of)|max(?:imum)?(?: is| range| block range)?:?|up to|exceeds?(?: the range)?(?: allowed)?(?: of| limit of)?|more than|larger than|no more than)\s*(?:a |an )?(\d[\d,_]*)(k?)/i
/** Refusals that no narrower range would change. */
const NOT_THE_RANGE =
  /\brate\b|too many requests|credits|quota|unauthori[sz]ed|forbidden|api key|method not (?:found|supported)/i

/** Blocks one question about logs spans: as many as the endpoint takes, found by trying. */
export class RangeSize {
  readonly #max: number
  #blocks: number

  /** @param max blocks never asked for at once */
  constructor(max: number) {
    this.#max = max
    this.#blocks = Math.min(FIRST_BLOCKS, max)
  }

  get blocks(): number {
    return this.#blocks
  }

  /** The range was answered. */
  grow(asked: number, logs: number): void {
    if (asked >= this.#blocks && logs < FEW_LOGS) this.#blocks = Math.min(this.#blocks * 2, this.#max)
  }

  /**
   * The range was refused.
   *
   * @returns false when a narrower one would be refused as well
   */
  shrink(from: number, asked: number, error: RpcError): boolean {
    const isOfRange = error.failure === 'error' || error.failure === 'too-large' || error.failure === 'late'
    if (asked <= 1 || !isOfRange || NOT_THE_RANGE.test(error.said)) return false
    const hinted = hintedBlocks(from, error.said)
    // A number that is no narrower is one of results, not of blocks.
    this.#blocks = hinted !== undefined && hinted < asked ? hinted : asked >> 1
    return true
  }
}

/** Blocks that the endpoint says it would take from a block on. */
export function hintedBlocks(from: number, said: string): number | undefined {
  const range = RANGE_HINT.exec(said)
  if (range !== null) {
    const [low, high] = [Number(range[1]), Number(range[2])]
    if (low <= from && high >= from) return high - from + 1
  }
  const size = SIZE_HINT.exec(said)
  if (size === null) return undefined
  const blocks = Number(size[1]!.replaceAll(/[,_]/g, '')) * (size[2] === '' ? 1 : 1000)
  return blocks >= 1 ? blocks : undefined
}
