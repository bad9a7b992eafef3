import { setImmediate } from 'node:timers/promises'
import { ClientCounts } from '../../base/client-counts.ts'
import type { CostMeter } from '../../base/cost.ts'
import type { QueueClient } from '../../base/fair-queue.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import {
  type ChangeFilter,
  encodeEventId,
  readEventId,
  readExportQuery,
  readStreamQuery,
} from '../../validation/feed-query.ts'
import type {
  JournalPosition,
  RecordChange,
  RecordChanges,
  RecordQuery,
  RecordSlice,
} from '../../wire/store-messages.ts'
import { Gate } from '../gate.ts'
import type { RequestContext, TextSink } from '../request.ts'
import { splitDocuments } from './documents.ts'
import { EXPORT_WRITERS } from './exports/export-formats.ts'
import type { EventSink, ExportFormat, RecordFeeds } from './record-services.ts'
import { recordsUnavailable, type StoreAccess } from './store-access.ts'

interface FeedParts {
  readonly config: Config
  /** Chain ids by name. */
  readonly chains: ReadonlyMap<string, number>
  readonly ask: StoreAccess
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Time that clients wait before they reconnect. */
const RETRY_MS = 2000
/** Pause between two pieces of the journal while there is more to read. Listeners take the first piece meanwhile. */
const PIECE_MS = 10

/** After this wait for its client, an export loses its place when another client needs one. */
const STALLED_MS = 5000

/** The position of a listener before its stream has begun. */
const NOT_STARTED: JournalPosition = { epoch: '', number: 0, position: 0 }

/**
 * Feeds of all records and of all changes.
 *
 * An export reads the next slice from the store only when the client has taken the previous one. So it holds one slice in memory,
 * however long the list and however slow the client.
 *
 * Streams of changes are server-sent events. One loop reads the end of the journal for all listeners that have seen everything
 * before it. A listener that is behind reads separately until it has caught up.
 */
export class Feeds implements RecordFeeds {
  readonly #parts: FeedParts
  readonly #limits: Config['limits']
  readonly #exports = new Set<RunningExport>()
  readonly #exportsPerClient = new ClientCounts()
  readonly #listeners = new Set<Listener>()
  /** Open streams by client. */
  readonly #streamsPerClient = new ClientCounts()
  /** Limits the reads of listeners that are behind, because lists use the store too. */
  readonly #reads: Gate
  /** The last piece of the journal that was read for all listeners, and the position after which it begins. */
  #latest: { readonly from: JournalPosition; readonly piece: RecordChanges } | undefined
  #isPolling = false
  #isClosed = false

  constructor(parts: FeedParts) {
    this.#parts = parts
    this.#limits = parts.config.limits
    this.#reads = new Gate(this.#limits.maxStreamReads)
  }

  async export(format: ExportFormat, search: string, context: RequestContext, sink: TextSink): Promise<void> {
    const { ask, now, chains } = this.#parts
    const { exportPiece, requestDeadlineMs } = this.#limits
    const query = readExportQuery(search, chains)
    this.#requireExportRoom(context.client)
    const running = new RunningExport(context, sink)
    this.#exports.add(running)
    this.#exportsPerClient.add(context.client)
    try {
      const writer = await EXPORT_WRITERS[format]()
      let after: RecordQuery['after']
      do {
        const sliceQuery: RecordQuery = after === undefined ? query : { ...query, after }
        const deadlineMs = now() + requestDeadlineMs
        const argument = { query: sliceQuery, size: exportPiece }
        const slice: RecordSlice = await ask('slice', argument, {
          deadlineMs,
          client: context.client,
          costs: context.costs,
          get aborted() {
            return context.aborted
          },
        })
        await running.write(writer.write(splitDocuments(slice.documents)))
        after = slice.next
      } while (after !== undefined && !context.aborted)
      await running.write(writer.end())
    } finally {
      this.#exports.delete(running)
      this.#exportsPerClient.remove(context.client)
    }
  }

