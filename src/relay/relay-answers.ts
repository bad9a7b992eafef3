/** Responses of nodes to the relay, before any check. */
import type { RpcError } from '../sync/rpc.ts'

/** Response of `eth_getBlockByNumber`. */
export interface Block {
  readonly number?: unknown
  readonly hash?: unknown
  readonly timestamp?: unknown
  readonly baseFeePerGas?: unknown
}

/** A block with its transactions. */
export interface FullBlock extends Block {
  readonly transactions?: readonly { readonly from?: string; readonly nonce?: unknown; readonly hash?: unknown }[]
}

/** Response of `eth_getTransactionReceipt`. */
export interface Receipt {
  readonly transactionHash?: string
  readonly blockHash?: string
  readonly blockNumber?: unknown
  readonly status?: unknown
  readonly gasUsed?: unknown
  readonly logs?: readonly {
    readonly address?: string
    readonly topics?: readonly string[]
    readonly data?: unknown
    readonly logIndex?: unknown
  }[]
}

/** JSON-RPC error codes for a call that reverts; -32015 is used by Nethermind and Parity. */
const REVERT_CODES = new Set([3, -32015])
/** Error texts of nodes without such a code, for a call that reverts or needs more gas than any transaction may have. */
const REVERT_TEXT = /\brevert|\bgas required exceeds\b|\bout of gas\b/i

/** Tells whether a call failed because the contract reverted it, and not because of the node. */
export function isRevert({ code, endpointMessage }: RpcError): boolean {
  return code !== undefined && (REVERT_CODES.has(code) || REVERT_TEXT.test(endpointMessage))
}
