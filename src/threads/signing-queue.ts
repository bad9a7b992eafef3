import type { AnySigningResult, SigningPayload, UnpackedPayload } from '../messages.ts'
import type { PackedBytes } from '../packed-bytes.ts'
import { ProblemError } from '../problem.ts'
import { packPayload, readSigned, SIGNED_BYTES, signedId } from '../signing-records.ts'
import {
  overloaded,
  type Records,
  refusedBlock,
  type SignedBlock,
  SigningBlock,
  type SigningMessage,
  TOO_MANY,
} from './signing-block.ts'
import { WaitingRoom } from './waiting-room.ts'

export interface SigningQueueOptions {
  readonly maxQueueSize: number
  readonly maxBatchSize: number
  /** Longest wait for one signature. */
  readonly timeoutMs: number
  readonly send: (message: SigningMessage) => void
}

/** One being signed, others on their way: the thread never idles while main is busy, and what piles up meanwhile travels together. */
const MESSAGES_OUT = 3
/** Payloads of single answers that wait here, before the next request is computed. */
const QUEUED_AHEAD = 64
/** Payloads of batches in a message that has no others (1 ms of signing), and in one that has. */
const BULK_ALONE = 24
const BULK_BESIDE = 4
/** IDs travel in 32 bits. */
const ID_LIMIT = 2 ** 32

interface Waiting {
  readonly resolve: (result: AnySigningResult) => void
  readonly sinceMs: number
}

interface Queued {
  readonly id: number
  readonly payload: Uint8Array | UnpackedPayload
}

/**
 * Micro-batches payloads for the signer thread: one message a payload costs main 11 µs, 32 in a message 1 µs each.
 *
 * Results come back by id and in any order, for a payload may have to wait for a nonce while those after it need not.
 */
export class SigningQueue {
  readonly #options: SigningQueueOptions
  /** Every payload that has no result yet, oldest first, queued or sent. */
  readonly #waiting = new Map<number, Waiting>()
  #queue: Queued[] = []
  /** Payloads of batches: whoever asks for one answer does not stand behind a thousand. */
  #bulk: Queued[] = []
  /** Chunks of batches that have no result yet, oldest first, whole or in part queued or sent. */
  #blocks: SigningBlock[] = []
  #nextId = 0
  #messagesOut = 0
  #flushPlanned = false
  #sweep: NodeJS.Timeout | undefined

  /** For requests whose answers will be submitted. */
  readonly room: WaitingRoom

  constructor(options: SigningQueueOptions) {
    this.#options = options
    this.room = new WaitingRoom(options.maxQueueSize, () => QUEUED_AHEAD - this.#queue.length)
  }

  /** @param isBulk for a batch: it lets single requests pass */
  submit(payload: SigningPayload, isBulk = false): Promise<AnySigningResult> {
    if (this.#isFull()) return Promise.resolve(overloaded(TOO_MANY))
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
      this.#waiting.set(id, { resolve, sinceMs: performance.now() })
      const queue = isBulk ? this.#bulk : this.#queue
      queue.push({ id, payload: packed })
      this.#planFlush()
      this.#planSweep()
    })
  }

