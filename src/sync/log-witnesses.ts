import { type Block, type ChainReader, type EasLog, logKey } from './chain-reader.ts'
import type { AttestationReader, ReadAttestation } from './eas-attestations.ts'
import { MAX_BLOCKS_PER_SECOND } from './gather.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface LogWitnessesParts {
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly attestations: AttestationReader
}

/**
 * Whether a log is on the chain. `true`: an endpoint other than the one that claims it confirms it. `false`: nobody does, and the
 * claiming endpoint contradicts itself or two others deny it. `open`: nothing proves either.
 */
export type Verdict = 'true' | 'false' | 'open'

/** What one endpoint says about a log. `unknown`: it cannot tell, for example because it does not have the block. */
type Testimony = 'has' | 'lacks' | 'unknown'

/** The endpoints that have to deny a log, besides the one that claims it, before it counts as invented. */
const DENIALS_NEEDED = 2

/**
 * Finds out who is right when one endpoint has a log that another does not have. At most one endpoint is assumed to lie, and an
 * honest one may still omit logs, so its contract is asked as well.
 */
export class LogWitnesses {
  readonly #parts: LogWitnessesParts

  constructor(parts: LogWitnessesParts) {
    this.#parts = parts
  }

  /**
   * Asks every endpoint that is not suspended about logs that one endpoint claims. Endpoints that fail are suspended.
   *
   * @returns one verdict for each log, in the same order
   */
  async judge(claimant: number, logs: readonly EasLog[]): Promise<Verdict[]> {
    const { rpcs } = this.#parts
    const asked = new Set([claimant])
    const confirmed = logs.map(() => false)
    const denials = logs.map(() => 0)
    while (asked.size < rpcs.size && confirmed.includes(false)) {
      const witness = await tryTo(() =>
        rpcs.use(async (rpc) => ({ index: rpc.index, says: await this.#askWitness(rpc, logs) }), asked),
      )
      if (witness === undefined) break
      asked.add(witness.index)
      for (const [index, testimony] of witness.says.entries()) {
        if (testimony === 'has') confirmed[index] = true
        if (testimony === 'lacks') denials[index]!++
      }
    }
    const isUnproven = (index: number) => !confirmed[index] && denials[index]! < DENIALS_NEEDED
    const ownWords = logs.some((_, index) => isUnproven(index))
      ? await tryTo(() => rpcs.useOnly(claimant, (rpc) => this.#askContract(rpc, logs)))
      : undefined
    return logs.map((_, index) => {
      if (confirmed[index]) return 'true'
      return isUnproven(index) && ownWords?.[index] !== 'lacks' ? 'open' : 'false'
    })
  }

  /** Asks an endpoint that does not claim the logs: for its logs, then for what its contract says. */
  async #askWitness(rpc: RpcEndpoint, logs: readonly EasLog[]): Promise<Testimony[]> {
    const { finalized, blocks, reads } = await this.#readFacts(rpc, logs)
    const nearby = new Map<number, ReadonlyMap<string, EasLog>>()
    for (const { blockNumber } of logs)
      if (blocks.get(blockNumber) !== undefined && !nearby.has(blockNumber))
        nearby.set(blockNumber, await this.#readNearby(rpc, blockNumber, blocks))
    return logs.map((log) => {
      const { kind, uid, blockNumber, blockHash } = log
      const block = blocks.get(blockNumber)
      const found = nearby.get(blockNumber)
      if (block === undefined || found === undefined) return 'unknown'
      // Blocks that are not final may differ without anybody being wrong.
      if (block.hash !== blockHash) return blockNumber <= finalized ? 'lacks' : 'unknown'
      if (found.has(logKey(log))) return 'has'
      const isElsewhere = [...found.values()].some((other) => other.kind === kind && other.uid === uid)
      return !isElsewhere && readContract(log, block, reads.get(uid)!) === 'has' ? 'has' : 'lacks'
    })
  }

  /** Asks the endpoint that claims the logs what its contract says about them. */
  async #askContract(rpc: RpcEndpoint, logs: readonly EasLog[]): Promise<Testimony[]> {
    const { blocks, reads } = await this.#readFacts(rpc, logs)
    return logs.map((log) => readContract(log, blocks.get(log.blockNumber), reads.get(log.uid)!))
  }

  /** Reads the blocks of the logs with their neighbours, and the attestations at the head that the endpoint reports. */
  async #readFacts(rpc: RpcEndpoint, logs: readonly EasLog[]) {
    const { reader, attestations } = this.#parts
    const { head, finalized } = await reader.heads(rpc)
    const near = logs.flatMap(({ blockNumber }) => [blockNumber - 1, blockNumber, blockNumber + 1])
    const numbers = [...new Set(near)].filter((number) => number >= 0 && number <= head.number)
    const listed = await reader.blocks(rpc, numbers)
    const blocks = new Map(numbers.map((number, index) => [number, listed[index]]))
    // A node behind this address that lags rejects the number of the head; at `latest` it would deny what is newer.
    const list = await attestations.read(rpc, [...new Set(logs.map(({ uid }) => uid))], head.number)
    return { finalized, blocks, reads: new Map(list.map((read) => [read.uid, read])) }
  }

  /**
   * Reads the logs of a block, and of the blocks around it if it shares its second with one of them. Only their logs tell such
   * blocks apart, because the contract has times and no block numbers.
   */
  async #readNearby(rpc: RpcEndpoint, number: number, blocks: ReadonlyMap<number, Block | undefined>) {
    const { reader } = this.#parts
    const seconds = blocks.get(number)!.timeSeconds
    const from = blocks.get(number - 1)?.timeSeconds === seconds ? Math.max(0, number - MAX_BLOCKS_PER_SECOND) : number
    const to = blocks.get(number + 1)?.timeSeconds === seconds ? number + MAX_BLOCKS_PER_SECOND : number
    const { logs, blocks: read } = await reader.range(rpc, from, to, [number])
    if (read[0]?.hash !== blocks.get(number)!.hash) throw new RpcError(`block ${number} of an endpoint changes`)
    return new Map(logs.map((log) => [logKey(log), log]))
  }
}

/** Compares a log with the attestation that an endpoint's contract has. */
function readContract(log: EasLog, block: Block | undefined, read: ReadAttestation): Testimony {
  if (block === undefined || read.state === 'wrong' || read.state === 'too-large') return 'unknown'
  if (read.state === 'missing') return 'lacks'
  const seconds = log.kind === 'attested' ? read.timeSeconds : read.revokedSeconds
  return block.hash === log.blockHash && block.timeSeconds === seconds ? 'has' : 'lacks'
}

/** Returns undefined when no endpoint responds. */
async function tryTo<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}
