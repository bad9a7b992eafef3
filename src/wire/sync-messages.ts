/** Messages between threads about reading the chains. They are plain data. */
import type { MessagePort } from 'node:worker_threads'
import type { Answer, Call } from './request-port.ts'
import type { ChainAttestation, ChainResult, ChainState, Hex } from './values.ts'

/** A block that was seen on the chain. */
export interface BlockId {
  readonly number: number
  readonly hash: Hex
}

/**
 * Why an attestation is not a record yet. `missing`: the chain has a log of the attestation, but not the attestation. `uid`:
 * its fields do not hash to its UID. `size`, `data`, `location`, `time`: this part of a genuine attestation cannot be decoded
 * or shown.
 */
export type QuarantineStage = 'missing' | 'uid' | 'size' | 'data' | 'location' | 'time'

/** An attestation in quarantine. It becomes a record when it can be decoded. */
export interface Quarantined {
  readonly uid: Hex
  readonly blockNumber: number
  readonly stage: QuarantineStage
  readonly reason: string
  /** Time of the next automatic retry; null if only a newer decoder can help. */
  readonly retryAtSeconds: number | null
  /** Version of the decoder that failed. */
  readonly decoder: number
}

/** What was read from a range of blocks, apart from its records. */
export interface RangeNotes {
  /** Blocks to remember, and the numbers of remembered blocks to forget. They serve to find the common ancestor after a reorg. */
  readonly knownBlocks?: { readonly add: readonly BlockId[]; readonly remove: readonly number[] }
  readonly quarantine?: readonly Quarantined[]
  /** UIDs of attestations that leave the quarantine. */
  readonly released?: readonly Hex[]
  /**
   * Stored logs that are not on the chain. Removed before anything is stored: `attested` with its record or its quarantined
   * attestation, `revoked` by making the record valid again.
   */
  readonly removed?: readonly StoredLog[]
  /**
   * Whether more than half of the endpoints have these logs. Only then do their blocks replace those that are already stored for the
   * same attestations and revocations.
   */
  readonly areAgreed?: boolean
  readonly progress?: ChainProgress
}

/** How far a chain has been read. Absent members stay unchanged. */
export interface ChainProgress {
  readonly head?: number
  readonly headSeconds?: number
  /** Only a rollback decreases it. */
  readonly finalized?: number
  /** Every block up to this one was compared with more than half of the endpoints. */
  readonly auditedTo?: number
}

/** The stored state from which the sync of one chain starts. */
export interface ChainSyncState {
  readonly checkpoint: BlockId | undefined
  /** Blocks that were read and are still remembered, newest first. */
  readonly knownBlocks: readonly BlockId[]
  /** -1 if unknown. */
  readonly finalized: number
  readonly auditedTo: number
}

export type SyncKind = 'attestations' | 'revocations'

/** One finished pass over one chain. */
export interface SyncRun {
  readonly kind: SyncKind
  readonly chainId: number
  readonly startedMs: number
  readonly endedMs: number
  readonly ok: boolean
  /** For attestations, the number of new records. For revocations, the number of records that were compared. */
  readonly count: number
  /** Number of revocations that were found. */
  readonly revoked: number
}

/** Whether a process reads the chains, and whether one should. */
export interface SyncWorkerState {
  readonly isDesired: boolean
  /** True while a process holds the lease. */
  readonly isHeld: boolean
  /** When the holder started, ISO 8601; null while the lease is free. */
  readonly startedAt: string | null
  readonly uptimeSeconds: number
}

/** The content of `GET /api/sync/status`, as read from the database. */
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

/** A request to the sync thread, in addition to its schedule. */
export type SyncAction =
  | { readonly type: 'chain'; readonly chainId: number; readonly waitMs: number }
  | { readonly type: 'all' }
  | { readonly type: 'revocations' }
  /** The store's setting whether the chains should be read has changed. */
  | { readonly type: 'refresh' }

/**
 * The outcome of an action. `continues`: it is still running after the wait. `busy`: the same action is running already, in this
 * or another process.
 */
export type SyncOutcome =
  | { readonly state: 'started' }
  | { readonly state: 'done' | 'continues'; readonly count: number }
  | { readonly state: 'busy' | 'failed'; readonly reason: string }

/** A sync event for the log. */
export type SyncEvent =
  | {
      readonly type: 'progress'
      readonly chainId: number
      readonly inserted: number
      readonly revoked: number
      readonly rolledBack: number
      readonly block: number
      readonly head: number
    }
  | { readonly type: 'problem'; readonly chainId: number; readonly message: string }
  /** An audit found this many logs that the endpoints contradict each other about, without a majority. */
  | { readonly type: 'contradictions'; readonly chainId: number; readonly logs: number }
  /** The chains that this process reads have changed. */
  | { readonly type: 'lead'; readonly chainIds: readonly number[] }
  /** The worker is stopped because a client requested it. The store keeps this setting across restarts. */
  | { readonly type: 'stopped' }
  /** A chain was read for the first time, up to `block`. */
  | {
      readonly type: 'began'
      readonly chainId: number
      readonly from: number
      readonly block: number
      readonly head: number
    }

