/** Location records as they cross the border of the store's thread: plain data. */
import type { MessagePort } from 'node:worker_threads'
import type { Hex } from './messages.ts'
import type { SubmissionOperations } from './relay-messages.ts'
import type { RangeNotes, SyncOperations } from './sync-messages.ts'

/**
 * Degrees: west in −180..180, south, east, north. East is never below west: it goes past 180 where the geometry crosses
 * the antimeridian.
 */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

/** A location attestation as read from its chain and decoded. Hex is lower case. */
export interface LocationRecord {
  readonly uid: Hex
  readonly chainId: number
  /** Name of the chain on the wire. */
  readonly chain: string
  /** Who attested. */
  readonly prover: Hex
  /** The recipient. */
  readonly subject: Hex
  /** Seconds since the epoch of the block. */
  readonly timeSeconds: number
  readonly eventTimeSeconds: number
  readonly srs: string
  readonly locationType: string
  /** GeoJSON geometry as text. */
  readonly location: string
  /** Of points alone (decision 61). */
  readonly longitude: number | null
  readonly latitude: number | null
  readonly bounds: Bounds
  readonly recipeTypes: readonly string[]
  /** Base64 (decision 63). */
  readonly recipePayloads: readonly string[]
  readonly mediaTypes: readonly string[]
  readonly mediaData: readonly string[]
  readonly memo: string | null
  readonly blockNumber: number
}

/** A record whose attestation was revoked, by the block that says so. */
export interface Revocation {
  readonly uid: Hex
  readonly blockNumber: number
}

/** The last block of a chain whose records are stored. */
export interface Checkpoint {
  readonly blockNumber: number
  readonly blockHash: Hex
}

/** What one range of blocks of one chain says. Stored whole or not at all. */
export interface BlockRange extends RangeNotes {
  readonly chainId: number
  /** Every record of this block or an earlier one stays; later ones go first. Set after a reorg. */
  readonly rollBackTo?: number
  readonly records: readonly LocationRecord[]
  readonly revocations: readonly Revocation[]
  /**
   * Set: the range is refused unless the stored checkpoint has the hash `from`; null expects none. Without `to` there is none
   * afterwards.
   */
  readonly checkpoint?: { readonly from: Hex | null; readonly to: Checkpoint | null }
}

export interface AppliedRange {
  /** False when the stored checkpoint was another one: nothing was changed. */
  readonly ok: boolean
  /** Records that were not there before; one that comes again changes nothing. */
  readonly inserted: number
  readonly revoked: number
  readonly rolledBack: number
}

/** A place in the order of the list; a page continues behind it. */
export interface RecordKey {
  readonly timeSeconds: number
  readonly uid: Hex
  readonly chainId: number
}

/** Checked parameters of a list. */
export interface RecordQuery {
  readonly chainId?: number
  readonly prover?: Hex
  readonly subject?: Hex
  /** Seconds of the event, inclusive. */
  readonly fromSeconds?: number
  readonly toSeconds?: number
  /** East below west crosses the antimeridian. */
  readonly bbox?: Bounds
  readonly limit: number
  /** Ignored with `after`. */
  readonly offset: number
  readonly after?: RecordKey
}

export interface RecordPage {
  /** Records as JSON texts, joined with commas. */
  readonly documents: string
  readonly length: number
  /** Matching records, whatever page of them was asked for. */
  readonly count: number
  /** False when counting would have taken too long and `count` is the planner's guess. */
  readonly isCountExact: boolean
}

/** How much of a list or of the journal is read at once. */
export interface ReadSize {
  readonly records: number
  /** Of the texts; one record is given whatever its size. */
  readonly bytes: number
}

/** A piece of a list, for those who want all of it. */
export interface RecordSlice {
  /** Records as JSON texts, joined with commas. */
  readonly documents: string
  readonly length: number
  /** Where the next piece begins; undefined at the end. A piece may be empty and not the last. */
  readonly next: RecordKey | undefined
}

export type ChangeKind = 'new' | 'revoked' | 'restored' | 'rolled-back'

/** A place in the journal of changes, behind what stands there. */
export interface ChangePlace {
  /** Which journal: another database has another one. */
  readonly epoch: string
  readonly number: number
  readonly position: number
}

export interface RecordChange {
  readonly kind: ChangeKind
  readonly number: number
  readonly position: number
  /** The record as it is now, as JSON text; of one that is gone the members `uid`, `chain`, `prover`, `subject`. */
  readonly document: string
}

