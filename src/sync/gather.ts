import type { Hex } from '../messages.ts'
import type { LocationRecord, Revocation } from '../store-messages.ts'
import type { Quarantined, QuarantineStage } from '../sync-messages.ts'
import type { SyncStore } from './chain-position.ts'
import type { ChainReader } from './chain-reader.ts'
import type { AttestationReader, ReadAttestation } from './eas-attestations.ts'
import type { EasLog } from './eas-logs.ts'
import { DECODER_VERSION, recordOf } from './location-record.ts'
import { type RpcClient, RpcError } from './rpc.ts'

export interface GatherParts {
  readonly chainId: number
  readonly chain: string
  readonly startBlock: number
  readonly maxDataBytes: number
  /** Times an attestation is asked for in vain before it is set aside: one for each endpoint at least. */
  readonly patience: number
  readonly reader: ChainReader
  readonly attestations: AttestationReader
  readonly store: Pick<SyncStore, 'known'>
  readonly nowSeconds: () => number
  readonly onProblem: (message: string) => void
}

/** What logs come to. */
export interface Gathered {
  readonly records: LocationRecord[]
  readonly revocations: Revocation[]
  readonly quarantine: Quarantined[]
}

/** Makes records of logs. */
export interface Gatherer {
  /**
   * @throws {RpcError} when the endpoint does not answer, or answers what cannot be: the next one may do better
   */
  gather(rpc: RpcClient, logs: readonly EasLog[]): Promise<Gathered>
  /** The same for attestations that were set aside; those that still cannot be records are set aside again. */
  retry(
    rpc: RpcClient,
    kept: readonly { uid: Hex; blockNumber: number; attempts: number; revokedBlock: number | null }[],
  ): Promise<Gathered & { readonly released: readonly Hex[] }>
}

/** First wait before an attestation that was set aside is asked for again; it doubles up to a day. */
const FIRST_RETRY_SECONDS = 5
const LONGEST_RETRY_SECONDS = 86_400
/** Blocks that may share one second, on the fastest chain there is. */
export const BLOCKS_OF_A_SECOND = 32

