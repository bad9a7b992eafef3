/** Operations of the store for jobs: batches that it keeps, computed chunk by chunk. */

import type { BatchAttest } from './batch-messages.ts'
import type { Submission } from './relay-messages.ts'
import type { Hex } from './values.ts'

/** `receiving` while the operations are uploaded, `queued` until the first chunk is computed. The last three are final. */
export type JobState = 'receiving' | 'queued' | 'running' | 'done' | 'cancelled' | 'failed'

/** What a client chose for its job, and where its problems refer to. */
export interface JobOptions {
  readonly chainId: number | undefined
  /** As the client wrote it. */
  readonly recipient: string | undefined
  readonly attest: BatchAttest
  /** True if the service submits the results, or their root, to the chain. Jobs of older versions lack it. */
  readonly submitOnchain?: boolean
  /** Prefix of problem type URIs. */
  readonly errorTypeBase: string
}

export interface Job {
  /** Names the job within the store. */
  readonly position: number
  /** Names the job for its client: 32 hex digits. */
  readonly id: string
  readonly options: JobOptions
  readonly state: JobState
  /** Operations that are stored. */
  readonly received: number
  /** Undefined while operations are uploaded. */
  readonly total: number | undefined
  /** Operations with a result or a problem. */
  readonly done: number
  /** Those of them with a problem. */
  readonly failed: number
  /** Number of operations by the type of their problem. */
  readonly errors: Readonly<Record<string, number>>
  readonly createdMs: number
  /** Undefined until the first chunk is computed. */
  readonly startedMs: number | undefined
  /** Time of the last change. */
  readonly updatedMs: number
  /** Why it failed. */
  readonly reason: string | undefined
  /** The submission of its root; undefined until there is one, and after the service has forgotten it. */
  readonly submission: Submission | undefined
  /** Why its root is not submitted. */
  readonly submissionError: string | undefined
}

/** A job that is done and whose root is to be submitted. */
export interface UnsubmittedJob extends Pick<Job, 'position' | 'id' | 'options' | 'updatedMs'> {
  /** The owner of the job. */
  readonly account: string
}

/** A chunk of a job that this process holds until it stores the results or its lease ends. */
export interface JobChunk {
  readonly job: Pick<Job, 'position' | 'id' | 'options'>
  /** The owner of the job. */
  readonly account: string
  /** Index of the first operation in the job. */
  readonly first: number
  readonly operations: number
  /** How often the chunk was taken, this time included. */
  readonly attempts: number
  /** The operations as `encodeLines` writes them, compressed unless an older version stored them. Empty if there are results. */
  readonly stored: Uint8Array
  readonly isCompressed: boolean
  /** Results that are still to be submitted; undefined if the operations are still to be computed. */
  readonly computed: ComputedLines | undefined
}

/** Results of a chunk before they are submitted. */
export interface ComputedLines {
  /** NDJSON, compressed: one line for each operation. */
  readonly stored: Uint8Array
  /** Number of operations by the type of their problem. */
  readonly errors: Readonly<Record<string, number>>
}

/** Results of consecutive operations. */
interface JobResults {
  readonly first: number
  readonly operations: number
  /** NDJSON: one line for each operation, compressed unless an older version stored them. Undefined while the chunk is not computed. */
  readonly stored: Uint8Array | undefined
  readonly isCompressed: boolean
  /** Why the chunk was given up: the detail of the problem of each of its operations. Then `stored` is empty. */
  readonly problem: string | undefined
}

/** Totals of all stored jobs, for the metrics. */
export interface JobTotals {
  readonly byState: Readonly<Partial<Record<JobState, number>>>
  /** Operations of open jobs that are uploaded and have neither a result nor a problem. */
  readonly waitingOperations: number
  /** Bytes of operations and results, which `JOB_MAX_BYTES` limits. */
  readonly bytes: number
}

export interface JobLimits {
  /** Largest number of operations in a job. */
  readonly maxOperations: number
  /** Operations that an account may upload in a day of UTC. */
  readonly perDay: number
  /** The same limit for all accounts of wallets at one network address. */
  readonly address?: { readonly subject: string; readonly perDay: number }
  /** Bytes that the operations and results of all jobs may take. */
  readonly maxBytes: number
  /** The part of them that the jobs of one account may take. */
  readonly maxAccountBytes: number
  /** Jobs of an account that are not final. */
  readonly maxOpen: number
}

