import type { LocationRecord, Revocation } from '../wire/store-messages.ts'
import type { Quarantined, QuarantineStage } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { SyncStore } from './chain-position.ts'
import { type ChainReader, type EasLog, MAX_BLOCKS_PER_SECOND } from './chain-reader.ts'
import type { AttestationReader, ReadAttestation } from './eas-attestations.ts'
import { DECODER_VERSION, toLocationRecord } from './location-record.ts'
import type { LogWitnesses } from './log-witnesses.ts'
import { type RpcClient, RpcError } from './rpc.ts'

export interface GatherParts {
  readonly chainId: number
  readonly chain: string
  readonly startBlock: number
  readonly maxDataBytes: number
  /** Failed reads of an attestation before it is quarantined: at least one per endpoint. */
  readonly maxFailedReads: number
  readonly reader: ChainReader
  readonly attestations: AttestationReader
  readonly witnesses: LogWitnesses
  readonly store: Pick<SyncStore, 'known'>
  readonly nowSeconds: () => number
  readonly onProblem: (message: string) => void
}

/** The changes that logs result in. */
export interface GatheredChanges {
  readonly records: LocationRecord[]
  readonly revocations: Revocation[]
  readonly quarantine: Quarantined[]
}

/** Wait before the first retry of a quarantined attestation; it doubles up to a day. */
const FIRST_RETRY_SECONDS = 5
const LONGEST_RETRY_SECONDS = 86_400

/** Turns logs into records. */
export class Gatherer {
  readonly #parts: GatherParts
  readonly #attestations: AttestationReader
  readonly #onProblem: (message: string) => void
  /** The number of failed reads by UID; for revocations, by `revoked` and the UID. */
  readonly #failedReads = new Map<string, number>()

  constructor(parts: GatherParts) {
    this.#parts = parts
    this.#attestations = parts.attestations
    this.#onProblem = parts.onProblem
  }

  /**
   * Reads the attestations of logs.
   *
   * @param areAgreed whether more than half of the endpoints have these logs. Otherwise a revocation counts only if the contract
   *   confirms it.
   * @throws {RpcError} when the endpoint does not respond or its response cannot be true; another endpoint may do better
   */
  async gather(rpc: RpcClient, logs: readonly EasLog[], areAgreed = false): Promise<GatheredChanges> {
    const blocks = new Map<Hex, number>()
    const revocations = new Map<Hex, Revocation>()
    for (const { kind, uid, blockNumber } of logs) {
      if (kind === 'attested' && !blocks.has(uid)) blocks.set(uid, blockNumber)
      if (kind === 'revoked' && !revocations.has(uid)) revocations.set(uid, { uid, blockNumber })
    }
    const missed = await this.#findMissed(rpc, [...revocations.values()], blocks)
    for (const [uid, blockNumber] of missed) blocks.set(uid, blockNumber)
    if (!areAgreed) await this.#dropUnconfirmed(rpc, revocations)
    const gathered: GatheredChanges = { records: [], revocations: [...revocations.values()], quarantine: [] }
    for (const read of await this.#attestations.read(rpc, [...blocks.keys()]))
      this.#classify(read, blocks.get(read.uid)!, 0, gathered)
    return gathered
  }

  /** Reads quarantined attestations again. Those that still cannot be records are quarantined again. */
  async retry(
    rpc: RpcClient,
    quarantined: readonly { uid: Hex; blockNumber: number; attempts: number; revokedBlock: number | null }[],
  ): Promise<GatheredChanges & { readonly released: readonly Hex[] }> {
    const gathered: GatheredChanges = { records: [], revocations: [], quarantine: [] }
    const reads = await this.#attestations.read(
      rpc,
      quarantined.map(({ uid }) => uid),
    )
    for (const [index, read] of reads.entries()) {
      const { uid, blockNumber, attempts, revokedBlock } = quarantined[index]!
      this.#failedReads.set(uid, this.#parts.maxFailedReads) // it was read often enough before it was quarantined
      this.#classify(read, blockNumber, attempts, gathered)
      if (revokedBlock !== null) gathered.revocations.push({ uid, blockNumber: revokedBlock })
    }
    const released = gathered.records.map(({ uid }) => uid)
    return { ...gathered, released }
  }

