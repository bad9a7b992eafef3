import { encodeMultiAttest } from '../attest/relay-transaction.ts'
import { attestationUid } from '../attest/uid.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { AttestationPayload, Hex } from '../messages.ts'
import type { RelayBlock } from '../relay-messages.ts'
import { bigQuantity, bytes32, hexOf, quantity } from './quantities.ts'
import { type Block, type FullBlock, isRevert, type Receipt } from './relay-answers.ts'
import { type RpcClient, RpcError } from './rpc.ts'

export interface ChainHead extends RelayBlock {
  readonly baseFeePerGas: bigint
}

/** A transaction in a block of the chain as it is now. */
export interface MinedTransaction {
  readonly hash: Hex
  /** False: it reverted, and attested nothing. */
  readonly isSuccess: boolean
  readonly block: RelayBlock
  /** In the order of the transaction. */
  readonly uids: readonly Hex[]
  readonly gasUsed: number
}

/** A transaction that has a receipt. */
export interface Outcome {
  readonly isSuccess: boolean
  readonly blockHash: string
}

/** What becomes of attestations when they are tried on the head: gas, a revert, or another error of the endpoint. */
export type Trial =
  | { readonly ok: true; readonly gas: number }
  | { readonly ok: false; readonly error: RpcError | undefined }

export interface RelayChainParts {
  readonly chainId: number
  readonly sender: Hex
  readonly easAddress: Hex
  readonly keccak: Keccak
}

/** Attested(address indexed recipient, address indexed attester, bytes32 uid, bytes32 indexed schemaUID), in every version. */
const ATTESTED = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
/** Attestations with equal fields in one block differ by a counter. */
const BUMPS_TRIED = 32

export type RelayChain = ReturnType<typeof createRelayChain>

/**
 * What the relay reads of a chain through one endpoint, none of it believed before it fits together.
 *
 * Every function throws {RpcError} when there is no usable answer.
 */
