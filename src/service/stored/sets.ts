/** Sets of features that accounts have stored, with which points are matched. */
import { randomBytes } from 'node:crypto'
import { type PackedBytes, pack as packBytes, unpack as unpackBytes } from '../../base/bytes.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { type ProblemData, ProblemError, problemAt } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ComputePool } from '../../threads/compute-pool.ts'
import type { StoreClient } from '../../threads/store-client.ts'
import { readFeatureCollection, readMatchQuery, type SetMatchQuery } from '../../validation/set-request.ts'
import type { SetFeatures, SetShape, SetTrees, StoredSet, UnfinishedLine } from '../../wire/set-messages.ts'
import { BatchTally } from '../batch/batch.ts'
import { BatchSplitter, LineCutter } from '../batch/item-cutters.ts'
import { OrderedQueue } from '../batch/ordered-queue.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import type { ResponseSigner } from '../compute/signed-answer.ts'
import type { Gate } from '../gate.ts'
import type { OpenUpload } from '../jobs/job-services.ts'
import { pack, unpack } from '../jobs/packing.ts'
import { LineUpload, type LineWriter } from '../jobs/upload.ts'
import { createStoreAccess, type StoreAccess } from '../records/store-access.ts'
import {
  type BatchContext,
  type BatchSink,
  type LineStream,
  LOCAL_CALLER,
  type RequestContext,
  type ServiceResponse,
  type TextSink,
} from '../request.ts'
import { GEOMETRIES_SHARE } from './geometries.ts'

/** Who stores or reads a set. */
export interface SetCaller {
  readonly account: string | undefined
  /** Nothing is stored before it resolves. It rejects if the quota of the caller is used up. */
  readonly admitted?: Promise<void> | undefined
}

/** What the HTTP layer sees of sets. All methods throw a `ProblemError`. */
export interface SetService {
  /** Stores a FeatureCollection. The set of this name is replaced when all of it is stored. */
  put(name: string, body: Uint8Array, caller: SetCaller, context: RequestContext): Promise<ServiceResponse>
  /** As `put`, for features that follow as lines. @param onRoom called with the number of bytes that are stored */
  openUpload(name: string, caller: SetCaller, context: RequestContext, onRoom: (bytes: number) => void): OpenUpload
  list(caller: SetCaller, context: RequestContext): Promise<ServiceResponse>
  get(name: string, caller: SetCaller, context: RequestContext): Promise<ServiceResponse>
  /** Writes the features as lines. */
  features(name: string, caller: SetCaller, context: RequestContext, sink: TextSink): Promise<void>
  delete(name: string, caller: SetCaller, context: RequestContext): Promise<ServiceResponse>
  /**
   * Opens a stream of points.
   *
   * @param query as in `?nearest=3&properties=name`
   * @param onRoom called with the number of stream bytes whose lines have been answered
   * @throws {ProblemError} for invalid options
   */
  openMatch(
    name: string,
    query: string,
    context: BatchContext,
    sink: BatchSink,
    onRoom: (bytes: number) => void,
  ): OpenMatch
}

/** A stream of points. */
export interface OpenMatch extends Pick<LineStream, 'take' | 'isFull'> {
  /** Ends the stream. @param isCut true if it broke off: an incomplete last line is dropped */
  end(isCut: boolean): void
  /** Resolves when every line has been answered. Rejects at once if none can be, so that nobody has to send the others. */
  readonly answered: Promise<void>
}

