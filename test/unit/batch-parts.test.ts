import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, vi } from 'vitest'
import { pack } from '../../src/base/bytes.ts'
import { problemAt, underPath } from '../../src/base/problem.ts'
import { BodyCollector, BodyPages } from '../../src/http/transport/in-flight.ts'
import { type BatchParts, BatchRun, BatchTally } from '../../src/service/batch/batch.ts'
import { BatchSplitter, LineCutter, type LineGroup } from '../../src/service/batch/item-cutters.ts'
import { OrderedQueue } from '../../src/service/batch/ordered-queue.ts'
import { Gate } from '../../src/service/gate.ts'
import type { BatchContext } from '../../src/service/request.ts'
import { NO_STORED_GEOMETRIES } from '../../src/service/stored/geometries.ts'
import { readBatchItem, readBatchItemId } from '../../src/validation/batch.ts'
import type { ComputeChunk } from '../../src/wire/batch-messages.ts'
import { runChunk, SCHEMAS } from '../chunk-runner.ts'
import { eventually } from '../eventually.ts'

const MEBIBYTE = 1_048_576
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
/** Returns the bytes of live objects and buffers after a garbage collection. */
const liveBytes = () => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const split = (text: string) => {
  const body = Buffer.from(text)
  const { result } = runSlices(body, 100)
  if (result === undefined) return undefined
  const items = Array.from({ length: result.count }, (_, i) => body.toString('utf8', result.starts[i], result.ends[i]))
  return { items, envelope: Buffer.from(result.envelope).toString() }
}

/** Splits a batch to its end. */
const runSlices = (body: Uint8Array, maxItems: number) => {
  const splitter = new BatchSplitter(body, maxItems)
  for (let pauses = 0; ; pauses++) if (splitter.searchSlice()) return { result: splitter.result, pauses }
}

describe('the problem of an item', () => {
  const overloaded = { type: 'overloaded', detail: 'the signing queue is full' } as const
  const range = problemAt('invalid-input', ['geometry', 'coordinates', 1], 'is out of range', { code: 'range' }).data

  it('has the path of the item in front', () => {
    expect(underPath(range, ['items', 3])).toEqual({
      type: 'invalid-input',
      detail: 'items[3].geometry.coordinates[1]: is out of range',
      invalidParts: [{ pointer: '#/items/3/geometry/coordinates/1', detail: 'is out of range', code: 'range' }],
    })
    expect(underPath(overloaded, ['items', 3])).toEqual({
      type: 'overloaded',
      detail: 'items[3]: the signing queue is full',
      invalidParts: [{ pointer: '#/items/3', detail: 'the signing queue is full' }],
    })
  })

  // Regression: the whole request was added as an invalid part, which clients had to remove again.
  it('is unchanged for a line, which is a whole request', () => {
    expect(underPath(range, [])).toEqual(range)
    expect(underPath(overloaded, [])).toEqual(overloaded)
  })
})

