import type { Hex } from '../messages.ts'
import type { KeptLog } from '../sync-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import type { ChainReader } from './chain-reader.ts'
import type { Gatherer } from './gather.ts'
import { RangeSize } from './range-size.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

export interface AuditParts {
  readonly chainId: number
  readonly startBlock: number
  readonly maxRangeBlocks: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'keptOfBlocks'>
  readonly onProblem: (message: string) => void
}

/** Compares what is kept with what two endpoints say. */
export interface Audit {
  /**
   * Reads the next range of final blocks from two different endpoints. What either of them has and we do not comes in.
   *
   * An endpoint that leaves out logs or invents them says so to nobody: only another one can tell. Of two at least one has to be
   * honest.
   *
   * @returns how many logs had been missed; undefined when there is nothing to compare, or only one endpoint
   * @throws {RpcError} when two endpoints do not answer; {StoreFault | CheckpointMoved}
   */
  step(): Promise<number | undefined>
}

const keyOf = ({ kind, uid, blockNumber }: KeptLog) => `${kind} ${uid} ${blockNumber}`

export function createAudit(parts: AuditParts): Audit {
  const { chainId, startBlock, rpcs, reader, gatherer, position, store, onProblem } = parts
  const size = new RangeSize(parts.maxRangeBlocks)

  return {
    async step() {
      if (rpcs.size < 2) return undefined
      const { checkpoint, auditedTo, finalized } = await position.load()
      const from = Math.max(auditedTo + 1, startBlock)
      const last = Math.min(finalized, checkpoint?.number ?? -1)
      if (from > last) return undefined
      const to = Math.min(from + size.blocks - 1, last)
      const first = await rpcs.use((rpc) => read(rpc, from, to))
      const second = await rpcs.use((rpc) => read(rpc, from, to), new Set([first.place]))
      const union = new Map([...first.logs, ...second.logs].map((log) => [keyOf(log), log]))
      for (const { place, logs } of [first, second]) {
        if (logs.length < union.size)
          rpcs.bench(place, `left out ${union.size - logs.length} logs of blocks ${from} to ${to}`)
      }
      let known = await keptLogs(from, to)
      const denied = () => [...known].filter((key) => !union.has(key))
      if (denied().length > 0) {
        // What was set aside because nobody had its attestation is forgotten with its log.
        const released = denied()
          .filter((key) => key.startsWith('attested'))
          .map((key) => key.split(' ')[1] as Hex)
        await position.commit({ records: [], revocations: [], quarantine: [], released })
        known = await keptLogs(from, to)
        const count = denied().length
        if (count > 0) return takeBack(from, `two endpoints deny ${count} of our logs of blocks ${from} to ${to}`)
      }
      const missing = [...union.values()].filter((log) => !known.has(keyOf(log)))
      size.grow(to - from + 1, union.size)
      const progress = { auditedTo: to }
      if (missing.length === 0) await position.commit({ records: [], revocations: [], quarantine: [], progress })
      else {
        const gathered = await rpcs.use((rpc) => gatherer.gather(rpc, missing))
        await position.commit({ ...gathered, progress })
        onProblem(`${missing.length} logs of blocks ${from} to ${to} had been left out by an endpoint and came in now`)
      }
      return missing.length
    },
  }

  /** What an endpoint invented goes as what a reorganisation takes: back to a block before it, and read again. */
  async function takeBack(from: number, why: string): Promise<number> {
    const rung = position.state.ladder.find(({ number }) => number < from)
    const rollBackTo = rung?.number ?? startBlock - 1
    await position.commit({ records: [], revocations: [], quarantine: [], rollBackTo, to: rung ?? null })
    onProblem(`${why}: everything after block ${rollBackTo} is read again`)
    return 0
  }

  async function keptLogs(from: number, to: number): Promise<Set<string>> {
    return new Set((await store.keptOfBlocks({ chainId, from, to })).map(keyOf))
  }

  async function read(rpc: RpcEndpoint, from: number, to: number) {
    const { finalized } = await reader.heads(rpc)
    if (finalized < to) throw new RpcError(`an endpoint is final up to block ${finalized} only`)
    try {
      return { place: rpc.place, logs: (await reader.range(rpc, from, to, [])).logs }
    } catch (error) {
      if (error instanceof RpcError) size.shrink(from, to - from + 1, error)
      throw error
    }
  }
}
