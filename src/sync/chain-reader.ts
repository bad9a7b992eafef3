import type { Hex } from '../messages.ts'
import type { BlockId } from '../sync-messages.ts'
import { type EasLog, type LogSource, logFilter, readLogs } from './eas-logs.ts'
import { bytes32, hexOf, quantity } from './quantities.ts'
import { type RpcAnswer, type RpcCall, type RpcClient, RpcError } from './rpc.ts'

export interface Block extends BlockId {
  readonly parentHash: Hex
  readonly timeSeconds: number
}

export interface Heads {
  readonly head: Block
  /** Blocks up to this one are taken for final. */
  readonly finalized: number
}

/** What we ask one endpoint of blocks and logs. Every function throws {RpcError} when there is no usable answer. */
export interface ChainReader {
  heads(rpc: RpcClient): Promise<Heads>
  /** @returns undefined in the place of a block that the endpoint does not have */
  blocks(rpc: RpcClient, numbers: readonly number[]): Promise<(Block | undefined)[]>
  /**
   * Logs of a range and, from the same endpoint, blocks that tell on which chain they are.
   *
   * @throws {RpcError} with `failure` `error` or `too-large` when the range may be too wide
   */
  range(
    rpc: RpcClient,
    from: number,
    to: number,
    witnesses: readonly number[],
  ): Promise<{ readonly logs: EasLog[]; readonly blocks: readonly (Block | undefined)[] }>
  /** @returns undefined in the place of a block that the endpoint does not have any more */
  logsOfBlocks(rpc: RpcClient, blocks: readonly BlockId[]): Promise<(EasLog[] | undefined)[]>
}

/**
 * @param finalityDepth blocks below the head that are taken for final where the endpoint does not say which ones are
 */
export function createChainReader(source: LogSource, finalityDepth: number): ChainReader {
  const byRange = (from: number, to: number): RpcCall => ({
    method: 'eth_getLogs',
    params: [{ ...logFilter(source), fromBlock: hexOf(from), toBlock: hexOf(to) }],
  })

  return {
    async heads(rpc) {
      const [latest, finalized] = await rpc.requestAll([blockCall('latest'), blockCall('finalized')])
      const head = readBlock(resultOf(latest!))
      if (head === undefined) throw new RpcError('eth_getBlockByNumber: no latest block')
      // Some nodes know no tags, and some say 0 before the first block is final.
      const tagged = finalized!.ok ? finalBlock(finalized!.value) : 0
      const isUsable = tagged > 0 && tagged <= head.number
      return { head, finalized: isUsable ? tagged : Math.max(-1, head.number - finalityDepth) }
    },

    async blocks(rpc, numbers) {
      const answers = await rpc.requestAll(numbers.map((number) => blockCall(hexOf(number))))
      return answers.map((answer, index) => readBlock(resultOf(answer), numbers[index]!))
    },

    async range(rpc, from, to, witnesses) {
      const answers = await rpc.requestAll([byRange(from, to), ...witnesses.map((number) => blockCall(hexOf(number)))])
      const logs = readLogs(resultOf(answers[0]!), source, from, to)
      return { logs, blocks: witnesses.map((number, index) => readBlock(resultOf(answers[index + 1]!), number)) }
    },

    async logsOfBlocks(rpc, blocks) {
      const answers = await rpc.requestAll(
        blocks.map(({ hash }) => ({ method: 'eth_getLogs', params: [{ ...logFilter(source), blockHash: hash }] })),
      )
      return answers.map((answer, index) => {
        // A block that left the chain is an error here, which is why logs are asked for by hash.
        if (!answer.ok) return undefined
        const { number, hash } = blocks[index]!
        const logs = readLogs(answer.value, source, number, number)
        if (logs.some((log) => log.blockHash !== hash)) throw new RpcError('eth_getLogs: a log of another block')
        return logs
      })
    },
  }
}

function blockCall(block: string): RpcCall {
  return { method: 'eth_getBlockByNumber', params: [block, false] }
}

function resultOf(answer: RpcAnswer): unknown {
  if (!answer.ok) throw answer.error
  return answer.value
}

/** @param number that was asked for */
function readBlock(value: unknown, number?: number): Block | undefined {
  if (value === null) return undefined
  const fields = value as Record<string, unknown>
  const block = {
    number: quantity(fields['number']),
    hash: bytes32(fields['hash']),
    parentHash: bytes32(fields['parentHash']),
    timeSeconds: quantity(fields['timestamp']),
  }
  if (number !== undefined && block.number !== number) throw new RpcError('eth_getBlockByNumber: another block')
  return block
}

function finalBlock(value: unknown): number {
  return value === null ? 0 : quantity((value as Record<string, unknown>)['number'])
}
