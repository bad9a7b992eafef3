import { encodeMultiAttest } from '../attest/relay-transaction.ts'
import { hasUid, ZERO_UID } from '../attest/uid.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { ATTESTED } from '../sync/chain-reader.ts'
import { parseBigQuantity, parseBytes32, parseQuantity, type RpcClient, RpcError, toQuantity } from '../sync/rpc.ts'
import type { RelayBlock } from '../wire/relay-messages.ts'
import type { AttestationPayload } from '../wire/signing-messages.ts'
import type { Hex } from '../wire/values.ts'

/* Responses of nodes to the relay, before any check. */

/** Response of `eth_getBlockByNumber`. */
interface Block {
  readonly number?: unknown
  readonly hash?: unknown
  readonly timestamp?: unknown
  readonly baseFeePerGas?: unknown
}

/** A block with its transactions. */
interface FullBlock extends Block {
  readonly transactions?: readonly { readonly from?: string; readonly nonce?: unknown; readonly hash?: unknown }[]
}

/** Response of `eth_getTransactionReceipt`. */
interface Receipt {
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
function isRevert({ code, endpointMessage }: RpcError): boolean {
  return code !== undefined && (REVERT_CODES.has(code) || REVERT_TEXT.test(endpointMessage))
}

export interface ChainHead extends RelayBlock {
  readonly baseFeePerGas: bigint
}

/** A transaction in a block of the current chain. */
interface MinedTransaction {
  readonly hash: Hex
  /** False when the transaction reverted and attested nothing. */
  readonly isSuccess: boolean
  readonly block: RelayBlock
  /** UIDs in the order of the transaction's attestations. */
  readonly uids: readonly Hex[]
  readonly gasUsed: number
}

/** The outcome of a transaction that has a receipt. */
interface Outcome {
  readonly isSuccess: boolean
  readonly blockHash: string
}

/** The result of trying attestations on the head: gas, a revert (`error` is undefined), or another error of the endpoint. */
type Trial = { readonly ok: true; readonly gas: number } | { readonly ok: false; readonly error: RpcError | undefined }

export interface RelayChainParts {
  readonly chainId: number
  readonly sender: Hex
  readonly easAddress: Hex
  readonly keccak: Keccak
}

/**
 * The relay's access to a chain through one endpoint. Responses are checked for consistency before they are used.
 *
 * Every method throws {RpcError} when there is no usable response.
 */
export class RelayChain {
  readonly #rpc: RpcClient
  readonly #chainId: number
  readonly #sender: Hex
  readonly #easAddress: Hex
  readonly #keccak: Keccak

  constructor(rpc: RpcClient, { chainId, sender, easAddress, keccak }: RelayChainParts) {
    this.#rpc = rpc
    this.#chainId = chainId
    this.#sender = sender
    this.#easAddress = easAddress
    this.#keccak = keccak
  }

  /** Throws {RpcError} when the endpoint serves another chain. */
  async requireChain(): Promise<void> {
    const served = parseQuantity(await this.#rpc.request('eth_chainId', []))
    if (served !== this.#chainId) throw new RpcError(`an endpoint for chain ${this.#chainId} serves chain ${served}`)
  }

  async head(): Promise<ChainHead> {
    const block = await this.#readBlock('latest')
    if (block === undefined) throw new RpcError('eth_getBlockByNumber: no latest block')
    return block
  }

  block(number: number): Promise<ChainHead | undefined> {
    return this.#readBlock(toQuantity(number))
  }

  /** Returns the number of the newest final block: by the tag `finalized` or, if the node lacks it, `depth` below the head. */
  async finalizedNumber(head: ChainHead, depth: number): Promise<number> {
    const tagged = await this.#readBlock('finalized').catch((error: unknown) => {
      if (error instanceof RpcError && error.failure === 'error') return undefined
      throw error
    })
    const hasTag = tagged !== undefined && tagged.number > 0
    return hasTag ? Math.min(tagged.number, head.number) : head.number - depth
  }

