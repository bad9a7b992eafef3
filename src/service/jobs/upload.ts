/** Receives the operations of a job: cuts them into chunks and stores them while more arrive. */
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { Job, JobLimits } from '../../wire/job-messages.ts'
import type { StoreResult } from '../../wire/store-messages.ts'
import { LineCutter } from '../batch/item-cutters.ts'
import type { StoreAccess } from '../records/store-access.ts'
import type { RequestContext } from '../request.ts'
import { pack } from './packing.ts'
import { submitsEach } from './submit.ts'

/** An operation as it arrived, or the byte length of a line that was too long. */
export type Line = Uint8Array | number

/**
 * Bytes that the result of an operation may need beyond the bytes of its input. The longest problems, and the longest results without
 * an id and a proof, take less. An id and a proof come from the input, whose bytes are counted already.
 */
const RESULT_ROOM = { none: 1024, merkle: 1536, each: 1792 } as const

/** Bytes that a submission adds to a result. */
const SUBMISSION_ROOM = 128

/** Operations of a chunk whose results are submitted one by one: few enough that most chunks find room for all of them at once. */
const MAX_SUBMITTED_LINES = 100

/** Marks the length of a line that was too long, whose bytes are not stored. */
const TOO_LONG = 0x8000_0000

/** Encodes lines for the store: the byte length of each (4 bytes), then their bytes. The operations of a JSON job may contain newlines. */
function encodeLines(lines: readonly Line[]): Uint8Array {
  const bytes = lines.reduce<number>((sum, line) => sum + (typeof line === 'number' ? 0 : line.length), 0)
  const target = Buffer.allocUnsafeSlow(4 * lines.length + bytes)
  let offset = 4 * lines.length
  lines.forEach((line, index) => {
    const isTooLong = typeof line === 'number'
    target.writeUInt32LE(isTooLong ? TOO_LONG + Math.min(line, TOO_LONG - 1) : line.length, 4 * index)
    if (isTooLong) return
    target.set(line, offset)
    offset += line.length
  })
  return target
}

/** Decodes what `encodeLines` wrote. The lines are views of the bytes. */
export function decodeLines(bytes: Uint8Array, count: number): Line[] {
  const lengths = new DataView(bytes.buffer, bytes.byteOffset)
  let offset = 4 * count
  return Array.from({ length: count }, (_, index) => {
    const length = lengths.getUint32(4 * index, true)
    if (length >= TOO_LONG) return length - TOO_LONG
    offset += length
    return bytes.subarray(offset - length, offset)
  })
}

interface JobWriterParts {
  readonly ask: StoreAccess
  readonly limits: Config['limits']
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Subject of the network address, whose operations of the day are limited too; undefined if they are not. */
  readonly walletAddress: string | undefined
  /** Called after each chunk is stored. */
  readonly onStored: () => void
  /** The client that waits for the store and is charged for its time. What has arrived is stored even if it has disconnected. */
  readonly context: RequestContext
}

/** Adds operations to a job, chunk by chunk. It skips those that the job has already, so that an upload can be repeated. */
export class JobWriter {
  readonly #parts: JobWriterParts
  readonly #job: Job
  #lines: Line[] = []
  #bytes = 0
  /** Index of the next operation of the upload. */
  #next: number
  /** Operations that the job has. */
  #stored: number

  /**
   * @param from index of the first operation of the upload
   * @throws {ProblemError} `conflict` if operations are missing before it
   */
  constructor(parts: JobWriterParts, job: Job, from: number) {
    this.#parts = parts
    this.#job = job
    this.#next = from
    this.#stored = job.received
    if (from > this.#stored) {
      const detail = `from is ${from}, but the job has only ${job.received} operations: continue with from=${job.received}`
      throw new ProblemError({ type: 'conflict', detail })
    }
  }

