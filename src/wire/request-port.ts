/**
 * Requests between threads. One thread asks for an operation by name, and the other answers from a table of operations. Requests
 * are numbered, so answers may come in any order. Both sides ignore messages of other types, so a port may carry those too.
 */
import type { MessagePort } from 'node:worker_threads'

/** The operations that one side offers, each with its argument and result. They are plain data. */
type Operations<T> = { readonly [Name in keyof T]: { readonly argument: unknown; readonly result: unknown } }

export interface Call {
  readonly type: 'call'
  readonly id: number
  readonly operation: string
  readonly argument: unknown
}

/** `ms` is the time that the call took, if the answering side measures it. */
export type Answer = (
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | {
      readonly type: 'failure'
      readonly id: number
      /** The kind of failure, for code to branch on. Each pair of threads defines its own kinds. */
      readonly kind: string
      readonly reason: string
    }
) & { readonly ms?: number }

/**
 * Why a request has no result. `late`: its time limit passed. `full`: too many requests were pending. `lost`: the other side
 * ended, or there is none. `failure`: the other side answered with a failure.
 */
export type RequestFailure =
  | { readonly type: 'late' }
  | { readonly type: 'full' }
  | { readonly type: 'lost'; readonly reason: string }
  | Extract<Answer, { type: 'failure' }>

export interface RequesterOptions {
  /** The reason of `lost` for requests before the first connection. */
  readonly notConnected: string
  /** The reason of `lost` for requests after a connection has ended. */
  readonly ended: string
  /** Makes the error with which a request is rejected. */
  readonly toError: (failure: RequestFailure) => Error
}

interface RequestLimits {
  /** After this time the request is rejected and its answer ignored. Without it, only an answer or the end of the port ends it. */
  readonly timeoutMs?: number
  /** The request is rejected when this many are pending. */
  readonly maxPending?: number
  /** Called with the time that an answer took, if the other side measures it and the request has not been rejected. */
  readonly onTime?: (ms: number) => void
}

interface Pending {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | undefined
  readonly onTime: ((ms: number) => void) | undefined
}

/** The asking side. It outlives its connections: requests are rejected while there is none. */
export class Requester<T extends Operations<T>> {
  readonly #options: RequesterOptions
  readonly #pending = new Map<number, Pending>()
  #post: ((call: Call) => void) | undefined
  #port: MessagePort | undefined
  #lostReason: string
  #nextId = 0

  constructor(options: RequesterOptions) {
    this.#options = options
    this.#lostReason = options.notConnected
  }

  /** Sends requests over a port from now on, until it closes or is replaced. A port that is replaced is closed. */
  connect(port: MessagePort): void {
    const former = this.#port
    this.attach((call) => port.postMessage(call))
    this.#port = port
    former?.close()
    port.on('message', (message: Answer) => this.receive(message))
    port.on('close', () => {
      if (this.#port === port) this.detach()
    })
  }

  /** Sends requests with `post` from now on. The owner passes the answers to `receive` and calls `detach` at the end. */
  attach(post: (call: Call) => void): void {
    this.detach()
    this.#post = post
  }

  /** Rejects all pending requests, and later ones until the next connection, as `lost`. */
  detach(reason = this.#options.ended): void {
    if (this.#post !== undefined) this.#lostReason = reason
    this.#post = undefined
    this.#port = undefined
    for (const id of [...this.#pending.keys()]) this.#reject(id, { type: 'lost', reason })
  }

  /**
   * Runs an operation of the other side.
   *
   * @throws the error that `toError` makes, when there is no result
   */
  ask<Name extends keyof T & string>(
    operation: Name,
    argument: T[Name]['argument'],
    { timeoutMs, maxPending = Number.POSITIVE_INFINITY, onTime }: RequestLimits = {},
  ): Promise<T[Name]['result']> {
    return new Promise((resolve, reject) => {
      const { toError } = this.#options
      if (this.#post === undefined) return reject(toError({ type: 'lost', reason: this.#lostReason }))
      if (this.#pending.size >= maxPending) return reject(toError({ type: 'full' }))
      const id = this.#nextId++
      this.#post({ type: 'call', id, operation, argument })
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => this.#reject(id, { type: 'late' }), timeoutMs)
      this.#pending.set(id, { resolve, reject, timer, onTime })
    })
  }

  /** Takes an answer. Ignores other messages, and answers whose request has ended. */
  receive(message: Answer | { readonly type: string }): void {
    if (!isAnswer(message)) return
    if (message.ms !== undefined) this.#pending.get(message.id)?.onTime?.(message.ms)
    if (message.type === 'failure') this.#reject(message.id, message)
    else this.#take(message.id)?.resolve(message.value as never)
  }

  #reject(id: number, failure: RequestFailure): void {
    this.#take(id)?.reject(this.#options.toError(failure))
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    clearTimeout(pending?.timer)
    return pending
  }
}

/** The handler of each operation. If it throws, the answer is a `failure`. */
export type Handlers<T extends Operations<T>> = {
  readonly [Name in keyof T]: (argument: T[Name]['argument']) => Promise<T[Name]['result']> | T[Name]['result']
}

interface ServeOptions {
  /** Returns the `kind` of a failure for the value that a handler threw. Without it, every failure is of the kind `failed`. */
  readonly failureKind?: (error: unknown) => string
  /** Returns the buffers of a result that are transferred instead of copied. */
  readonly transfer?: (value: unknown) => ArrayBuffer[]
  /** Starts to measure a call. Returns a function that is called when the call ends, and returns how many milliseconds it took. */
  readonly clock?: () => () => number
  /** Called before each call is handled. */
  readonly onCall?: () => void
  /** Called after each answer was posted. */
  readonly onAnswer?: (answer: Answer) => void
}

/** A port, a worker, or the parent port of a thread. */
interface Port {
  on(event: 'message', listener: (message: Call) => void): unknown
  postMessage(message: Answer, transfer: ArrayBuffer[]): void
}

/** The answering side: calls the handler of each request that comes over the port, and posts its result. */
export function serve<T extends Operations<T>>(port: Port, handlers: Handlers<T>, options: ServeOptions = {}): void {
  const { failureKind = () => 'failed', transfer = () => [], clock, onCall, onAnswer } = options

  async function handle({ id, operation, argument }: Call): Promise<Answer> {
    try {
      return { type: 'result', id, value: await handlers[operation as keyof T](argument) }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      return { type: 'failure', id, kind: failureKind(error), reason }
    }
  }

  port.on('message', async (call) => {
    if (call.type !== 'call') return
    onCall?.()
    const measured = clock?.()
    const handled = await handle(call)
    const answer = measured === undefined ? handled : { ...handled, ms: measured() }
    port.postMessage(answer, answer.type === 'result' ? transfer(answer.value) : [])
    onAnswer?.(answer)
  })
}

function isAnswer(message: { readonly type: string }): message is Answer {
  return message.type === 'result' || message.type === 'failure'
}