  async #readBlock(tag: string): Promise<ChainHead | undefined> {
    const block = (await this.#rpc.request('eth_getBlockByNumber', [tag, false])) as Block | null
    if (block === null) return undefined
    return {
      number: parseQuantity(block.number),
      hash: parseBytes32(block.hash),
      timeSeconds: parseQuantity(block.timestamp),
      baseFeePerGas: block.baseFeePerGas === undefined ? 0n : parseBigQuantity(block.baseFeePerGas),
    }
  }

  /** Returns the number of nonces that the account has used, at a block or at the head. */
  async transactionCount(block?: number): Promise<number> {
    const tag = block === undefined ? 'latest' : toQuantity(block)
    return parseQuantity(await this.#rpc.request('eth_getTransactionCount', [this.#sender, tag]))
  }

  /** Returns the account's balance in wei. */
  async balance(): Promise<bigint> {
    return parseBigQuantity(await this.#rpc.request('eth_getBalance', [this.#sender, 'latest']))
  }

  /** Returns the priority fee that the node proposes, in wei per gas; 0 when it proposes none. */
  async priorityFee(): Promise<bigint> {
    const [response] = await this.#rpc.requestAll([{ method: 'eth_maxPriorityFeePerGas', params: [] }])
    return response!.ok ? parseBigQuantity(response!.value) : 0n
  }

  /** Tries attestations together in one call on the head. */
  async estimate(items: readonly AttestationPayload[]): Promise<Trial> {
    const [trial] = await this.#tryCalls([items])
    return trial!
  }

  /** Tries each attestation separately on the head. */
  estimateEach(items: readonly AttestationPayload[]): Promise<readonly Trial[]> {
    return this.#tryCalls(items.map((item) => [item]))
  }

  async #tryCalls(trials: readonly (readonly AttestationPayload[])[]): Promise<readonly Trial[]> {
    const responses = await this.#rpc.requestAll(
      trials.map((items) => ({
        method: 'eth_estimateGas',
        params: [{ from: this.#sender, to: this.#easAddress, data: encodeMultiAttest(items) }],
      })),
    )
    return responses.map((response): Trial => {
      if (response.ok) return { ok: true, gas: parseQuantity(response.value) }
      return { ok: false, error: isRevert(response.error) ? undefined : response.error }
    })
  }

  /**
   * Sends a signed transaction.
   *
   * @returns why the node rejected it, for example because it already has the transaction; undefined when the node accepted it
   */
  async send(raw: Hex): Promise<string | undefined> {
    try {
      await this.#rpc.request('eth_sendRawTransaction', [raw])
      return undefined
    } catch (error) {
      if (error instanceof RpcError && error.failure === 'error') return error.message
      throw error
    }
  }

  /** Tells whether the node has a transaction, mined or pending. */
  async hasTransaction(hash: Hex): Promise<boolean> {
    return (await this.#rpc.request('eth_getTransactionByHash', [hash])) !== null
  }

  /** Finds which of these transactions, which share one nonce, is in a block of the current chain; undefined if none is. */
  async findMined(hashes: readonly Hex[], items: readonly AttestationPayload[]): Promise<MinedTransaction | undefined> {
    const receipts = await this.#readReceipts(hashes)
    for (const [index, hash] of hashes.entries()) {
      const receipt = receipts[index]
      if (receipt === undefined) continue
      const block = await this.#readBlock(toQuantity(parseQuantity(receipt.blockNumber)))
      if (block === undefined || block.hash !== receipt.blockHash?.toLowerCase()) continue // the block has left the chain
      const gasUsed = parseQuantity(receipt.gasUsed)
      const isSuccess = parseQuantity(receipt.status) === 1
      const uids = isSuccess ? this.#readUids(receipt, items, block) : []
      return { hash, isSuccess, block, uids, gasUsed }
    }
    return undefined
  }

  /** Returns the outcome of each transaction; undefined for one without a receipt. */
  async readOutcomes(hashes: readonly Hex[]): Promise<readonly (Outcome | undefined)[]> {
    return (await this.#readReceipts(hashes)).map((receipt) => {
      if (receipt === undefined) return undefined
      return { isSuccess: parseQuantity(receipt.status) === 1, blockHash: receipt.blockHash?.toLowerCase() ?? '' }
    })
  }

  /** Reads receipts in one JSON-RPC batch, because there may be dozens of signed forms of one transaction. */
  async #readReceipts(hashes: readonly Hex[]): Promise<readonly (Receipt | undefined)[]> {
    const responses = await this.#rpc.requestAll(
      hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return responses.map((response, index) => {
      if (!response.ok) throw response.error
      const receipt = response.value as Receipt | null
      return receipt?.transactionHash?.toLowerCase() === hashes[index] ? receipt! : undefined
    })
  }

  /**
   * Reads the UIDs of our attestations from the logs of a receipt.
   *
   * @throws {RpcError} when they do not match what was sent: each UID is a hash of the attested fields
   */
  #readUids({ logs = [] }: Receipt, items: readonly AttestationPayload[], block: RelayBlock): Hex[] {
    const [sender, easAddress] = [this.#sender, this.#easAddress.toLowerCase()]
    const senderTopic = `0x${sender.slice(2).padStart(64, '0')}`
    const uids = logs
      .filter(({ address, topics }) => address?.toLowerCase() === easAddress && topics?.[0] === ATTESTED)
      .filter(({ topics }) => topics?.[2]?.toLowerCase() === senderTopic)
      .toSorted((left, right) => parseQuantity(left.logIndex) - parseQuantity(right.logIndex))
      .map(({ data }) => parseBytes32(data))
    if (uids.length !== items.length) {
      throw new RpcError(`a receipt has ${uids.length} attestations but ${items.length} were sent`)
    }
    const fields = { attester: sender, timeSeconds: block.timeSeconds, expirationTimeSeconds: 0 }
    for (const [index, item] of items.entries()) {
      if (!hasUid({ ...item, ...fields, revocable: true, refUID: ZERO_UID }, uids[index]!, this.#keccak)) {
        throw new RpcError('a receipt has a UID that does not match the attestation that was sent')
      }
    }
    return uids
  }

  /**
   * Finds the transaction of our account that used a nonce, by searching back from the head.
   *
   * @returns undefined when the endpoint counts the nonce as used but shows no transaction that used it
   */
  async findTransactionByNonce(
    nonce: number,
    head: ChainHead,
  ): Promise<{ hash: Hex; blockNumber: number } | undefined> {
    const used = await this.#findBlockOfNonce(nonce, head)
    const block = (await this.#rpc.request('eth_getBlockByNumber', [toQuantity(used), true])) as FullBlock | null
    const transaction = block?.transactions?.find(
      ({ from, nonce: other }) => from?.toLowerCase() === this.#sender && parseQuantity(other) === nonce,
    )
    return transaction === undefined ? undefined : { hash: parseBytes32(transaction.hash), blockNumber: used }
  }

  /** Finds the block that used a nonce: by strides of growing length back from the head, then by binary search. */
  async #findBlockOfNonce(nonce: number, head: ChainHead): Promise<number> {
    const isUsedAt = async (block: number) => block >= 0 && (await this.transactionCount(block)) > nonce
    let [before, used] = [head.number - 1, head.number]
    for (let stride = 1; await isUsedAt(before); stride *= 2) {
      used = before
      before = Math.max(-1, before - stride)
    }
    while (used - before > 1) {
      const middle = Math.floor((before + used) / 2)
      if (await isUsedAt(middle)) used = middle
      else before = middle
    }
    return used
  }
}
