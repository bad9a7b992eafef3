import type { Hex } from '../messages.ts'
import type { Rpc } from '../sync/rpc.ts'

export interface LogEntry {
  readonly data: Hex
}

interface Receipt {
  readonly status: Hex
  readonly logs: readonly LogEntry[]
}

export interface LocalTransaction {
  /** One of anvil's own accounts, for which it signs. */
  readonly from: Hex
  readonly to: Hex
  readonly data?: Hex
}

const LOOK_MS = 20

/**
 * Sends a transaction of an unlocked account and waits for its block.
 *
 * @returns the logs of the transaction
 * @throws {RpcError} when the chain does not answer
 * @throws {Error} when the transaction reverts, or is in no block after `timeoutMs`
 */
export async function sendTransaction(
  rpc: Rpc,
  transaction: LocalTransaction,
  timeoutMs: number,
): Promise<readonly LogEntry[]> {
  const hash = await rpc.request('eth_sendTransaction', [transaction])
  const latestMs = performance.now() + timeoutMs
  for (;;) {
    const receipt = (await rpc.request('eth_getTransactionReceipt', [hash])) as Receipt | null
    if (receipt !== null) {
      if (Number(receipt.status) !== 1) throw new Error(`a transaction to ${transaction.to} reverted`)
      return receipt.logs
    }
    if (performance.now() > latestMs) throw new Error(`a transaction to ${transaction.to} is in no block`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
