import type { MessagePort } from 'node:worker_threads'

/** A worker, as far as its host uses it. */
export interface HostedThread<Request, Reply> {
  postMessage(message: Request, transfer?: readonly (ArrayBuffer | MessagePort)[]): void
  terminate(): Promise<unknown>
  on(event: 'message', listener: (reply: Reply) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'exit', listener: (code: number) => void): unknown
}

/** How a thread ended, or failed to start. */
export interface ThreadEnd {
  /** True if it was ready before. */
  readonly wasReady: boolean
  readonly code: number
  /** The error that ended it or, for a start that failed, always the reason. */
  readonly error: Error | undefined
  /** The pause before the next start, unless the owner decides otherwise. */
  readonly pauseMs: number
}

/** How a host starts, restarts and ends its thread. */
export interface ThreadHostOptions<Request, Reply> {
  /** What errors call it: `the signer`. */
  readonly title: string
  /** Starts the thread; called again for each restart. */
  readonly create: () => HostedThread<Request, Reply>
  /** A thread that is not ready after this time is terminated. */
  readonly startMs: number
  /** Pause after the first end. It doubles with each start that fails. */
  readonly firstPauseMs: number
  /** The message that asks the thread to end. */
  readonly closeRequest: Request
  /** How long `close` waits for a thread to end before it is terminated. */
  readonly closeMs: number
  /** The same for a thread that is still starting. */
  readonly closeStartingMs: number
  /**
   * Reads a message of a thread that is starting.
   *
   * @returns true if it says that the thread is ready; an error if the thread cannot start
   */
  readonly readStart: (reply: Reply) => boolean | Error
  /** Called when the thread is ready. It may be posted to from now on. */
  readonly onReady: () => void
  /** Called for every message, after `onReady` for the one that says so. */
  readonly onMessage: (reply: Reply) => void
  /** Called for each error that ends a thread, before its end. */
  readonly onError?: (error: Error) => void
  /**
   * Called when a thread ended, also while the host is closing. Not called for a first start that fails: `start` reports it.
   *
   * @returns the pause before the next start; undefined to start no more
   */
  readonly onEnd: (end: ThreadEnd) => number | undefined
}

const LONGEST_PAUSE_MS = 5000

/** A thread was not ready in time. On a busy machine, the next start may succeed. */
export class StartTimeout extends Error {
  override readonly name = 'StartTimeout'
}

/** Keeps one thread running: starts it, starts it again after each end with growing pauses, and ends it. */
export class ThreadHost<Request, Reply> {
  readonly #options: ThreadHostOptions<Request, Reply>
  #thread: HostedThread<Request, Reply> | undefined
  #isReady = false
  #isClosing = false
  #pauseMs: number
  #restart: NodeJS.Timeout | undefined
  /** Settles `start`. */
  #onStart: ((error?: Error) => void) | undefined

  constructor(options: ThreadHostOptions<Request, Reply>) {
    this.#options = options
    this.#pauseMs = options.firstPauseMs
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /**
   * Starts the thread and waits until it is ready. A first start that fails is not repeated.
   *
   * @throws the reason why the thread did not start
   */
  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#onStart = (error) => (error === undefined ? resolve() : reject(error))
      this.open()
    })
  }

  /** Starts the thread without waiting. A start that fails is repeated. */
  open(): void {
    let thread: HostedThread<Request, Reply>
    try {
      thread = this.#options.create()
    } catch (error) {
      // The system may be out of threads or memory for a while.
      this.#end(1, error as Error)
      return
    }
    this.#watch(thread)
  }

  #watch(thread: HostedThread<Request, Reply>): void {
    const { title, startMs, onError } = this.#options
    let error: Error | undefined
    const fail = (reason: Error) => {
      error ??= reason
      void thread.terminate()
    }
    const timer = setTimeout(() => fail(new StartTimeout(`${title} did not start in ${startMs} ms`)), startMs)
    this.#thread = thread
    thread.on('message', (reply) => {
      if (!this.#isReady && error === undefined) {
        const state = this.#options.readStart(reply)
        if (state instanceof Error) fail(state)
        else if (state) {
          clearTimeout(timer)
          this.#becomeReady()
        }
      }
      this.#options.onMessage(reply)
    })
    thread.on('error', (thrown) => {
      error ??= thrown
      onError?.(thrown)
    })
    thread.once('exit', (code) => {
      clearTimeout(timer)
      if (!this.#isReady) error ??= new Error(`${title} ended while starting (${code})`)
      this.#end(code, error)
    })
  }

  /** Sends a message. Returns false if the thread is not ready; the message is then dropped. */
  post(request: Request, transfer: readonly (ArrayBuffer | MessagePort)[] = []): boolean {
    if (this.#isReady) this.#thread!.postMessage(request, transfer)
    return this.#isReady
  }

  /** Terminates the thread at once; it is then started again. */
  terminate(): void {
    void this.#thread?.terminate()
  }

  /** Ends the thread for good: asks it to, and terminates it when the time limit passes. */
  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#restart)
    const thread = this.#thread
    if (thread === undefined) return
    const { closeRequest, closeMs, closeStartingMs } = this.#options
    const ended = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    thread.postMessage(closeRequest)
    const timer = setTimeout(() => void thread.terminate(), this.#isReady ? closeMs : closeStartingMs)
    await ended
    clearTimeout(timer)
  }

  #becomeReady(): void {
    this.#isReady = true
    this.#pauseMs = this.#options.firstPauseMs
    this.#options.onReady()
    this.#settleStart()
  }

  #end(code: number, error: Error | undefined): void {
    const wasReady = this.#isReady
    this.#thread = undefined
    this.#isReady = false
    if (this.#onStart !== undefined) {
      this.#settleStart(error)
      return
    }
    const pauseMs = this.#options.onEnd({ wasReady, code, error, pauseMs: this.#pauseMs })
    if (this.#isClosing || pauseMs === undefined) return
    this.#restart = setTimeout(() => this.open(), pauseMs).unref()
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
  }

  #settleStart(error?: Error): void {
    this.#onStart?.(error)
    this.#onStart = undefined
  }
}
