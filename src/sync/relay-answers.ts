/** What nodes answer the relay, before anything of it is believed. */
import type { RpcError } from './rpc.ts'

/** `eth_getBlockByNumber`. */
export interface Block {
  readonly number?: unknown
  readonly hash?: unknown
  readonly timestamp?: unknown
  readonly baseFeePerGas?: unknown
}

/** With its transactions. */
export interface FullBlock extends Block {
  readonly transactions?: readonly { readonly from?: string; readonly nonce?: unknown; readonly hash?: unknown }[]
}

/** `eth_getTransactionReceipt`. */
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

/** Codes with which nodes say that a call reverts; -32015 is Nethermind's and Parity's. */
const REVERTS = new Set([3, -32015])
/** What nodes say of a call that reverts, or needs more gas than any transaction may have, where they have no code for it. */
const REVERT_WORDS = /\brevert|\bgas required exceeds\b|\bout of gas\b/i

/** Whether the contract refuses a call, and not the node. */
export function isRevert({ code, said }: RpcError): boolean {
  return code !== undefined && (REVERTS.has(code) || REVERT_WORDS.test(said))
}
