/** Settings of jobs: batches that the store keeps. */
import { constant, derived, integer } from './setting.ts'

const JOB_OPERATIONS_PER_DAY = integer('JOB_OPERATIONS_PER_DAY', 20_000_000, 1, 1e12)
export const JOB_KEEP_HOURS = integer('JOB_KEEP_HOURS', 72, 1, 87_600)
const JOB_MAX_BYTES = integer('JOB_MAX_BYTES', 16_384 * 1_048_576, 1_048_576, 1e15)

export const JOB_LIMITS = {
  /** Operations of one job. */
  maxJobOperations: integer('JOB_MAX_OPERATIONS', 5_000_000, 1, 1e9),
  /** Operations of one job whose results are submitted one by one. */
  maxJobSubmissions: integer('JOB_MAX_SUBMISSIONS', 10_000, 1, 1e9),
  /** Operations that one API key may upload in one UTC day. */
  jobOperationsPerDay: JOB_OPERATIONS_PER_DAY,
  /** Operations that all accounts of wallets may upload from one network address in one UTC day. */
  jobOperationsPerDayOfAddress: integer(
    'JOB_OPERATIONS_WALLET_ADDRESS',
    (source) => Math.min(1e12, 2 * JOB_OPERATIONS_PER_DAY.read(source)),
    1,
    1e12,
  ),
  /** Bytes that the operations and results of all jobs may take in the store. The oldest finished jobs are deleted first. */
  maxJobBytes: JOB_MAX_BYTES,
  /** The part of it that one API key may use, so that there is room for the jobs of other keys. */
  maxJobBytesPerKey: derived((source) => Math.floor(JOB_MAX_BYTES.read(source) / 2)),
  /** How long a job is kept after its last change. */
  jobKeepHours: JOB_KEEP_HOURS,
  /** Jobs of one API key that are not final. */
  maxOpenJobs: integer('JOB_MAX_OPEN', 16, 1, 100_000),
  /** Chunks of jobs that one process computes at a time: one is computed while another is read or stored. */
  jobChunks: constant(2),
  /** Operations and bytes after which a chunk of an upload is complete. */
  jobChunkOperations: constant(4096),
  jobChunkBytes: constant(524_288),
  /** How long a chunk belongs to a process that does not extend its claim. Then another process may take the chunk. */
  jobLeaseMs: constant(10_000),
  /** Interval between two checks for chunks that another process has stored or abandoned. */
  jobPollMs: integer('JOB_POLL_MS', 1000, 10, 60_000),
  /** Time limit for computing one message of operations. It is longer than for a request, because no client waits. */
  jobComputeMs: constant(120_000),
  /** Interval between two counts of jobs for the metrics. */
  jobCountMs: constant(5000),
  /** Streams of progress or of results of running jobs that may be open. */
  maxJobStreams: constant(1000),
}
