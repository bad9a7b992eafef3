import type { Hex } from '../wire/values.ts'
import type { ChainPosition, SyncStore } from './chain-position.ts'
import { type ChainReader, type EasLog, logKey, takeWholeBlocks } from './chain-reader.ts'
import type { GatheredChanges, Gatherer } from './gather.ts'
import type { LogWitnesses, Verdict } from './log-witnesses.ts'
import { RangeSize } from './range-size.ts'
import { RpcError } from './rpc.ts'
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
}

/** An endpoint that can be audited, with its last final block. */
interface Candidate {
  readonly index: number
  readonly finalized: number
}

/** The logs that an endpoint has of a range. */
interface EndpointLogs {
  readonly index: number
  readonly logs: ReadonlyMap<string, EasLog>
}

/** Logs that one endpoint claims and another denies, with their verdicts. */
interface Judged {
  readonly claimant: number
  readonly denier: number
  readonly logs: readonly EasLog[]
  readonly verdicts: readonly Verdict[]
}

/** What two endpoints say about a range together. */
interface Comparison {
  readonly to: number
  /** Logs on the chain. */
  readonly found: ReadonlyMap<string, EasLog>
  /** Logs that one endpoint has and the other does not, while nothing proves who is right. */
  readonly open: ReadonlyMap<string, EasLog>
}

const NOTHING: GatheredChanges = { records: [], revocations: [], quarantine: [] }
const NOTHING_STORED = { inserted: 0, revoked: 0 }
/** The most contradictions that are examined in one step; exceeded only when a single block has more. */
const MAX_CONTRADICTIONS = 50
/** After this many comparisons of a range with the same open contradictions the audit goes on. */
export const MAX_COMPARISONS = 10

/** Compares the stored logs with those of two endpoints. */
export class Audit {
  readonly #parts: AuditParts
  readonly #size: RangeSize
  /** How often the range with open contradictions that begins at a block was compared. */
  #repeated = { from: -1, times: 0 }
  /** Whether the last range was left with open contradictions. The next one is then compared only once. */
  #hasGivenUp = false

  constructor(parts: AuditParts) {
    this.#parts = parts
    this.#size = new RangeSize(parts.maxRangeBlocks)
  }

  /**
   * Reads the next range of final blocks from two different endpoints. Stores logs that are on the chain and that we do not have,
   * and removes logs of ours that are not on it.
   *
   * Only a second endpoint can reveal that the first omits or invents logs. At least one of the two has to be honest. Where they
   * contradict each other, see `LogWitnesses`. If nothing proves who is right, nothing changes, and the range is compared again.
   *
   * @returns the number of missed logs; undefined when there is nothing to compare now, or only one endpoint
   * @throws {RpcError} when fewer than two endpoints respond; {StoreFault | CheckpointMoved}
   */
  async step(): Promise<number | undefined> {
    const { startBlock, rpcs, position } = this.#parts
    if (rpcs.size < 2) return undefined
    const { checkpoint, auditedTo, finalized } = await position.load()
    const from = Math.max(auditedTo + 1, startBlock)
    const lastAuditable = Math.min(finalized, checkpoint?.number ?? -1)
    if (from > lastAuditable) return undefined
    const wanted = Math.min(from + this.#size.blocks - 1, lastAuditable)
    const [first, second] = await this.#choose(wanted)
    // An endpoint may be behind, or lie about its head. Neither is a reason to suspend one.
    const to = Math.min(wanted, first.finalized, second.finalized)
    if (from > to) return undefined
    const a = await this.#read(first.index, from, to)
    const b = a && (await this.#read(second.index, from, to))
    if (a === undefined || b === undefined) return 0
    const compared = await this.#compare(a, b, from, to)
    return this.#settle(compared, from, [a.index, b.index])
  }

  /** Chooses two endpoints. Prefers those that have the range as final, in the order of the list. */
  async #choose(to: number): Promise<[Candidate, Candidate]> {
    const { rpcs, reader } = this.#parts
    const candidates: Candidate[] = []
    while (candidates.length < rpcs.size && candidates.filter(({ finalized }) => finalized >= to).length < 2) {
      try {
        const asked = new Set(candidates.map(({ index }) => index))
        const candidate = await rpcs.use(async (rpc) => {
          const { finalized } = await reader.heads(rpc)
          return { index: rpc.index, finalized: Math.min(finalized, to) }
        }, asked)
        candidates.push(candidate)
      } catch (error) {
        if (!(error instanceof RpcError) || candidates.length < 2) throw error
        break
      }
    }
    const [first, second] = candidates.sort((left, right) => right.finalized - left.finalized)
    return [first!, second!]
  }

  /** Reads the logs of a range from one endpoint. Returns undefined when the range is too wide; the next one is narrower. */
  #read(index: number, from: number, to: number): Promise<EndpointLogs | undefined> {
    const { rpcs, reader } = this.#parts
    return rpcs.useOnly(index, async (rpc) => {
      try {
        const { logs, blocks } = await reader.range(rpc, from, to, [to])
        // A node behind this address that lags returns fewer logs without an error.
        if (blocks[0] === undefined) throw new RpcError(`an endpoint does not have block ${to}, which was final`)
        return { index, logs: new Map(logs.map((log) => [logKey(log), log])) }
      } catch (error) {
        if (error instanceof RpcError && this.#size.shrink(from, to - from + 1, error)) return undefined
        throw error
      }
    })
  }

  /** Compares the logs of two endpoints. */
  async #compare(a: EndpointLogs, b: EndpointLogs, from: number, wantedTo: number): Promise<Comparison> {
    this.#size.grow(wantedTo - from + 1, Math.max(a.logs.size, b.logs.size))
    const differing = [...listOnly(a, b), ...listOnly(b, a)].sort((left, right) => left.blockNumber - right.blockNumber)
    const examined = takeWholeBlocks(differing, MAX_CONTRADICTIONS)
    const to = examined.length < differing.length ? examined.at(-1)!.blockNumber : wantedTo
    const agreed = [...a.logs].filter(([key, { blockNumber }]) => b.logs.has(key) && blockNumber <= to)
    const comparison = { to, found: new Map(agreed), open: new Map<string, EasLog>() }
    const claims = [
      { claimant: a, denier: b },
      { claimant: b, denier: a },
    ].map((pair) => ({ ...pair, logs: examined.filter((log) => pair.claimant.logs.has(logKey(log))) }))
    const judged: Judged[] = []
    for (const { claimant, denier, logs } of claims) {
      const verdicts = logs.length === 0 ? [] : await this.#parts.witnesses.judge(claimant.index, logs)
      judged.push({ claimant: claimant.index, denier: denier.index, logs, verdicts })
    }
    // Only now, because both endpoints are witnesses.
    for (const part of judged) this.#conclude(part, `of blocks ${from} to ${to}`, comparison)
    return comparison
  }