export interface SetParts {
  readonly config: Config
  readonly pool: Pick<ComputePool, 'runFeatures' | 'runIndex' | 'runMatch'>
  readonly chains: ChainPolicy
  readonly answers: ResponseSigner
  /** Shared with batches, so that they leave room at the signer for single requests. */
  readonly signing: Gate
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/
const DAY_MS = 86_400_000
/** How long an upload may take before it is deleted. */
const UPLOAD_MS = 3_600_000
/**
 * How long an upload keeps its place and its bytes in the quota after its process has ended, if other processes use the store. The clocks
 * of the processes may differ by less than this.
 */
const UPLOAD_LEASE_MS = 60_000
/** Sets that one account may upload at a time. */
const MAX_RECEIVING = 4
const RENEWAL_SHARE = 1 / 30
/** Bytes of lines that are checked and stored as one chunk, and their number. */
const CHUNK_BYTES = 262_144
const CHUNK_FEATURES = 4096
/** Chunks of a set that the threads read at a time. */
const LOADED_AT_ONCE = 3
/** Sets whose size in memory is remembered because they do not fit there. */
const MAX_LARGE = 1000
/** Share of the time limit of a response that a match waits for its set (decision 168). The rest is for the points. */
const READING_SHARE = 0.9

/** @param store undefined if the service stores nothing */
export function createSetService(parts: SetParts, store: StoreClient | undefined): SetService {
  if (store === undefined) return NO_SETS
  const { config, now } = parts
  return new Sets(parts, createStoreAccess({ config, store, now, answerMs: config.limits.storeWriteMs }))
}

/** The service without a store: it has no sets. */
export const NO_SETS: SetService = {
  put: async () => rejectSets(),
  openUpload: rejectSets,
  list: async () => rejectSets(),
  get: async () => rejectSets(),
  features: async () => rejectSets(),
  delete: async () => rejectSets(),
  openMatch: rejectSets,
}

function rejectSets(): never {
  const detail = 'sets are kept in the store, and this deployment has none (RECORDS=0): start it without RECORDS=0'
  throw new ProblemError({ type: 'not-implemented', detail })
}

class Sets implements SetService {
  readonly #parts: SetParts
  readonly #ask: StoreAccess
  /** By the id of the set, which names its content. */
  readonly #shapes: LruCache<SetShape>
  readonly #loads = new Map<string, Promise<SetShape>>()
  readonly #maxBytes: number
  /** By id, the bytes of sets that do not fit into memory, so that no match reads them again. */
  readonly #large = new LruCache<number>(MAX_LARGE)
  /** Uploads that began before have lost their process. */
  readonly #abandonedBeforeMs: number

  constructor(parts: SetParts, ask: StoreAccess) {
    this.#parts = parts
    this.#ask = ask
    const { config, now } = parts
    this.#maxBytes = config.limits.storedMemoryBytes * (1 - GEOMETRIES_SHARE)
    // If only this process uses the store, older uploads are those of a former one. Otherwise their leases end.
    this.#abandonedBeforeMs = config.databaseUrl === undefined && config.processes === 1 ? now() : 0
    this.#shapes = new LruCache(this.#maxBytes, shapeBytes)
  }