describe('splitting a batch', () => {
  it.each([
    ['{"items":[1,2]}', ['1', '2'], '{"items":[]}'],
    [
      '{"a":{"items":[9]},"items" : [ {"x":[1,2]} , "a,]b" ],"b":1}',
      [' {"x":[1,2]} ', ' "a,]b" '],
      '{"a":{"items":[9]},"items" : [],"b":1}',
    ],
    ['{"items":["\\"]",{"k":"\\\\"}]}', ['"\\"]"', '{"k":"\\\\"}'], '{"items":[]}'],
    ['{"items":[]}', [], '{"items":[]}'],
    ['{"items":[ ]}', [], '{"items":[]}'],
    ['{"items":[,]}', ['', ''], '{"items":[]}'],
  ])('finds the items of %s', (text, items, envelope) => {
    expect(split(text)).toEqual({ items, envelope })
  })

  it.each(['{}', '[]', '', '{"items":{}}', '{"items":[1', '{"items', '{"items":"[1]"}', '{"x":["items",[1]]}'])(
    'finds no list in %j',
    (text) => {
      expect(split(text)).toBeUndefined()
    },
  )

  it.each([
    ['the items', `{"items":[${'{"a":"b"},'.repeat(100_000)}1]}`, 100_001],
    ['the members before the items', `{"a":[${'{"a":"b"},'.repeat(100_000)}1],"items":[1]}`, 1],
  ])('pauses after each slice of %s, so that other requests have their turn', (_place, text, count) => {
    const { result, pauses } = runSlices(Buffer.from(text), 200_000)
    expect(result!.count).toBe(count)
    expect(pauses).toBe(Math.floor(text.length / 65_536))
  })

  it('finds the same items in random JSON as JSON.parse', () => {
    let seed = 1
    const nextBelow = (n: number) => {
      seed = (seed * 16807) % 2147483647
      return seed % n
    }
    const value = (depth: number): unknown => {
      const kind = nextBelow(depth > 3 ? 4 : 6)
      if (kind === 4) return Array.from({ length: nextBelow(4) }, () => value(depth + 1))
      if (kind === 5) return Object.fromEntries(Array.from({ length: nextBelow(4) }, () => [text(), value(depth + 1)]))
      return [nextBelow(1000) / 8, text(), true, null][kind]
    }
    const text = () => ['items', 'a"b', 'x\\', '[{', '}],', '\u00e9'][nextBelow(6)]
    for (let round = 0; round < 3000; round++) {
      const items = Array.from({ length: nextBelow(6) }, () => value(0))
      const batch = { before: value(0), items, after: value(0) }
      const result = split(JSON.stringify(batch, undefined, nextBelow(3)))!
      expect(result.items.map((item) => JSON.parse(item))).toEqual(items)
      expect(JSON.parse(result.envelope)).toEqual({ ...batch, items: [] })
    }
  })
})

describe('cutting a stream into lines', () => {
  const cut = (pieces: readonly Uint8Array[], isEager: boolean, maxLineBytes = 100) => {
    const groups: LineGroup[] = []
    const cutter = new LineCutter(maxLineBytes)
    const takeGroups = () => {
      for (let group = cutter.next(); group !== undefined; group = cutter.next()) groups.push(group)
    }
    for (const piece of pieces) {
      cutter.take(piece)
      if (isEager) takeGroups()
    }
    cutter.end()
    takeGroups()
    const lines = groups.flatMap((group) => group.lines)
    return {
      lines: lines.map((line) => (typeof line === 'number' ? line : Buffer.from(line).toString())),
      streamBytes: groups.reduce((sum, group) => sum + group.streamBytes, 0),
    }
  }

  it.each([true, false])(
    'gives the same lines wherever the pieces end, and counts every byte (lines taken after each piece: %s)',
    (isEager) => {
      const text = Buffer.from('one\n\ntwo é\r\n   \nthree')
      for (let a = 0; a <= text.length; a++) {
        for (let b = a; b <= text.length; b++) {
          const result = cut([text.subarray(0, a), text.subarray(a, b), text.subarray(b)], isEager)
          expect(result).toEqual({ lines: ['one', 'two é\r', 'three'], streamBytes: text.length })
        }
      }
    },
  )

  it.each([true, false])(
    'drops a line that is too long, in pieces or whole (lines taken after each piece: %s)',
    (isEager) => {
      const long = Buffer.from(`a\n${'x'.repeat(101)}\nb\n${'y'.repeat(250)}`)
      const pieces = Array.from({ length: long.length }, (_, i) => long.subarray(i, i + 1))
      const expected = { lines: ['a', 101, 'b', 250], streamBytes: long.length }
      expect(cut([long], isEager)).toEqual(expected)
      expect(cut(pieces, isEager)).toEqual(expected)
    },
  )
})

describe('a line in pieces of one byte', () => {
  it('uses no more than twice its bytes', () => {
    const cutter = new LineCutter(8 * MEBIBYTE)
    const piece = Buffer.from('x')
    const before = liveBytes()
    for (let index = 0; index < 4 * MEBIBYTE; index++) {
      cutter.take(piece)
      if (index % 1000 === 0) expect(cutter.next()).toBeUndefined()
    }
    // 4 MiB in a buffer of 8 MiB; one view per piece would take 400 MB.
    expect(liveBytes() - before).toBeLessThan(9 * MEBIBYTE)
    cutter.end()
    expect(cutter.next()?.streamBytes).toBe(4 * MEBIBYTE)
  })
})

