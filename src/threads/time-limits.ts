import { EventEmitter } from 'node:events'

/**
 * Ends tasks that take too long, with one timer for all of them. An `AbortSignal.timeout` for each task would cost more
 * than a small request: a timer, a weak reference and a finalizer.
 */
export class TimeLimits {
  readonly #running = new Set<Limit>()
  readonly #nowMs: () => number
  #timer: NodeJS.Timeout | undefined

  /** @param nowMs milliseconds on a clock that only goes forward */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /**
   * Runs a task with a time limit.
   *
   * @param start begins a task that ends when the signal emits `abort`, which comes at most `SWEEP_MS` late
   * @param graceMs extra time, counted from the sweep that sees the limit passed; whatever stalled this timer stalled
   *   the task too
   */
  async run<T>(leftMs: number, start: (signal: EventEmitter) => Promise<T>, graceMs = 0): Promise<T> {
    const limit = { signal: new EventEmitter(), dueMs: this.#nowMs() + leftMs, graceMs }
    this.#running.add(limit)
    this.#timer ??= setInterval(() => this.#sweep(), SWEEP_MS).unref()
    try {
      return await start(limit.signal)
    } finally {
      this.#running.delete(limit)
    }
  }

  #sweep(): void {
    if (this.#running.size === 0) {
      clearInterval(this.#timer)
      this.#timer = undefined
      return
    }
    const nowMs = this.#nowMs()
    for (const limit of this.#running) {
      if (limit.dueMs > nowMs) continue
      if (limit.graceMs > 0) {
        limit.dueMs = nowMs + limit.graceMs
        limit.graceMs = 0
        continue
      }
      this.#running.delete(limit)
      limit.signal.emit('abort')
    }
  }
}

interface Limit {
  readonly signal: EventEmitter
  dueMs: number
  graceMs: number
}

const SWEEP_MS = 50