export interface JobOperations {
  /** Creates a job, or finds the one that the account created with the same idempotency key. */
  createJob: {
    argument: {
      readonly id: string
      readonly account: string
      readonly idempotencyKey: string | undefined
      readonly options: JobOptions
      readonly maxOpen: number
      readonly nowMs: number
    }
    result: { readonly outcome: 'created' | 'existing' | 'conflict'; readonly job: Job } | { readonly outcome: 'busy' }
  }
  /** Adds a chunk of operations. It is computed as soon as there is room, although the upload may go on. */
  appendJob: {
    argument: {
      readonly position: number
      /** Index of the first operation. The chunk is added only if the job has exactly this many. */
      readonly first: number
      readonly operations: number
      /** The operations, compressed. */
      readonly stored: Uint8Array
      /** Bytes that are kept free for the chunk until its results are stored. */
      readonly room: number
      readonly limits: JobLimits
      readonly nowMs: number
    }
    /** A number: another upload has added operations, and the job has this many; `closed`: the job takes no more; the others are limits. */
    result: 'stored' | number | 'closed' | 'spent' | 'address' | 'large' | 'full' | 'share'
  }
  /** Ends the upload. Undefined if there is no such job. */
  endJobInput: { argument: { readonly position: number; readonly nowMs: number }; result: Job | undefined }
  /** Undefined if the account has no such job. */
  readJob: { argument: { readonly id: string; readonly account: string }; result: Job | undefined }
  /** The jobs of an account, newest first. */
  listJobs: { argument: { readonly account: string; readonly limit: number }; result: readonly Job[] }
  /** Cancels a job that is not final. Undefined if the account has no such job. */
  cancelJob: {
    argument: { readonly id: string; readonly account: string; readonly nowMs: number }
    result: Job | undefined
  }
  /** Takes the next chunk for a process. Accounts are served in turn. Undefined if no chunk waits. */
  claimChunk: {
    argument: { readonly owner: string; readonly leaseMs: number; readonly nowMs: number }
    result: JobChunk | undefined
  }
  /** Extends the leases of a process. */
  holdChunks: { argument: { readonly owner: string; readonly leaseMs: number }; result: undefined }
  /** Gives back a chunk that a process could not compute. The attempt counts. */
  releaseChunk: {
    argument: { readonly owner: string; readonly position: number; readonly first: number }
    result: undefined
  }
  /**
   * Stores results before they are submitted, in place of the operations. What is submitted afterwards is therefore the same, however
   * often the process ends. Returns false if the process no longer holds the chunk.
   */
  keepComputed: {
    argument: ComputedLines & { readonly owner: string; readonly position: number; readonly first: number }
    result: boolean
  }
  /**
   * Lets a job wait before its next chunk is taken, or its root. The pause doubles from one call to the next, and is short again after
   * progress. A chunk that the process holds is given back, and its attempt does not count.
   */
  postponeJob: {
    argument: {
      readonly position: number
      readonly chunk?: { readonly owner: string; readonly first: number }
      /** True if something was submitted since the last call. */
      readonly hasProgress: boolean
      readonly firstPauseMs: number
      readonly maxPauseMs: number
    }
    result: undefined
  }
  /** Takes a job whose root is to be submitted; no process takes it again during the lease. Undefined if there is none. */
  claimRoot: { argument: { readonly leaseMs: number }; result: UnsubmittedJob | undefined }
  /** Notes the submission of a root, or why it is not submitted. */
  settleRoot: {
    argument: { readonly position: number } & ({ readonly submissionId: string } | { readonly error: string })
    result: undefined
  }
  /**
   * Gives back the chunks of a process without results, as if they had not been taken; of all processes if the store can have only one.
   */
  releaseChunks: { argument: { readonly owner: string | undefined }; result: undefined }
  /**
   * Stores the results of a chunk, its progress and its completion as one. Returns false if the process no longer holds the
   * chunk: another one has computed it, or does.
   */
  finishChunk: {
    argument: {
      readonly owner: string
      readonly position: number
      readonly first: number
      /** The results, compressed. */
      readonly stored: Uint8Array
      /** 32 bytes for each operation of a job with a Merkle root, zeros for one that failed or is not signed; otherwise empty. */
      readonly leaves: Uint8Array
      /** Root over the leaves; undefined if there is none. */
      readonly root: Hex | undefined
      readonly failed: number
      readonly errors: Readonly<Record<string, number>>
      readonly nowMs: number
    }
    result: boolean
  }
  /**
   * Ends a chunk without results: each of its operations failed with the same problem. Returns false if the process no longer holds
   * the chunk.
   */
  giveUpChunk: {
    argument: {
      readonly owner: string
      readonly position: number
      readonly first: number
      /** Type of the problem. */
      readonly type: string
      /** Its detail. */
      readonly problem: string
      readonly nowMs: number
    }
    result: boolean
  }
  /** The chunk that has this operation; undefined if it is not uploaded. */
  jobResults: { argument: { readonly position: number; readonly from: number }; result: JobResults | undefined }
  /** The leaves of the chunk that has this operation; undefined if it is not computed. */
  jobLeaves: {
    argument: { readonly position: number; readonly from: number }
    result: { readonly first: number; readonly leaves: Uint8Array } | undefined
  }
  /** The roots of the chunks of a job, in order, 32 bytes each, and the number of leaves below them. */
  jobRoots: {
    argument: { readonly position: number }
    result: { readonly firsts: readonly number[]; readonly roots: Uint8Array; readonly leafCount: number }
  }
  /** Counts the jobs of all accounts, for the metrics. */
  jobTotals: { argument: undefined; result: JobTotals }
  /** Deletes some of what is kept too long or takes too much room. Returns true if there may be more. */
  pruneJobs: {
    argument: {
      readonly keepMs: number
      readonly maxBytes: number
      /** Of one account. */
      readonly maxAccountBytes: number
      readonly nowMs: number
    }
    result: boolean
  }
}