  async put(name: string, body: Uint8Array, caller: SetCaller, context: RequestContext): Promise<ServiceResponse> {
    requireAccount(caller)
    requireName(name)
    await caller.admitted
    const { maxSetFeatures, maxBatchEnvelopeBytes, maxJsonDepth } = this.#parts.config.limits
    const splitter = new BatchSplitter(body, maxSetFeatures, 'features')
    while (!splitter.searchSlice()) await new Promise((resolve) => setImmediate(resolve))
    const { starts, ends, count } = readFeatureCollection(splitter.result, body, {
      maxBatchEnvelopeBytes,
      maxJsonDepth,
    })
    return this.#store(name, caller, context, async (writer) => {
      for (let index = 0; index < count; index++)
        if (writer.add(body.subarray(starts[index], ends[index]))) await writer.store()
      await writer.store()
      return true
    })
  }

  openUpload(name: string, caller: SetCaller, context: RequestContext, onRoom: (bytes: number) => void): OpenUpload {
    requireAccount(caller)
    requireName(name)
    const { maxSetFeatureBytes: maxBodyBytes, maxStreamBytes } = this.#parts.config.limits
    const upload = new LineUpload({ maxBodyBytes, maxStreamBytes }, onRoom)
    const receive = async () => {
      await caller.admitted
      return this.#store(name, caller, context, (writer) => upload.writeTo(writer))
    }
    return {
      response: receive(),
      take: (bytes) => upload.take(bytes),
      get isFull() {
        return upload.isFull
      },
      end: (isCut) => upload.end(isCut),
    }
  }

  /** Stores a set beside the one that it replaces, and then puts it in its place. @param write returns false if the features broke off */
  async #store(
    name: string,
    caller: SetCaller,
    context: RequestContext,
    write: (writer: SetWriter) => Promise<boolean>,
  ): Promise<ServiceResponse> {
    const account = requireAccount(caller)
    const { now } = this.#parts
    const id = randomBytes(16).toString('hex')
    const patientContext = patient(context)
    const nowMs = now()
    const abandonedBeforeMs = this.#abandonedBeforeMs
    const expiresMs = nowMs + UPLOAD_LEASE_MS
    const begun = { id, account, name, expiresMs, maxReceiving: MAX_RECEIVING, abandonedBeforeMs, nowMs }
    if (!(await this.#ask('createSet', begun, context))) {
      const detail = `${MAX_RECEIVING} sets of this API key are being uploaded: wait for one`
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 10 })
    }
    const hold = () => {
      const held = { id, expiresMs: Math.min(now() + UPLOAD_LEASE_MS, nowMs + UPLOAD_MS), nowMs: now() }
      // If it fails, the next one follows before the lease ends.
      this.#ask('holdSet', held, patientContext).catch(() => {})
    }
    const timer = setInterval(hold, UPLOAD_LEASE_MS / 4).unref()
    try {
      const writer = new SetWriter(this.#parts, this.#ask, id, patientContext)
      if (!(await write(writer)))
        throw new ProblemError({ type: 'overloaded', detail: 'the upload of the set broke off', retryAfterSeconds: 1 })
      if (writer.isWithoutFeatures) throw noFeatures()
      const published = { id, expiresMs: this.#expiryMs(), nowMs: now() }
      const set = await this.#ask('publishSet', published, patientContext)
      if (set === undefined) throw new ProblemError(TOO_SLOW)
      // The first match need not wait for all of it then. If it fails, the match reports why.
      this.#load(set, context).catch(() => {})
      return { json: JSON.stringify(describe(set)) }
    } catch (error) {
      await this.#ask('dropSet', { id }, patientContext).catch(() => {})
      throw error
    } finally {
      clearInterval(timer)
    }
  }

  async list(caller: SetCaller, context: RequestContext): Promise<ServiceResponse> {
    const account = requireAccount(caller)
    const sets = await this.#ask('listSets', { account, nowMs: this.#parts.now() }, context)
    return { json: JSON.stringify({ sets: sets.map(describe) }) }
  }

  async get(name: string, caller: SetCaller, context: RequestContext): Promise<ServiceResponse> {
    return { json: JSON.stringify(describe(await this.#find(name, caller.account, context))) }
  }

  async features(name: string, caller: SetCaller, context: RequestContext, sink: TextSink): Promise<void> {
    const set = await this.#find(name, caller.account, context)
    for (let first = 0; first < set.count && !context.aborted; ) {
      const chunk = await this.#ask('readSetChunk', { id: set.id, first }, patient(context))
      // A response that ended here would look complete.
      if (chunk === undefined) throw new ProblemError(REPLACED)
      await sink.write(await unpack(chunk.stored, true))
      first += chunk.count
    }
  }

  async delete(name: string, caller: SetCaller, context: RequestContext): Promise<ServiceResponse> {
    const account = requireAccount(caller)
    const wasThere = await this.#ask('deleteSet', { account, name, nowMs: this.#parts.now() }, context)
    if (!wasThere) throw unknownSet(name, account)
    return { json: JSON.stringify({ deleted: name }) }
  }

  openMatch(
    name: string,
    query: string,
    context: BatchContext,
    sink: BatchSink,
    onRoom: (bytes: number) => void,
  ): OpenMatch {
    const options = readMatchQuery(query)
    if (context.account === undefined) throw noAccount()
    if (options.signed !== undefined) this.#parts.chains.requireForBatch(options.signed.chainId)
    const set = this.#findShape(name, context)
    return new MatchStream({ ...this.#parts, set, options, context, sink, onRoom })
  }

  async #find(name: string, account: string | undefined, context: RequestContext): Promise<StoredSet> {
    if (account === undefined) throw noAccount()
    if (!NAME.test(name)) throw unknownSet(name.slice(0, 80), account)
    const nowMs = this.#parts.now()
    const expiresMs = this.#expiryMs()
    const renewBeforeMs = expiresMs - RENEWAL_SHARE * this.#parts.config.limits.storedKeepDays * DAY_MS
    const set = await this.#ask('useSet', { account, name, expiresMs, renewBeforeMs, nowMs }, context)
    if (set === undefined) throw unknownSet(name, account)
    return set
  }

  /** Finds the current set of a name in memory, or loads it. */
  async #findShape(name: string, context: BatchContext): Promise<SetShape> {
    for (let retry = 0; ; retry++) {
      const set = await this.#find(name, context.account, requestContext(context, this.#parts))
      try {
        return this.#shapes.get(set.id) ?? (await this.#load(set, context))
      } catch (error) {
        // It was replaced while it was read.
        if (!(error instanceof ProblemError) || error.data !== REPLACED || retry === 3) throw error
      }
    }
  }

  #load(set: StoredSet, context: Pick<RequestContext, 'client'>): Promise<SetShape> {
    const running = this.#loads.get(set.id)
    if (running !== undefined) return running
    const load = this.#loadShape(set, context).finally(() => this.#loads.delete(set.id))
    this.#loads.set(set.id, load)
    return load
  }

  async #loadShape({ id, count, vertices }: StoredSet, { client }: Pick<RequestContext, 'client'>): Promise<SetShape> {
    const { config, now, pool } = this.#parts
    const { jobComputeMs } = config.limits
    this.#requireRoom(this.#large.get(id) ?? 16 * vertices + 48 * count)
    // Others may wait for it too, so it does not end with the request that began it, and none is charged for it.
    const job = () => ({ client, deadlineMs: now() + jobComputeMs, isAborted: () => false })
    const pieces: SetFeatures[] = []
    const queue = new OrderedQueue<SetFeatures>({
      width: LOADED_AT_ONCE,
      write: (piece) => void pieces.push(piece),
      onRoom: () => {},
    })
    for (let first = 0; first < count; ) {
      const chunk = await this.#ask('readSetChunk', { id, first }, { client, deadlineMs: now() + jobComputeMs })
      if (chunk === undefined) throw new ProblemError(REPLACED)
      const lines = cutLines(await unpack(chunk.stored, true), chunk.count)
      const task = { type: 'features' as const, lines, first, isRequest: false }
      queue.add(async () => {
        const read = await pool.runFeatures({ ...job(), chunk: task })
        if (read.type === 'problem')
          throw new RangeError(`the store has a set that is not valid: ${read.problem.detail}`)
        return read.features
      })
      first += chunk.count
    }
    await queue.finish()
    const features = joinFeatures(pieces)
    const { trees } = await pool.runIndex({ ...job(), chunk: { type: 'index', features } })
    const shape = { id, count, features, trees }
    const bytes = shapeBytes(shape)
    if (bytes > this.#maxBytes) this.#large.set(id, bytes)
    this.#requireRoom(bytes)
    this.#shapes.set(id, shape)
    return shape
  }

  /** @param bytes of a set in memory, or fewer */
  #requireRoom(bytes: number): void {
    if (bytes <= this.#maxBytes) return
    const detail = `the set needs at least ${bytes} bytes of memory, and sets have ${this.#maxBytes} (three quarters of STORED_MEMORY_BYTES): make several sets, or leave out properties`
    throw new ProblemError({ type: 'payload-too-large', detail })
  }

  #expiryMs(): number {
    return this.#parts.now() + this.#parts.config.limits.storedKeepDays * DAY_MS
  }
}

const REPLACED: ProblemData = {
  type: 'overloaded',
  detail: 'the set was replaced or deleted while it was read: try again',
  retryAfterSeconds: 1,
}
const STILL_READING: ProblemData = {
  type: 'overloaded',
  detail: 'the set is being read from the store. This goes on without the request: try again',
  retryAfterSeconds: 1,
}
const TOO_SLOW: ProblemData = {
  type: 'overloaded',
  detail: 'the upload of the set took too long',
  retryAfterSeconds: 1,
}

/** Checks features and stores them, chunk by chunk. */
class SetWriter implements LineWriter {
  readonly #parts: SetParts
  readonly #ask: StoreAccess
  readonly #id: string
  readonly #context: RequestContext
  #lines: Uint8Array[] = []
  #bytes = 0
  #stored = 0

  constructor(parts: SetParts, ask: StoreAccess, id: string, context: RequestContext) {
    this.#parts = parts
    this.#ask = ask
    this.#id = id
    this.#context = context
  }

  add(line: Uint8Array | number): boolean {
    const { maxSetFeatures, maxSetFeatureBytes } = this.#parts.config.limits
    const feature = this.#stored + this.#lines.length
    if (typeof line === 'number') {
      const detail = `has ${line} bytes, more than ${maxSetFeatureBytes}`
      throw problemAt('payload-too-large', ['features', feature], detail, { code: 'line-too-long' })
    }
    if (feature >= maxSetFeatures) {
      const detail = `a set has at most ${maxSetFeatures} features: make several sets`
      throw new ProblemError({ type: 'payload-too-large', detail })
    }
    this.#lines.push(line)
    this.#bytes += line.length
    return this.#lines.length >= CHUNK_FEATURES || this.#bytes >= CHUNK_BYTES
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0
  }

  /** True if no feature has been added. */
  get isWithoutFeatures(): boolean {
    return this.#stored + this.#lines.length === 0
  }

  async store(): Promise<void> {
    const count = this.#lines.length
    if (count === 0) return
    const { pool, config, now } = this.#parts
    const { limits } = config
    const { client, costs } = this.#context
    const result = await pool.runFeatures({
      chunk: { type: 'features', lines: packBytes(this.#lines), first: this.#stored, isRequest: true },
      client,
      costs,
      deadlineMs: now() + limits.jobComputeMs,
      isAborted: () => this.#context.aborted,
    })
    if (result.type === 'problem') throw new ProblemError(result.problem)
    const bytes = result.text!.length
    const maxAccountBytes = limits.maxStoredBytesPerKey
    const appended = await this.#ask(
      'appendSet',
      {
        id: this.#id,
        first: this.#stored,
        count,
        vertices: result.features.vertices.length / 2,
        stored: await pack(result.text!),
        bytes,
        limits: { maxBytes: limits.maxStoredBytes, maxAccountBytes },
        nowMs: now(),
      },
      this.#context,
    )
    if (appended.outcome === 'gone') throw new ProblemError(TOO_SLOW)
    if (appended.outcome === 'share') {
      const detail = `at feature ${this.#stored} the set needs ${bytes} bytes more, and this API key uses ${appended.usedBytes} of ${maxAccountBytes} bytes: delete geometries or sets that you no longer use`
      throw new ProblemError({ type: 'payload-too-large', detail })
    }
    if (appended.outcome === 'full') {
      const detail = 'the store has no room for more sets (STORED_MAX_BYTES)'
      throw new ProblemError({ type: 'overloaded', detail, retryAfterSeconds: 60 })
    }
    this.#stored += count
    this.#lines = []
    this.#bytes = 0
  }
}

interface MatchParts extends SetParts {
  readonly set: Promise<SetShape>
  readonly options: SetMatchQuery
  readonly context: BatchContext
  readonly sink: BatchSink
  readonly onRoom: (bytes: number) => void
}

/** Chunks of points of one stream that may be in progress. */
const WIDTH_UNSIGNED = 2
const WIDTH_SIGNED = 2

/** A stream of points and of their matches. */
class MatchStream implements OpenMatch {
  readonly answered: Promise<void>
  readonly #parts: MatchParts
  /** Rejects if the set is not there in time; nothing is computed then. */
  readonly #set: Promise<SetShape>
  #stopWaiting: (error: Error) => void = () => {}
  readonly #cutter: LineCutter
  readonly #queue: OrderedQueue<Uint8Array>
  readonly #tally: BatchTally
  readonly #sizes: number[] = []
  readonly #timestampSeconds: number
  #startedBytes = 0
  #finish: () => void = () => {}
  #fail: (error: unknown) => void = () => {}

  constructor(parts: MatchParts) {
    const { config, options, context, sink, now } = parts
    const { maxBodyBytes, largeThreadsPerClient } = config.limits
    this.answered = new Promise((resolve, reject) => {
      this.#finish = resolve
      this.#fail = reject
    })
    this.#set = new Promise((resolve, reject) => {
      this.#stopWaiting = reject
      parts.set.then(resolve, reject)
    })
    this.#set.catch(this.#fail)
    this.#parts = parts
    this.#tally = new BatchTally(context)
    this.#timestampSeconds = Math.floor(now() / 1000)
    this.#cutter = new LineCutter(maxBodyBytes)
    this.#queue = new OrderedQueue<Uint8Array>({
      width: options.signed === undefined ? WIDTH_UNSIGNED * largeThreadsPerClient + 2 : WIDTH_SIGNED,
      write: (results) => {
        sink.addHeaders(this.#tally.headers)
        return sink.write(results)
      },
      onRoom: () => this.#releaseGroup(),
    })
  }

  take(bytes: Uint8Array): void {
    this.#cutter.take(bytes)
    this.#fill()
  }

  get isFull(): boolean {
    return this.#queue.isFull || this.#startedBytes >= this.#parts.config.limits.maxStreamBytes / 2
  }

  end(isCut: boolean): void {
    this.#answerRest(isCut).then(this.#finish, this.#fail)
  }

  async #answerRest(isCut: boolean): Promise<void> {
    // Until the body has ended, a client that waits for room to send has no time limit.
    const waitMs = READING_SHARE * this.#parts.config.limits.requestDeadlineMs
    const timer = setTimeout(() => this.#stopWaiting(new ProblemError(STILL_READING)), waitMs)
    await this.#set.finally(() => clearTimeout(timer))
    if (!isCut) this.#cutter.end()
    this.#fill()
    await this.#queue.finish()
  }

  #fill(): void {
    while (!this.isFull) {
      const group = this.#cutter.next()
      if (group === undefined) return
      this.#sizes.push(group.streamBytes)
      this.#startedBytes += group.streamBytes
      this.#queue.add(() => this.#answer(group.lines).catch((error) => this.#reject(error)))
    }
  }

  /** Ends the stream for a failure that is not that of one line. The queue takes no more then. */
  #reject(error: unknown): never {
    this.#fail(error)
    throw error
  }

  #releaseGroup(): void {
    const bytes = this.#sizes.shift()!
    this.#startedBytes -= bytes
    this.#fill()
    this.#parts.onRoom(bytes)
  }

  /** Answers lines in order, each with a newline. */
  async #answer(lines: readonly (Uint8Array | number)[]): Promise<Uint8Array> {
    const { options, context, pool, config, now } = this.#parts
    const shape = await this.#set
    const costProblem = context.costProblem(lines.length)
    const granted = costProblem === undefined ? await context.takeQuota(lines.length) : 0
    const refusal = costProblem ?? context.quotaProblem
    const accepted: Uint8Array[] = []
    const others = lines.map((line, index) => {
      if (index >= granted) return this.#failed('', refusal)
      if (typeof line === 'number') return this.#failed('', lineTooLong(line, config.limits.maxBodyBytes))
      accepted.push(line)
      return undefined
    })
    if (accepted.length === 0) return Buffer.from(others.join(''))
    const chunk = {
      type: 'match' as const,
      set: shape,
      options: options.match,
      lines: packBytes(accepted),
      signed: options.signed,
      timestampSeconds: this.#timestampSeconds,
    }
    const { client, costs } = context
    const deadlineMs = now() + config.limits.requestDeadlineMs
    const result = await this.#run(() =>
      pool.runMatch({ chunk, client, costs, deadlineMs, isAborted: () => context.aborted }),
    )
    if ('problem' in result) {
      const { problem } = result
      return Buffer.from(others.map((other) => other ?? this.#failed('', problem)).join(''))
    }
    const { texts, unfinished } = result
    this.#tally.countUnsigned(accepted.length - unfinished.size)
    const finished = await this.#signAll(unfinished)
    if (finished.size === 0 && accepted.length === lines.length) return new Uint8Array(texts.buffer)
    let next = 0
    const pieces = others.map((other) => {
      if (other !== undefined) return Buffer.from(other)
      const index = next++
      const text = finished.get(index)
      return text === undefined ? unpackBytes(texts, index) : Buffer.from(text)
    })
    return Buffer.concat(pieces)
  }

  /** Runs a task for lines. If it fails, all of its lines fail. */
  async #run<T extends object>(task: () => Promise<T>): Promise<T | { readonly problem: ProblemData }> {
    try {
      return await task()
    } catch (error) {
      return { problem: error instanceof ProblemError ? error.data : NOT_MATCHED }
    }
  }

  async #signAll(unfinished: ReadonlyMap<number, UnfinishedLine>): Promise<ReadonlyMap<number, string>> {
    if (unfinished.size === 0) return new Map()
    const { signing, context } = this.#parts
    return signing.run(
      context.client,
      async () =>
        new Map(
          await Promise.all([...unfinished].map(async ([index, line]) => [index, await this.#sign(line)] as const)),
        ),
    )
  }

  async #sign({ id, outcome }: UnfinishedLine): Promise<string> {
    if (outcome.type === 'problem') return this.#failed(id, outcome.problem)
    const { answers } = this.#parts
    try {
      const signed = await Promise.all(outcome.matches.map(({ head, computed }) => answers.sign(computed, [], head)))
      this.#tally.countSigned(1, signed[0]?.headers ?? {})
      const matches = signed.map(({ json }) => json).join(',')
      return `{${id}"matches":[${matches}]${outcome.isTruncated ? ',"truncated":true' : ''}}\n`
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      return this.#failed(id, error.data)
    }
  }

  #failed(id: string, problem: ProblemData): string {
    return `${this.#tally.fail(id, problem)}\n`
  }
}

