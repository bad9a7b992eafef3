import {
  createClient,
  http,
  publicActions,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
  testActions,
  walletActions,
} from 'viem'
import type { Chain } from '../../src/attest/chains.ts'
import type { Hex } from '../../src/wire/values.ts'

/** Creates a client for a local chain that mines a block for each transaction. */
export function createLocalClient(chain: Chain, url: string) {
  const client = connectedClient(chain, url)
  const waitForTransactionReceipt = ({ hash }: { readonly hash: Hex }) => waitForReceipt(client, hash)
  return { ...client, waitForTransactionReceipt }
}

const RECEIPT_MS = 30_000

/** viem's own waiting asks again only after a new block. None follows here, so a receipt requested too early would never come. */
async function waitForReceipt(client: ReturnType<typeof connectedClient>, hash: Hex): Promise<TransactionReceipt> {
  for (const endMs = Date.now() + RECEIPT_MS; ; ) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || Date.now() >= endMs) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

function connectedClient({ id, name }: Chain, url: string) {
  return createClient({
    chain: {
      id,
      name,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [url] } },
    },
    transport: http(url, { retryCount: 0 }),
    pollingInterval: 20,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions)
    .extend(testActions({ mode: 'anvil' }))
}