  /** Adds logs that were judged to a comparison, and suspends the endpoint that is proven wrong. */
  #conclude(
    { claimant, denier, logs, verdicts }: Judged,
    place: string,
    { found, open }: { readonly found: Map<string, EasLog>; readonly open: Map<string, EasLog> },
  ): void {
    const { rpcs } = this.#parts
    for (const [index, log] of logs.entries()) {
      if (verdicts[index] === 'true') found.set(logKey(log), log)
      if (verdicts[index] === 'open') open.set(logKey(log), log)
    }
    const omitted = verdicts.filter((verdict) => verdict === 'true').length
    const invented = verdicts.filter((verdict) => verdict === 'false').length
    if (omitted > 0) rpcs.suspend(denier, `it omitted ${omitted} logs ${place}`)
    if (invented > 0) rpcs.suspend(claimant, `it invented ${invented} logs ${place}`)
  }

  /** Stores what a comparison found. */
  async #settle(
    { to, found, open }: Comparison,
    from: number,
    endpoints: readonly [number, number],
  ): Promise<number | undefined> {
    const { rpcs, gatherer, position, onProblem } = this.#parts
    let stored = await this.#readStored(from, to)
    const findDenied = () => [...stored].filter((key) => !found.has(key) && !open.has(key))
    if (findDenied().length > 0) {
      // Attestations that are not on the chain leave the quarantine.
      const released = findDenied()
        .filter((key) => key.startsWith('attested'))
        .map((key) => key.split(' ')[1] as Hex)
      await position.commit({ released })
      stored = await this.#readStored(from, to)
      const count = findDenied().length
      if (count > 0) return this.#rollBack(from, `${count} of our logs of blocks ${from} to ${to} are not on the chain`)
    }
    const missing = [...found.values()].filter((log) => !stored.has(logKey(log)))
    const mustRepeat = this.#countRepeat(from, to, [...open.values()], endpoints)
    const gathered = missing.length === 0 ? NOTHING : await rpcs.use((rpc) => gatherer.gather(rpc, missing))
    const { inserted, revoked } =
      mustRepeat && missing.length === 0
        ? NOTHING_STORED
        : await position.commit({ ...gathered, ...(mustRepeat ? {} : { progress: { auditedTo: to } }) })
    // A revocation of an attestation that is older than the start block is no record, so nothing had been omitted.
    if (inserted + revoked + gathered.quarantine.length > 0)
      onProblem(`${missing.length} logs of blocks ${from} to ${to} had been omitted by an endpoint and are stored now`)
    return mustRepeat ? undefined : missing.length
  }

  /** Reports open contradictions of a range, and tells whether to compare it again. */
  #countRepeat(from: number, to: number, open: readonly EasLog[], [a, b]: readonly [number, number]): boolean {
    const [first] = open
    if (first === undefined) {
      this.#hasGivenUp = false
      return false
    }
    const times = this.#repeated.from === from ? this.#repeated.times + 1 : 1
    this.#repeated = { from, times }
    const mustRepeat = times < MAX_COMPARISONS && !this.#hasGivenUp
    this.#hasGivenUp = !mustRepeat
    const { kind, uid, blockNumber } = first
    if (times === 1 || !mustRepeat)
      this.#parts.onProblem(
        `RPC ${a} and RPC ${b} contradict each other about ${open.length} logs of blocks ${from} to ${to} (the first: ${kind} ` +
          `${uid} in block ${blockNumber}), and nothing proves who is right. Our records of them stay as they are, and ` +
          (mustRepeat ? 'the blocks are compared again' : 'the audit goes on'),
      )
    return mustRepeat
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

/** Returns the logs that the first endpoint has and the second does not. */
function listOnly({ logs }: EndpointLogs, other: EndpointLogs): EasLog[] {
  return [...logs].filter(([key]) => !other.logs.has(key)).map(([, log]) => log)
}