const NOT_MATCHED: ProblemData = { type: 'internal', detail: 'the point could not be matched' }

function lineTooLong(bytes: number, maxBytes: number): ProblemData {
  return { type: 'payload-too-large', detail: `the line has ${bytes} bytes, more than ${maxBytes}` }
}

const NEWLINE = 0x0a

/** Cuts stored features into lines without their newlines. */
function cutLines(text: Uint8Array, count: number): PackedBytes {
  const offsets = new Uint32Array(count + 1)
  for (let index = 0; index < count; index++) offsets[index + 1] = text.indexOf(NEWLINE, offsets[index]) + 1
  return { buffer: text.buffer.slice(text.byteOffset, text.byteOffset + text.byteLength) as ArrayBuffer, offsets }
}

/** Joins pieces of a set in shared memory. */
function joinFeatures(pieces: readonly SetFeatures[]): SetFeatures {
  const sum = (lengthOf: (piece: SetFeatures) => number) => pieces.reduce((total, piece) => total + lengthOf(piece), 0)
  const vertices = new Float64Array(new SharedArrayBuffer(8 * sum((piece) => piece.vertices.length)))
  const types = new Uint8Array(new SharedArrayBuffer(sum((piece) => piece.types.length)))
  const texts = new Uint8Array(new SharedArrayBuffer(sum((piece) => piece.texts.length)))
  let [vertex, feature, text] = [0, 0, 0]
  for (const piece of pieces) {
    vertices.set(piece.vertices, vertex)
    types.set(piece.types, feature)
    texts.set(piece.texts, text)
    vertex += piece.vertices.length
    feature += piece.types.length
    text += piece.texts.length
  }
  return {
    vertices,
    sequenceStarts: joinStarts(pieces.map(({ sequenceStarts }) => sequenceStarts)),
    partStarts: joinStarts(pieces.map(({ partStarts }) => partStarts)),
    featureStarts: joinStarts(pieces.map(({ featureStarts }) => featureStarts)),
    types,
    texts,
    textStarts: joinStarts(pieces.map(({ textStarts }) => textStarts)),
  }
}

