/** What the synchronisation with the chains keeps and says, as it crosses thread borders: plain data. */
import type { MessagePort } from 'node:worker_threads'
import type { ChainAttestation, ChainResult, ChainState, Hex } from './messages.ts'

/** A block we have seen in the chain. */
export interface BlockId {
  readonly number: number
  readonly hash: Hex
}

/**
 * Why an attestation is no record yet. `missing`: the chain has a log of it and no attestation; `uid`: its fields are not
 * those of its UID; `size`, `data`, `location`, `time`: it is what it is, and we cannot show it.
 */
export type QuarantineStage = 'missing' | 'uid' | 'size' | 'data' | 'location' | 'time'

/** An attestation that is kept beside the records until it can be one. */
export interface Quarantined {
  readonly uid: Hex
  readonly blockNumber: number
  readonly stage: QuarantineStage
  readonly reason: string
  /** When it is worth another try by itself; null when only a newer decoder can help. */
  readonly retryAtSeconds: number | null
  /** Version of the decoder that gave up. */
  readonly decoder: number
}

/** What a range of blocks says beside its records. */
export interface RangeNotes {
  /** Blocks to remember, and numbers of such that are remembered and need not be. */
  readonly ladder?: { readonly add: readonly BlockId[]; readonly remove: readonly number[] }
  readonly quarantine?: readonly Quarantined[]
  /** Attestations that leave the quarantine. */
  readonly released?: readonly Hex[]
  readonly progress?: ChainProgress
}

/** How far a chain is known. Members that are left out stay as they are. */
export interface ChainProgress {
  readonly head?: number
  readonly headSeconds?: number
  /** Never falls but by a rollback. */
  readonly finalized?: number
  /** Every block up to this one was read from a second endpoint as well. */
  readonly auditedTo?: number
}

/** What the synchronisation of one chain begins with. */
export interface ChainSyncState {
  readonly checkpoint: BlockId | undefined
  /** Newest first. */
  readonly ladder: readonly BlockId[]
  /** -1 when nothing is known. */
  readonly finalized: number
  readonly auditedTo: number
}

export type SyncKind = 'attestations' | 'revocations'

/** The end of one pass over one chain. */
export interface SyncRun {
  readonly kind: SyncKind
  readonly chainId: number
  readonly startedMs: number
  readonly endedMs: number
  readonly ok: boolean
  /** Of attestations: records that came in. Of revocations: records that were compared. */
  readonly count: number
  /** Revocations that were found. */
  readonly revoked: number
}

/** Who reads the chains, and whether anybody shall. */
export interface SyncWorkerState {
  readonly isDesired: boolean
  /** True while somebody holds the lease. */
  readonly isHeld: boolean
  /** When the holder began, ISO 8601; null while nobody does. */
  readonly startedAt: string | null
  readonly uptimeSeconds: number
}

/** Everything that `GET /api/sync/status` says, as the database has it. */
export interface SyncStatus {
  readonly worker: SyncWorkerState
  readonly runs: readonly {
    readonly kind: SyncKind
    readonly total: number
    readonly failed: number
    readonly open: number
    readonly lastSuccessAt: string | null
    readonly lastEndAt: string | null
    readonly lastDurationMs: number | null
    readonly counted: number
    readonly revoked: number
  }[]
  readonly chains: readonly {
    readonly chainId: number
    readonly records: number
    readonly lastIngested: number
    readonly block: number | null
    readonly blockHash: string | null
    readonly finalized: number | null
    readonly head: number | null
    readonly headSeconds: number | null
    readonly auditedTo: number | null
    readonly quarantined: number
    readonly reorgs: number
    readonly deepestReorg: number
  }[]
  /** Newest first. */
  readonly errors: readonly { readonly chainId: number; readonly at: string; readonly message: string }[]
}

/** What the sync thread is told to do beside its own plan. */
export type SyncAction =
  | { readonly kind: 'chain'; readonly chainId: number; readonly waitMs: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'revocations' }
  /** Somebody changed in the store whether the chains shall be read. */
  | { readonly kind: 'refresh' }

/** What came of it. `continues`: it goes on after the wait. `busy`: the same is under way, here or in another process. */
export type SyncOutcome =
  | { readonly state: 'started' }
  | { readonly state: 'done' | 'continues'; readonly count: number }
  | { readonly state: 'busy' | 'failed'; readonly reason: string }

