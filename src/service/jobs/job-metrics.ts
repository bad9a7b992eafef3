import type { Counter, Histogram, Metrics } from '../../base/metrics.ts'
import type { Config } from '../../config/config.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import type { JobState, JobTotals } from '../../wire/job-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'

const STATES: readonly JobState[] = ['receiving', 'queued', 'running', 'done', 'cancelled', 'failed']
/** Seconds. A chunk has thousands of operations, which may also wait for a thread or for the signer. */
const CHUNK_BOUNDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]

/** Counts the chunks that this process computes. */
export class ChunkMetrics {
  readonly #operations: Counter
  readonly #seconds: Histogram

  constructor(metrics: Metrics) {
    this.#operations = metrics.counter('job_operations_total', 'Operations of jobs that ended, by ok or problem type')
    this.#operations.series({ outcome: 'ok' })
    this.#seconds = metrics.histogram(
      'job_chunk_seconds',
      'Seconds to compute and store a chunk of a job',
      CHUNK_BOUNDS,
    )
  }

  /**
   * Counts the operations of a finished chunk.
   *
   * @param errors number of operations by the type of their problem
   */
  count(operations: number, errors: Readonly<Record<string, number>>): void {
    let rest = operations
    for (const [outcome, count] of Object.entries(errors)) {
      this.#operations.series({ outcome }).count += count
      rest -= count
    }
    this.#operations.series({ outcome: 'ok' }).count += rest
  }

  /** Records the time from the start of a chunk until its results are stored. */
  observe(milliseconds: number): void {
    this.#seconds.observe(milliseconds / 1000)
  }
}

/** Counts the jobs in the store. The metrics must not wait for the store, so they report the last known totals. */
export class JobCounts {
  readonly #store: Pick<StoreClient, 'ask' | 'state'>
  readonly #intervalMs: number
  readonly #timer: NodeJS.Timeout
  /** Undefined until the store has answered once. */
  #last: JobTotals | undefined

  constructor(store: Pick<StoreClient, 'ask' | 'state'>, { jobCountMs }: Pick<Config['limits'], 'jobCountMs'>) {
    this.#store = store
    this.#intervalMs = jobCountMs
    this.#timer = setInterval(() => void this.#poll(), jobCountMs).unref()
  }

  /** Registers the metrics. They have no values until the store has answered once. */
  register(metrics: Metrics): void {
    metrics.samples('jobs', 'Jobs by state', 'gauge', () =>
      this.#last === undefined ? [] : STATES.map((state) => [{ state }, this.#last!.byState[state] ?? 0]),
    )
    const total = (name: string, help: string, read: (totals: JobTotals) => number) =>
      metrics.samples(name, help, 'gauge', () => (this.#last === undefined ? [] : [[{}, read(this.#last)]]))
    total('job_operations_waiting', 'Operations of jobs without a result', ({ waitingOperations }) => waitingOperations)
    total('job_bytes', 'Bytes of all jobs in the store', ({ bytes }) => bytes)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #poll(): Promise<void> {
    if (!this.#store.state.isOpen) return
    try {
      this.#last = await this.#store.ask('jobTotals', undefined, Date.now() + this.#intervalMs)
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error // keep the last totals until the store answers again
    }
  }
}
