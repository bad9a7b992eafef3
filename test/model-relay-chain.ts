/** A chain in memory with one account, one EAS contract and a pool of pending transactions, for fault tests of relays. */
import { decodeFunctionData, keccak256, parseAbi, parseTransaction, type TransactionSerializedEIP1559 } from 'viem'
import { attestationUid } from '../src/attest/uid.ts'
import type { Keccak } from '../src/crypto/primitives.ts'
import { type RpcCall, type RpcClient, RpcError } from '../src/sync/rpc.ts'
import type { Hex } from '../src/wire/values.ts'

const ABI = parseAbi([
  'struct Request { address recipient; uint64 expirationTime; bool revocable; bytes32 refUID; bytes data; uint256 value; }',
  'struct MultiRequest { bytes32 schema; Request[] data; }',
  'function multiAttest(MultiRequest[] multiRequests) payable returns (bytes32[])',
])
const ATTESTED = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
const FINAL_BLOCKS = 4

interface Waiting {
  readonly hash: Hex
  readonly nonce: number
  readonly maxFee: bigint
  readonly priority: bigint
  /** undefined for a foreign transaction, which attests nothing. */
  readonly input: Hex | undefined
}

interface Mined extends Waiting {
  readonly isSuccess: boolean
  readonly uids: readonly Hex[]
  readonly datas: readonly Hex[]
}

interface Block {
  readonly number: number
  readonly hash: Hex
  readonly timeSeconds: number
  readonly transactions: readonly Mined[]
}

export interface ModelChainParts {
  readonly chainId: number
  readonly sender: Hex
  readonly easAddress: Hex
  readonly keccak: Keccak
  readonly random: () => number
}