/** What main asks the sync thread for, each with its argument and result. None is rejected by the thread. */
export interface ChainOperations {
  attestation: {
    argument: { readonly chainId: number; readonly uid: Hex }
    result: ChainResult<ChainAttestation>
  }
  /** The string that is registered under a schema UID. */
  schema: { argument: { readonly chainId: number; readonly uid: Hex }; result: ChainResult<string> }
  /** Whether the contract of an account takes a signature of a digest (ERC-1271), or would if it were deployed (ERC-6492). */
  accountSignature: { argument: AccountSignature & { readonly chainId: number }; result: ChainResult<boolean> }
  /** When an address revoked an off-chain attestation, in Unix seconds; 0 if it has not. */
  offchainRevocation: {
    argument: { readonly chainId: number; readonly attester: Hex; readonly uid: Hex }
    result: ChainResult<bigint>
  }
  /** How much of a token (ERC-20 or ERC-721) an address holds. */
  tokenBalance: {
    argument: { readonly chainId: number; readonly token: Hex; readonly holder: Hex }
    result: ChainResult<bigint>
  }
  sync: { argument: SyncAction; result: SyncOutcome }
}

/** A signature that only the contract of an account can judge. */
export interface AccountSignature {
  readonly address: Hex
  /** 32 bytes. */
  readonly digest: Hex
  readonly signature: Hex
}

/** From main to the sync thread. */
export type ChainRequest =
  | Call
  /** A port to the signer. */
  | { readonly type: 'nonces'; readonly port: MessagePort }
  /** A port to the store. It is sent at each start of the store. */
  | { readonly type: 'store'; readonly port: MessagePort }
  /** A port from the relay to main. The relay submits from the account `sender`. */
  | { readonly type: 'relay'; readonly sender: Hex; readonly port: MessagePort }
  /** The thread finishes the current write, then ends. */
  | { readonly type: 'close' }

/** From the sync thread to main. */
export type ChainReply =
  | Answer
  | { readonly type: 'ready' }
  | { readonly type: 'state'; readonly chainId: number; readonly state: ChainState }
  | { readonly type: 'event'; readonly event: SyncEvent }

/** A log whose effect is stored, in a record or in quarantine. */
export interface StoredLog {
  readonly kind: 'attested' | 'revoked'
  readonly uid: Hex
  readonly blockNumber: number
}

/** The store operations for reading chains, each with its argument and result. */
export interface SyncOperations {
  syncState: { argument: { readonly chainId: number }; result: ChainSyncState }
  /** Returns those of the UIDs that are records or in quarantine. */
  known: { argument: { readonly chainId: number; readonly uids: readonly Hex[] }; result: readonly Hex[] }
  /** Returns all stored logs of a range of blocks, by the block of the attestation or of the revocation. */
  storedLogs: {
    argument: { readonly chainId: number; readonly from: number; readonly to: number }
    result: readonly StoredLog[]
  }
  /** Returns records that are not revoked, ordered by UID, after a given UID. */
  activeRecords: {
    argument: { readonly chainId: number; readonly after: Hex | null; readonly limit: number }
    result: readonly { readonly uid: Hex; readonly blockNumber: number }[]
  }
  /** Returns quarantined attestations that are due for a retry. */
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
  /** Records that a pass has started its work. Changes nothing if the chain's lease has another generation. */
  beginRun: {
    argument: { readonly kind: SyncKind; readonly chainId: number; readonly leaseGeneration: number }
    result: undefined
  }
  /** Records that a pass has ended. Changes nothing if the chain's lease has another generation. */
  endRun: {
    argument: {
      readonly run: SyncRun
      readonly leaseGeneration: number
      readonly progress?: ChainProgress
      readonly errors: readonly string[]
    }
    result: undefined
  }
  syncStatus: { argument: { readonly recentErrors: number }; result: SyncStatus }
  /** Sets whether the chains should be read, from now on and after every start. */
  setWorkerDesired: { argument: { readonly isDesired: boolean }; result: undefined }
  /** Takes, renews and releases leases of chains. Only the process that holds the lease of a chain may read it into this database. */
  lease: {
    argument: {
      readonly owner: string
      /** 0 releases all leases. */
      readonly holdMs: number
      /** The chains that this process can read. Leases of others are released. */
      readonly chainIds: readonly number[]
      /** Chains whose leases are also granted while the chains should not be read. */
      readonly jobs: readonly number[]
    }
    result: {
      readonly held: readonly { readonly chainId: number; readonly generation: number }[]
      /** Chains to release as soon as nothing is written for them, because another process holds fewer. */
      readonly surplus: readonly number[]
      readonly isDesired: boolean
      /** Whether other processes may use this database. */
      readonly isShared: boolean
    }
  }
}