describe('a body in pieces', () => {
  const pages = new BodyPages()
  type CopyChunk = ((chunk: Uint8Array) => Uint8Array) | undefined
  const copy: CopyChunk = (chunk) => Uint8Array.from(chunk)
  const collect = (receive: (body: Uint8Array) => void, announcedBytes?: number, copyChunk?: CopyChunk) =>
    new BodyCollector({ pages, announcedBytes, copyChunk, receive })

  it('is not copied when it is one piece of the announced size', () => {
    const body = Buffer.from('{}')
    let received: Uint8Array | undefined
    const collector = collect((whole) => {
      received = whole
    }, 2)
    collector.take(body)
    collector.end()
    expect(received).toBe(body)
  })

  it('lets the next one reuse its memory when it is dropped', () => {
    const first = collect(() => {}, undefined, copy)
    first.take(Buffer.alloc(100_000))
    const before = liveBytes()
    first.drop()
    const second = collect(() => {}, undefined, copy)
    second.take(Buffer.alloc(100_000))
    // Only the memory of the buffer that is passed in.
    expect(liveBytes() - before).toBeLessThan(110_000)
  })

  it('is whole and in order, whatever the sizes of its pieces', () => {
    let seed = 7
    const nextBelow = (n: number) => {
      seed = (seed * 16807) % 2147483647
      return seed % n
    }
    for (let round = 0; round < 200; round++) {
      const body = Buffer.from(Array.from({ length: nextBelow(40_000) }, () => nextBelow(256)))
      let received: Uint8Array | undefined
      const receive = (whole: Uint8Array) => {
        received = whole
      }
      const copyChunk = nextBelow(2) === 0 ? copy : undefined
      const collector = collect(receive, nextBelow(2) === 0 ? body.length : undefined, copyChunk)
      for (let at = 0; at < body.length; ) {
        const size = 1 + nextBelow([2, 60, 5000, 20_000][nextBelow(4)]!)
        const piece = Buffer.from(body.subarray(at, at + size))
        collector.take(piece)
        // A transport that lends its bytes reuses them.
        if (copyChunk !== undefined) piece.fill(0)
        at += size
      }
      collector.end()
      expect(Buffer.compare(received!, body)).toBe(0)
    }
  })

  it('uses no more than twice its bytes in pieces of one byte', () => {
    let size = 0
    const collector = collect((body) => {
      size = body.byteLength
    })
    const piece = Buffer.from('x')
    const before = liveBytes()
    for (let index = 0; index < 4 * MEBIBYTE; index++) collector.take(piece)
    expect(liveBytes() - before).toBeLessThan(6 * MEBIBYTE)
    collector.end()
    expect(size).toBe(4 * MEBIBYTE)
  })
})

/** Waits for one tick of the event loop: all work that needs nothing from outside is then done. */
const tick = () => new Promise((resolve) => setImmediate(resolve))

describe('an ordered queue', () => {
  it('writes in the order of adding, whichever task ends first, and never runs more tasks than its width', async () => {
    const written: string[] = []
    let begun = 0
    let highest = 0
    const queue = new OrderedQueue<string>({ width: 3, write: (text) => void written.push(text), onRoom: () => {} })
    for (let index = 0; index < 20; index++) {
      queue.add(async () => {
        highest = Math.max(highest, ++begun - written.length)
        for (let ticks = (index * 7) % 5; ticks > 0; ticks--) await tick()
        return String(index)
      })
    }
    expect(queue.isFull).toBe(true)
    await queue.finish()
    expect(written).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
    expect(highest).toBeLessThanOrEqual(3)
  })

  it('waits for a slow writer', async () => {
    let release = () => {}
    const written: string[] = []
    const write = (text: string) => {
      written.push(text)
      return new Promise<void>((resolve) => {
        release = resolve
      })
    }
    const queue = new OrderedQueue<string>({ width: 2, write, onRoom: () => {} })
    for (const text of ['a', 'b']) queue.add(async () => text)
    await tick()
    expect(written).toEqual(['a'])
    release()
    await tick()
    expect(written).toEqual(['a', 'b'])
    release()
    await queue.finish()
  })

  it('ends with the first failure, and takes nothing more before finish is called', async () => {
    const written: string[] = []
    let isLateStarted = false
    const write = (text: string) => void written.push(text)
    const queue = new OrderedQueue<string>({ width: 3, write, onRoom: () => {} })
    queue.add(async () => 'a')
    queue.add(() => Promise.reject(new Error('broken')))
    queue.add(async () => 'c')
    await eventually(() => expect(written).toEqual(['a']))
    await tick()
    expect(queue.isFull).toBe(true)
    queue.add(() => {
      isLateStarted = true
      return Promise.reject(new Error('begun after the failure'))
    })
    await expect(queue.finish()).rejects.toThrow('broken')
    expect(written).toEqual(['a'])
    expect(isLateStarted).toBe(false)
  })
})

