import type { PackedBytes } from '../base/bytes.ts'
import { FairQueue, type QueueClient } from '../base/fair-queue.ts'
import { ProblemError } from '../base/problem.ts'
import { Overload } from '../base/wait-limit.ts'
import type { AnySigningResult, SigningPayload, UnpackedPayload } from '../wire/signing-messages.ts'
import { packPayload, readSigned, SIGNED_BYTES, signedId } from '../wire/signing-records.ts'
import {
  overloaded,
  type Records,
  rejectedBlock,
  type SignedBlock,
  SigningBlock,
  type SigningMessage,
  TOO_MANY_WAITING,
} from './signing-block.ts'

/**
 * Requests that a new one may have to wait for. In a short burst there may be many, about 50 to 100 ms of work. After a refusal more
 * requests arrive than can be answered, and a long queue would only delay those that are.
 */
const MAX_AHEAD = 1024
const MAX_AHEAD_OVERLOADED = 16
/** The problem of a request that would wait too long. One object, because an overload makes many refusals. */
export const NO_ROOM = overloaded(TOO_MANY_WAITING).problem

interface Waiting {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/**
 * Holds tiny requests before they are computed on the main thread, while enough others wait for their signature. A held
 * request is little more than its bytes. Had they been computed, the garbage collector would copy the state of 256
 * clients again and again, for a quarter of the main thread's time. A request that is let in occupies a slot, or
 * leaves, in the same tick. Clients are let in in turn, the requests of each in order of arrival.
 */
export class WaitingRoom {
  readonly #maxWaiting: number
  readonly #free: () => number
  readonly #queue: FairQueue<Waiting>
  readonly #overload: Overload
  #isPlanned = false

  /**
   * @param free returns the number of free slots; code that frees slots must call `release`
   * @param nowMs returns milliseconds of a monotonic clock
   */
  constructor(maxWaiting: number, free: () => number, nowMs = () => performance.now()) {
    this.#maxWaiting = maxWaiting
    this.#free = free
    this.#queue = new FairQueue(maxWaiting)
    this.#overload = new Overload(nowMs)
  }

  /** False if `isFullFor` is false for every client. Costs almost nothing. */
  get isCrowded(): boolean {
    return this.#queue.size >= Math.min(this.#maxWaiting, MAX_AHEAD_OVERLOADED)
  }

  get isOverloaded(): boolean {
    return this.#overload.isOn
  }

