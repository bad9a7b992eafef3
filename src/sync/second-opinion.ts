import { createRelayChain, type RelayChain, type RelayChainParts } from './relay-chain.ts'
import { RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

/** What another endpoint says of what one said. `alone`: there is no other. `silent`: none of them answers now. */
export type SecondOpinion = 'alone' | 'agrees' | 'differs' | 'silent'

/**
 * Asks an endpoint whether another one is right.
 *
 * @param place of the one that is not to be asked
 * @param isRight by the chain as the other endpoint shows it
 */
export type AskAnother = (place: number, isRight: (chain: RelayChain) => Promise<boolean>) => Promise<SecondOpinion>

/** The endpoints of a chain as witnesses of each other: what costs money or loses a submission is believed of none alone. */
export function createAskAnother(rpcs: Pick<RpcList, 'use' | 'size'>, parts: RelayChainParts): AskAnother {
  return async (place, isRight) => {
    if (rpcs.size === 1) return 'alone'
    try {
      return await rpcs.use(
        async (rpc) => {
          const chain = createRelayChain(rpc, parts)
          await chain.requireChain()
          return (await isRight(chain)) ? 'agrees' : 'differs'
        },
        new Set([place]),
      )
    } catch (error) {
      if (error instanceof RpcError) return 'silent'
      throw error
    }
  }
}