describe('a gate', () => {
  it('runs at most as many tasks as its width, in order, even if some fail', async () => {
    const gate = new Gate(2)
    const order: number[] = []
    let inside = 0
    let highest = 0
    const tasks = Array.from({ length: 9 }, (_, index) =>
      gate.run('a', async () => {
        order.push(index)
        highest = Math.max(highest, ++inside)
        await tick()
        inside--
        if (index === 3) throw new Error('no')
      }),
    )
    const results = await Promise.allSettled(tasks)
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(highest).toBe(2)
  })

  it('serves clients in turn, and leaves a slot to others while one client has its share', async () => {
    const gate = new Gate(2, 1)
    const started: string[] = []
    const ends: (() => void)[] = []
    const run = (name: string) =>
      gate.run(name[0], () => {
        started.push(name)
        return new Promise<void>((resolve) => ends.push(resolve))
      })
    const tasks = ['a1', 'a2', 'a3'].map(run)
    await tick()
    expect(started).toEqual(['a1'])
    tasks.push(...['b1', 'c1'].map(run))
    await tick()
    expect(started).toEqual(['a1', 'b1'])
    for (let index = 0; index < 5; index++) {
      ends[index]!()
      await tick()
    }
    await Promise.all(tasks)
    expect(started).toEqual(['a1', 'b1', 'a2', 'c1', 'a3'])
  })
})

describe('the tally of a batch', () => {
  const NAME = 'X-Attester-Nonce-Source'
  const header = (...sources: readonly ('chain' | 'cache' | 'default')[]) => {
    const tally = new BatchTally({ countItems: () => {}, problemJson: () => '{}' })
    for (const source of sources) tally.countSigned(1, source === 'chain' ? {} : { [NAME]: source })
    return tally.headers[NAME]
  }

  it('reports the worst source of a nonce, whatever the order of the items', () => {
    expect(header('chain', 'chain')).toBeUndefined()
    expect(header('chain', 'cache', 'chain')).toBe('cache')
    expect(header('cache', 'default', 'cache')).toBe('default')
    expect(header('default', 'chain')).toBe('default')
  })
})

describe('the id of an item', () => {
  it.each([
    ['128 letters', 'a'.repeat(128)],
    ['128 characters of two code units each', '\u{1F30D}'.repeat(128)],
    ['128 lone surrogates', '\ud83c'.repeat(128)],
    ['letters and others', `${'a'.repeat(127)}\u{1F30D}`],
  ])('is returned if the schema allows it: %s', (_, id) => {
    const item = { op: 'area', id }
    expect(readBatchItem(item).id).toBe(`"id":${JSON.stringify(id)},`)
    expect(readBatchItemId(Buffer.from(JSON.stringify(item)), 8)).toBe(`"id":${JSON.stringify(id)},`)
  })

  it.each([
    ['129 letters', 'a'.repeat(129)],
    ['129 characters of two code units each', '\u{1F30D}'.repeat(129)],
    ['1000 letters', 'a'.repeat(1000)],
  ])('is left out if it is too long: %s', (_, id) => {
    expect(() => readBatchItem({ op: 'area', id })).toThrow(/id/)
    expect(readBatchItemId(Buffer.from(JSON.stringify({ op: 'area', id })), 8)).toBe('')
  })
})

