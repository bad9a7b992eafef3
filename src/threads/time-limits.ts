import { EventEmitter } from 'node:events'

/**
 * Ends tasks that take too long, by one timer for all of them. An `AbortSignal.timeout` for each would cost more than a
 * small request: a timer, a weak reference and a finalizer.
 */
export class TimeLimits {
  readonly #running = new Set<Limit>()
  readonly #nowMs: () => number
  #timer: NodeJS.Timeout | undefined

  /** @param nowMs milliseconds on a clock that only goes forward */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** @param start begins a task that ends itself when the signal says `abort`: at most `SWEEP_MS` late */
  async run<T>(leftMs: number, start: (signal: EventEmitter) => Promise<T>): Promise<T> {
    const limit = { signal: new EventEmitter(), dueMs: this.#nowMs() + leftMs }
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
      this.#running.delete(limit)
      limit.signal.emit('abort')
    }
  }
}

interface Limit {
  readonly signal: EventEmitter
  readonly dueMs: number
}

const SWEEP_MS = 50