export function createGatherer(parts: GatherParts): Gatherer {
  const { chainId, chain, startBlock, maxDataBytes, patience, reader, attestations, store, nowSeconds, onProblem } =
    parts
  /** How often attestations were asked for in vain. */
  const vain = new Map<string, number>()

  return {
    async gather(rpc, logs) {
      const blocks = new Map<Hex, number>()
      for (const { kind, uid, blockNumber } of logs) {
        if (kind === 'attested' && !blocks.has(uid)) blocks.set(uid, blockNumber)
      }
      const revocations = new Map<Hex, Revocation>()
      for (const { kind, uid, blockNumber } of logs) {
        if (kind === 'revoked' && !revocations.has(uid)) revocations.set(uid, { uid, blockNumber })
      }
      for (const [uid, blockNumber] of await missed(rpc, [...revocations.values()], blocks))
        blocks.set(uid, blockNumber)
      await dropUntold(rpc, revocations)
      const gathered: Gathered = { records: [], revocations: [...revocations.values()], quarantine: [] }
      for (const read of await attestations.read(rpc, [...blocks.keys()]))
        sort(read, blocks.get(read.uid)!, 0, gathered)
      return gathered
    },

    async retry(rpc, kept) {
      const gathered: Gathered = { records: [], revocations: [], quarantine: [] }
      const reads = await attestations.read(
        rpc,
        kept.map(({ uid }) => uid),
      )
      for (const [index, read] of reads.entries()) {
        const { uid, blockNumber, attempts, revokedBlock } = kept[index]!
        vain.set(uid, patience) // it was asked for often enough before it was set aside
        sort(read, blockNumber, attempts, gathered)
        if (revokedBlock !== null) gathered.revocations.push({ uid, blockNumber: revokedBlock })
      }
      const released = gathered.records.map(({ uid }) => uid)
      return { ...gathered, released }
    },
  }

  /** An attestation becomes a record, or is set aside, or was not worth an answer. */
  function sort(read: ReadAttestation, blockNumber: number, attempts: number, into: Gathered): void {
    const { uid } = read
    const setAside = (stage: QuarantineStage, reason: string, retryAtSeconds: number | null) =>
      into.quarantine.push({ uid, blockNumber, stage, reason, retryAtSeconds, decoder: DECODER_VERSION })
    if (read.state === 'ok') {
      vain.delete(uid)
      const converted = recordOf(read, { chainId, chain, blockNumber, maxDataBytes })
      if (converted.ok) into.records.push(converted.record)
      else setAside(converted.stage, converted.reason, null)
    } else if (read.state === 'too-large') {
      setAside('size', 'is larger than any answer that is read', null)
    } else {
      const reason =
        read.state === 'missing'
          ? 'the chain has a log of it and no attestation'
          : 'its fields are not those of its UID'
      const times = (vain.get(uid) ?? 0) + 1
      vain.set(uid, times)
      if (times < patience) throw new RpcError(`attestation ${uid}: ${reason}`)
      vain.delete(uid)
      if (attempts === 0) onProblem(`attestation ${uid} is set aside: ${reason}`)
      const waitSeconds = Math.min(FIRST_RETRY_SECONDS * 2 ** attempts, LONGEST_RETRY_SECONDS)
      setAside(read.state === 'missing' ? 'missing' : 'uid', reason, nowSeconds() + waitSeconds)
    }
  }

  /** A log of a revocation that the contract knows nothing of is not believed. */
  async function dropUntold(rpc: RpcClient, revocations: Map<Hex, Revocation>): Promise<void> {
    for (const read of await attestations.read(rpc, [...revocations.keys()])) {
      if (read.state !== 'ok' || read.revokedSeconds > 0) continue
      const key = `revoked ${read.uid}`
      const times = (vain.get(key) ?? 0) + 1
      vain.set(key, times)
      if (times < patience)
        throw new RpcError(`attestation ${read.uid}: has a log of its revocation and is not revoked`)
      vain.delete(key)
      onProblem(`a log of the revocation of ${read.uid} is not believed: the contract knows nothing of it`)
      revocations.delete(read.uid)
    }
  }

  /** Attestations that were revoked and that we never heard of, with their blocks. */
  async function missed(
    rpc: RpcClient,
    revocations: readonly Revocation[],
    known: ReadonlyMap<Hex, number>,
  ): Promise<Map<Hex, number>> {
    const found = new Map<Hex, number>()
    const candidates = revocations.filter(({ uid }) => !known.has(uid))
    if (candidates.length === 0) return found
    const kept = new Set(await store.known({ chainId, uids: candidates.map(({ uid }) => uid) }))
    for (const { uid, blockNumber } of candidates) {
      if (kept.has(uid)) continue
      const [read] = await attestations.read(rpc, [uid])
      if (read?.state !== 'ok') continue
      const block = await blockOf(rpc, uid, read.timeSeconds, blockNumber)
      if (block === undefined) continue
      onProblem(`attestation ${uid} of block ${block} was missed and comes in with its revocation`)
      found.set(uid, block)
    }
    return found
  }

  /** The block of an attestation by its time; undefined when it is before the first block that is read. */
  async function blockOf(rpc: RpcClient, uid: Hex, timeSeconds: number, last: number): Promise<number | undefined> {
    const first = await firstBlockAt(rpc, reader, timeSeconds, startBlock, last)
    if (first === undefined) return undefined
    const end = Math.min(first + BLOCKS_OF_A_SECOND - 1, last)
    const { logs } = await reader.range(rpc, first, end, [])
    return logs.find((log) => log.kind === 'attested' && log.uid === uid)?.blockNumber
  }
}

/**
 * The first block of a chain whose time is at least this.
 *
 * @returns undefined when there is none from `first` to `last`, or when the first one is later already
 */
export async function firstBlockAt(
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
