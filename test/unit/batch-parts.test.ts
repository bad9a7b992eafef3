import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { BodyCollector } from '../../src/http/body-collector.ts'
import { BodyPages } from '../../src/http/body-pages.ts'
import { BatchTally } from '../../src/service/batch-tally.ts'
import { Gate } from '../../src/service/gate.ts'
import { splitBatch } from '../../src/service/item-splitter.ts'
import { LineCutter, type LineGroup } from '../../src/service/line-cutter.ts'
import { OrderedLane } from '../../src/service/ordered-lane.ts'
import { eventually } from '../eventually.ts'

const MEBIBYTE = 1_048_576
setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
/** Bytes of live objects and buffers. */
const heldBytes = () => {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const split = (text: string) => {
  const body = Buffer.from(text)
  const found = splitBatch(body, 100)
  if (found === undefined) return undefined
  const items = Array.from({ length: found.count }, (_, i) => body.toString('utf8', found.starts[i], found.ends[i]))
  return { items, envelope: Buffer.from(found.envelope).toString() }
}

describe('taking a batch apart', () => {
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

  it('finds in random JSON what JSON.parse finds', () => {
    let seed = 1
    const next = (n: number) => {
      seed = (seed * 16807) % 2147483647
      return seed % n
    }
    const value = (depth: number): unknown => {
      const kind = next(depth > 3 ? 4 : 6)
      if (kind === 4) return Array.from({ length: next(4) }, () => value(depth + 1))
      if (kind === 5) return Object.fromEntries(Array.from({ length: next(4) }, () => [text(), value(depth + 1)]))
      return [next(1000) / 8, text(), true, null][kind]
    }
    const text = () => ['items', 'a"b', 'x\\', '[{', '}],', '\u00e9'][next(6)]
    for (let round = 0; round < 3000; round++) {
      const items = Array.from({ length: next(6) }, () => value(0))
      const batch = { before: value(0), items, after: value(0) }
      const found = split(JSON.stringify(batch, undefined, next(3)))!
      expect(found.items.map((item) => JSON.parse(item))).toEqual(items)
      expect(JSON.parse(found.envelope)).toEqual({ ...batch, items: [] })
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
    'gives the same lines wherever the pieces end, and accounts for every byte (cut at once: %s)',
    (isEager) => {
      const text = Buffer.from('one\n\ntwo é\r\n   \nthree')
      for (let a = 0; a <= text.length; a++) {
        for (let b = a; b <= text.length; b++) {
          const found = cut([text.subarray(0, a), text.subarray(a, b), text.subarray(b)], isEager)
          expect(found).toEqual({ lines: ['one', 'two é\r', 'three'], streamBytes: text.length })
        }
      }
    },
  )

  it.each([true, false])('throws away a line that is too long, in pieces or whole (cut at once: %s)', (isEager) => {
    const long = Buffer.from(`a\n${'x'.repeat(101)}\nb\n${'y'.repeat(250)}`)
    const pieces = Array.from({ length: long.length }, (_, i) => long.subarray(i, i + 1))
    const expected = { lines: ['a', 101, 'b', 250], streamBytes: long.length }
    expect(cut([long], isEager)).toEqual(expected)
    expect(cut(pieces, isEager)).toEqual(expected)
  })
})

describe('a line in pieces of one byte', () => {
  it('takes no more than twice its bytes', () => {
    const cutter = new LineCutter(8 * MEBIBYTE)
    const piece = Buffer.from('x')
    const before = heldBytes()
    for (let index = 0; index < 4 * MEBIBYTE; index++) {
      cutter.take(piece)
      if (index % 1000 === 0) expect(cutter.next()).toBeUndefined()
    }
    // 4 MiB in a buffer of 8; one view a piece would be 400 MB.
    expect(heldBytes() - before).toBeLessThan(9 * MEBIBYTE)
    cutter.end()
    expect(cutter.next()?.streamBytes).toBe(4 * MEBIBYTE)
  })
})

describe('a body in pieces', () => {
  const pages = new BodyPages()
  type Own = ((chunk: Uint8Array) => Uint8Array) | undefined
  const copy: Own = (chunk) => Uint8Array.from(chunk)
  const collect = (receive: (body: Uint8Array) => void, announcedBytes?: number, own?: Own) =>
    new BodyCollector({ pages, announcedBytes, own, receive })

  it('of one announced piece stays as it is', () => {
    const body = Buffer.from('{}')
    let received: Uint8Array | undefined
    const collector = collect((whole) => {
      received = whole
    }, 2)
    collector.take(body)
    collector.end()
    expect(received).toBe(body)
  })

  it('leaves its memory to the next one when it is dropped', () => {
    const first = collect(() => {}, undefined, copy)
    first.take(Buffer.alloc(100_000))
    const before = heldBytes()
    first.drop()
    const next = collect(() => {}, undefined, copy)
    next.take(Buffer.alloc(100_000))
    // The argument alone.
    expect(heldBytes() - before).toBeLessThan(110_000)
  })

  it('is whole and in order, whatever the sizes of its pieces', () => {
    let seed = 7
    const next = (n: number) => {
      seed = (seed * 16807) % 2147483647
      return seed % n
    }
    for (let round = 0; round < 200; round++) {
      const body = Buffer.from(Array.from({ length: next(40_000) }, () => next(256)))
      let received: Uint8Array | undefined
      const keep = (whole: Uint8Array) => {
        received = whole
      }
      const own = next(2) === 0 ? copy : undefined
      const collector = collect(keep, next(2) === 0 ? body.length : undefined, own)
      for (let at = 0; at < body.length; ) {
        const size = 1 + next([2, 60, 5000, 20_000][next(4)]!)
        const piece = Buffer.from(body.subarray(at, at + size))
        collector.take(piece)
        // A transport that lends its bytes uses them again.
        if (own !== undefined) piece.fill(0)
        at += size
      }
      collector.end()
      expect(Buffer.compare(received!, body)).toBe(0)
    }
  })

  it('takes no more than twice its bytes in pieces of one byte', () => {
    let size = 0
    const collector = collect((body) => {
      size = body.byteLength
    })
    const piece = Buffer.from('x')
    const before = heldBytes()
    for (let index = 0; index < 4 * MEBIBYTE; index++) collector.take(piece)
    expect(heldBytes() - before).toBeLessThan(6 * MEBIBYTE)
    collector.end()
    expect(size).toBe(4 * MEBIBYTE)
  })
})

/** Everything has happened that waits for nothing from outside. */
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('work that comes out in order', () => {
  it('writes in the order of adding whatever ends first, and never begins more than its width', async () => {
    const written: string[] = []
    let begun = 0
    let most = 0
    const lane = new OrderedLane<string>({ width: 3, write: (text) => void written.push(text), onRoom: () => {} })
    for (let index = 0; index < 20; index++) {
      lane.add(async () => {
        most = Math.max(most, ++begun - written.length)
        for (let turns = (index * 7) % 5; turns > 0; turns--) await turn()
        return String(index)
      })
    }
    expect(lane.isFull).toBe(true)
    await lane.finish()
    expect(written).toEqual(Array.from({ length: 20 }, (_, index) => String(index)))
    expect(most).toBeLessThanOrEqual(3)
  })

  it('waits for a writer that waits', async () => {
    let release = () => {}
    const written: string[] = []
    const write = (text: string) => {
      written.push(text)
      return new Promise<void>((resolve) => {
        release = resolve
      })
    }
    const lane = new OrderedLane<string>({ width: 2, write, onRoom: () => {} })
    for (const text of ['a', 'b']) lane.add(async () => text)
    await turn()
    expect(written).toEqual(['a'])
    release()
    await turn()
    expect(written).toEqual(['a', 'b'])
    release()
    await lane.finish()
  })

  it('ends with the first failure, and says it without being asked', async () => {
    const written: string[] = []
    const errors: unknown[] = []
    const write = (text: string) => void written.push(text)
    const lane = new OrderedLane<string>({ width: 2, write, onRoom: () => {}, onError: (error) => errors.push(error) })
    lane.add(async () => 'a')
    lane.add(() => Promise.reject(new Error('broken')))
    lane.add(async () => 'c')
    await eventually(() => expect(errors).toEqual([new Error('broken')]))
    expect(lane.isFull).toBe(true)
    lane.add(() => Promise.reject(new Error('begun after the failure')))
    await expect(lane.finish()).rejects.toThrow('broken')
    expect(written).toEqual(['a'])
    expect(errors.length).toBe(1)
  })
})

describe('a gate', () => {
  it('lets as many in as it is wide, in order, whatever fails', async () => {
    const gate = new Gate(2)
    const order: number[] = []
    let inside = 0
    let most = 0
    const tasks = Array.from({ length: 9 }, (_, index) =>
      gate.run(async () => {
        order.push(index)
        most = Math.max(most, ++inside)
        await turn()
        inside--
        if (index === 3) throw new Error('no')
      }),
    )
    const results = await Promise.allSettled(tasks)
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(order).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8])
    expect(most).toBe(2)
  })
})

describe('the tally of a batch', () => {
  const NAME = 'X-Attester-Nonce-Source'
  const header = (...sources: readonly ('chain' | 'cache' | 'default')[]) => {
    const quotaProblem = { type: 'rate-limited', detail: '' } as const
    const tally = new BatchTally({ countItems: () => {}, problemJson: () => '{}', quotaProblem })
    for (const source of sources) tally.signed(1, source === 'chain' ? {} : { [NAME]: source })
    return tally.headers[NAME]
  }

  it('says the worst source of a nonce, in whatever order they came', () => {
    expect(header('chain', 'chain')).toBeUndefined()
    expect(header('chain', 'cache', 'chain')).toBe('cache')
    expect(header('cache', 'default', 'cache')).toBe('default')
    expect(header('default', 'chain')).toBe('default')
  })
})