export interface RecordChanges {
  readonly changes: readonly RecordChange[]
  /** Where to go on. */
  readonly next: ChangePlace
  /** True when there was nothing more. */
  readonly isEnd: boolean
  /** True when the place that was asked for is not in this journal, or not any more: `next` is its end. */
  readonly isLost: boolean
}

/** With the documents as UTF-8 in a buffer of their own: 16 MB are encoded where nobody waits for it, and given away. */
export type EncodedPage = Omit<RecordPage, 'documents'> & { readonly documents: Uint8Array }

export interface RecordStats {
  readonly byChain: readonly { readonly chainId: number; readonly records: number; readonly revoked: number }[]
  /** Records of the last 24 hours, 7 and 30 days. */
  readonly recent: readonly [number, number, number]
}

/** What the store is asked, by name: argument and result. */
export interface StoreOperations extends SubmissionOperations, SyncOperations {
  page: { argument: RecordQuery; result: RecordPage }
  /** The same for whoever keeps pages: one with the mark that it already has is not sent again. */
  newPage: {
    argument: { readonly query: RecordQuery; readonly mark: string | undefined }
    result: { readonly mark: string; readonly page: EncodedPage | undefined }
  }
  /** The next records of a list by its own order, without counting; bounded work whatever the filter is. */
  slice: { argument: { readonly query: RecordQuery; readonly size: ReadSize }; result: RecordSlice }
  /** What changed behind a place in the journal; without one, where its end is. */
  changes: { argument: { readonly after: ChangePlace | undefined; readonly size: ReadSize }; result: RecordChanges }
  /** The record as JSON text; undefined when there is none. */
  record: { argument: Hex; result: string | undefined }
  stats: { argument: { readonly nowSeconds: number }; result: RecordStats }
  checkpoint: { argument: { readonly chainId: number }; result: Checkpoint | undefined }
  apply: { argument: BlockRange; result: AppliedRange }
  /** Whether the database answers. */
  ping: { argument: undefined; result: undefined }
  /** Vacuum and statistics, where the engine does not do it by itself, and marks for deep pages. */
  maintain: { argument: undefined; result: undefined }
}

export type StoreOperation = keyof StoreOperations
export type StoreArgument<O extends StoreOperation> = StoreOperations[O]['argument']
export type StoreResult<O extends StoreOperation> = StoreOperations[O]['result']

/** The records, asked directly or over a thread border. Every call may reject with a `StoreFault`. */
export type RecordStore = {
  readonly [O in StoreOperation]: (argument: StoreArgument<O>) => Promise<StoreResult<O>>
}

/**
 * Why the store gave no answer. `unavailable`: it is not there; `busy`: its queue is full or every connection is
 * in use; `opening`: it was still opening when the wait for it
 * ended; `damaged`: its files cannot be read; `late`: it took too long; `refused`: the database does not take what it was given;
 * `large`: the answer would be too long; `failed`: a mistake of ours.
 */
export type StoreFaultKind = 'unavailable' | 'busy' | 'opening' | 'damaged' | 'late' | 'refused' | 'large' | 'failed'

export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  readonly kind: StoreFaultKind

  constructor(kind: StoreFaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.kind = kind
  }
}

export type StoreEngine = 'embedded' | 'postgres'

/** To the store's thread, from main or over a line of its own. */
export type StoreRequest =
  | { readonly type: 'call'; readonly id: number; readonly operation: StoreOperation; readonly argument: unknown }
  /** Another thread's line. */
  | { readonly type: 'connect'; readonly port: MessagePort }
  /** Ends the thread in order. */
  | { readonly type: 'close' }

export type StoreReply =
  | { readonly type: 'open'; readonly engine: StoreEngine; readonly version: string }
  /** It did not open; the thread ends. */
  | { readonly type: 'refused'; readonly reason: string; readonly isDamaged: boolean }
  | { readonly type: 'answer'; readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly type: 'answer'
      readonly id: number
      readonly ok: false
      readonly kind: StoreFaultKind
      readonly reason: string
    }
  /** A connection to the database broke while nobody used it. */
  | { readonly type: 'lost'; readonly reason: string }
  /** Whether the thread works for somebody else than main: main's clock for its own call waits meanwhile. */
  | { readonly type: 'busy'; readonly isBusy: boolean }
