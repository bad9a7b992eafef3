import type { LocationLayout } from '../config/signer.ts'
import type { BlockId, StoredLog } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import {
  parseBytes32,
  parseQuantity,
  type RpcCall,
  type RpcClient,
  RpcError,
  type RpcResult,
  toQuantity,
} from './rpc.ts'

/** Topics of `Attested` and `Revoked` of every EAS version. Recipient, attester and schema UID are indexed; the data is the UID. */
export const ATTESTED = '0x8bf46bf4cfd674fa735a3d63ec1c9ad4153f033c290341f3a588b75685141b35'
const REVOKED = '0xf930a6e2523c9cc298691873087a740550b8fc85a0680830414c148ed927f615'

/** The most blocks that share one second on the fastest chain. */
export const MAX_BLOCKS_PER_SECOND = 32

export interface EasLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
  readonly blockNumber: number
  readonly blockHash: Hex
  readonly logIndex: number
}

/** The contract and the schemas of location attestations whose logs are read. */
export interface LogSource {
  readonly easAddress: Hex
  /** Schema UIDs in lower case, each with the layout of its attestations. */
  readonly schemas: ReadonlyMap<Hex, LocationLayout>
}

export interface Block extends BlockId {
  readonly parentHash: Hex
  readonly timeSeconds: number
}

export interface Heads {
  readonly head: Block
  /** Blocks up to this one are treated as final. */
  readonly finalized: number
}

/** Reads blocks and logs from one endpoint. Every method throws {RpcError} when there is no usable response. */
export class ChainReader {
  readonly #source: LogSource
  readonly #finalityDepth: number

  /** @param finalityDepth blocks at least this far below the head are final when the endpoint does not report finality */
  constructor(source: LogSource, finalityDepth: number) {
    this.#source = source
    this.#finalityDepth = finalityDepth
  }

  async head(rpc: RpcClient): Promise<Block> {
    const [latest] = await rpc.requestAll([blockCall('latest')])
    return requireHead(latest!)
  }