/** What the operator sees on the terminal. */
export type SyncEvent =
  | {
      readonly kind: 'progress'
      readonly chainId: number
      readonly inserted: number
      readonly revoked: number
      readonly rolledBack: number
      readonly block: number
      readonly head: number
    }
  | { readonly kind: 'problem'; readonly chainId: number; readonly message: string }
  | { readonly kind: 'lead'; readonly isHeld: boolean }
  /** The worker is stopped by request; the store remembers it over restarts. */
  | { readonly kind: 'stopped' }
  /** A chain was read for the first time, up to a block. */
  | {
      readonly kind: 'began'
      readonly chainId: number
      readonly from: number
      readonly block: number
      readonly head: number
    }

/** Main to the chain thread. */
export type ChainRequest =
  | { readonly type: 'attestation'; readonly id: number; readonly chainId: number; readonly uid: Hex }
  | { readonly type: 'schema'; readonly id: number; readonly chainId: number; readonly uid: Hex }
  /** The signer's line. */
  | { readonly type: 'nonces'; readonly port: MessagePort }
  /** The line to the store, whenever the store starts. */
  | { readonly type: 'store'; readonly port: MessagePort }
  /** The relay's line to main; it submits for this account. */
  | { readonly type: 'relay'; readonly sender: Hex; readonly port: MessagePort }
  | { readonly type: 'sync'; readonly id: number; readonly action: SyncAction }
  /** The thread ends itself, after what it is storing. */
  | { readonly type: 'close' }

/** The chain thread to main. */
export type ChainReply =
  | { readonly type: 'ready' }
  | { readonly type: 'state'; readonly chainId: number; readonly state: ChainState }
  | { readonly type: 'found'; readonly id: number; readonly result: ChainResult<ChainAttestation | string> }
  | { readonly type: 'synced'; readonly id: number; readonly outcome: SyncOutcome }
  | { readonly type: 'event'; readonly event: SyncEvent }

/** A log that left its mark: on a record or on what is in quarantine. */
export interface KeptLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
  readonly blockNumber: number
}

/** What the store is asked for the synchronisation: argument and result. */
export interface SyncOperations {
  syncState: { argument: { readonly chainId: number }; result: ChainSyncState }
  /** Which of these attestations are records or in quarantine. */
  known: { argument: { readonly chainId: number; readonly uids: readonly Hex[] }; result: readonly Hex[] }
  /** Everything of a range of blocks that is kept: by block of the attestation, and by block of the revocation. */
  keptOfBlocks: {
    argument: { readonly chainId: number; readonly from: number; readonly to: number }
    result: readonly KeptLog[]
  }
  /** Records that are not revoked, in the order of their UIDs, behind one of them. */
  activeRecords: {
    argument: { readonly chainId: number; readonly after: Hex | null; readonly limit: number }
    result: readonly { readonly uid: Hex; readonly blockNumber: number }[]
  }
  /** What in quarantine is due for another try. */
  quarantined: {
    argument: {
      readonly chainId: number
      readonly nowSeconds: number
      readonly decoder: number
      readonly limit: number
    }
    result: readonly {
      readonly uid: Hex
      readonly blockNumber: number
      readonly attempts: number
      readonly revokedBlock: number | null
    }[]
  }
  /** A pass has found something to do. */
  beginRun: { argument: { readonly kind: SyncKind; readonly chainId: number }; result: undefined }
  /** A pass is over. */
  endRun: {
    argument: { readonly run: SyncRun; readonly progress?: ChainProgress; readonly errors: readonly string[] }
    result: undefined
  }
  syncStatus: { argument: { readonly recentErrors: number }; result: SyncStatus }
  /** Whether the chains shall be read, from now on and after every start. */
  wantWorker: { argument: { readonly isDesired: boolean }; result: undefined }
  /**
   * Takes or keeps the lease that lets one process of those on this database read the chains; `holdMs` 0 gives it back.
   * Without `always` it is given only while the chains shall be read.
   */
  lease: {
    argument: { readonly owner: string; readonly holdMs: number; readonly always: boolean }
    result: { readonly isHeld: boolean; readonly isDesired: boolean }
  }
}
