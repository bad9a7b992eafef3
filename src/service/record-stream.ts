import type { Config } from '../config.ts'
import { ProblemError } from '../problem.ts'
import type { ChangePlace, RecordChange, RecordChanges } from '../store-messages.ts'
import { type ChangeFilter, eventId, readEventId, readStreamQuery } from '../validation/feed-query.ts'
import { Gate } from './gate.ts'
import { type RecordQuestion, recordsUnavailable } from './record-questions.ts'
import type { EventSink, RecordFeeds } from './record-services.ts'

export interface RecordStreamParts {
  readonly config: Config
  /** Chain ids by name. */
  readonly chains: ReadonlyMap<string, number>
  readonly ask: RecordQuestion
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** What clients wait before they come back after an end. */
const RETRY_MS = 2000
/** From one piece of the journal to the next while there is more: those who listen take it meanwhile. */
const PIECE_MS = 10

/** One client. Nothing is kept for it but where it is: what it has not taken yet is read again. */
interface Listener {
  readonly filter: ChangeFilter
  readonly sink: EventSink
  place: ChangePlace
  isGone: boolean
  /** Wakes it when there may be something new. */
  wake: () => void
}

/**
 * Changes as server-sent events. One loop reads the end of the journal for everybody who has seen the rest of it; whoever is
 * behind reads for himself until he is there.
 */
export function createRecordStream(parts: RecordStreamParts): Pick<RecordFeeds, 'stream' | 'close'> {
  const { config, chains, ask, now } = parts
  const { limits } = config
  const listeners = new Set<Listener>()
  const perClient = new Map<number | string, number>()
  /** The last piece of the journal that was read for all, and where it began. */
  let latest: { readonly from: ChangePlace; readonly piece: RecordChanges } | undefined
  const reads = new Gate(limits.maxStreamReads)
  let isPolling = false
  let isClosed = false

  return {
    async stream(search, lastEventId, client, sink) {
      const filter = readStreamQuery(search, chains)
      const asked = lastEventId === undefined ? undefined : readEventId(lastEventId)
      const ofClient = perClient.get(client) ?? 0
      if (isClosed) throw recordsUnavailable('the service is stopping')
      if (listeners.size >= limits.maxStreams) throw recordsUnavailable(`${listeners.size} streams are open; try again`)
      if (ofClient >= limits.maxStreamsPerClient) {
        throw recordsUnavailable(`${ofClient} streams of this client are open; close one of them`)
      }
      const listener: Listener = { filter, sink, place: NOWHERE, isGone: false, wake: () => {} }
      listeners.add(listener)
      perClient.set(client, ofClient + 1)
      sink.onGone(() => leave(listener))
      const life = setTimeout(() => leave(listener), limits.streamLifeMs)
      const heartbeat = setInterval(() => {
        if (listener.place !== NOWHERE) sink.tryWrite(`id: ${eventId(listener.place)}\n\n`)
      }, limits.streamHeartbeatMs)
      try {
        await serve(listener, asked)
      } finally {
        clearTimeout(life)
        clearInterval(heartbeat)
        listeners.delete(listener)
        const left = (perClient.get(client) ?? 1) - 1
        if (left > 0) perClient.set(client, left)
        else perClient.delete(client)
      }
    },
    close() {
      isClosed = true
      for (const listener of listeners) leave(listener)
    },
  }

  function read(after: ChangePlace | undefined): Promise<RecordChanges> {
    return ask('changes', { after, size: limits.streamPiece }, { deadlineMs: now() + limits.storeReadMs })
  }

  async function serve(listener: Listener, asked: ChangePlace | undefined): Promise<void> {
    // The first question decides whether the stream can be begun: until it is answered an error is still an error.
    const first = await read(asked)
    if (listener.isGone) return
    listener.place = asked === undefined || first.isLost ? first.next : asked
    await listener.sink.write(`retry: ${RETRY_MS}\nid: ${eventId(listener.place)}\n\n`)
    await tell(listener, first)
    while (!listener.isGone) {
      if (latest !== undefined && isSame(latest.piece.next, listener.place)) await untilWoken(listener)
      else if (latest !== undefined && isSame(latest.from, listener.place)) await tell(listener, latest.piece)
      else await catchUp(listener)
    }
  }

  /** Reads for one listener who is not where the others are; a few at a time, for lists are asked for beside them. */
  async function catchUp(listener: Listener): Promise<void> {
    let piece: RecordChanges
    try {
      piece = await reads.run(() => read(listener.place))
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      // The database is away or busy: the stream goes on when it is back.
      return untilWoken(listener)
    }
    await tell(listener, piece)
    if (!piece.isEnd) return
    latest ??= { from: piece.next, piece }
    await untilWoken(listener)
  }

  async function tell(listener: Listener, piece: RecordChanges): Promise<void> {
    if (piece.isLost) {
      const reason = 'the place is not in the journal any more; read the list anew'
      await listener.sink.write(`event: reset\nid: ${eventId(piece.next)}\ndata: ${JSON.stringify({ reason })}\n\n`)
    }
    const events = piece.changes
      .filter((change) => matches(change, listener.filter))
      .map(({ kind, number, position, document }) => {
        const id = eventId({ epoch: piece.next.epoch, number, position })
        return `event: ${kind}\nid: ${id}\ndata: ${document}\n\n`
      })
    if (!listener.isGone) await listener.sink.write(events.join(''))
    listener.place = piece.next
  }

  function untilWoken(listener: Listener): Promise<void> {
    if (listener.isGone) return Promise.resolve()
    const woken = new Promise<void>((resolve) => {
      listener.wake = resolve
    })
    if (!isPolling) void poll()
    return woken
  }

  /** Looks for changes while anybody listens. */
  async function poll(): Promise<void> {
    isPolling = true
    let pauseMs = limits.streamPollMs
    while (listeners.size > 0 && !isClosed) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      const from = latest?.piece.next
      const piece = from === undefined ? undefined : await read(from).catch(() => undefined)
      if (from !== undefined && piece !== undefined) latest = { from, piece }
      pauseMs = piece === undefined || piece.isEnd ? limits.streamPollMs : PIECE_MS
      for (const listener of listeners) listener.wake()
    }
    latest = undefined
    isPolling = false
  }

  function leave(listener: Listener): void {
    listener.isGone = true
    listener.wake()
  }
}

const NOWHERE: ChangePlace = { epoch: '', number: 0, position: 0 }

function isSame(a: ChangePlace, b: ChangePlace): boolean {
  return a.number === b.number && a.position === b.position && a.epoch === b.epoch
}

/** Every document begins with these four members in this order. */
const HEAD = /^\{"uid":"0x[0-9a-f]{64}","chain":"([^"]*)","prover":"(0x[0-9a-f]{40})","subject":"(0x[0-9a-f]{40})"/

function matches({ document }: RecordChange, { chain, prover, subject }: ChangeFilter): boolean {
  if (chain === undefined && prover === undefined && subject === undefined) return true
  const [, ofChain, ofProver, ofSubject] = HEAD.exec(document) ?? []
  return (
    (chain === undefined || chain === ofChain) &&
    (prover === undefined || prover === ofProver) &&
    (subject === undefined || subject === ofSubject)
  )
}