  /** Returns true if a new request of this client would have to wait for too many others. It must then be refused. */
  isFullFor(client: QueueClient): boolean {
    const max = Math.min(this.#maxWaiting, this.isOverloaded ? MAX_AHEAD_OVERLOADED : MAX_AHEAD)
    if (this.#queue.size < max || this.#queue.countAhead(client) < max) return false
    this.#overload.countRefusal()
    return true
  }

  /**
   * @returns undefined when the request may proceed at once; otherwise a promise that resolves when it may, and rejects with a
   *   {ProblemError} `overloaded` when another client needs its place
   */
  enter(client: QueueClient): Promise<void> | undefined {
    if (this.#queue.size === 0 && this.#free() > 0) return undefined
    return new Promise((resolve, reject) => {
      this.#queue.push(client, { resolve, reject })?.reject(new ProblemError(NO_ROOM))
    })
  }

  /** Lets in as many requests as there are free slots. */
  release(): void {
    let free = this.#free()
    if (this.#queue.size === 0 || free <= 0) return
    for (; free > 0 && this.#queue.size > 0; free--) this.#queue.shift()!.resolve()
    if (this.#queue.size === 0 || this.#isPlanned) return
    // Some of them may have left meanwhile and occupy no slot.
    this.#isPlanned = true
    setImmediate(() => {
      this.#isPlanned = false
      this.release()
    })
  }
}

interface SigningQueueOptions {
  readonly maxQueueSize: number
  readonly maxBatchSize: number
  /** Longest wait for one signature. */
  readonly timeoutMs: number
  readonly send: (message: SigningMessage) => void
}

/**
 * Messages out at a time: one being signed and two waiting keep the thread busy; what piles up meanwhile travels
 * together.
 */
const MAX_MESSAGES_OUT = 3
/** Payloads of single requests that may wait here; while there are more, no further request is computed. */
const MAX_QUEUED_AHEAD = 64
/**
 * Single payloads that may wait here or be at the signer in an overload. Each adds the time of one answer to the wait of all others,
 * and the main thread has refused most of what arrives in that time. Without this limit, the slowest answers took about three times as
 * long as with 32.
 */
const MAX_SINGLES_OVERLOADED = 24
/** Batch payloads in a message without single ones (1 ms of signing), and in a message with some. */
const MAX_BULK_ONLY = 24
const MAX_BULK_MIXED = 4
/** IDs travel in 32 bits. */
const ID_LIMIT = 2 ** 32

interface Pending {
  readonly resolve: (result: AnySigningResult) => void
  readonly sinceMs: number
}

interface Queued {
  readonly id: number
  readonly payload: Uint8Array | UnpackedPayload
}

/**
 * Micro-batches payloads for the signer thread. A message for each payload costs the main thread 11 µs; with 32 in a
 * message it is 1 µs each.
 *
 * Results come back by id, in any order, because a payload that waits for a nonce does not hold up later ones.
 */
export class SigningQueue {
  readonly #options: SigningQueueOptions
  /** Every payload without a result, queued or sent, oldest first. */
  readonly #pending = new Map<number, Pending>()
  #queue: Queued[] = []
  /** Payloads of batches. They queue separately, so that a single request does not wait behind a thousand items. */
  #bulk: Queued[] = []
  /** Chunks of batches that are not finished, oldest first; each may be queued, partly sent or sent. */
  #blocks: SigningBlock[] = []
  #nextId = 0
  /** The number of single payloads in each message that the signer has not finished, oldest first. */
  #messagesOut: number[] = []
  #isFlushPlanned = false
  #sweep: NodeJS.Timeout | undefined

  /** Where requests wait before they are computed and submitted here. */
  readonly room: WaitingRoom

  constructor(options: SigningQueueOptions) {
    this.#options = options
    this.room = new WaitingRoom(options.maxQueueSize, () => this.#countFreeSlots())
  }

  /** @param isBulk true for an item of a batch; single requests overtake it */
  submit(payload: SigningPayload, isBulk = false): Promise<AnySigningResult> {
    if (this.#isFull()) return Promise.resolve(overloaded(TOO_MANY_WAITING))
    const isPacked = payload.kind !== 'sequence' && payload.kind !== 'relay-transaction'
    let packed: Uint8Array | UnpackedPayload
    try {
      packed = isPacked ? packPayload(payload) : payload
    } catch (error) {
      if (error instanceof ProblemError) return Promise.resolve({ ok: false, problem: error.data })
      throw error
    }
    return new Promise((resolve) => {
      const id = this.#takeIds(1)
      this.#pending.set(id, { resolve, sinceMs: performance.now() })
      const queue = isBulk ? this.#bulk : this.#queue
      queue.push({ id, payload: packed })
      this.#planFlush()
      this.#planSweep()
    })
  }

  /** @param payloads of a chunk of a batch, as `putPayload` writes them; single requests overtake them */
  submitBlock(payloads: PackedBytes): Promise<SignedBlock> {
    const count = payloads.offsets.length - 1
    if (count === 0) return Promise.resolve({ signed: Buffer.alloc(0), rejections: new Map() })
    // A chunk is accepted whole or not at all; its sender bounds its size.
    if (this.#isFull()) return Promise.resolve(rejectedBlock(count, overloaded(TOO_MANY_WAITING).problem))
    return new Promise((resolve) => {
      this.#blocks.push(new SigningBlock(this.#takeIds(count), payloads, performance.now(), resolve))
      this.#planFlush()
      this.#planSweep()
    })
  }

  /** Takes results from the signer thread. Drops those whose caller no longer waits. */
  take(
    signed: Uint8Array,
    others: readonly (readonly [id: number, result: AnySigningResult])[],
    isBatchEnd: boolean,
  ): void {
    const bytes = Buffer.from(signed.buffer, signed.byteOffset, signed.length)
    for (let at = 0; at < bytes.length; at += SIGNED_BYTES) {
      const id = signedId(bytes, at)
      if (this.#pending.has(id)) this.#settle(id, readSigned(bytes, at))
      else this.#findBlock(id)?.settle(bytes, at)
    }
    for (const [id, result] of others) {
      if (this.#pending.has(id) || result.ok) this.#settle(id, result)
      else this.#findBlock(id)?.reject(id, result.problem)
    }
    if (this.#blocks.some(({ open }) => open === 0)) this.#blocks = this.#blocks.filter(({ open }) => open > 0)
    if (!isBatchEnd) return
    this.#messagesOut.shift()
    this.room.release()
    this.#planFlush()
  }

  /** Ends every wait with a problem that the client may retry, after the signer thread died. */
  fail(detail: string): void {
    this.#messagesOut = []
    this.#queue = []
    this.#bulk = []
    const blocks = this.#blocks
    this.#blocks = []
    for (const block of blocks) block.rejectRemaining(overloaded(detail).problem)
    for (const id of [...this.#pending.keys()]) this.#settle(id, overloaded(detail))
    this.room.release()
  }

  /** Returns how many more requests may be computed and submitted. */
  #countFreeSlots(): number {
    const free = MAX_QUEUED_AHEAD - this.#queue.length
    if (!this.room.isOverloaded) return free
    const atSigner = this.#messagesOut.reduce((sum, singles) => sum + singles, 0)
    return Math.min(free, MAX_SINGLES_OVERLOADED - this.#queue.length - atSigner)
  }

  #isFull(): boolean {
    const inBlocks = this.#blocks.reduce((sum, { open }) => sum + open, 0)
    return this.#pending.size + inBlocks >= this.#options.maxQueueSize
  }

  get #hasMore(): boolean {
    return this.#queue.length + this.#bulk.length > 0 || this.#blocks.some(({ isSent }) => !isSent)
  }

  #findBlock(id: number): SigningBlock | undefined {
    return this.#blocks.find((block) => block.has(id))
  }

  #takeIds(count: number): number {
    if (this.#nextId + count > ID_LIMIT) this.#nextId = 0
    const first = this.#nextId
    this.#nextId += count
    return first
  }

  /**
   * Sends what is queued at the end of this tick, together with what is submitted until then. A full message goes at once: in an
   * overload, one tick of the event loop may read thousands of requests and take seconds, and the signer would wait for its end.
   */
  #planFlush(): void {
    if (this.#messagesOut.length >= MAX_MESSAGES_OUT) return
    if (this.#queue.length >= this.#options.maxBatchSize) this.#flush()
    if (this.#isFlushPlanned || !this.#hasMore) return
    this.#isFlushPlanned = true
    setImmediate(() => {
      this.#isFlushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    const { maxBatchSize, send } = this.#options
    while (this.#hasMore && this.#messagesOut.length < MAX_MESSAGES_OUT) {
      const others: (readonly [number, UnpackedPayload])[] = []
      const records = this.#takePending(this.#queue.splice(0, maxBatchSize), others)
      // With single payloads in the message, add only a few of batches, so that the single ones return soon. Never add
      // none, so that a batch progresses under any load.
      const singles = records.ids.length + others.length
      this.#messagesOut.push(singles)
      send({ records, bulk: this.#takeBulk(singles === 0 ? MAX_BULK_ONLY : MAX_BULK_MIXED, others), others })
    }
    this.room.release()
  }

  #takeBulk(max: number, others: (readonly [number, UnpackedPayload])[]): Records {
    const isShared = this.#blocks.some(({ isSent }) => !isSent)
    const bulk = this.#takePending(this.#bulk.splice(0, isShared ? Math.ceil(max / 2) : max), others)
    for (const block of this.#blocks) {
      if (bulk.ids.length >= max) break
      block.take(max - bulk.ids.length, bulk.ids, bulk.records)
    }
    return bulk
  }

  /** Picks the payloads whose caller still waits. */
  #takePending(queued: readonly Queued[], others: (readonly [number, UnpackedPayload])[]): Records {
    const taken: Records = { ids: [], records: [] }
    for (const { id, payload } of queued) {
      if (!this.#pending.has(id)) continue
      if (!(payload instanceof Uint8Array)) others.push([id, payload])
      else {
        taken.ids.push(id)
        taken.records.push(payload)
      }
    }
    return taken
  }

  #planSweep(): void {
    this.#sweep ??= setTimeout(() => this.#expireOverdue(), this.#options.timeoutMs).unref()
  }

  /** Ends waits that are overdue. One timer serves all: it fires next when the oldest remaining wait is due. */
  #expireOverdue(): void {
    const { timeoutMs } = this.#options
    this.#sweep = undefined
    const overdueMs = performance.now() - timeoutMs
    const late = overloaded('the signature took longer than its deadline')
    for (const block of this.#blocks) if (block.sinceMs <= overdueMs) block.rejectRemaining(late.problem)
    this.#blocks = this.#blocks.filter(({ open }) => open > 0)
    for (const [id, { sinceMs }] of this.#pending) {
      if (sinceMs > overdueMs) break
      this.#settle(id, late)
    }
    const [oldest] = this.#pending.values()
    const oldestMs = Math.min(
      oldest?.sinceMs ?? Number.POSITIVE_INFINITY,
      this.#blocks[0]?.sinceMs ?? Number.POSITIVE_INFINITY,
    )
    // When a thread that hung comes back, it must not find payloads whose time is over.
    const isPending = ({ id }: Queued) => this.#pending.has(id)
    this.#queue = this.#queue.filter(isPending)
    this.#bulk = this.#bulk.filter(isPending)
    this.room.release()
    if (oldestMs < Number.POSITIVE_INFINITY) {
      this.#sweep = setTimeout(() => this.#expireOverdue(), oldestMs - overdueMs).unref()
    }
  }

  #settle(id: number, result: AnySigningResult): void {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    pending?.resolve(result)
  }
}
