import type { StoredLog } from '../wire/sync-messages.ts'
import { type Block, type ChainReader, type EasLog, logKey, MAX_BLOCKS_PER_SECOND } from './chain-reader.ts'
import type { AttestationReader, ReadAttestation } from './eas-attestations.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface LogWitnessesParts {
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly attestations: AttestationReader
}

/** What more than half of the endpoints of the chain say. `open`: there is no majority. */
export type Verdict<T extends string> = T | 'open'

/** Whether a log is on the chain. */
export type Presence = 'true' | 'false'

/** Whether a log that is not in the block where it was read is in another final block. */
export type Place = 'elsewhere' | 'nowhere'

/** What one endpoint says. `unknown`: it cannot tell, for example because it does not have the block as final. */
type Testimony<T extends string> = T | 'unknown'

/** What an endpoint says about the blocks around the logs, and about their attestations. */
interface Facts {
  readonly finalized: number
  readonly blocks: ReadonlyMap<number, Block | undefined>
  readonly reads: ReadonlyMap<string, ReadAttestation>
}

/** Finds out by a majority of the endpoints whether logs are on the chain, because a single endpoint cannot be trusted. */
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
  judge(logs: readonly EasLog[]): Promise<Verdict<Presence>[]> {
    return this.#vote(logs.length, (rpc) => this.#ask(rpc, logs))
  }

  /**
   * Asks the endpoints in the same way whether logs that are not in the block where they were read are in another one.
   *
   * @returns one verdict for each log, in the same order; `open` also while the other block is not final
   */
  findPlaces(logs: readonly StoredLog[]): Promise<Verdict<Place>[]> {
    const { reader, attestations } = this.#parts
    const uids = [...new Set(logs.map(({ uid }) => uid))]
    return this.#vote(logs.length, async (rpc) => {
      const { head, finalized } = await reader.heads(rpc)
      const [next] = await reader.blocks(rpc, [finalized + 1])
      // The first second with a block that is not final.
      const openSeconds = next?.timeSeconds ?? Number.POSITIVE_INFINITY
      const reads = new Map((await attestations.read(rpc, uids, head.number)).map((read) => [read.uid, read]))
      return logs.map(({ kind, uid }) => {
        const read = reads.get(uid)!
        // Without a valid attestation under this UID there is no record. If its log is in another block, the audit finds it there.
        if (read.state !== 'ok') return 'nowhere'
        const seconds = kind === 'attested' ? read.timeSeconds : read.revokedSeconds
        if (seconds === 0) return 'nowhere'
        return seconds < openSeconds ? 'elsewhere' : 'unknown'
      })
    })
  }

  /** Asks endpoints about several things until more than half of all say the same about each. */
  async #vote<T extends string>(
    count: number,
    ask: (rpc: RpcEndpoint) => Promise<Testimony<T>[]>,
  ): Promise<Verdict<T>[]> {
    const { rpcs } = this.#parts
    const asked = new Set<number>()
    const votes = Array.from({ length: count }, () => new Map<T, number>())
    const verdicts = () =>
      votes.map((cast): Verdict<T> => [...cast].find(([, number]) => number >= rpcs.majority)?.[0] ?? 'open')
    while (asked.size < rpcs.size && verdicts().includes('open')) {
      const witness = await rpcs.tryUse(async (rpc) => ({ index: rpc.index, says: await ask(rpc) }), asked)
      if (witness === undefined) break
      asked.add(witness.index)
      for (const [index, testimony] of witness.says.entries()) {
        const cast = votes[index]!
        if (testimony !== 'unknown') cast.set(testimony, (cast.get(testimony) ?? 0) + 1)
      }
    }
    return verdicts()
  }

  /**
   * Asks one endpoint. What its contract says counts more than its logs: an honest endpoint may omit logs. Logs decide only what
   * the contract cannot tell.
   */
  async #ask(rpc: RpcEndpoint, logs: readonly EasLog[]): Promise<Testimony<Presence>[]> {
    const facts = await this.#readFacts(rpc, logs)
    const { finalized, blocks, reads } = facts
    const testimonies: Testimony<Presence>[] = []
    const nearby = new Map<number, readonly EasLog[]>()
    for (const log of logs) {
      const { uid, blockNumber } = log
      const block = blocks.get(blockNumber)
      let testimony: Testimony<Presence> = 'unknown'
      if (block !== undefined) {
        testimony = readContract(log, block, reads.get(uid)!)
        const span = findNeighbours(block, blocks)
        if (testimony === 'unknown' || (testimony === 'true' && span.length > 1)) {
          if (!nearby.has(blockNumber)) nearby.set(blockNumber, await this.#readLogsOfSecond(rpc, block, span))
          testimony = readNearby(log, testimony, nearby.get(blockNumber)!)
        }
        // Blocks that are not final may legitimately differ.
        if (testimony === 'false' && blockNumber > finalized) testimony = 'unknown'
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
    // A lagging node behind this address rejects the unknown number of the head. With `latest`, it would report newer attestations as
    // missing.
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
    const last = Math.max(...all)
    const { logs, blocks } = await this.#parts.reader.range(rpc, Math.min(...all), last, [last])
    // A node behind this address that lags returns fewer logs without an error.
    if (blocks[0] === undefined) throw new RpcError(`an endpoint does not have block ${last}, which it had before`)
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
function readContract({ kind }: EasLog, block: Block, read: ReadAttestation): Testimony<Presence> {
  if (read.state === 'wrong' || read.state === 'too-large') return 'unknown'
  if (read.state === 'missing') return 'false'
  return block.timeSeconds === (kind === 'attested' ? read.timeSeconds : read.revokedSeconds) ? 'true' : 'false'
}

/** Looks for a log among those that the same endpoint has of the same second. */
function readNearby(log: EasLog, fromContract: 'true' | 'unknown', nearby: readonly EasLog[]): Presence {
  if (nearby.some((other) => logKey(other) === logKey(log))) return 'true'
  const isElsewhere = nearby.some(({ kind, uid }) => kind === log.kind && uid === log.uid)
  return fromContract === 'true' && !isElsewhere ? 'true' : 'false'
}
