/** Messages between threads about location records. They are plain data. */
import type { MessagePort } from 'node:worker_threads'
import type { AccountOperations } from './account-messages.ts'
import type { JobOperations } from './job-messages.ts'
import type { KeyOperations } from './key-messages.ts'
import type { SubmissionOperations } from './relay-messages.ts'
import type { Answer, Call, RequestFailure } from './request-port.ts'
import type { SetOperations } from './set-messages.ts'
import type { StoredOperations } from './stored-messages.ts'
import type { RangeNotes, SyncOperations } from './sync-messages.ts'
import type { UsageOperations } from './usage-messages.ts'
import type { Hex } from './values.ts'

/**
 * Bounding box in degrees. West is in −180..180. East is never below west: it exceeds 180 where the geometry crosses the
 * antimeridian.
 */
export type Bounds = readonly [west: number, south: number, east: number, north: number]

/** The geometry types of each family, as a layer of a GIS shows them together. A collection of geometries belongs to none. */
export const GEOMETRY_FAMILIES = {
  points: ['Point', 'MultiPoint'],
  lines: ['LineString', 'MultiLineString'],
  polygons: ['Polygon', 'MultiPolygon'],
} as const

export type GeometryFamily = keyof typeof GEOMETRY_FAMILIES

/** Returns the family of a location, by the type that it names. Undefined for collections, and for what is not GeoJSON. */
export function geometryFamily(location: string): GeometryFamily | undefined {
  let type: unknown
  try {
    type = (JSON.parse(location) as { type?: unknown } | null)?.type
  } catch {
    return undefined
  }
  const families = Object.keys(GEOMETRY_FAMILIES) as GeometryFamily[]
  return families.find((family) => (GEOMETRY_FAMILIES[family] as readonly unknown[]).includes(type))
}

