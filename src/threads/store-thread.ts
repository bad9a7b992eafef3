import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import type { Config, StoreThreadConfig } from '../config/config.ts'
import { type StoreEngine, StoreFault, type StoreReply, type StoreRequest } from '../wire/store-messages.ts'
import { boundYoungHeap, workerUrl } from './spawn.ts'

/** Why a store is not open: it is opening, it cannot be reached or opened (`away`), or its files are damaged. */
export type StoreCondition = 'opening' | 'away' | 'damaged'

export type StoreState =
  | { readonly isOpen: true; readonly engine: StoreEngine; readonly version: string }
  | {
      readonly isOpen: false
      readonly engine: StoreEngine
      /** For operators only, because it may name folders. */
      readonly reason: string
      readonly condition: StoreCondition
    }

/** Returns the error for a call while the store is not open. */
export function toStoreFault({ condition, reason }: Extract<StoreState, { isOpen: false }>): StoreFault {
  return new StoreFault(condition === 'away' ? 'unavailable' : condition, reason)
}

/** The state of the store, and the requests that wait for it to open. */
export class StoreStateTracker {
  #state: StoreState
  readonly #maxWaiting: number
  readonly #waiters = new Set<() => void>()

  /** @param maxWaiting the most requests that may wait at a time */
  constructor(state: StoreState, maxWaiting: number) {
    this.#state = state
    this.#maxWaiting = maxWaiting
  }

  get state(): StoreState {
    return this.#state
  }

  /**
   * Sets the state. Unless the store is still opening, waiting requests continue; each then gets a reply or the reason
   * for none.
   */
  set(state: StoreState): void {
    this.#state = state
    if (!this.#isOpening) for (const end of [...this.#waiters]) end()
  }

  /**
   * Waits for a store that is opening. Does not wait for a store that is open, away or damaged.
   *
   * @param deadlineMs since the epoch
   * @returns undefined when there is nothing to wait for; otherwise a promise, which rejects with a {StoreFault}
   *   `opening` when the deadline passes
   * @throws {StoreFault} `opening` when too many requests are already waiting
   */
  untilOpen(deadlineMs: number): Promise<void> | undefined {
    if (!this.#isOpening) return undefined
    if (this.#waiters.size >= this.#maxWaiting) throw this.#fault()
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        this.#waiters.delete(end)
        if (this.#isOpening) reject(this.#fault())
        else resolve()
      }
      const timer = setTimeout(end, Math.max(0, deadlineMs - Date.now()))
      this.#waiters.add(end)
    })
  }

  get #isOpening(): boolean {
    return !this.#state.isOpen && this.#state.condition === 'opening'
  }

  #fault(): StoreFault {
    return new StoreFault('opening', this.#state.isOpen ? '' : this.#state.reason)
  }
}

/** The store thread, restarted whenever it ends. */
interface StoreThread {
  open(): void
  /** Sends a request. Returns false while no thread has opened the store; the request is then dropped. */
  post(request: StoreRequest): boolean
  /** Terminates the thread at once; it is then started again. */
  restart(): void
  /** Passes a port connected to the store to `onPort`, now and after every restart. */
  connect(onPort: (port: MessagePort) => void): void
  /** Shuts the thread down for good. */
  close(): Promise<void>
}

interface StoreThreadEvents {
  onReply(reply: StoreReply): void
  /** @param retryMs time until the thread is started again */
  onEnd(reason: string, condition: StoreCondition, retryMs: number): void
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 5000
const CLOSE_MS = 5000

export function createStoreThread(
  { databaseUrl, dataDir, limits }: Config,
  { onReply, onEnd }: StoreThreadEvents,
): StoreThread {
  const subscribers: ((port: MessagePort) => void)[] = []
  let worker: Worker | undefined
  let isOpen = false
  let isClosing = false
  let pauseMs = FIRST_PAUSE_MS

  return {
    open,
    post(request) {
      if (isOpen) worker!.postMessage(request)
      return isOpen
    },
    restart: () => void worker?.terminate(),
    connect(onPort) {
      subscribers.push(onPort)
      if (isOpen) connectPort(onPort)
    },
    async close() {
      isClosing = true
      if (worker === undefined) return
      const closing = worker
      // While it opens, it reads no messages. Whatever it had begun is redone at the next start.
      if (!isOpen) return void (await closing.terminate())
      const ended = new Promise<void>((resolve) => closing.once('exit', () => resolve()))
      closing.postMessage({ type: 'close' } satisfies StoreRequest)
      const timer = setTimeout(() => void closing.terminate(), CLOSE_MS)
      await ended
      clearTimeout(timer)
    },
  }

  function open(): void {
    boundYoungHeap(limits.storeYoungHeapMb)
    const started = new Worker(workerUrl('store'), {
      name: 'store',
      env: {}, // only the signer thread sees the environment
      workerData: { databaseUrl, dataDir, limits } satisfies StoreThreadConfig,
    })
    worker = started
    let reason = 'its thread ended'
    let isDamaged = false
    const opening = setTimeout(() => void started.terminate(), limits.storeOpenMs)
    started.on('message', (reply: StoreReply) => {
      if (reply.type === 'refused') {
        reason = reply.reason
        isDamaged = reply.isDamaged
      }
      if (reply.type === 'open') {
        clearTimeout(opening)
        pauseMs = FIRST_PAUSE_MS
        isOpen = true
        for (const onPort of subscribers) connectPort(onPort)
      }
      onReply(reply)
    })
    started.on('error', (error) => {
      reason = error.message
    })
    started.once('exit', () => {
      clearTimeout(opening)
      // A thread that had opened the store will most likely open it again; one that had not may never succeed.
      const condition = isDamaged ? 'damaged' : isOpen ? 'opening' : 'away'
      worker = undefined
      isOpen = false
      if (isClosing) return
      const retryMs = isDamaged ? limits.storeDamagedRetryMs : pauseMs
      onEnd(reason, condition, retryMs)
      setTimeout(() => isClosing || open(), retryMs).unref()
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    })
  }

  function connectPort(onPort: (port: MessagePort) => void): void {
    const { port1, port2 } = new MessageChannel()
    worker!.postMessage({ type: 'connect', port: port2 } satisfies StoreRequest, [port2])
    onPort(port1)
  }
}
