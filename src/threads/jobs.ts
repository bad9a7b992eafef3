import type { ComputeChunk } from '../wire/batch-messages.ts'
import type { VerifyTask } from '../wire/evidence-messages.ts'
import type { ComputeTask } from '../wire/messages.ts'

/** The caller of a task, as the main thread knows it. */
export interface Job {
  /** When the caller stops waiting for the response, in milliseconds since the epoch. */
  readonly deadlineMs: number
  /** Returns true once the client has disconnected. */
  readonly isAborted: () => boolean
}

/** A compute request. */
export interface ComputeJob extends Job {
  readonly task: ComputeTask
}

/** A request about evidence. */
export interface VerifyJob extends Job {
  readonly task: VerifyTask
}

/** A chunk of a batch, or the tree over its results. */
export interface ChunkJob<Work = ComputeChunk> extends Job {
  readonly chunk: Work
}
