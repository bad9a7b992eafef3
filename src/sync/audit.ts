import type { StoredLog } from '../wire/sync-messages.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import { type ChainReader, type EasLog, logKey, takeWholeBlocks } from './chain-reader.ts'
import type { GatheredChanges, Gatherer } from './gather.ts'
import type { LogWitnesses, Presence, Verdict } from './log-witnesses.ts'
import { RangeSize } from './range-size.ts'
import { type RpcEndpoint, RpcError } from './rpc.ts'
import type { RpcList } from './rpc-list.ts'

interface AuditParts {
  readonly chainId: number
  readonly startBlock: number
  readonly maxRangeBlocks: number
  readonly rpcs: RpcList
  readonly reader: ChainReader
  readonly witnesses: LogWitnesses
  readonly gatherer: Gatherer
  readonly position: ChainPosition
  readonly store: Pick<SyncStore, 'storedLogs'>
  readonly onProblem: (message: string) => void
  /** Called at every comparison with the number of logs on which the endpoints disagree without a majority. */
  readonly onContradictions: (logs: number) => void
}

/** The logs that an endpoint has of a range. */
interface View {
  readonly index: number
  /** The last block of the range that is final for the endpoint; the block before the range if none is. */
  readonly to: number
  readonly logs: ReadonlyMap<string, EasLog>
}

/** What several endpoints say about a range together. */
interface Comparison {
  /** The last block without open contradictions. */
  readonly to: number
  /** Logs on the chain up to this block. */
  readonly found: ReadonlyMap<string, EasLog>
  /** Stored logs up to this block that are nowhere on the chain. */
  readonly removed: readonly StoredLog[]
  /** Logs about which no majority of the endpoints says the same, in the order of their blocks. */
  readonly open: readonly StoredLog[]
  /** The endpoints that omitted logs or invented some. */
  readonly wrong: readonly { readonly index: number; readonly reason: string }[]
}

const NOTHING: GatheredChanges = { records: [], revocations: [], quarantine: [] }
/** The most contradictions that are examined in one step; exceeded only when a single block has more. */
const MAX_CONTRADICTIONS = 50

/** Compares the stored logs with those of more than half of the endpoints. */
export class Audit {
  readonly #parts: AuditParts
  readonly #size: RangeSize
  /** The first open contradiction of the last step. */
  #reported: string | undefined

