import type { Issuer } from '../../../src/client/answers.ts'
import { type Check, type Receipt, verifyReceipt } from '../../../src/client/client.ts'
import { describeWalletError, type Wallet } from '../wallets.ts'

/** Checks that read the state of the chain. */
const CHAIN_CHECKS = ['rpc', 'contract', 'registered', 'on-chain', 'nonce', 'simulation']

/**
 * Asks the chain about a receipt, through a wallet in place of an RPC endpoint. The wallet needs no account for this.
 *
 * @returns the checks, or a sentence that says why the chain was not asked
 */
export async function askWallet(
  wallet: Wallet,
  chainId: number,
  receipt: Receipt,
  issuer: Issuer | undefined,
): Promise<readonly Check[] | string> {
  let walletChainId: number
  try {
    walletChainId = Number(await wallet.request({ method: 'eth_chainId' }))
  } catch (error) {
    return `Not asked. ${describeWalletError(error)}`
  }
  if (walletChainId !== chainId) {
    return `Not asked: the wallet is on chain ${walletChainId}, and the receipt is for chain ${chainId}. Switch the chain in the wallet, then try again.`
  }
  const { checks } = await verifyReceipt(receipt, { issuer, rpcUrl: 'wallet:', fetch: fetchFromWallet(wallet) })
  const found = checks.filter(({ id }) => CHAIN_CHECKS.includes(id))
  return found.length > 0 ? found : 'Not asked: the answer has no attestation that the chain could accept.'
}

/** Returns a `fetch` that gives the JSON-RPC request in its body to the wallet. */
function fetchFromWallet(wallet: Wallet): typeof fetch {
  return async (_, init) => {
    const { method, params } = JSON.parse(String(init?.body)) as { method: string; params: unknown[] }
    try {
      return Response.json({ result: await wallet.request({ method, params }) })
    } catch (error) {
      const { code, data } = (error ?? {}) as { code?: number; data?: unknown }
      return Response.json({ error: { code, message: describeWalletError(error), data } })
    }
  }
}