/** Joins arrays of offsets, each of which begins with 0 and ends with the length of what it points into. */
function joinStarts(pieces: readonly Uint32Array[]): Uint32Array {
  const joined = new Uint32Array(
    new SharedArrayBuffer(4 * (1 + pieces.reduce((total, piece) => total + piece.length - 1, 0))),
  )
  let at = 0
  for (const piece of pieces) {
    const base = joined[at]!
    for (let i = 1; i < piece.length; i++) joined[at + i] = base + piece[i]!
    at += piece.length - 1
  }
  return joined
}

function shapeBytes({ features, trees }: SetShape): number {
  return byteLength(features) + byteLength(trees)
}

function byteLength(arrays: SetFeatures | SetTrees): number {
  return Object.values(arrays).reduce((total, array: Uint8Array) => total + array.byteLength, 0)
}

/** As a response describes a set. Times are Unix seconds. */
function describe({ name, count, vertices, bytes, createdMs, expiresMs }: StoredSet): object {
  return {
    name,
    features: count,
    vertices,
    bytes,
    created: Math.floor(createdMs / 1000),
    expires: Math.floor(expiresMs / 1000),
  }
}

/** An upload may last longer than a request. */
function patient({ client, costs }: RequestContext): RequestContext {
  return { client, costs, aborted: false, deadlineMs: Number.POSITIVE_INFINITY }
}