  /** Adds an operation. @returns true if `store` should be called now */
  add(line: Line): boolean {
    if (this.#next++ < this.#stored) return false
    this.#lines.push(line)
    this.#bytes += 4 + (typeof line === 'number' ? 0 : line.length)
    const { jobChunkOperations, jobChunkBytes } = this.#parts.limits
    const maxLines = submitsEach(this.#job.options) ? MAX_SUBMITTED_LINES : jobChunkOperations
    return this.#lines.length >= maxLines || this.#bytes >= jobChunkBytes
  }

  /** True if every operation that was added is stored or was skipped. */
  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  /** Stores the operations that were added. @throws {ProblemError} if the store rejects them */
  async store(): Promise<void> {
    // Several may be added after the one that completed the chunk.
    const maxLines = submitsEach(this.#job.options) ? MAX_SUBMITTED_LINES : Number.POSITIVE_INFINITY
    while (this.#lines.length > 0) await this.#storeChunk(this.#lines.slice(0, maxLines))
    this.#bytes = 0
  }

  /** Stores lines as one chunk, or drops lines that are stored already. */
  async #storeChunk(lines: readonly Line[]): Promise<void> {
    const operations = lines.length
    const { ask, limits, walletAddress, now, onStored, context } = this.#parts
    const input = encodeLines(lines)
    const { options } = this.#job
    const isSubmitted = submitsEach(options)
    const room = input.length + operations * (RESULT_ROOM[options.attest] + (isSubmitted ? SUBMISSION_ROOM : 0))
    const jobLimits: JobLimits = {
      maxOperations: isSubmitted
        ? Math.min(limits.maxJobOperations, limits.maxJobSubmissions)
        : limits.maxJobOperations,
      perDay: limits.jobOperationsPerDay,
      ...(walletAddress === undefined
        ? {}
        : { address: { subject: walletAddress, perDay: limits.jobOperationsPerDayOfAddress } }),
      maxBytes: limits.maxJobBytes,
      maxAccountBytes: limits.maxJobBytesPerKey,
      maxOpen: limits.maxOpenJobs,
    }
    const chunk = {
      position: this.#job.position,
      first: this.#stored,
      operations,
      stored: await pack(input), // from here on, the memory of the input is free
      room,
      limits: jobLimits,
      nowMs: now(),
    }
    const outcome = await ask('appendJob', chunk, context)
    // For example, the end of an interrupted upload was stored while this upload already repeats it.
    const isBehind = typeof outcome === 'number' && outcome > this.#stored
    if (outcome !== 'stored' && !isBehind) throw uploadProblem(outcome, this.#job, this.#stored, limits, now())
    const received = isBehind ? outcome : this.#stored + operations
    this.#lines.splice(0, received - this.#stored)
    this.#stored = received
    if (!isBehind) onStored()
  }

  /** Ends the upload. @returns the job with its total */
  async end(): Promise<Job> {
    await this.store()
    const { ask, now, onStored, context } = this.#parts
    const argument = { position: this.#job.position, nowMs: now() }
    const job = await ask('endJobInput', argument, context)
    onStored()
    return job ?? this.#job
  }
}

/** The rule on the number of results that are submitted one by one. */
export const MANY_SUBMISSIONS = {
  code: 'too-many-submissions',
  hint: 'send fewer operations, or attest merkle: one attestation of their root covers all of them',
}

export function tooManySubmissions({ maxJobSubmissions }: Pick<Config['limits'], 'maxJobSubmissions'>): string {
  return `the results of at most ${maxJobSubmissions} operations of a job are submitted one by one`
}

const DAY_MS = 86_400_000
/** Time after which a store without room may have some again. */
const FULL_RETRY_SECONDS = 60

function uploadProblem(
  outcome: Exclude<StoreResult<'appendJob'>, 'stored'>,
  { id, options }: Job,
  stored: number,
  limits: Config['limits'],
  nowMs: number,
): ProblemError {
  const storedText = `${stored} operations of job ${id} are stored`
  if (typeof outcome === 'number')
    return new ProblemError({ type: 'conflict', detail: `the job has ${outcome} operations; ${storedText}` })
  switch (outcome) {
    case 'closed':
      return new ProblemError({ type: 'conflict', detail: `job ${id} takes no more operations` })
    case 'large': {
      if (submitsEach(options) && limits.maxJobSubmissions < limits.maxJobOperations) {
        const detail = `${tooManySubmissions(limits)}, so job ${id} has failed: what is submitted already stays submitted`
        return problemAt('payload-too-large', [], detail, MANY_SUBMISSIONS)
      }
      const detail = `a job takes at most ${limits.maxJobOperations} operations, so job ${id} has failed: send them as several jobs`
      return new ProblemError({ type: 'payload-too-large', detail })
    }
    case 'spent':
    case 'address': {
      const limit =
        outcome === 'spent'
          ? `${limits.jobOperationsPerDay} operations of jobs per day`
          : `${limits.jobOperationsPerDayOfAddress} operations of jobs per day of all wallet accounts at one network address`
      const detail = `the limit of ${limit} is reached; ${storedText}: continue with PUT after midnight UTC`
      const retryAfterSeconds = Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000)
      return new ProblemError({ type: 'rate-limited', detail, retryAfterSeconds })
    }
    case 'share': {
      const detail = `the jobs of this API key take all the room that one key may have (half of JOB_MAX_BYTES); ${storedText}: continue with PUT later`
      return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: FULL_RETRY_SECONDS })
    }
    case 'full': {
      const detail = `the store has no room for more jobs (JOB_MAX_BYTES); ${storedText}: continue with PUT later`
      return new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: FULL_RETRY_SECONDS })
    }
  }
}