describe('lines beyond a limit', () => {
  const item = pack([Buffer.from(JSON.stringify({ op: 'area', geometry: { type: 'Point', coordinates: [0, 0] } }))])
  const options = {
    chainId: 84532,
    recipient: undefined,
    attest: 'none',
    sequence: 'same',
    submitOnchain: false,
  } as const

  /** Computes a chunk of one item, and returns how often it was sent to a thread before and after a pause. */
  async function compute(firstIndex: number | undefined, granted: number) {
    let sent = 0
    const parts = {
      config: { limits: { maxBodyBytes: 1000, requestDeadlineMs: 1000 } },
      chains: { defaultSchema: (kind: keyof typeof SCHEMAS) => SCHEMAS[kind] },
      signer: {},
      storedShapes: NO_STORED_GEOMETRIES,
      pool: {
        runChunk: async ({ chunk }: { chunk: ComputeChunk }) => {
          sent++
          return runChunk([], chunk)
        },
      },
      now: Date.now,
    } as unknown as BatchParts
    const context: BatchContext = {
      client: 'one',
      aborted: false,
      deadlineMs: Number.POSITIVE_INFINITY,
      takeQuota: () => granted,
      countItems: () => {},
      costProblem: () => undefined,
      quotaProblem: { type: 'rate-limited', detail: '' },
      problemJson: (problem) => JSON.stringify(problem),
      report: () => {},
    }
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const computed = new BatchRun(parts, options, context).compute(
        { buffer: item.buffer.slice(0), offsets: item.offsets },
        firstIndex,
      )
      const sentAtOnce = sent
      await vi.advanceTimersByTimeAsync(100)
      await computed
      return [sentAtOnce, sent]
    } finally {
      vi.useRealTimers()
    }
  }

  it('wait, because a stream has no end', async () => {
    expect(await compute(undefined, 0)).toEqual([0, 1])
  })

  it('do not wait if some of their chunk are within it, nor do the items of a JSON batch', async () => {
    expect(await compute(undefined, 1)).toEqual([1, 1])
    expect(await compute(0, 0)).toEqual([1, 1])
  })
})

describe('an item with an attestation as its input', () => {
  const point = (lon: number) => ({ type: 'Point', coordinates: [lon, 0] })
  const items = [
    { op: 'distance', id: 'first', from: point(0), to: point(1) },
    { op: 'distance', id: 'second', from: point(0), to: { uid: `0x${'ab'.repeat(32)}` } },
    { op: 'distance', id: 'third', from: point(0), to: point(3) },
  ].map((item) => Buffer.from(JSON.stringify(item)))
  const context: BatchContext = {
    client: undefined,
    aborted: false,
    deadlineMs: Number.POSITIVE_INFINITY,
    takeQuota: (count) => count,
    countItems: () => {},
    costProblem: () => undefined,
    quotaProblem: { type: 'rate-limited', detail: '' },
    problemJson: (problem) => JSON.stringify(problem),
    report: () => {},
  }

  /** @param resolve reads the attestation @param compute runs the item after that */
  async function handledItem(resolve: () => Promise<object>, compute: (chunk: ComputeChunk) => object) {
    const parts = {
      config: { limits: { maxBodyBytes: 1000, requestDeadlineMs: 1000 } },
      chains: { defaultSchema: (kind: keyof typeof SCHEMAS) => SCHEMAS[kind], require: () => {} },
      signer: {},
      resolver: { resolve },
      storedShapes: NO_STORED_GEOMETRIES,
      pool: {
        runChunk: async ({ chunk }: { chunk: ComputeChunk }) =>
          chunk.resolved.length > 0 ? compute(chunk) : runChunk([], chunk),
      },
      now: Date.now,
    } as unknown as BatchParts
    const options = {
      chainId: 84532,
      recipient: undefined,
      attest: 'none',
      sequence: 'same',
      submitOnchain: false,
    } as const
    const { handled } = await new BatchRun(parts, options, context).compute(pack(items), 4)
    expect([...handled.keys()]).toEqual([1])
    return JSON.parse(handled.get(1) as string)
  }
  const attestation = async () => ({
    resolved: [{ field: 'to', geometry: JSON.stringify(point(2)), ref: `0x${'ab'.repeat(32)}` }],
    proofInputs: [],
    stored: [],
  })
  const dies = () => {
    throw new Error('the thread died')
  }

  it('has its result', async () => {
    const item = await handledItem(attestation, (chunk) => runChunk([], chunk))
    expect(item).toMatchObject({ id: 'second', result: 222_638.98 })
  })

  it.each([
    ['reads the attestation', async () => dies(), (chunk: ComputeChunk) => runChunk([], chunk)],
    ['computes it', attestation, dies],
  ])('fails without the rest of its batch when the thread dies that %s', async (_, resolve, compute) => {
    const item = await handledItem(resolve, compute)
    expect(item).toMatchObject({ id: 'second', error: { type: 'internal', invalidParts: [{ pointer: '#/items/5' }] } })
  })
})
