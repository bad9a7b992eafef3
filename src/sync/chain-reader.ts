import type { BlockId } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import { createLogFilter, type EasLog, type LogSource, readLogs } from './eas-logs.ts'
import {
  parseBytes32,
  parseQuantity,
  type RpcCall,
  type RpcClient,
  RpcError,
  type RpcResult,
  toQuantity,
} from './rpc.ts'

export interface Block extends BlockId {
  readonly parentHash: Hex
  readonly timeSeconds: number
}

export interface Heads {
  readonly head: Block
  /** Blocks up to this one are treated as final. */
  readonly finalized: number
}

/** Reads blocks and logs from one endpoint. Every function throws {RpcError} when there is no usable response. */
export interface ChainReader {
  heads(rpc: RpcClient): Promise<Heads>
  /** Reads blocks. Returns undefined for a block that the endpoint does not have. */
  blocks(rpc: RpcClient, numbers: readonly number[]): Promise<(Block | undefined)[]>
  /**
   * Reads the logs of a range and, from the same endpoint, the witness blocks. The hashes of these blocks tell which version of
   * the chain the logs belong to.
   *
   * @throws {RpcError} with `failure` `error` or `too-large` when the range may be too wide
   */
  range(
    rpc: RpcClient,
    from: number,
    to: number,
    witnesses: readonly number[],
  ): Promise<{ readonly logs: EasLog[]; readonly blocks: readonly (Block | undefined)[] }>
  /** Reads the logs of blocks by hash. Returns undefined for a block that the endpoint no longer has. */
  logsOfBlocks(rpc: RpcClient, blocks: readonly BlockId[]): Promise<(EasLog[] | undefined)[]>
}

/**
 * Creates a reader of blocks and logs.
 *
 * @param finalityDepth blocks at least this far below the head are treated as final when the endpoint does not report finality
 */
export function createChainReader(source: LogSource, finalityDepth: number): ChainReader {
  const logsCall = (from: number, to: number): RpcCall => ({
    method: 'eth_getLogs',
    params: [{ ...createLogFilter(source), fromBlock: toQuantity(from), toBlock: toQuantity(to) }],
  })

  return {
    async heads(rpc) {
      const [latest, finalized] = await rpc.requestAll([blockCall('latest'), blockCall('finalized')])
      const head = readBlock(requireValue(latest!))
      if (head === undefined) throw new RpcError('eth_getBlockByNumber: no latest block')
      // Some nodes do not support the tag, and some return block 0 until the first block is final.
      const tagged = finalized!.ok ? readBlockNumber(finalized!.value) : 0
      const isUsable = tagged > 0 && tagged <= head.number
      return { head, finalized: isUsable ? tagged : Math.max(-1, head.number - finalityDepth) }
    },

    async blocks(rpc, numbers) {
      const responses = await rpc.requestAll(numbers.map((number) => blockCall(toQuantity(number))))
      return responses.map((response, index) => readBlock(requireValue(response), numbers[index]!))
    },

    async range(rpc, from, to, witnesses) {
      const responses = await rpc.requestAll([
        logsCall(from, to),
        ...witnesses.map((number) => blockCall(toQuantity(number))),
      ])
      const logs = readLogs(requireValue(responses[0]!), source, from, to)
      return { logs, blocks: witnesses.map((number, index) => readBlock(requireValue(responses[index + 1]!), number)) }
    },

    async logsOfBlocks(rpc, blocks) {
      const responses = await rpc.requestAll(
        blocks.map(({ hash }) => ({
          method: 'eth_getLogs',
          params: [{ ...createLogFilter(source), blockHash: hash }],
        })),
      )
      return responses.map((response, index) => {
        // A block that left the chain gives an error here. That is why logs are requested by hash.
        if (!response.ok) return undefined
        const { number, hash } = blocks[index]!
        const logs = readLogs(response.value, source, number, number)
        if (logs.some((log) => log.blockHash !== hash))
          throw new RpcError('eth_getLogs: the response has a log of another block')
        return logs
      })
    },
  }
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
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