export function createRelayChain(rpc: RpcClient, { chainId, sender, easAddress, keccak }: RelayChainParts) {
  const senderTopic = `0x${sender.slice(2).padStart(64, '0')}`
  return {
    async requireChain(): Promise<void> {
      const served = quantity(await rpc.request('eth_chainId', []))
      if (served !== chainId) throw new RpcError(`an endpoint for chain ${chainId} serves chain ${served}`)
    },

    async head(): Promise<ChainHead> {
      const block = await readBlock('latest')
      if (block === undefined) throw new RpcError('eth_getBlockByNumber: no head')
      return block
    },

    block: (number: number) => readBlock(hexOf(number)),

    /** By the node's own word where it has one, else so many blocks before the head. */
    async finalizedNumber(head: ChainHead, depth: number): Promise<number> {
      const tagged = await readBlock('finalized').catch((error: unknown) => {
        if (error instanceof RpcError && error.failure === 'error') return undefined
        throw error
      })
      const byTag = tagged !== undefined && tagged.number > 0
      return byTag ? Math.min(tagged.number, head.number) : head.number - depth
    },

    /** Nonces that the account has used. */
    transactionCount,

    async balance(): Promise<bigint> {
      return bigQuantity(await rpc.request('eth_getBalance', [sender, 'latest']))
    },

    /** What the node thinks that miners want; nothing when it has no opinion. */
    async priorityFee(): Promise<bigint> {
      const [answer] = await rpc.requestAll([{ method: 'eth_maxPriorityFeePerGas', params: [] }])
      return answer!.ok ? bigQuantity(answer!.value) : 0n
    },

    /** The one of these transactions that is in a block of the chain as it is now. */
    async mined(hashes: readonly Hex[], items: readonly AttestationPayload[]): Promise<MinedTransaction | undefined> {
      const receipts = await readReceipts(hashes)
      for (const [index, hash] of hashes.entries()) {
        const receipt = receipts[index]
        if (receipt === undefined) continue
        const block = await readBlock(hexOf(quantity(receipt.blockNumber)))
        if (block === undefined || block.hash !== receipt.blockHash?.toLowerCase()) continue // of a block that is gone
        const gasUsed = quantity(receipt.gasUsed)
        const isSuccess = quantity(receipt.status) === 1
        const uids = isSuccess ? uidsOf(receipt, items, block) : []
        return { hash, isSuccess, block, uids, gasUsed }
      }
      return undefined
    },

    /** Of each transaction its outcome, undefined without a receipt. */
    async outcomes(hashes: readonly Hex[]): Promise<readonly (Outcome | undefined)[]> {
      return (await readReceipts(hashes)).map((receipt) => {
        if (receipt === undefined) return undefined
        return { isSuccess: quantity(receipt.status) === 1, blockHash: receipt.blockHash?.toLowerCase() ?? '' }
      })
    },

    /** Whether the node has a transaction, in a block or waiting for one. */
    async knows(hash: Hex): Promise<boolean> {
      return (await rpc.request('eth_getTransactionByHash', [hash])) !== null
    },

    /** @returns what the node says against it: that it has it already, or why it will not; undefined when it took it */
    async send(raw: Hex): Promise<string | undefined> {
      try {
        await rpc.request('eth_sendRawTransaction', [raw])
        return undefined
      } catch (error) {
        if (error instanceof RpcError && error.failure === 'error') return error.message
        throw error
      }
    },

    /** Tries attestations together on the head. */
    async estimate(items: readonly AttestationPayload[]): Promise<Trial> {
      const [trial] = await tryCalls([items])
      return trial!
    },

    /** Tries each attestation alone on the head. */
    estimateEach: (items: readonly AttestationPayload[]) => tryCalls(items.map((item) => [item])),

    /**
     * The transaction of our account that used a nonce, looked for in the blocks before the head.
     *
     * @returns undefined when the endpoint counts the nonce as used and shows no transaction that did it
     */
    async user(nonce: number, head: ChainHead): Promise<{ hash: Hex; blockNumber: number } | undefined> {
      const isUsedAt = async (block: number) => block >= 0 && (await transactionCount(block)) > nonce
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
      const block = (await rpc.request('eth_getBlockByNumber', [hexOf(used), true])) as FullBlock | null
      const found = block?.transactions?.find(
        (transaction) => transaction.from?.toLowerCase() === sender && quantity(transaction.nonce) === nonce,
      )
      return found === undefined ? undefined : { hash: bytes32(found.hash), blockNumber: used }
    },
  }

  async function transactionCount(block?: number): Promise<number> {
    return quantity(
      await rpc.request('eth_getTransactionCount', [sender, block === undefined ? 'latest' : hexOf(block)]),
    )
  }

  async function readBlock(tag: string): Promise<ChainHead | undefined> {
    const block = (await rpc.request('eth_getBlockByNumber', [tag, false])) as Block | null
    if (block === null) return undefined
    return {
      number: quantity(block.number),
      hash: bytes32(block.hash),
      timeSeconds: quantity(block.timestamp),
      baseFeePerGas: block.baseFeePerGas === undefined ? 0n : bigQuantity(block.baseFeePerGas),
    }
  }

  /** All in one message: there may be dozens of forms of one transaction. */
  async function readReceipts(hashes: readonly Hex[]): Promise<readonly (Receipt | undefined)[]> {
    const answers = await rpc.requestAll(
      hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    )
    return answers.map((answer, index) => {
      if (!answer.ok) throw answer.error
      const receipt = answer.value as Receipt | null
      return receipt?.transactionHash?.toLowerCase() === hashes[index] ? receipt! : undefined
    })
  }

  async function tryCalls(trials: readonly (readonly AttestationPayload[])[]): Promise<readonly Trial[]> {
    const answers = await rpc.requestAll(
      trials.map((items) => ({
        method: 'eth_estimateGas',
        params: [{ from: sender, to: easAddress, data: encodeMultiAttest(items) }],
      })),
    )
    return answers.map((answer): Trial => {
      if (answer.ok) return { ok: true, gas: quantity(answer.value) }
      return { ok: false, error: isRevert(answer.error) ? undefined : answer.error }
    })
  }

  /** Of our attestations among the logs; each UID is a hash of what was attested, so another answer is none. */
  function uidsOf({ logs = [] }: Receipt, items: readonly AttestationPayload[], block: RelayBlock): Hex[] {
    const uids = logs
      .filter(({ address, topics }) => address?.toLowerCase() === easAddress.toLowerCase() && topics?.[0] === ATTESTED)
      .filter(({ topics }) => topics?.[2]?.toLowerCase() === senderTopic)
      .toSorted((left, right) => quantity(left.logIndex) - quantity(right.logIndex))
      .map(({ data }) => bytes32(data))
    if (uids.length !== items.length) {
      throw new RpcError(`a receipt has ${uids.length} attestations where ${items.length} were sent`)
    }
    for (const [index, item] of items.entries()) {
      const fields = { ...item, attester: sender, timeSeconds: block.timeSeconds, revocable: true, refUID: ZERO_UID }
      const isOurs = (bump: number) =>
        attestationUid({ ...fields, expirationTimeSeconds: 0 }, keccak, bump) === uids[index]
      if (!Array.from({ length: BUMPS_TRIED }, (_, bump) => bump).some(isOurs)) {
        throw new RpcError('a receipt has a UID that is not of the attestation that was sent')
      }
    }
    return uids
  }
}