function requestContext({ client, costs }: BatchContext, { now, config }: SetParts): RequestContext {
  return { client, costs, aborted: false, deadlineMs: now() + config.limits.requestDeadlineMs }
}

function requireAccount({ account }: SetCaller): string {
  if (account === undefined) throw noAccount()
  return account
}

function noAccount(): ProblemError {
  return new ProblemError({ type: 'unauthorized', detail: 'sets belong to an API key, so they need one' })
}

function requireName(name: string): void {
  if (NAME.test(name)) return
  throw problemAt('invalid-input', ['name'], 'must be 1 to 64 letters, digits, dots, hyphens and underscores', {
    code: 'set-name',
    hint: 'begin with a letter or a digit',
  })
}

/** An upload without features is more likely the end of a failed conversion than the wish for an empty set. */
function noFeatures(): ProblemError {
  return problemAt('invalid-input', ['features'], 'is empty: a set has at least one feature', {
    code: 'no-features',
    hint: 'send at least one Feature; DELETE /compute/v0/sets/{name} deletes a set',
  })
}

function unknownSet(name: string, account: string): ProblemError {
  const set = `no set ${JSON.stringify(name)}; GET /compute/v0/sets lists`
  const detail =
    account === LOCAL_CALLER
      ? `requests without an API key from this machine have ${set} their sets. A set that was stored with a key needs this key`
      : `this API key has ${set} its sets. A set that was stored without a key, or with another one, is not among them`
  const hint = 'send the API key with which it was stored'
  return new ProblemError({
    type: 'not-found',
    detail,
    invalidParts: [{ pointer: '#', detail: 'names no set of this caller', code: 'unknown-set', hint }],
  })
}
