import { RpcError } from '../sync/rpc.ts'
import type { RpcList } from '../sync/rpc-list.ts'
import { createRelayChain, type RelayChain, type RelayChainParts } from './relay-chain.ts'

/** What a second endpoint says about the first. `single`: there is only one endpoint. `silent`: none of the others responds. */
export type SecondOpinion = 'single' | 'agrees' | 'differs' | 'silent'

/**
 * Asks a second endpoint whether the first one is right.
 *
 * @param index of the first endpoint, which is not asked
 * @param isRight evaluates the chain as the second endpoint shows it
 */
export type AskSecondEndpoint = (
  index: number,
  isRight: (chain: RelayChain) => Promise<boolean>,
) => Promise<SecondOpinion>

/** Creates the check by a second endpoint. One endpoint is never trusted with what costs money or loses a submission. */
export function createSecondOpinion(rpcs: Pick<RpcList, 'use' | 'size'>, parts: RelayChainParts): AskSecondEndpoint {
  return async (index, isRight) => {
    if (rpcs.size === 1) return 'single'
    try {
      return await rpcs.use(
        async (rpc) => {
          const chain = createRelayChain(rpc, parts)
          await chain.requireChain()
          return (await isRight(chain)) ? 'agrees' : 'differs'
        },
        new Set([index]),
      )
    } catch (error) {
      if (error instanceof RpcError) return 'silent'
      throw error
    }
  }
}
