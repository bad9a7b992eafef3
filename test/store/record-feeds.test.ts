import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { readConfig } from '../../src/config/config.ts'
import { Feeds } from '../../src/service/records/feeds.ts'
import type { EventSink } from '../../src/service/records/record-services.ts'
import { recordsUnavailable, type StoreAccess } from '../../src/service/records/store-access.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { eventually } from '../eventually.ts'
import { recordOf, uidOf } from '../store-records.ts'

const config = readConfig({ STREAM_POLL_MS: '10', MAX_STREAMS: '50' }, 1)
const chains = new Map([['base-sepolia', 84532]])

/** A client whose reads the test controls. */
class HeldSink implements EventSink {
  text = ''
  isHeld = false
  release: () => void = () => {}
  gone: () => void = () => {}

  write(text: string): void | Promise<void> {
    this.text += text
    if (!this.isHeld) return
    return new Promise((resolve) => {
      this.release = resolve
    })
  }
  tryWrite(text: string): void {
    if (!this.isHeld) this.text += text
  }
  onGone(listener: () => void): void {
    this.gone = listener
  }
  /** The numbers of the records in the events, in order. */
  get sentNumbers(): number[] {
    return [...this.text.matchAll(/^data: \{"uid":"0x([0-9a-f]{64})/gm)].map(([, uid]) => Number.parseInt(uid!, 16))
  }
}

describe.each(ENGINES)('feeds of records on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  let isUnavailable = false
  const operations: string[] = []
  const sliceCount = () => operations.filter((operation) => operation === 'slice').length
  /** The number of journal reads that found changes. */
  let nonEmptyReads = 0
  const ask: StoreAccess = async (operation, argument) => {
    operations.push(operation)
    if (isUnavailable) throw recordsUnavailable('away')
    const result = await store[operation](argument)
    if (typeof result === 'object' && 'changes' in result && result.changes.length > 0) nonEmptyReads++
    return result
  }
  const parts = { config, chains, ask, now: Date.now }
  const feeds = new Feeds(parts)
  const write = (from: number, count: number) => {
    const records = Array.from({ length: count }, (_, index) => recordOf(from + index, { memo: 'x'.repeat(300) }))
    return store.apply({ chainId: 84532, records, revocations: [] })
  }
  const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index)

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  })
  afterAll(async () => {
    feeds.close()
    await database.close()
    await files.remove()
  })

  it('send every change to every listener, with one journal read for all', async () => {
    const sinks = Array.from({ length: 20 }, () => new HeldSink())
    for (const sink of sinks) void feeds.stream('', undefined, 'one', sink)
    await eventually(() => expect(sinks.every(({ text }) => text.startsWith('retry: 2000\nid: '))).toBe(true))
    await write(1, 5)
    await eventually(() =>
      expect(sinks.map(({ sentNumbers }) => sentNumbers)).toEqual(sinks.map(() => [1, 2, 3, 4, 5])),
    )
    nonEmptyReads = 0
    await write(6, 5)
    await eventually(() => expect(sinks.map(({ sentNumbers }) => sentNumbers)).toEqual(sinks.map(() => numbers(1, 10))))
    expect(nonEmptyReads).toBe(1)
    for (const sink of sinks) sink.gone()
  })

  it('buffer nothing for a listener that does not read, and delay no other', async () => {
    const [slow, quick] = [new HeldSink(), new HeldSink()]
    void feeds.stream('', undefined, 'one', slow)
    void feeds.stream('', undefined, 'two', quick)
    await eventually(() => expect(quick.text && slow.text).not.toBe(''))
    slow.isHeld = true
    for (let round = 0; round < 10; round++) await write(100 + round * 100, 100)
    await eventually(() => expect(quick.sentNumbers).toEqual(numbers(100, 1000)))
    // Only what was started before it stopped reading.
    expect(slow.sentNumbers.length).toBeLessThanOrEqual(200)
    slow.isHeld = false
    slow.release()
    await eventually(() => expect(slow.sentNumbers).toEqual(numbers(100, 1000)))
    slow.gone()
    quick.gone()
  })

  it('continue when the database is available again', async () => {
    const sink = new HeldSink()
    void feeds.stream('', undefined, 'one', sink)
    await eventually(() => expect(sink.text).not.toBe(''))
    isUnavailable = true
    await write(2000, 3)
    await expect(feeds.stream('', undefined, 'one', new HeldSink())).rejects.toThrow('away')
    const before = operations.length
    await eventually(() => expect(operations.length).toBeGreaterThan(before + 3))
    expect(sink.sentNumbers).toEqual([])
    isUnavailable = false
    await eventually(() => expect(sink.sentNumbers).toEqual([2000, 2001, 2002]))
    sink.gone()
  })

  it('do not read the journal without listeners', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    try {
      let journalReads = 0
      const next = { epoch: '0123456789ab', number: 1, position: 1 }
      const readNothing = async () => {
        journalReads++
        return { changes: [], next, isEnd: true, isLost: false }
      }
      const other = new Feeds({ ...parts, ask: readNothing as unknown as StoreAccess })
      const sink = new HeldSink()
      void other.stream('', undefined, 'one', sink)
      await vi.advanceTimersByTimeAsync(100)
      expect(journalReads).toBeGreaterThan(5)
      sink.gone()
      await vi.advanceTimersByTimeAsync(20)
      journalReads = 0
      await vi.advanceTimersByTimeAsync(60_000)
      expect(journalReads).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('read the next slice of an export only after the client has received the last one', async () => {
    const few = { ...config, limits: { ...config.limits, exportPiece: { records: 50, bytes: 1_000_000 } } }
    const others = new Feeds({ ...parts, config: few })
    const sink = new HeldSink()
    sink.isHeld = true
    operations.length = 0
    const { count } = await store.page({ limit: 1, offset: 0 })
    const ended = others.export('ndjson', '', { client: undefined, aborted: false, deadlineMs: 0 }, sink)
    for (let slices = 1; slices <= Math.ceil(count / 50); slices++) {
      await eventually(() => expect(sink.text.split('\n').length - 1).toBe(Math.min(count, slices * 50)))
      await new Promise((resolve) => setImmediate(resolve))
      expect(sliceCount()).toBe(slices)
      sink.release()
    }
    await ended
    expect(sink.text).toContain(uidOf(1))
  })

  it('stop an export whose client disconnected', async () => {
    const sink = new HeldSink()
    const others = new Feeds({
      ...parts,
      config: { ...config, limits: { ...config.limits, exportPiece: { records: 10, bytes: 1_000_000 } } },
    })
    operations.length = 0
    await others.export('ndjson', '', { client: undefined, aborted: true, deadlineMs: 0 }, sink)
    expect(sliceCount()).toBe(1)
  })

  it('end every stream on close, and begin none after it', async () => {
    const other = new Feeds(parts)
    const sink = new HeldSink()
    const ended = other.stream('', undefined, 'one', sink)
    await eventually(() => expect(sink.text).not.toBe(''))
    other.close()
    await ended
    await expect(other.stream('', undefined, 'one', new HeldSink())).rejects.toThrow('stopping')
  })
})
