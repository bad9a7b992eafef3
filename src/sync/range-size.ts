import type { RpcError } from './rpc.ts'

const FIRST_BLOCKS = 2000
/** A range widens only while a response has fewer logs than this. */
const MAX_LOGS_TO_GROW = 1000

/** Error texts in which providers state their limits, with groups for the numbers. */
const RANGE_HINT = /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/i
const SIZE_HINT =
  /(?:limited to|limit(?:ed)? (?:is|of)|max(?:imum)?(?: is| range| block range)?:?|up to|exceeds?(?: the range)?(?: allowed)?(?: of| limit of)?|more than|larger than|no more than)\s*(?:a |an )?(\d[\d,_]*)(k?)/i
/** Error texts of rejections that a narrower range would not avoid. */
const OTHER_REJECTION =
  /\brate\b|too many requests|credits|quota|unauthori[sz]ed|forbidden|api key|method not (?:found|supported)/i

/** The number of blocks in one `eth_getLogs` request. It adapts to what the endpoint accepts. */
export class RangeSize {
  readonly #max: number
  #blocks: number

  /** @param max upper limit of the number of blocks */
  constructor(max: number) {
    this.#max = max
    this.#blocks = Math.min(FIRST_BLOCKS, max)
  }

  get blocks(): number {
    return this.#blocks
  }

  /** Call this when a range succeeded: widens the next range if this one was full width and had few logs. */
  grow(requestedBlocks: number, logs: number): void {
    if (requestedBlocks >= this.#blocks && logs < MAX_LOGS_TO_GROW)
      this.#blocks = Math.min(requestedBlocks * 2, this.#max)
  }

  /**
   * Call this when a range was rejected: narrows the next range.
   *
   * @returns false when a narrower range would be rejected as well
   */
  shrink(from: number, requestedBlocks: number, error: RpcError): boolean {
    const mayBeRange = error.failure === 'error' || error.failure === 'too-large' || error.failure === 'late'
    if (requestedBlocks <= 1 || !mayBeRange || OTHER_REJECTION.test(error.endpointMessage)) return false
    const hinted = parseBlockLimit(from, error.endpointMessage)
    // A number that is not smaller is a limit of results, not of blocks.
    this.#blocks = hinted !== undefined && hinted < requestedBlocks ? hinted : requestedBlocks >> 1
    return true
  }
}

/** Returns how many blocks, starting at `from`, the endpoint's error message says it accepts. */
export function parseBlockLimit(from: number, endpointMessage: string): number | undefined {
  const range = RANGE_HINT.exec(endpointMessage)
  if (range !== null) {
    const [low, high] = [Number(range[1]), Number(range[2])]
    if (low <= from && high >= from) return high - from + 1
  }
  const size = SIZE_HINT.exec(endpointMessage)
  if (size === null) return undefined
  const blocks = Number(size[1]!.replaceAll(/[,_]/g, '')) * (size[2] === '' ? 1 : 1000)
  return blocks >= 1 ? blocks : undefined
}