  /** @param payloads of a chunk of a batch, as `putPayload` writes them: they let single requests pass */
  submitBlock(payloads: PackedBytes): Promise<SignedBlock> {
    const count = payloads.offsets.length - 1
    if (count === 0) return Promise.resolve({ signed: Buffer.alloc(0), refusals: new Map() })
    // Whole or not at all: chunks are bounded by whoever sends them.
    if (this.#isFull()) return Promise.resolve(refusedBlock(count, overloaded(TOO_MANY).problem))
    return new Promise((resolve) => {
      this.#blocks.push(new SigningBlock(this.#takeIds(count), payloads, performance.now(), resolve))
      this.#planFlush()
      this.#planSweep()
    })
  }

  /** What came back; results nobody waits for any more are dropped. */
  take(
    signed: Uint8Array,
    others: readonly (readonly [id: number, result: AnySigningResult])[],
    isBatchEnd: boolean,
  ): void {
    const bytes = Buffer.from(signed.buffer, signed.byteOffset, signed.length)
    for (let at = 0; at < bytes.length; at += SIGNED_BYTES) {
      const id = signedId(bytes, at)
      if (this.#waiting.has(id)) this.#settle(id, readSigned(bytes, at))
      else this.#blockOf(id)?.settle(bytes, at)
    }
    for (const [id, result] of others) {
      if (this.#waiting.has(id) || result.ok) this.#settle(id, result)
      else this.#blockOf(id)?.refuse(id, result.problem)
    }
    if (this.#blocks.some(({ open }) => open === 0)) this.#blocks = this.#blocks.filter(({ open }) => open > 0)
    if (!isBatchEnd) return
    this.#messagesOut--
    if (this.#hasMore) this.#planFlush()
  }

  /** The thread died: everybody who waits may try again. */
  fail(detail: string): void {
    this.#messagesOut = 0
    this.#queue = []
    this.#bulk = []
    const blocks = this.#blocks
    this.#blocks = []
    for (const block of blocks) block.refuseRest(overloaded(detail).problem)
    for (const id of [...this.#waiting.keys()]) this.#settle(id, overloaded(detail))
    this.room.release()
  }

  #isFull(): boolean {
    const inBlocks = this.#blocks.reduce((sum, { open }) => sum + open, 0)
    return this.#waiting.size + inBlocks >= this.#options.maxQueueSize
  }

  get #hasMore(): boolean {
    return this.#queue.length + this.#bulk.length > 0 || this.#blocks.some(({ isSent }) => !isSent)
  }

  #blockOf(id: number): SigningBlock | undefined {
    return this.#blocks.find((block) => block.has(id))
  }

  #takeIds(count: number): number {
    if (this.#nextId + count > ID_LIMIT) this.#nextId = 0
    const first = this.#nextId
    this.#nextId += count
    return first
  }

  #planFlush(): void {
    if (this.#flushPlanned || this.#messagesOut >= MESSAGES_OUT) return
    this.#flushPlanned = true
    setImmediate(() => {
      this.#flushPlanned = false
      this.#flush()
    })
  }

  #flush(): void {
    const { maxBatchSize, send } = this.#options
    while (this.#hasMore && this.#messagesOut < MESSAGES_OUT) {
      this.#messagesOut++
      const others: (readonly [number, UnpackedPayload])[] = []
      const records = this.#takeWaiting(this.#queue.splice(0, maxBatchSize), others)
      // Few beside others, so that those are soon back; never none, so that a batch ends under any load.
      const isAlone = records.ids.length + others.length === 0
      send({ records, bulk: this.#takeBulk(isAlone ? BULK_ALONE : BULK_BESIDE, others), others })
    }
    this.room.release()
  }

  #takeBulk(most: number, others: (readonly [number, UnpackedPayload])[]): Records {
    const isShared = this.#blocks.some(({ isSent }) => !isSent)
    const bulk = this.#takeWaiting(this.#bulk.splice(0, isShared ? Math.ceil(most / 2) : most), others)
    for (const block of this.#blocks) {
      if (bulk.ids.length >= most) break
      block.take(most - bulk.ids.length, bulk.ids, bulk.records)
    }
    return bulk
  }

  /** Those whose caller still waits. */
  #takeWaiting(queued: readonly Queued[], others: (readonly [number, UnpackedPayload])[]): Records {
    const taken: Records = { ids: [], records: [] }
    for (const { id, payload } of queued) {
      if (!this.#waiting.has(id)) continue
      if (!(payload instanceof Uint8Array)) others.push([id, payload])
      else {
        taken.ids.push(id)
        taken.records.push(payload)
      }
    }
    return taken
  }

  #planSweep(): void {
    this.#sweep ??= setTimeout(() => this.#endOverdue(), this.#options.timeoutMs).unref()
  }

  /** One timer for all: ends those who waited too long, and looks again when the oldest of the others is due. */
  #endOverdue(): void {
    const { timeoutMs } = this.#options
    this.#sweep = undefined
    const overdueMs = performance.now() - timeoutMs
    const late = overloaded('the signature took longer than its deadline')
    for (const block of this.#blocks) if (block.sinceMs <= overdueMs) block.refuseRest(late.problem)
    this.#blocks = this.#blocks.filter(({ open }) => open > 0)
    for (const [id, { sinceMs }] of this.#waiting) {
      if (sinceMs > overdueMs) break
      this.#settle(id, late)
    }
    const [oldest] = this.#waiting.values()
    const oldestMs = Math.min(
      oldest?.sinceMs ?? Number.POSITIVE_INFINITY,
      this.#blocks[0]?.sinceMs ?? Number.POSITIVE_INFINITY,
    )
    // A thread that hangs must not find all those when it comes back whose time is over.
    const isWaiting = ({ id }: Queued) => this.#waiting.has(id)
    this.#queue = this.#queue.filter(isWaiting)
    this.#bulk = this.#bulk.filter(isWaiting)
    this.room.release()
    if (oldestMs < Number.POSITIVE_INFINITY) {
      this.#sweep = setTimeout(() => this.#endOverdue(), oldestMs - overdueMs).unref()
    }
  }

  #settle(id: number, result: AnySigningResult): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    waiting?.resolve(result)
  }
}
