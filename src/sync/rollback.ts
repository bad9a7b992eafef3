import type { BlockId } from '../wire/sync-messages.ts'
import type { KnownBlocks } from './chain-position.ts'
import type { ChainReader } from './chain-reader.ts'
import { parseQuantity, type RpcClient, type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

/** Known blocks that are compared with one message. */
const BLOCKS_AT_ONCE = 32

/**
 * Finds the newest known block that an endpoint also has.
 *
 * @param headNumber the endpoint's head; blocks after it are not compared
 * @returns undefined when there is none
 */
export async function findCommonAncestor(
  rpc: RpcClient,
  reader: ChainReader,
  knownBlocks: KnownBlocks,
  headNumber: number,
): Promise<BlockId | undefined> {
  const candidates = knownBlocks.filter(({ number }) => number <= headNumber)
  for (let start = 0; start < candidates.length; start += BLOCKS_AT_ONCE) {
    const batch = candidates.slice(start, start + BLOCKS_AT_ONCE)
    const blocks = await reader.blocks(
      rpc,
      batch.map(({ number }) => number),
    )
    const ancestor = batch.find(({ hash }, index) => blocks[index]?.hash === hash)
    if (ancestor !== undefined) return ancestor
  }
  return undefined
}

/**
 * Checks again which chain an endpoint serves. One address may lead to nodes of several chains, and the contracts and the schema
 * have the same addresses and UIDs on many chains.
 *
 * @throws {RpcError} when the endpoint serves another chain
 */
export async function confirmChain(rpc: RpcClient, chainId: number): Promise<void> {
  const served = parseQuantity(await rpc.request('eth_chainId', []))
  if (served !== chainId) throw new RpcError(`an endpoint for chain ${chainId} now serves chain ${served}`)
}

/**
 * Asks other endpoints whether a final block really left the chain. More than half of the endpoints must confirm it. If they do, the
 * endpoints that still have the block are suspended.
 *
 * @param reporter the endpoint that no longer has the block
 * @throws {RpcError} when no majority confirms it
 */
export async function confirmRemoved(
  rpcs: RpcList,
  reporter: RpcEndpoint,
  reader: ChainReader,
  block: BlockId,
): Promise<void> {
  const asked = new Set([reporter.index])
  const holders: number[] = []
  while (asked.size - holders.length < rpcs.majority) {
    const other = await rpcs.tryUse(async (rpc) => {
      const [found] = await reader.blocks(rpc, [block.number])
      return { index: rpc.index, hasBlock: found?.hash === block.hash }
    }, asked)
    if (other === undefined)
      throw new RpcError(
        `an endpoint does not have block ${block.number}, which was final, and too few other endpoints confirm it`,
      )
    asked.add(other.index)
    if (other.hasBlock) holders.push(other.index)
  }
  for (const index of holders) rpcs.suspend(index, `it has a block ${block.number} that most endpoints do not have`)
}