/** A location attestation as read from its chain and decoded. Hex is lower case. */
export interface LocationRecord {
  readonly uid: Hex
  readonly chainId: number
  /** Name of the chain in the API. */
  readonly chain: string
  /** The attester. */
  readonly prover: Hex
  /** The recipient. */
  readonly subject: Hex
  /** Time of the block, seconds since the epoch. */
  readonly timeSeconds: number
  readonly eventTimeSeconds: number
  readonly srs: string
  readonly locationType: string
  /** GeoJSON geometry as JSON. */
  readonly location: string
  /** Set for points only (decision 61). */
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

/** A revoked record, and the block with its revocation. */
export interface Revocation {
  readonly uid: Hex
  readonly blockNumber: number
}

/** The last block of a chain whose records are stored. */
export interface Checkpoint {
  readonly blockNumber: number
  readonly blockHash: Hex
}

/** What was read from one range of blocks of one chain. It is stored as a whole or not at all. */
export interface BlockRange extends RangeNotes {
  readonly chainId: number
  /** Set after a reorg: all records after this block are removed before the new ones are stored. Not together with `removed`. */
  readonly rollBackTo?: number
  readonly records: readonly LocationRecord[]
  readonly revocations: readonly Revocation[]
  /**
   * If set, the range is stored only if the stored checkpoint has the hash `from`; null means that there must be no checkpoint.
   * `to` becomes the new checkpoint; null removes it.
   */
  readonly checkpoint?: { readonly from: Hex | null; readonly to: Checkpoint | null }
  /** If set, the range is stored only if this is still the generation of the chain's lease. */
  readonly leaseGeneration?: number
}

export interface AppliedRange {
  /** False if the stored checkpoint or the lease was not the expected one. In this case nothing was changed. */
  readonly ok: boolean
  /** Number of new records. A record that is stored already changes nothing. */
  readonly inserted: number
  readonly revoked: number
  readonly rolledBack: number
}

/** Sort key of a record. A page continues after it. */
export interface RecordKey {
  readonly timeSeconds: number
  readonly uid: Hex
  readonly chainId: number
}

export type FilterProperty = 'uid' | 'chain' | 'prover' | 'subject' | 'timestamp' | 'event_timestamp' | 'revoked'
export type FilterComparison = '=' | '<>' | '<' | '>' | '<=' | '>='

/** A condition on a record. `and` without conditions is true, `or` without conditions is false. */
export type RecordFilter =
  | { readonly op: 'and' | 'or' | 'not'; readonly args: readonly RecordFilter[] }
  | {
      readonly op: FilterComparison
      readonly property: FilterProperty
      /** Chain ID, seconds, lower-case hex or whether the record is revoked. */
      readonly value: string | number | boolean
    }
  | { readonly op: 's_intersects'; readonly bbox: Bounds }

/** Validated parameters of a list of records. */
export interface RecordQuery {
  readonly chainId?: number
  readonly prover?: Hex
  readonly subject?: Hex
  /** Earliest event time, inclusive. */
  readonly fromSeconds?: number
  /** Latest event time, inclusive. */
  readonly toSeconds?: number
  /** A box whose east is below its west crosses the antimeridian. */
  readonly bbox?: Bounds
  readonly family?: GeometryFamily
  /** Further conditions, combined with the others by AND. Only the database evaluates them. */
  readonly filter?: RecordFilter
  readonly limit: number
  /** Ignored with `after`. */
  readonly offset: number
  readonly after?: RecordKey
  /** How long the exact number of matches may take, in milliseconds; then the read fails. Without it, a large count may be an estimate. */
  readonly exactCountMs?: number
  /** The page ends early after the record with which it reaches this many bytes. */
  readonly endBytes?: number
  /** Largest number of bytes of the page, if it is below the limit of all pages. A page that is larger is an error. */
  readonly maxBytes?: number
}

export interface RecordPage {
  /** Records as JSON, joined with commas. */
  readonly documents: string
  readonly length: number
  /** Number of matching records on all pages. */
  readonly count: number
  /** True if `count` is an estimate, because counting would take too long. */
  readonly isEstimate?: boolean
  /** Where to continue after a page that is shorter than its limit, although more records may match. */
  readonly next?: RecordKey | undefined
}

/** How much of a list or of the journal is read in one query. */
export interface ReadSize {
  readonly records: number
  /** Total size of the JSON. At least one record is returned, whatever its size. */
  readonly bytes: number
}

/** A part of a list, for clients that read all of it. */
export interface RecordSlice {
  /** Records as JSON, joined with commas. */
  readonly documents: string
  readonly length: number
  /** Key after which the next slice begins; undefined at the end. A slice may be empty without being the last. */
  readonly next: RecordKey | undefined
}

export type ChangeKind = 'new' | 'revoked' | 'restored' | 'rolled-back'

/** A position in the journal of changes. Reading continues after it. */
export interface JournalPosition {
  /** Identifies the journal. Each database has a different one. */
  readonly epoch: string
  /** Number of a row of the journal. A row holds the changes of one kind from one range of blocks. */
  readonly number: number
  /** Index of a change in its row. */
  readonly position: number
}

export interface RecordChange {
  readonly kind: ChangeKind
  readonly number: number
  readonly position: number
  /** The current record as JSON. For a record that was removed, only `uid`, `chain`, `prover` and `subject`. */
  readonly document: string
}

export interface RecordChanges {
  readonly changes: readonly RecordChange[]
  /** Position for the next read. */
  readonly next: JournalPosition
  /** True if there are no more changes. */
  readonly isEnd: boolean
  /** True if the requested position is not, or no longer, in this journal. Then `next` is the end of the journal. */
  readonly isLost: boolean
}

/**
 * A page with its documents as UTF-8 in a separate buffer. The store thread encodes up to 16 MB, so that main does not have to,
 * and transfers them.
 */
export type EncodedPage = Omit<RecordPage, 'documents'> & { readonly documents: Uint8Array }

/** The smallest box around records, and the time from their first event to their last. */
export interface RecordExtent {
  /** From -180 to 180 in longitude if a record crosses the antimeridian. */
  readonly bounds: Bounds
  readonly firstEventSeconds: number
  readonly lastEventSeconds: number
}

export interface RecordStats {
  readonly byChain: readonly { readonly chainId: number; readonly records: number; readonly revoked: number }[]
  /** Number of records in the last 24 hours, 7 days and 30 days. */
  readonly recent: readonly [number, number, number]
}

/** The operations of the store by name, each with its argument and result. */
export interface StoreOperations
  extends SubmissionOperations,
    SyncOperations,
    JobOperations,
    KeyOperations,
    AccountOperations,
    UsageOperations,
    StoredOperations,
    SetOperations {
  page: { argument: RecordQuery; result: RecordPage }
  /** The same for a caller that caches pages: no page is read if no record has changed since the caller's page got its version tag. */
  newPage: {
    argument: { readonly query: RecordQuery; readonly versionTag: string | undefined }
    result: { readonly versionTag: string; readonly page: EncodedPage | undefined }
  }
  /** Returns the next records of a list in its order, without counting them. The work is bounded for every filter. */
  slice: { argument: { readonly query: RecordQuery; readonly size: ReadSize }; result: RecordSlice }
  /** Returns the changes after a position in the journal. Without a position, returns the end of the journal. */
  changes: { argument: { readonly after: JournalPosition | undefined; readonly size: ReadSize }; result: RecordChanges }
  /** Returns a record as JSON; undefined if it does not exist. */
  record: { argument: Hex; result: string | undefined }
  stats: { argument: { readonly nowSeconds: number }; result: RecordStats }
  /**
   * Returns the extent of all records, or of those of one family. Undefined if there are none, or if the database would have to
   * read every record for it.
   */
  extent: { argument: { readonly family: GeometryFamily | undefined }; result: RecordExtent | undefined }
  apply: { argument: BlockRange; result: AppliedRange }
  /** Checks that the database answers. */
  ping: { argument: undefined; result: undefined }
  /** Runs vacuum and analyze where the engine does not do so automatically, and sets missing page marks (`page-marks.ts`). */
  maintain: { argument: undefined; result: undefined }
}

export type StoreOperation = keyof StoreOperations
export type StoreArgument<O extends StoreOperation> = StoreOperations[O]['argument']
export type StoreResult<O extends StoreOperation> = StoreOperations[O]['result']

/** The store, called directly or from another thread. Every call may reject with a `StoreFault`. */
export type RecordStore = {
  readonly [O in StoreOperation]: (argument: StoreArgument<O>) => Promise<StoreResult<O>>
}

/**
 * Why a store operation failed. `unavailable`: the database cannot be reached. `busy`: its queue is full, or every connection
 * is in use. `opening`: it was still opening when the wait for it ended. `damaged`: its files cannot be read. `full`: its disk has
 * no room for a write. `late`: the operation took too long. `refused`: the database does not accept the values. `large`: the result
 * would be too long. `deep`: the offset is too far for this filter. `failed`: a bug of ours.
 */
export type StoreFaultKind =
  | 'unavailable'
  | 'busy'
  | 'opening'
  | 'damaged'
  | 'full'
  | 'late'
  | 'refused'
  | 'large'
  | 'deep'
  | 'failed'

export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  readonly kind: StoreFaultKind

