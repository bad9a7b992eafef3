import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { readConfig } from '../../src/config.ts'
import { createRecordExport } from '../../src/service/record-export.ts'
import { type RecordQuestion, recordsUnavailable } from '../../src/service/record-questions.ts'
import type { EventSink } from '../../src/service/record-services.ts'
import { createRecordStream } from '../../src/service/record-stream.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { RecordStore } from '../../src/store-messages.ts'
import { eventually } from '../eventually.ts'
import { recordOf, uidOf } from '../store-records.ts'

const config = readConfig({ STREAM_POLL_MS: '10', MAX_STREAMS: '50' }, 1)
const chains = new Map([['base-sepolia', 84532]])

/** A client that reads when the test says so. */
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
  /** Numbers of the records in the events, in their order. */
  get told(): number[] {
    return [...this.text.matchAll(/^data: \{"uid":"0x([0-9a-f]{64})/gm)].map(([, uid]) => Number.parseInt(uid!, 16))
  }
}

describe.each(ENGINES)('feeds of records on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  let isAway = false
  const asked: string[] = []
  const slicesAsked = () => asked.filter((operation) => operation === 'slice').length
  /** Looks at the journal that found something. */
  let finds = 0
  const ask: RecordQuestion = async (operation, argument) => {
    asked.push(operation)
    if (isAway) throw recordsUnavailable('away')
    const found = await store[operation](argument)
    if (typeof found === 'object' && 'changes' in found && found.changes.length > 0) finds++
    return found
  }
  const parts = { config, chains, ask, now: Date.now }
  const { stream, close } = createRecordStream(parts)
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
    close()
    await database.close()
    await files.remove()
  })

  it('tell every listener of every change, with one look at the journal for all', async () => {
    const sinks = Array.from({ length: 20 }, () => new HeldSink())
    for (const sink of sinks) void stream('', undefined, 'one', sink)
    await eventually(() => expect(sinks.every(({ text }) => text.startsWith('retry: 2000\nid: '))).toBe(true))
    await write(1, 5)
    await eventually(() => expect(sinks.map(({ told }) => told)).toEqual(sinks.map(() => [1, 2, 3, 4, 5])))
    finds = 0
    await write(6, 5)
    await eventually(() => expect(sinks.map(({ told }) => told)).toEqual(sinks.map(() => numbers(1, 10))))
    expect(finds).toBe(1)
    for (const sink of sinks) sink.gone()
  })

  it('keep nothing for a listener that does not read, and hold nobody else up', async () => {
    const [slow, quick] = [new HeldSink(), new HeldSink()]
    void stream('', undefined, 'one', slow)
    void stream('', undefined, 'two', quick)
    await eventually(() => expect(quick.text && slow.text).not.toBe(''))
    slow.isHeld = true
    for (let round = 0; round < 10; round++) await write(100 + round * 100, 100)
    await eventually(() => expect(quick.told).toEqual(numbers(100, 1000)))
    // What was begun before it stopped reading, and no more.
    expect(slow.told.length).toBeLessThanOrEqual(200)
    slow.isHeld = false
    slow.release()
    await eventually(() => expect(slow.told).toEqual(numbers(100, 1000)))
    slow.gone()
    quick.gone()
  })

  it('go on when the database is back', async () => {
    const sink = new HeldSink()
    void stream('', undefined, 'one', sink)
    await eventually(() => expect(sink.text).not.toBe(''))
    isAway = true
    await write(2000, 3)
    await expect(stream('', undefined, 'one', new HeldSink())).rejects.toThrow('away')
    const before = asked.length
    await eventually(() => expect(asked.length).toBeGreaterThan(before + 3))
    expect(sink.told).toEqual([])
    isAway = false
    await eventually(() => expect(sink.told).toEqual([2000, 2001, 2002]))
    sink.gone()
  })

  it('look at nothing when nobody listens', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
    try {
      let looks = 0
      const next = { epoch: '0123456789ab', number: 1, position: 1 }
      const lookAtNothing = async () => {
        looks++
        return { changes: [], next, isEnd: true, isLost: false }
      }
      const other = createRecordStream({ ...parts, ask: lookAtNothing as unknown as RecordQuestion })
      const sink = new HeldSink()
      void other.stream('', undefined, 'one', sink)
      await vi.advanceTimersByTimeAsync(100)
      expect(looks).toBeGreaterThan(5)
      sink.gone()
      await vi.advanceTimersByTimeAsync(20)
      looks = 0
      await vi.advanceTimersByTimeAsync(60_000)
      expect(looks).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('ask for the next slice of an export when the client has taken the last one', async () => {
    const few = { ...config, limits: { ...config.limits, exportPiece: { records: 50, bytes: 1_000_000 } } }
    const exportAll = createRecordExport({ ...parts, config: few })
    const sink = new HeldSink()
    sink.isHeld = true
    asked.length = 0
    const { count } = await store.page({ limit: 1, offset: 0 })
    const ended = exportAll('ndjson', '', { aborted: false, deadlineMs: 0 }, sink)
    for (let slices = 1; slices <= Math.ceil(count / 50); slices++) {
      await eventually(() => expect(sink.text.split('\n').length - 1).toBe(Math.min(count, slices * 50)))
      await new Promise((resolve) => setImmediate(resolve))
      expect(slicesAsked()).toBe(slices)
      sink.release()
    }
    await ended
    expect(sink.text).toContain(uidOf(1))
  })

  it('leave off an export whose client is gone', async () => {
    const sink = new HeldSink()
    const exportAll = createRecordExport({
      ...parts,
      config: { ...config, limits: { ...config.limits, exportPiece: { records: 10, bytes: 1_000_000 } } },
    })
    asked.length = 0
    await exportAll('ndjson', '', { aborted: true, deadlineMs: 0 }, sink)
    expect(slicesAsked()).toBe(1)
  })

  it('end every stream at the close, and begin none after it', async () => {
    const other = createRecordStream(parts)
    const sink = new HeldSink()
    const ended = other.stream('', undefined, 'one', sink)
    await eventually(() => expect(sink.text).not.toBe(''))
    other.close()
    await ended
    await expect(other.stream('', undefined, 'one', new HeldSink())).rejects.toThrow('stopping')
  })
})
