import type { StoredLog } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { ChainReader, EasLog } from './chain-reader.ts'
import type { Gatherer } from './gather.ts'
import { RangeSize } from './range-size.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface AuditParts {
  readonly chainId: number
  readonly startBlock: number
  readonly maxRangeBlocks: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'storedLogs'>
  readonly onProblem: (message: string) => void
}

/** Compares the stored logs with those of two endpoints. */
export class Audit {
  readonly #parts: AuditParts
  readonly #size: RangeSize

  constructor(parts: AuditParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.maxRangeBlocks)
  }

  /**
   * Reads the next range of final blocks from two different endpoints, and stores logs that either has and we do not.
   *
   * Only a second endpoint can reveal that the first omits or invents logs. At least one of the two has to be honest.
   *
   * @returns the number of missed logs; undefined when there is nothing to compare, or only one endpoint
   * @throws {RpcError} when fewer than two endpoints respond; {StoreFault | CheckpointMoved}
   */
  async step(): Promise<number | undefined> {
    const { startBlock, rpcs, gatherer, position, onProblem } = this.#parts
    if (rpcs.size < 2) return undefined
    const { checkpoint, auditedTo, finalized } = await position.load()
    const from = Math.max(auditedTo + 1, startBlock)
    const lastAuditable = Math.min(finalized, checkpoint?.number ?? -1)
    if (from > lastAuditable) return undefined
    const to = Math.min(from + this.#size.blocks - 1, lastAuditable)
    const found = await this.#readTwice(from, to)
    let stored = await this.#readStored(from, to)
    const findDenied = () => [...stored].filter((key) => !found.has(key))
    if (findDenied().length > 0) {
      // Attestations that neither endpoint has a log of leave the quarantine.
      const released = findDenied()
        .filter((key) => key.startsWith('attested'))
        .map((key) => key.split(' ')[1] as Hex)
      await position.commit({ released })
      stored = await this.#readStored(from, to)
      const count = findDenied().length
      if (count > 0)
        return this.#rollBack(from, `two endpoints do not have ${count} of our logs of blocks ${from} to ${to}`)
    }
    const missing = [...found.values()].filter((log) => !stored.has(logKey(log)))
    this.#size.grow(to - from + 1, found.size)
    const gathered = missing.length === 0 ? {} : await rpcs.use((rpc) => gatherer.gather(rpc, missing))
    await position.commit({ ...gathered, progress: { auditedTo: to } })
    if (missing.length > 0)
      onProblem(`${missing.length} logs of blocks ${from} to ${to} had been omitted by an endpoint and are stored now`)
    return missing.length
  }

  /** Reads the logs of a range from two endpoints. Suspends an endpoint that omits logs which the other has. */
  async #readTwice(from: number, to: number): Promise<Map<string, EasLog>> {
    const { rpcs } = this.#parts
    const first = await rpcs.use((rpc) => this.#read(rpc, from, to))
    const second = await rpcs.use((rpc) => this.#read(rpc, from, to), new Set([first.index]))
    const union = new Map([...first.logs, ...second.logs].map((log) => [logKey(log), log]))
    for (const { index, logs } of [first, second]) {
      if (logs.length < union.size)
        rpcs.suspend(index, `it omitted ${union.size - logs.length} logs of blocks ${from} to ${to}`)
    }
    return union
  }

  async #read(rpc: RpcEndpoint, from: number, to: number) {
    const { reader } = this.#parts
    const { finalized } = await reader.heads(rpc)
    if (finalized < to) throw new RpcError(`an endpoint's final block is only ${finalized}`)
    try {
      return { index: rpc.index, logs: (await reader.range(rpc, from, to, [])).logs }
    } catch (error) {
      if (error instanceof RpcError) this.#size.shrink(from, to - from + 1, error)
      throw error
    }
  }

  async #readStored(from: number, to: number): Promise<Set<string>> {
    const { store, chainId } = this.#parts
    return new Set((await store.storedLogs({ chainId, from, to })).map(logKey))
  }

  /** Removes invented logs like a reorganisation does: rolls back to a block before them, and reads again from there. */
  async #rollBack(from: number, reason: string): Promise<number> {
    const { startBlock, position, onProblem } = this.#parts
    const known = position.state.knownBlocks.find(({ number }) => number < from)
    const rollBackTo = known?.number ?? startBlock - 1
    await position.commit({ rollBackTo, to: known ?? null })
    onProblem(`${reason}: everything after block ${rollBackTo} is read again`)
    return 0
  }
}

function logKey({ kind, uid, blockNumber }: StoredLog): string {
  return `${kind} ${uid} ${blockNumber}`
}
