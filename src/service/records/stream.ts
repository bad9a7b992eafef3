import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { type ChangeFilter, encodeEventId, readEventId, readStreamQuery } from '../../validation/feed-query.ts'
import type { JournalPosition, RecordChange, RecordChanges } from '../../wire/store-messages.ts'
import { Gate } from '../gate.ts'
import { recordsUnavailable, type StoreAccess } from './questions.ts'
import type { EventSink, RecordFeeds } from './record-services.ts'

export interface RecordStreamParts {
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

/** One client. Only its key in the journal is stored; changes that it has not taken yet are read again. */
interface Listener {
  readonly filter: ChangeFilter
  readonly sink: EventSink
  key: JournalPosition
  hasLeft: boolean
  /** Wakes the listener when there may be new changes. */
  wake: () => void
}

/**
 * Streams changes as server-sent events. One loop reads the end of the journal for all listeners that have seen everything before
 * it. A listener that is behind reads separately until it has caught up.
 */
export function createRecordStream(parts: RecordStreamParts): Pick<RecordFeeds, 'stream' | 'close'> {
  const { config, chains, ask, now } = parts
  const { limits } = config
  const listeners = new Set<Listener>()
  const perClient = new Map<number | string, number>()
  /** The last piece of the journal that was read for all listeners, and the key after which it begins. */
  let latest: { readonly from: JournalPosition; readonly piece: RecordChanges } | undefined
  const reads = new Gate(limits.maxStreamReads)
  let isPolling = false
  let isClosed = false

  return {
    async stream(search, lastEventId, client, sink) {
      const filter = readStreamQuery(search, chains)
      const resumeKey = lastEventId === undefined ? undefined : readEventId(lastEventId)
      const clientStreams = perClient.get(client) ?? 0
      if (isClosed) throw recordsUnavailable('the service is stopping')
      if (listeners.size >= limits.maxStreams) throw recordsUnavailable(`${listeners.size} streams are open; try again`)
      if (clientStreams >= limits.maxStreamsPerClient) {
        throw recordsUnavailable(`${clientStreams} streams of this client are open; close one of them`)
      }
      const listener: Listener = { filter, sink, key: NOT_STARTED, hasLeft: false, wake: () => {} }
      listeners.add(listener)
      perClient.set(client, clientStreams + 1)
      sink.onGone(() => leave(listener))
      const lifeTimer = setTimeout(() => leave(listener), limits.streamLifeMs)
      const heartbeat = setInterval(() => {
        if (listener.key !== NOT_STARTED) sink.tryWrite(`id: ${encodeEventId(listener.key)}\n\n`)
      }, limits.streamHeartbeatMs)
      try {
        await serve(listener, resumeKey)
      } finally {
        clearTimeout(lifeTimer)
        clearInterval(heartbeat)
        listeners.delete(listener)
        const remaining = (perClient.get(client) ?? 1) - 1
        if (remaining > 0) perClient.set(client, remaining)
        else perClient.delete(client)
      }
    },
    close() {
      isClosed = true
      for (const listener of listeners) leave(listener)
    },
  }

  function read(after: JournalPosition | undefined): Promise<RecordChanges> {
    return ask('changes', { after, size: limits.streamPiece }, { deadlineMs: now() + limits.storeReadMs })
  }

  async function serve(listener: Listener, resumeKey: JournalPosition | undefined): Promise<void> {
    // Read before the stream begins: until then an error can still be sent as an error response.
    const first = await read(resumeKey)
    if (listener.hasLeft) return
    listener.key = resumeKey === undefined || first.isLost ? first.next : resumeKey
    await listener.sink.write(`retry: ${RETRY_MS}\nid: ${encodeEventId(listener.key)}\n\n`)
    await sendChanges(listener, first)
    while (!listener.hasLeft) {
      if (latest !== undefined && isSameKey(latest.piece.next, listener.key)) await waitUntilWoken(listener)
      else if (latest !== undefined && isSameKey(latest.from, listener.key)) await sendChanges(listener, latest.piece)
      else await catchUp(listener)
    }
  }

  /** Reads for one listener that is behind the others. Only a few such reads run at a time, because lists use the store too. */
  async function catchUp(listener: Listener): Promise<void> {
    let piece: RecordChanges
    try {
      piece = await reads.run(() => read(listener.key))
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      // The database is unavailable or busy. The stream continues when it is back.
      return waitUntilWoken(listener)
    }
    await sendChanges(listener, piece)
    if (!piece.isEnd) return
    latest ??= { from: piece.next, piece }
    await waitUntilWoken(listener)
  }

  async function sendChanges(listener: Listener, piece: RecordChanges): Promise<void> {
    if (piece.isLost) {
      const reason = 'the last event is no longer in the journal; read the list again'
      await listener.sink.write(
        `event: reset\nid: ${encodeEventId(piece.next)}\ndata: ${JSON.stringify({ reason })}\n\n`,
      )
    }
    const events = piece.changes
      .filter((change) => matches(change, listener.filter))
      .map(({ kind, number, position, document }) => {
        const id = encodeEventId({ epoch: piece.next.epoch, number, position })
        return `event: ${kind}\nid: ${id}\ndata: ${document}\n\n`
      })
    if (!listener.hasLeft) await listener.sink.write(events.join(''))
    listener.key = piece.next
  }

  function waitUntilWoken(listener: Listener): Promise<void> {
    if (listener.hasLeft) return Promise.resolve()
    const woken = new Promise<void>((resolve) => {
      listener.wake = resolve
    })
    if (!isPolling) void poll()
    return woken
  }

  /** Polls for changes while there are listeners. */
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
    listener.hasLeft = true
    listener.wake()
  }
}

const NOT_STARTED: JournalPosition = { epoch: '', number: 0, position: 0 }

function isSameKey(a: JournalPosition, b: JournalPosition): boolean {
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