  constructor(parts: AuditParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.maxRangeBlocks)
  }

  /**
   * Reads the next range of final blocks from more than half of the endpoints, at least two. Stores logs that are on the chain
   * and that we do not have, and removes logs of ours that are not on it. A record that was stored with a wrong block gets its
   * own when the audit reaches that one.
   *
   * While more than half of the endpoints are honest, at least one of those that are read is, so what all of them say is true.
   * Where they contradict each other, see `LogWitnesses`. If there is no majority, nothing changes from that block on, and it is
   * compared again in the next step.
   *
   * @returns the number of missed logs; undefined when there is nothing to compare now
   * @throws {RpcError} when too few endpoints respond; {StoreFault | CheckpointMoved}
   */
  async step(): Promise<number | undefined> {
    const { startBlock, rpcs, position } = this.#parts
    if (rpcs.size < 2) return undefined
    const { checkpoint, auditedTo, finalized } = await position.load()
    const from = Math.max(auditedTo + 1, startBlock)
    const lastAuditable = Math.min(finalized, checkpoint?.number ?? -1)
    if (from > lastAuditable) return undefined
    const wanted = Math.min(from + this.#size.blocks - 1, lastAuditable)
    const views = await this.#readViews(from, wanted)
    // An endpoint may be behind, or lie about its head. Neither is a reason to suspend one.
    const to = Math.min(...views.map((view) => view.to))
    if (from > to) return undefined
    this.#size.grow(to - from + 1, Math.max(...views.map(({ logs }) => logs.size)))
    const comparison = await this.#checkStored(await this.#compare(views, from, to), from)
    // Not before: a suspended endpoint does not vote.
    for (const { index, reason } of comparison.wrong) rpcs.suspend(index, reason)
    this.#report(comparison.open)
    const missed = comparison.to < from ? 0 : await this.#settle(comparison, from)
    return comparison.open.length > 0 ? undefined : missed
  }

  /** Reads a range from more than half of the endpoints, in the order of the list. Prefers those that have all of it as final. */
  async #readViews(from: number, wanted: number): Promise<View[]> {
    const { rpcs } = this.#parts
    const views: View[] = []
    while (views.length < rpcs.size && views.filter(({ to }) => to === wanted).length < rpcs.majority) {
      const read = (rpc: RpcEndpoint) => this.#read(rpc, from, wanted)
      const asked = new Set(views.map(({ index }) => index))
      const view = views.length < rpcs.majority ? await rpcs.use(read, asked) : await rpcs.tryUse(read, asked)
      if (view === undefined) break
      views.push(view)
    }
    return views.sort((left, right) => right.to - left.to).slice(0, rpcs.majority)
  }

  async #read(rpc: RpcEndpoint, from: number, wanted: number): Promise<View> {
    const { reader } = this.#parts
    const { index } = rpc
    const to = Math.min(wanted, (await reader.heads(rpc)).finalized)
    const nothing = { index, to: from - 1, logs: new Map<string, EasLog>() }
    if (to < from) return nothing
    try {
      const { logs, blocks } = await reader.range(rpc, from, to, [to])
      // A node behind this address that lags returns fewer logs without an error.
      if (blocks[0] === undefined) throw new RpcError(`an endpoint does not have block ${to}, which was final`)
      return { index, to, logs: new Map(logs.map((log) => [logKey(log), log])) }
    } catch (error) {
      // The next range is narrower, unless enough other endpoints accept this one.
      if (error instanceof RpcError && to === wanted && this.#size.shrink(from, to - from + 1, error)) return nothing
      throw error
    }
  }

  /** Compares the logs of endpoints. Where they contradict each other, asks the others. */
  async #compare(views: readonly View[], from: number, wantedTo: number): Promise<Comparison> {
    const claimed = new Map(views.flatMap(({ logs }) => [...logs]).filter(([, log]) => log.blockNumber <= wantedTo))
    const contradicted = [...claimed]
      .filter(([key]) => !views.every(({ logs }) => logs.has(key)))
      .map(([, log]) => log)
      .sort((left, right) => left.blockNumber - right.blockNumber)
    const examined = takeWholeBlocks(contradicted, MAX_CONTRADICTIONS)
    const examinedTo = examined.length < contradicted.length ? examined.at(-1)!.blockNumber : wantedTo
    const verdicts = examined.length === 0 ? [] : await this.#parts.witnesses.judge(examined)
    const withVerdict = (wanted: Verdict<Presence>) => examined.filter((_, index) => verdicts[index] === wanted)
    const [real, invented, open] = [withVerdict('true'), withVerdict('false'), withVerdict('open')]
    const wrong = findWrong(views, real, invented, `of blocks ${from} to ${examinedTo}`)
    const to = open.length === 0 ? examinedTo : open[0]!.blockNumber - 1
    const denied = new Set([...invented, ...open].map(logKey))
    const found = [...claimed].filter(([key, { blockNumber }]) => blockNumber <= to && !denied.has(key))
    return { to, found: new Map(found), removed: [], open, wrong }
  }

  /** Finds stored logs that are nowhere on the chain. */
  async #checkStored(comparison: Comparison, from: number): Promise<Comparison> {
    const { found, open, wrong } = comparison
    const stored = comparison.to < from ? [] : await this.#readStored(from, comparison.to)
    const misplaced = stored.filter((log) => !found.has(logKey(log)))
    if (misplaced.length === 0) return comparison
    const places = await this.#parts.witnesses.findPlaces(misplaced)
    const undecided = misplaced
      .filter((_, index) => places[index] === 'open')
      .sort((left, right) => left.blockNumber - right.blockNumber)
    const to = undecided.length === 0 ? comparison.to : undecided[0]!.blockNumber - 1
    return {
      to,
      found: new Map([...found].filter(([, { blockNumber }]) => blockNumber <= to)),
      removed: misplaced.filter(({ blockNumber }, index) => places[index] === 'nowhere' && blockNumber <= to),
      open: [...undecided, ...open],
      wrong,
    }
  }

  /** Reports open contradictions: the number at every step, the first one once. */
  #report(open: readonly StoredLog[]): void {
    const { onProblem, onContradictions } = this.#parts
    onContradictions(open.length)
    const [first] = open
    const reported = first && logKey(first)
    if (first !== undefined && reported !== this.#reported) {
      const { kind, uid, blockNumber } = first
      onProblem(
        `the endpoints contradict each other about ${open.length} logs (the first: ${kind} ${uid} in block ${blockNumber}), and ` +
          `no more than half of them say the same. The records stay as they are, and the audit waits at block ${blockNumber}`,
      )
    }
    this.#reported = reported
  }

  /** Makes the stored logs equal to those that a comparison found. Returns the number of missed logs. */
  async #settle({ to, found, removed }: Comparison, from: number): Promise<number> {
    const { rpcs, gatherer, position, onProblem } = this.#parts
    if (removed.length > 0) {
      // Removes only these logs: the endpoint that reads the blocks again may be the one that lied, and could omit other logs.
      await position.commit({ removed })
      onProblem(`${removed.length} logs of blocks ${from} to ${to} are not on the chain and were removed`)
    }
    const known = new Set((await this.#readStored(from, to)).map(logKey))
    const missing = [...found.values()].filter((log) => !known.has(logKey(log)))
    const gathered = missing.length === 0 ? NOTHING : await rpcs.use((rpc) => gatherer.gather(rpc, missing, true))
    const { inserted, revoked } = await position.commit({
      ...gathered,
      areAgreed: true,
      progress: { auditedTo: to },
    })
    // The revocation of an attestation from before the start block changes nothing, so its log does not count as omitted.
    if (inserted + revoked + gathered.quarantine.length > 0)
      onProblem(`${missing.length} logs of blocks ${from} to ${to} had been omitted by an endpoint and are stored now`)
    return missing.length
  }

  #readStored(from: number, to: number): Promise<readonly StoredLog[]> {
    const { store, chainId } = this.#parts
    return store.storedLogs({ chainId, from, to })
  }
}

/** Finds the endpoints that omitted logs or invented some. */
function findWrong(
  views: readonly View[],
  real: readonly EasLog[],
  invented: readonly EasLog[],
  place: string,
): Comparison['wrong'] {
  return views.flatMap(({ index, logs }) => {
    const omittedCount = real.filter((log) => !logs.has(logKey(log))).length
    const inventedCount = invented.filter((log) => logs.has(logKey(log))).length
    const faults = [
      ...(omittedCount > 0 ? [`omitted ${omittedCount} logs`] : []),
      ...(inventedCount > 0 ? [`invented ${inventedCount} logs`] : []),
    ]
    return faults.length > 0 ? [{ index, reason: `it ${faults.join(' and ')} ${place}` }] : []
  })
}