  async stream(
    search: string,
    lastEventId: string | undefined,
    client: number | string,
    sink: EventSink,
    costs?: CostMeter,
  ): Promise<void> {
    const filter = readStreamQuery(search, this.#parts.chains)
    const resumeKey = lastEventId === undefined ? undefined : readEventId(lastEventId)
    this.#requireRoom(client)
    const listener = new Listener(filter, sink, { client, costs })
    this.#add(listener)
    sink.onGone(() => listener.leave())
    const lifeTimer = setTimeout(() => listener.leave(), this.#limits.streamLifeMs)
    const heartbeat = setInterval(() => listener.tryHeartbeat(), this.#limits.streamHeartbeatMs)
    try {
      await this.#serve(listener, resumeKey)
    } finally {
      clearTimeout(lifeTimer)
      clearInterval(heartbeat)
      this.#remove(listener)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const listener of this.#listeners) listener.leave()
  }

  #requireExportRoom(client: QueueClient): void {
    const { maxExports, maxExportsPerClient, requestDeadlineMs } = this.#limits
    const ofClient = this.#exportsPerClient.of(client)
    // An export that its client does not read ends by then.
    const retrySeconds = Math.ceil(requestDeadlineMs / 1000)
    if (ofClient >= maxExportsPerClient) {
      const detail = `${ofClient} exports of this client are running; read one to its end, or cancel it`
      throw recordsUnavailable(detail, undefined, retrySeconds)
    }
    if (this.#exports.size < maxExports || this.#endStalledExport()) return
    throw recordsUnavailable(`${this.#exports.size} exports are running; try again`, undefined, retrySeconds)
  }

  /** Ends the export that has waited longest for its client. @returns false if none has waited for long */
  #endStalledExport(): boolean {
    const [stalled] = [...this.#exports].sort((a, b) => b.waitedMs - a.waitedMs)
    if (stalled === undefined || stalled.waitedMs < STALLED_MS) return false
    this.#exports.delete(stalled)
    stalled.end(recordsUnavailable('another client needed the place of this export, which was not read; try again'))
    return true
  }

  #requireRoom(client: number | string): void {
    const { maxStreams, maxStreamsPerClient } = this.#limits
    const open = this.#listeners.size
    const ofClient = this.#streamsPerClient.of(client)
    if (this.#isClosed) throw recordsUnavailable('the service is stopping')
    if (open >= maxStreams) throw recordsUnavailable(`${open} streams are open; try again`)
    if (ofClient >= maxStreamsPerClient) {
      throw recordsUnavailable(`${ofClient} streams of this client are open; close one of them`)
    }
  }

  #add(listener: Listener): void {
    this.#listeners.add(listener)
    this.#streamsPerClient.add(listener.client)
  }

  #remove(listener: Listener): void {
    this.#listeners.delete(listener)
    this.#streamsPerClient.remove(listener.client)
  }

  async #serve(listener: Listener, resumeKey: JournalPosition | undefined): Promise<void> {
    // Read before the stream begins: until then an error can still be sent as an error response.
    const first = await this.#read(resumeKey, listener)
    if (listener.hasLeft) return
    await listener.begin(resumeKey === undefined || first.isLost ? first.next : resumeKey)
    await listener.send(first)
    while (!listener.hasLeft) {
      const latest = this.#latest
      if (latest !== undefined && isSamePosition(latest.piece.next, listener.position))
        await this.#waitUntilWoken(listener)
      else if (latest !== undefined && isSamePosition(latest.from, listener.position)) await listener.send(latest.piece)
      else await this.#catchUp(listener)
    }
  }

  /** Reads for one listener that is behind the others. */
  async #catchUp(listener: Listener): Promise<void> {
    let piece: RecordChanges
    try {
      piece = await this.#reads.run(listener.client, () => this.#read(listener.position, listener))
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      // The database is unavailable or busy. The stream continues when it is back.
      return this.#waitUntilWoken(listener)
    }
    await listener.send(piece)
    if (!piece.isEnd) return
    this.#latest ??= { from: piece.next, piece }
    await this.#waitUntilWoken(listener)
  }

  #waitUntilWoken(listener: Listener): Promise<void> {
    if (listener.hasLeft) return Promise.resolve()
    const woken = listener.untilWoken()
    if (!this.#isPolling) void this.#poll()
    return woken
  }

  /** Polls for changes while there are listeners. */
  async #poll(): Promise<void> {
    this.#isPolling = true
    let pauseMs = this.#limits.streamPollMs
    while (this.#listeners.size > 0 && !this.#isClosed) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      const from = this.#latest?.piece.next
      const piece = from === undefined ? undefined : await this.#read(from, {}).catch(() => undefined)
      if (from !== undefined && piece !== undefined) this.#latest = { from, piece }
      pauseMs = piece === undefined || piece.isEnd ? this.#limits.streamPollMs : PIECE_MS
      for (const listener of this.#listeners) listener.wake()
    }
    this.#latest = undefined
    this.#isPolling = false
  }

  /** Reads a piece in the line of a client, who is charged for it; without one, for all listeners. */
  #read(after: JournalPosition | undefined, { client, costs }: Partial<Reader>): Promise<RecordChanges> {
    const { ask, now } = this.#parts
    const { streamPiece, storeReadMs } = this.#limits
    return ask('changes', { after, size: streamPiece }, { deadlineMs: now() + storeReadMs, client, costs })
  }
}

