import type { BlockId } from '../sync-messages.ts'
import type { ChainReader } from './chain-reader.ts'
import type { Ladder } from './ladder.ts'
import { type RpcClient, type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

/** Rungs compared with one message. */
const RUNGS_AT_ONCE = 32

/**
 * The newest block of a ladder that is in the chain as an endpoint sees it.
 *
 * @param headNumber of the endpoint: beyond it there is nothing to compare
 * @returns undefined when none is
 */
export async function commonAncestor(
  rpc: RpcClient,
  reader: ChainReader,
  ladder: Ladder,
  headNumber: number,
): Promise<BlockId | undefined> {
  const rungs = ladder.filter(({ number }) => number <= headNumber)
  for (let start = 0; start < rungs.length; start += RUNGS_AT_ONCE) {
    const some = rungs.slice(start, start + RUNGS_AT_ONCE)
    const blocks = await reader.blocks(
      rpc,
      some.map(({ number }) => number),
    )
    const found = some.find(({ hash }, index) => blocks[index]?.hash === hash)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Asks an endpoint again which chain it serves: behind one address may stand nodes of several, and the contracts and the schema
 * have the same names on many chains.
 *
 * @throws {RpcError} when it serves another one
 */
export async function confirmChain(rpc: RpcClient, chainId: number): Promise<void> {
  const served = await rpc.request('eth_chainId', [])
  if (typeof served === 'string' && Number(served) === chainId) return
  throw new RpcError(`an endpoint for chain ${chainId} serves chain ${Number(served)} by now`)
}

/**
 * Asks the other endpoints whether a block that was taken for final is gone indeed: one that says so alone is not believed.
 *
 * @throws {RpcError} when another endpoint still has the block
 */
export async function confirmGone(
  rpcs: RpcList,
  asked: RpcEndpoint,
  reader: ChainReader,
  block: BlockId,
): Promise<void> {
  if (rpcs.size < 2) return
  let stillThere: boolean
  try {
    stillThere = await rpcs.use(
      async (other) => {
        const [seen] = await reader.blocks(other, [block.number])
        return seen?.hash === block.hash
      },
      new Set([asked.place]),
    )
  } catch (error) {
    // Nobody else answers: then the one that does is what there is.
    if (error instanceof RpcError) return
    throw error
  }
  if (stillThere) throw new RpcError(`an endpoint denies block ${block.number}, which is final for another one`)
}
