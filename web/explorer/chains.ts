import type { Issuer } from '../../src/client/answers.ts'

/** Base Sepolia: the chain that pages sign for while the chains of the service are not known. */
export const FIRST_CHAIN_ID = 84_532

/**
 * Chooses the chain that pages sign for unless a person chooses another. A chain with an RPC endpoint comes first: its nonces are current,
 * so that a contract accepts the signature.
 */
export function defaultChainId(issuer: Issuer): number {
  const withRpc = issuer.chains.filter(({ rpc }) => rpc)
  const chains = withRpc.length > 0 ? withRpc : issuer.chains
  const chosen = chains.find(({ chainId }) => chainId === FIRST_CHAIN_ID) ?? chains[0]
  return chosen?.chainId ?? FIRST_CHAIN_ID
}