  async heads(rpc: RpcClient): Promise<Heads> {
    const [latest, finalized] = await rpc.requestAll([blockCall('latest'), blockCall('finalized')])
    const head = requireHead(latest!)
    // Some nodes do not support the tag, and some return block 0 until the first block is final.
    const tagged = finalized!.ok ? readBlockNumber(finalized!.value) : 0
    const isUsable = tagged > 0 && tagged <= head.number
    return { head, finalized: isUsable ? tagged : Math.max(-1, head.number - this.#finalityDepth) }
  }

  /** Reads blocks. Returns undefined for a block that the endpoint does not have. */
  async blocks(rpc: RpcClient, numbers: readonly number[]): Promise<(Block | undefined)[]> {
    const responses = await rpc.requestAll(numbers.map((number) => blockCall(toQuantity(number))))
    return responses.map((response, index) => readBlock(requireValue(response), numbers[index]!))
  }

  /**
   * Reads the logs of a range and, in the same request, some blocks. Their hashes tell which version of the chain the logs belong
   * to.
   *
   * @throws {RpcError} with `failure` `error` or `too-large` when the range may be too wide
   */
  async range(
    rpc: RpcClient,
    from: number,
    to: number,
    blockNumbers: readonly number[],
  ): Promise<{ readonly logs: EasLog[]; readonly blocks: readonly (Block | undefined)[] }> {
    const [logs, ...blocks] = await rpc.requestAll([
      this.#logsCall({ fromBlock: toQuantity(from), toBlock: toQuantity(to) }),
      ...blockNumbers.map((number) => blockCall(toQuantity(number))),
    ])
    return {
      logs: readLogs(requireValue(logs!), this.#source, from, to),
      blocks: blocks.map((response, index) => readBlock(requireValue(response), blockNumbers[index]!)),
    }
  }

  /** Reads the logs of blocks by hash. Returns undefined for a block that the endpoint no longer has. */
  async logsOfBlocks(rpc: RpcClient, blocks: readonly BlockId[]): Promise<(EasLog[] | undefined)[]> {
    const responses = await rpc.requestAll(blocks.map(({ hash }) => this.#logsCall({ blockHash: hash })))
    return responses.map((response, index) => {
      // A block that left the chain gives an error here. That is why logs are requested by hash.
      if (!response.ok) return undefined
      const { number, hash } = blocks[index]!
      const logs = readLogs(response.value, this.#source, number, number)
      if (logs.some((log) => log.blockHash !== hash))
        throw new RpcError('eth_getLogs: the response has a log of another block')
      return logs
    })
  }

  /** Requests the logs of both events in some blocks. */
  #logsCall(blocks: object): RpcCall {
    const { easAddress, schemas } = this.#source
    const topics = [[ATTESTED, REVOKED], null, null, [...schemas.keys()]]
    return { method: 'eth_getLogs', params: [{ address: easAddress, topics, ...blocks }] }
  }
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
}

function requireHead(response: RpcResult): Block {
  const head = readBlock(requireValue(response))
  if (head === undefined) throw new RpcError('eth_getBlockByNumber: no latest block')
  return head
}

function requireValue(response: RpcResult): unknown {
  if (!response.ok) throw response.error
  return response.value
}

/**
 * Reads a block.
 *
 * @param number the requested block number
 * @throws {RpcError} when it is another block or not a block
 */
function readBlock(value: unknown, number?: number): Block | undefined {
  if (value === null) return undefined
  const fields = value as Record<string, unknown>
  const block = {
    number: parseQuantity(fields['number']),
    hash: parseBytes32(fields['hash']),
    parentHash: parseBytes32(fields['parentHash']),
    timeSeconds: parseQuantity(fields['timestamp']),
  }
  if (number !== undefined && block.number !== number)
    throw new RpcError('eth_getBlockByNumber: the response is another block')
  return block
}

function readBlockNumber(value: unknown): number {
  return value === null ? 0 : parseQuantity((value as Record<string, unknown>)['number'])
}

/**
 * Reads the response of `eth_getLogs`. Returns each log once, in the order of the chain.
 *
 * @throws {RpcError} when the response does not match the request
 */
function readLogs(response: unknown, source: LogSource, from: number, to: number): EasLog[] {
  if (!Array.isArray(response)) throw new RpcError('eth_getLogs: the response is not a list')
  const logs = new Map<string, EasLog>()
  for (const entry of response) {
    const log = readLog(entry, source)
    if (log === undefined) continue
    if (log.blockNumber < from || log.blockNumber > to)
      throw new RpcError('eth_getLogs: the response has a log outside the requested blocks')
    logs.set(`${log.blockHash} ${log.logIndex}`, log)
  }
  return [...logs.values()].sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex)
}

/** Reads a log. Returns undefined for a log that the node marks as removed. */
function readLog(entry: unknown, { easAddress, schemas }: LogSource): EasLog | undefined {
  const { address, topics, data, blockNumber, blockHash, logIndex, removed } = (entry ?? {}) as Record<string, unknown>
  if (removed === true) return undefined
  const [event, , , schema] = Array.isArray(topics) ? topics : []
  const isRequested =
    typeof address === 'string' && address.toLowerCase() === easAddress.toLowerCase() && schemas.has(schema)
  if (!isRequested || (event !== ATTESTED && event !== REVOKED))
    throw new RpcError('eth_getLogs: the response has a log that was not requested')
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(data))
    throw new RpcError('eth_getLogs: the response has a log without a UID')
  return {
    kind: event === ATTESTED ? 'attested' : 'revoked',
    uid: data.toLowerCase() as Hex,
    blockNumber: parseQuantity(blockNumber),
    blockHash: parseBytes32(blockHash),
    logIndex: parseQuantity(logIndex),
  }
}

/** Returns the identity of a log: the same for a log that an endpoint returns and for its stored effect. */
export function logKey({ kind, uid, blockNumber }: StoredLog): string {
  return `${kind} ${uid} ${blockNumber}`
}

/** Returns at most `about` logs from the start, cut at the end of a block. The first block is never cut, so there may be more. */
export function takeWholeBlocks(logs: readonly EasLog[], about: number): readonly EasLog[] {
  if (logs.length <= about) return logs
  const edge = logs[about]!.blockNumber
  const before = logs.filter(({ blockNumber }) => blockNumber < edge)
  return before.length > 0 ? before : logs.filter(({ blockNumber }) => blockNumber === edge)
}