export function createModelChain({ chainId, sender, easAddress, keccak, random }: ModelChainParts) {
  const blocks: Block[] = []
  let pool: Waiting[] = []
  let baseFee = 10n ** 9n
  let salt = 0
  addBlock([])
  return {
    mine,
    reorganise,
    /** The present content of the chain: data and UID of every attestation. */
    attestations: () =>
      blocks.flatMap(({ transactions }) =>
        transactions.flatMap(({ uids, datas }) => uids.map((uid, index) => ({ uid, data: datas[index]! }))),
      ),
    depth: () => blocks.length,
    finalBlocks: FINAL_BLOCKS,
    setBaseFee(gwei: number) {
      baseFee = BigInt(Math.round(gwei * 1e9))
    },
    /** Adds a transaction of the account that the relay does not know of. */
    addForeign() {
      const nonce = used()
      pool = pool.filter((waiting) => waiting.nonce !== nonce)
      pool.push({ ...randomHash(), nonce, maxFee: 10n ** 15n, priority: 10n ** 15n, input: undefined })
    },
    /** Drops pending transactions from the pool, as nodes may. */
    emptyPool() {
      pool = []
    },
    client: { request, requestAll } satisfies RpcClient,
  }

  async function requestAll(calls: readonly RpcCall[]) {
    return Promise.all(
      calls.map(async ({ method, params }) => {
        try {
          return { ok: true as const, value: await request(method, params) }
        } catch (error) {
          return { ok: false as const, error: error as RpcError }
        }
      }),
    )
  }

  async function request(method: string, params: readonly unknown[]): Promise<unknown> {
    switch (method) {
      case 'eth_chainId':
        return hex(chainId)
      case 'eth_getBlockByNumber':
        return blockJson(blocks[numberOf(params[0])], params[1] === true)
      case 'eth_getTransactionCount':
        return hex(used(numberOf(params[1])))
      case 'eth_getBalance':
        return hex(10n ** 20n)
      case 'eth_maxPriorityFeePerGas':
        return hex(10n ** 8n)
      case 'eth_estimateGas':
        return hex(100_000 + 300_000 * attestationsOf((params[0] as { data: Hex }).data).length)
      case 'eth_sendRawTransaction':
        return send(params[0] as Hex)
      case 'eth_getTransactionByHash':
        return found(params[0]) !== undefined || pool.some(({ hash }) => hash === params[0])
          ? { hash: params[0] }
          : null
      case 'eth_getTransactionReceipt':
        return receiptJson(params[0])
      default:
        throw new RpcError(`${method}: error -32601`, { code: -32601 })
    }
  }

  function send(raw: Hex): Hex {
    const {
      nonce = 0,
      maxFeePerGas = 0n,
      maxPriorityFeePerGas = 0n,
      data,
      chainId: signedFor,
    } = parseTransaction(raw as TransactionSerializedEIP1559)
    if (signedFor !== chainId) throw new RpcError('another chain', { code: -32000 })
    const hash = keccak256(raw)
    const before = pool.find((waiting) => waiting.nonce === nonce)
    if (nonce < used() || before?.hash === hash) throw new RpcError('known', { code: -32000 })
    const isBetter = (now: bigint, then: bigint) => now * 10n >= then * 11n
    if (before && !(isBetter(maxFeePerGas, before.maxFee) && isBetter(maxPriorityFeePerGas, before.priority))) {
      throw new RpcError('underpriced', { code: -32000 })
    }
    pool = pool.filter((waiting) => waiting !== before)
    pool.push({ hash, nonce, maxFee: maxFeePerGas, priority: maxPriorityFeePerGas, input: data! })
    return hash
  }

  /** Mines one block with the pending transactions that pay enough and have the next nonce; some revert. */
  function mine(revertShare = 0): void {
    const transactions: Waiting[] = []
    for (let nonce = used(); ; nonce++) {
      const next = pool.find((waiting) => waiting.nonce === nonce && waiting.maxFee >= baseFee)
      if (next === undefined) break
      transactions.push(next)
    }
    pool = pool.filter((waiting) => !transactions.includes(waiting))
    addBlock(transactions, revertShare)
  }

  /** Replaces the last blocks by one block more, without their transactions; some of these become pending again. */
  function reorganise(depth: number): void {
    const gone = blocks.splice(Math.max(1, blocks.length - depth))
    for (const transaction of gone.flatMap(({ transactions }) => transactions)) {
      if (random() < 0.5 && !pool.some(({ nonce }) => nonce === transaction.nonce)) pool.push(transaction)
    }
    for (let block = 0; block <= gone.length; block++) {
      if (random() < 0.5) mine()
      else addBlock([])
    }
  }

  function addBlock(transactions: readonly Waiting[], revertShare = 0): void {
    const { hash } = randomHash()
    const timeSeconds = 1_800_000_000 + 12 * blocks.length + Math.floor(random() * 12)
    const known = new Set(blocks.flatMap((block) => block.transactions.flatMap(({ uids }) => uids)))
    const mined = transactions.map((transaction): Mined => {
      const isSuccess = transaction.input === undefined || random() >= revertShare
      const requests = isSuccess && transaction.input !== undefined ? attestationsOf(transaction.input) : []
      const uids = requests.map((fields) => {
        let bump = 0
        const uid = () =>
          attestationUid({ ...fields, attester: sender, timeSeconds, expirationTimeSeconds: 0 }, keccak, bump)
        while (known.has(uid())) bump++
        known.add(uid())
        return uid()
      })
      return { ...transaction, isSuccess, uids, datas: requests.map(({ data }) => data) }
    })
    blocks.push({ number: blocks.length, hash, timeSeconds, transactions: mined })
  }

  function used(block = blocks.length - 1): number {
    return blocks.slice(0, block + 1).reduce((sum, { transactions }) => sum + transactions.length, 0)
  }

  function found(hash: unknown) {
    for (const block of blocks) {
      const transaction = block.transactions.find((mined) => mined.hash === hash)
      if (transaction !== undefined) return { block, transaction }
    }
    return undefined
  }

  function blockJson(block: Block | undefined, isFull: boolean) {
    if (block === undefined) return null
    const { number, hash, timeSeconds, transactions } = block
    return {
      number: hex(number),
      hash,
      timestamp: hex(timeSeconds),
      baseFeePerGas: hex(baseFee),
      ...(isFull
        ? { transactions: transactions.map((mined) => ({ from: sender, nonce: hex(mined.nonce), hash: mined.hash })) }
        : {}),
    }
  }

  function receiptJson(hash: unknown) {
    const place = found(hash)
    if (place === undefined) return null
    const { block, transaction } = place
    const topics = [ATTESTED, `0x${'0'.repeat(64)}`, `0x${sender.slice(2).padStart(64, '0')}`]
    return {
      transactionHash: hash,
      blockHash: block.hash,
      blockNumber: hex(block.number),
      status: transaction.isSuccess ? '0x1' : '0x0',
      gasUsed: '0x1000',
      logs: transaction.uids.map((uid, index) => ({ address: easAddress, topics, data: uid, logIndex: hex(index) })),
    }
  }

  function numberOf(tag: unknown): number {
    if (tag === 'latest') return blocks.length - 1
    return tag === 'finalized' ? Math.max(0, blocks.length - 1 - FINAL_BLOCKS) : Number(tag)
  }

  function randomHash(): { readonly hash: Hex } {
    return { hash: keccak.hashHex(Buffer.from(`${salt++} ${random()}`)) }
  }
}

function attestationsOf(input: Hex) {
  const { args } = decodeFunctionData({ abi: ABI, data: input })
  return args[0].flatMap(({ schema, data }) =>
    data.map(({ recipient, revocable, refUID, data: bytes }) => ({
      schema,
      recipient,
      revocable,
      refUID,
      data: bytes,
    })),
  )
}

function hex(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
