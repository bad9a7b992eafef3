import type { Rpc } from '../sync/rpc.ts'
import type { Hex } from '../wire/messages.ts'

export interface LogEntry {
  readonly data: Hex
}

interface Receipt {
  readonly status: Hex
  readonly logs: readonly LogEntry[]
}

export interface LocalTransaction {
  /** One of anvil's own accounts, which it signs for. */
  readonly from: Hex
  readonly to: Hex
  readonly data?: Hex
}

const POLL_MS = 20

/**
 * Sends a transaction from an unlocked account and waits for its block.
 *
 * @returns the logs of the transaction
 * @throws {RpcError} when an RPC call fails
 * @throws {Error} when the transaction reverts, or is in no block after `timeoutMs`
 */
export async function sendTransaction(
  rpc: Rpc,
  transaction: LocalTransaction,
  timeoutMs: number,
): Promise<readonly LogEntry[]> {
  const hash = await rpc.request('eth_sendTransaction', [transaction])
  const deadlineMs = performance.now() + timeoutMs
  for (;;) {
    const receipt = (await rpc.request('eth_getTransactionReceipt', [hash])) as Receipt | null
    if (receipt !== null) {
      if (Number(receipt.status) !== 1) throw new Error(`a transaction to ${transaction.to} reverted`)
      return receipt.logs
    }
    if (performance.now() > deadlineMs)
      throw new Error(`a transaction to ${transaction.to} was not included in a block in time`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