  constructor(kind: StoreFaultKind, reason: string, options?: ErrorOptions) {
    super(reason, options)
    this.kind = kind
  }
}

/** Returns why a store operation failed, for the log. */
export function reasonOf(error: unknown): { readonly reason: string } {
  return { reason: error instanceof StoreFault ? `${error.kind}: ${error.message}` : String(error) }
}

/** Makes the error of a store operation that gave no result. */
export function storeFault(failure: RequestFailure): StoreFault {
  if (failure.type === 'failure') return new StoreFault(failure.kind as StoreFaultKind, failure.reason)
  if (failure.type === 'lost') return new StoreFault('unavailable', failure.reason)
  return failure.type === 'late'
    ? new StoreFault('late', 'it did not answer in time')
    : new StoreFault('busy', 'too many calls are waiting for it')
}

export type StoreEngine = 'embedded' | 'postgres'

/** From main to the store thread. Other threads send only calls, over ports of their own. */
export type StoreRequest =
  | Call
  /** A port for another thread. */
  | { readonly type: 'connect'; readonly port: MessagePort }
  /** Shuts the thread down cleanly. */
  | { readonly type: 'close' }

/** From the store thread to main. The kind of a failed call is a `StoreFaultKind`. */
export type StoreReply =
  | Answer
  | { readonly type: 'open'; readonly engine: StoreEngine; readonly version: string }
  /** The database could not be opened. The thread ends. */
  | { readonly type: 'refused'; readonly reason: string; readonly condition: 'away' | 'damaged' | 'full' }
  /** The disk became full, for the given reason, or has room again. While it is full, nothing is written. */
  | { readonly type: 'room'; readonly fullReason: string | undefined }
  /** Whether the columns in memory are loading. Meanwhile the database selects the records of lists, which takes longer. */
  | { readonly type: 'columns'; readonly isWarming: boolean }
  /** An idle connection to the database broke. */
  | { readonly type: 'lost'; readonly reason: string }
  /** Whether the thread works for a thread other than main. Meanwhile main gives its own call the time limit of a write. */
  | { readonly type: 'busy'; readonly isBusy: boolean }
