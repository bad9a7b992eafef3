import type { ComputeChunk } from '../batch-messages.ts'
import type { VerifyTask } from '../evidence-messages.ts'
import type { ComputeTask } from '../messages.ts'

/** What the main thread knows about the caller of a task. */
export interface Job {
  /** Milliseconds since the epoch after which nobody waits for the answer. */
  readonly deadlineMs: number
  /** True once the client is gone. */
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
