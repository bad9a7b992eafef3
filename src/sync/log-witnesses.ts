import { type Block, type ChainReader, type EasLog, logKey, MAX_BLOCKS_PER_SECOND } from './chain-reader.ts'
import type { AttestationReader, ReadAttestation } from './eas-attestations.ts'
import type { RpcEndpoint } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface LogWitnessesParts {
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly attestations: AttestationReader
}

/** Whether a log is on the chain: what more than half of the endpoints of the chain say. `open`: neither is said by so many. */
export type Verdict = 'true' | 'false' | 'open'

/** What one endpoint says about a log. `unknown`: it cannot tell, for example because it does not have the block as final. */
type Testimony = 'has' | 'lacks' | 'unknown'

/** What an endpoint says about the blocks around the logs, and about their attestations. */
interface Facts {
  readonly finalized: number
  readonly blocks: ReadonlyMap<number, Block | undefined>
  readonly reads: ReadonlyMap<string, ReadAttestation>
}

/** Finds out whether logs are on the chain when an endpoint claims them that cannot be trusted alone. */
export class LogWitnesses {
  readonly #parts: LogWitnessesParts

  constructor(parts: LogWitnessesParts) {
    this.#parts = parts
  }

  /**
   * Asks the endpoints about logs until more than half of them say the same about each. Suspended endpoints are not asked but
   * count, and endpoints that fail are suspended.
   *
   * @returns one verdict for each log, in the same order
   */
  async judge(logs: readonly EasLog[]): Promise<Verdict[]> {
    const { rpcs } = this.#parts
    const asked = new Set<number>()
    const votes = logs.map(() => ({ has: 0, lacks: 0, unknown: 0 }))
    const verdicts = () =>
      votes.map(({ has, lacks }): Verdict => {
        if (has >= rpcs.majority) return 'true'
        return lacks >= rpcs.majority ? 'false' : 'open'
      })
    while (asked.size < rpcs.size && verdicts().includes('open')) {
      const witness = await rpcs.tryUse(async (rpc) => ({ index: rpc.index, says: await this.#ask(rpc, logs) }), asked)
      if (witness === undefined) break
      asked.add(witness.index)
      for (const [index, testimony] of witness.says.entries()) votes[index]![testimony]++
    }
    return verdicts()
  }

  /**
   * Asks one endpoint. What its contract says counts more than its logs: an honest endpoint may omit logs. Logs decide only what
   * the contract cannot tell.
   */
  async #ask(rpc: RpcEndpoint, logs: readonly EasLog[]): Promise<Testimony[]> {
    const facts = await this.#readFacts(rpc, logs)
    const { finalized, blocks, reads } = facts
    const testimonies: Testimony[] = []
    const nearby = new Map<number, readonly EasLog[]>()
    for (const log of logs) {
      const { uid, blockNumber } = log
      const block = blocks.get(blockNumber)
      let testimony: Testimony = 'unknown'
      if (block !== undefined) {
        testimony = readContract(log, block, reads.get(uid)!)
        const span = findNeighbours(block, blocks)
        if (testimony === 'unknown' || (testimony === 'has' && span.length > 1)) {
          if (!nearby.has(blockNumber)) nearby.set(blockNumber, await this.#readLogsOfSecond(rpc, block, span))
          testimony = readNearby(log, testimony, nearby.get(blockNumber)!)
        }
        // Blocks that are not final may differ without anybody being wrong.
        if (testimony === 'lacks' && blockNumber > finalized) testimony = 'unknown'
      }
      testimonies.push(testimony)
    }
    return testimonies
  }

  /** Reads the blocks of the logs with their neighbours, and the attestations at the head that the endpoint reports. */
  async #readFacts(rpc: RpcEndpoint, logs: readonly EasLog[]): Promise<Facts> {
    const { reader, attestations } = this.#parts
    const { head, finalized } = await reader.heads(rpc)
    const near = logs.flatMap(({ blockNumber }) => [blockNumber - 1, blockNumber, blockNumber + 1])
    const numbers = [...new Set(near)].filter((number) => number >= 0 && number <= head.number)
    const blocks = await this.#readBlocks(rpc, numbers)
    // A node behind this address that lags rejects the number of the head; at `latest` it would deny what is newer.
    const list = await attestations.read(rpc, [...new Set(logs.map(({ uid }) => uid))], head.number)
    return { finalized, blocks, reads: new Map(list.map((read) => [read.uid, read])) }
  }

  async #readBlocks(rpc: RpcEndpoint, numbers: readonly number[]): Promise<Map<number, Block | undefined>> {
    const listed = await this.#parts.reader.blocks(rpc, numbers)
    return new Map(numbers.map((number, index) => [number, listed[index]]))
  }

  /**
   * Reads the logs of a block and of the blocks around it that share its second. Only their logs tell such blocks apart, because
   * the contract has times and no block numbers.
   *
   * @param near the block and its direct neighbours of the same second
   */
  async #readLogsOfSecond(rpc: RpcEndpoint, block: Block, near: readonly Block[]): Promise<readonly EasLog[]> {
    const { number, timeSeconds } = block
    let span = near
    if (near.length > 1) {
      const first = Math.max(0, number - MAX_BLOCKS_PER_SECOND + 1)
      const numbers = Array.from({ length: number + MAX_BLOCKS_PER_SECOND - first }, (_, index) => first + index)
      const around = await this.#readBlocks(rpc, numbers)
      span = [...around.values()].filter((other): other is Block => other?.timeSeconds === timeSeconds)
    }
    const all = span.map((other) => other.number)
    const { logs } = await this.#parts.reader.range(rpc, Math.min(...all), Math.max(...all), [])
    return logs
  }
}

/** Returns a block and those of its direct neighbours that have the same second. */
function findNeighbours(block: Block, blocks: Facts['blocks']): readonly Block[] {
  return [block.number - 1, block.number, block.number + 1]
    .map((number) => blocks.get(number))
    .filter((other): other is Block => other?.timeSeconds === block.timeSeconds)
}

/** Compares a log with the attestation that an endpoint's contract has. */
function readContract({ kind }: EasLog, block: Block, read: ReadAttestation): Testimony {
  if (read.state === 'wrong' || read.state === 'too-large') return 'unknown'
  if (read.state === 'missing') return 'lacks'
  return block.timeSeconds === (kind === 'attested' ? read.timeSeconds : read.revokedSeconds) ? 'has' : 'lacks'
}

/** Looks for a log among those that the same endpoint has of the same second. */
function readNearby(log: EasLog, fromContract: 'has' | 'unknown', nearby: readonly EasLog[]): Testimony {
  if (nearby.some((other) => logKey(other) === logKey(log))) return 'has'
  const isElsewhere = nearby.some(({ kind, uid }) => kind === log.kind && uid === log.uid)
  return fromContract === 'has' && !isElsewhere ? 'has' : 'lacks'
}