/** Writes an export until its client has disconnected. */
class RunningExport {
  readonly #context: RequestContext
  readonly #sink: TextSink
  /** The wait for the client; undefined while the client takes what is written. */
  #wait: { readonly beganMs: number; readonly end: (problem: ProblemError) => void } | undefined

  constructor(context: RequestContext, sink: TextSink) {
    this.#context = context
    this.#sink = sink
  }

  /** Milliseconds for which it has waited for its client; 0 if it does not wait. */
  get waitedMs(): number {
    return this.#wait === undefined ? 0 : performance.now() - this.#wait.beganMs
  }

  /** Ends it if it waits for its client. Its response breaks off. */
  end(problem: ProblemError): void {
    this.#wait?.end(problem)
  }

  async write(pieces: Iterable<string | Uint8Array>): Promise<void> {
    const { costs } = this.#context
    let beginMs = performance.now()
    for (const piece of pieces) {
      costs?.charge('cpu-ms', performance.now() - beginMs)
      if (this.#context.aborted) return
      await this.#untilTaken(this.#sink.write(piece))
      await setImmediate() // otherwise a fast client would occupy the thread for a whole slice
      beginMs = performance.now()
    }
  }

  async #untilTaken(taken: void | Promise<void>): Promise<void> {
    if (taken === undefined) return
    await new Promise<void>((resolve, reject) => {
      this.#wait = { beganMs: performance.now(), end: reject }
      taken.then(resolve, reject)
    })
    this.#wait = undefined
  }
}

/** Who reads the journal, and what takes the cost of it. */
interface Reader {
  readonly client: number | string
  readonly costs: CostMeter | undefined
}

/** One client. Only its position in the journal is stored; changes that it has not taken yet are read again. */
class Listener implements Reader {
  readonly client: number | string
  readonly costs: CostMeter | undefined
  readonly #filter: ChangeFilter
  readonly #sink: EventSink
  #position = NOT_STARTED
  #hasLeft = false
  #resolveWait: () => void = () => {}

  constructor(filter: ChangeFilter, sink: EventSink, { client, costs }: Reader) {
    this.client = client
    this.#filter = filter
    this.#sink = sink
    this.costs = costs
  }

  /** Key of the last change that was sent or filtered out. */
  get position(): JournalPosition {
    return this.#position
  }

  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Begins the stream. @param position the changes after it will be sent */
  async begin(position: JournalPosition): Promise<void> {
    this.#position = position
    await this.#sink.write(`retry: ${RETRY_MS}\nid: ${encodeEventId(position)}\n\n`)
  }

  async send(piece: RecordChanges): Promise<void> {
    if (piece.isLost) {
      const reason = 'the last event is no longer in the journal; read the list again'
      await this.#sink.write(`event: reset\nid: ${encodeEventId(piece.next)}\ndata: ${JSON.stringify({ reason })}\n\n`)
    }
    const events = piece.changes
      .filter((change) => matches(change, this.#filter))
      .map(({ kind, number, position, document }) => {
        const id = encodeEventId({ epoch: piece.next.epoch, number, position })
        return `event: ${kind}\nid: ${id}\ndata: ${document}\n\n`
      })
    if (!this.#hasLeft) await this.#sink.write(events.join(''))
    this.#position = piece.next
  }

  tryHeartbeat(): void {
    if (this.#position !== NOT_STARTED) this.#sink.tryWrite(`id: ${encodeEventId(this.#position)}\n\n`)
  }

  /** Resolves when there may be new changes, or when the client has left. */
  untilWoken(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveWait = resolve
    })
  }

  wake(): void {
    this.#resolveWait()
  }

  leave(): void {
    this.#hasLeft = true
    this.wake()
  }
}

function isSamePosition(a: JournalPosition, b: JournalPosition): boolean {
  return a.number === b.number && a.position === b.position && a.epoch === b.epoch
}

/** Matches the beginning of a document: every document begins with these four members in this order. */
const DOCUMENT_HEAD =
  /^\{"uid":"0x[0-9a-f]{64}","chain":"([^"]*)","prover":"(0x[0-9a-f]{40})","subject":"(0x[0-9a-f]{40})"/

function matches({ document }: RecordChange, { chain, prover, subject }: ChangeFilter): boolean {
  if (chain === undefined && prover === undefined && subject === undefined) return true
  const [, recordChain, recordProver, recordSubject] = DOCUMENT_HEAD.exec(document) ?? []
  return (
    (chain === undefined || chain === recordChain) &&
    (prover === undefined || prover === recordProver) &&
    (subject === undefined || subject === recordSubject)
  )
}
