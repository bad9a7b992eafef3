import type { AppliedRange } from '../wire/store-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { Gatherer } from './gather.ts'
import { DECODER_VERSION } from './location-record.ts'
import type { RpcClient } from './rpc.ts'

const RETRY_INTERVAL_SECONDS = 5
const MAX_RETRIES_AT_ONCE = 100

export interface QuarantineRetryParts {
  readonly chainId: number
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'quarantined'>
  readonly nowSeconds: () => number
}

/**
 * Creates a function that retries quarantined attestations that are due, at most 100 at a time.
 *
 * @returns the function; it returns undefined when nothing is due, and throws {RpcError | StoreFault | CheckpointMoved}
 */
export function createQuarantineRetry(
  parts: QuarantineRetryParts,
): (rpc: RpcClient) => Promise<AppliedRange | undefined> {
  const { chainId, gatherer, position, store, nowSeconds } = parts
  let nextSeconds = Number.NEGATIVE_INFINITY
  return async (rpc) => {
    if (nowSeconds() < nextSeconds) return undefined
    nextSeconds = nowSeconds() + RETRY_INTERVAL_SECONDS
    const due = await store.quarantined({
      chainId,
      nowSeconds: nowSeconds(),
      decoder: DECODER_VERSION,
      limit: MAX_RETRIES_AT_ONCE,
    })
    return due.length === 0 ? undefined : position.commit(await gatherer.retry(rpc, due))
  }
}