  /** Adds an attestation to the records or to the quarantine. Throws {RpcError} while another endpoint should be tried. */
  #classify(read: ReadAttestation, blockNumber: number, attempts: number, gathered: GatheredChanges): void {
    const { uid } = read
    const { chainId, chain, maxDataBytes, nowSeconds } = this.#parts
    const addQuarantined = (stage: QuarantineStage, reason: string, retryAtSeconds: number | null) =>
      gathered.quarantine.push({ uid, blockNumber, stage, reason, retryAtSeconds, decoder: DECODER_VERSION })
    if (read.state === 'ok') {
      this.#failedReads.delete(uid)
      const converted = toLocationRecord(read, { chainId, chain, blockNumber, maxDataBytes })
      if (converted.ok) gathered.records.push(converted.record)
      else addQuarantined(converted.stage, converted.reason, null)
    } else if (read.state === 'too-large') {
      addQuarantined('size', 'is larger than the limit of RPC responses', null)
    } else {
      const reason =
        read.state === 'missing' ? 'the chain has a log of it but no attestation' : 'its fields do not match its UID'
      this.#countFailure(uid, `attestation ${uid}: ${reason}`)
      if (attempts === 0) this.#onProblem(`attestation ${uid} is quarantined: ${reason}`)
      const waitSeconds = Math.min(FIRST_RETRY_SECONDS * 2 ** attempts, LONGEST_RETRY_SECONDS)
      addQuarantined(read.state === 'missing' ? 'missing' : 'uid', reason, nowSeconds() + waitSeconds)
    }
  }

  /** Drops revocations that have a log but that the contract does not confirm. */
  async #dropUnconfirmed(rpc: RpcClient, revocations: Map<Hex, Revocation>): Promise<void> {
    for (const read of await this.#attestations.read(rpc, [...revocations.keys()])) {
      if (read.state !== 'ok' || read.revokedSeconds > 0) continue
      const { uid } = read
      this.#countFailure(`revoked ${uid}`, `attestation ${uid}: there is a log of its revocation but it is not revoked`)
      this.#onProblem(`a log of the revocation of ${uid} is ignored: the contract does not confirm it`)
      revocations.delete(uid)
    }
  }

  /** Counts a failed read. Throws {RpcError} unless so many reads failed that no endpoint is likely to do better. */
  #countFailure(key: string, message: string): void {
    const failures = (this.#failedReads.get(key) ?? 0) + 1
    this.#failedReads.set(key, failures)
    if (failures < this.#parts.maxFailedReads) throw new RpcError(message)
    this.#failedReads.delete(key)
  }

  /** Finds revoked attestations that we have never seen, with their blocks. */
  async #findMissed(
    rpc: RpcClient,
    revocations: readonly Revocation[],
    known: ReadonlyMap<Hex, number>,
  ): Promise<Map<Hex, number>> {
    const missed = new Map<Hex, number>()
    const candidates = revocations.filter(({ uid }) => !known.has(uid))
    if (candidates.length === 0) return missed
    const { chainId, store } = this.#parts
    const stored = new Set(await store.known({ chainId, uids: candidates.map(({ uid }) => uid) }))
    for (const { uid, blockNumber } of candidates) {
      if (stored.has(uid)) continue
      const [read] = await this.#attestations.read(rpc, [uid])
      if (read?.state !== 'ok') continue
      const { reader, startBlock } = this.#parts
      const log = await findLogAt(rpc, reader, { kind: 'attested', uid }, read.timeSeconds, startBlock, blockNumber)
      // The audit does not come back to old blocks, so one endpoint is not enough.
      if (log === undefined || (await this.#parts.witnesses.judge([log]))[0] !== 'true') continue
      this.#onProblem(
        `attestation ${uid} of block ${log.blockNumber} had been missed and is stored with its revocation`,
      )
      missed.set(uid, log.blockNumber)
    }
    return missed
  }
}

/** Finds a log by its time. Returns undefined when no block from `first` to `last` has it. */
export async function findLogAt(
  rpc: RpcClient,
  reader: ChainReader,
  wanted: Pick<EasLog, 'kind' | 'uid'>,
  timeSeconds: number,
  first: number,
  last: number,
): Promise<EasLog | undefined> {
  const start = await findFirstBlockAt(rpc, reader, timeSeconds, first, last)
  if (start === undefined) return undefined
  const { logs } = await reader.range(rpc, start, Math.min(start + MAX_BLOCKS_PER_SECOND - 1, last), [])
  return logs.find(({ kind, uid }) => kind === wanted.kind && uid === wanted.uid)
}

/**
 * Finds the first block of a chain with exactly this time, by binary search.
 *
 * @returns undefined when no block from `first` to `last` has this time
 */
async function findFirstBlockAt(
  rpc: RpcClient,
  reader: ChainReader,
  timeSeconds: number,
  first: number,
  last: number,
): Promise<number | undefined> {
  let [low, high] = [first, last]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [block] = await reader.blocks(rpc, [middle])
    if (block === undefined) throw new RpcError(`an endpoint does not have block ${middle}`)
    if (block.timeSeconds < timeSeconds) low = middle + 1
    else high = middle
  }
  const [block] = await reader.blocks(rpc, [low])
  return block?.timeSeconds === timeSeconds ? low : undefined
}