/** Stores lines in chunks. */
export interface LineWriter {
  /** @param line a number is the byte length of a line that was too long. @returns true if the chunk is complete */
  add(line: Uint8Array | number): boolean
  /** Stores the lines that were added. */
  store(): Promise<void>
  /** True if there are none. */
  readonly isEmpty: boolean
}

/** Takes the lines of an upload as bytes, in pieces that may end in the middle of a line. */
export class LineUpload {
  readonly #cutter: LineCutter
  readonly #maxHeldBytes: number
  readonly #onRoom: (bytes: number) => void
  /** Bytes that were taken and are not stored, and those of them that were cut into lines. */
  #heldBytes = 0
  #cutBytes = 0
  #state: 'receiving' | 'ended' | 'cut' = 'receiving'
  #wake: (() => void) | undefined

  /** @param onRoom called with the number of bytes that are stored or were skipped */
  constructor(limits: Pick<Config['limits'], 'maxBodyBytes' | 'maxStreamBytes'>, onRoom: (bytes: number) => void) {
    this.#cutter = new LineCutter(limits.maxBodyBytes)
    // More than a chunk and one line: with less, the upload would wait forever, because storing a chunk is what releases room.
    this.#maxHeldBytes = limits.maxStreamBytes / 2
    this.#onRoom = onRoom
  }

  take(bytes: Uint8Array): void {
    this.#heldBytes += bytes.byteLength
    this.#cutter.take(bytes)
    this.#wake?.()
  }

  /** True while it should get no more bytes. */
  get isFull(): boolean {
    return this.#heldBytes >= this.#maxHeldBytes
  }

  /** Ends the stream. @param isCut true if the connection broke: an incomplete last line is dropped, and the job stays open */
  end(isCut: boolean): void {
    if (this.#state !== 'receiving') return
    this.#state = isCut ? 'cut' : 'ended'
    if (!isCut) this.#cutter.end()
    this.#wake?.()
  }

  /** Writes the lines to the job as they arrive. @returns false if the stream broke off */
  async writeTo(writer: LineWriter): Promise<boolean> {
    for (;;) {
      const group = this.#cutter.next()
      if (group !== undefined) {
        this.#cutBytes += group.streamBytes
        let isComplete = false
        for (const line of group.lines) isComplete = writer.add(line) || isComplete
        // Skipped lines need no store, so their room is released at once.
        if (isComplete || writer.isEmpty) await this.#store(writer)
      } else if (this.#state !== 'receiving') break
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        this.#wake = undefined
      }
    }
    await this.#store(writer)
    return this.#state === 'ended'
  }

  async #store(writer: LineWriter): Promise<void> {
    await writer.store()
    const bytes = this.#cutBytes
    this.#cutBytes = 0
    this.#heldBytes -= bytes
    this.#onRoom(bytes)
  }
}
