import { describe, expect, it } from 'vitest'
import type { ChunkResult, ComputeChunk } from '../../src/batch-messages.ts'
import { textsOf } from '../../src/service/batch-items.ts'
import { SkeletonMemo } from '../../workers/skeleton-memo.ts'
import { runChunk } from '../chunk-runner.ts'
import { mutate, SEEDS } from '../mutated-bodies.ts'

const run = (items: readonly Uint8Array[], attest: ComputeChunk['attest'], firstIndex: number) =>
  runChunk(items, { attest, firstIndex })

const point = (lon: number, lat: number) => `{"type":"Point","coordinates":[${lon},${lat}]}`
const ends = (id: string, lon: number) => `{"op":"distance",${id}"from":${point(lon, 1)},"to":${point(2, lon)}}`

function itemsOf(given: ChunkResult) {
  if ('unsigned' in given) throw new Error('nobody is to sign these')
  return 'texts' in given ? textsOf(given.texts) : given.items
}

describe('items of a chunk that differ in their coordinates and ids alone', () => {
  it.each([
    ['ids that are numbers', (index: number) => ends(`"id":${index},`, index / 7)],
    ['ids that are texts', (index: number) => ends(`"id":"item ${index}",`, index / 7)],
    ['ids that come and go', (index: number) => ends(index % 2 ? `"id":${index},` : '', index / 7)],
    ['ids that are not echoed', (index: number) => ends(`"id":${index}.5,`, index / 7)],
    [
      'ids of several spellings',
      (index: number) => ends(`"id":${[1e3, '1e3', '-0', '"\\u0041"', '"é"', '01'][index % 6]},`, 3),
    ],
    [
      'the id of a Feature',
      (index: number) =>
        `{"op":"length","geometry":{"type":"Feature","id":${index},"properties":null,"geometry":{"type":"LineString","coordinates":[[0,0],[1,${index}]]}}}`,
    ],
    ['two ids', (index: number) => ends(`"id":${index},"x":{"id":${index + 1}},`, index / 7)],
    ['an id in a text', (index: number) => ends(`"x":"{\\"id\\":${index}}","id":${index},`, index / 7)],
    ['a key that ends like one', (index: number) => ends(`"a\\"id":${index},`, index / 7)],
    [
      'mistakes',
      (index: number) => ends(`"id":${index},${index % 3 ? '' : '"recipient":"0x1",'}`, index % 2 ? 400 : 4),
    ],
  ])('get what each would get alone: %s', (_, textOf) => {
    const items = Array.from({ length: 12 }, (_, index) => Buffer.from(textOf(index)))
    for (const attest of ['none', 'each'] as const) {
      const together = itemsOf(run(items, attest, 0))
      expect(together).toEqual(items.map((item, index) => itemsOf(run([item], attest, index))[0]))
    }
  })

  it('get what each would get alone, whatever the items are', () => {
    const items = Array.from({ length: 3000 }, (_, index) => {
      const [operation, seed] = SEEDS[index % SEEDS.length]!
      const body = index % 3 === 0 ? Buffer.from(seed) : mutate(seed)
      return Buffer.concat([Buffer.from(`{"op":"${operation}","id":${index % 50},`), body.subarray(1)])
    })
    const together = itemsOf(run(items, 'each', 0))
    for (const [index, item] of items.entries()) {
      expect(together[index], item.toString('latin1')).toEqual(itemsOf(run([item], 'each', index))[0])
    }
    expect(together.filter((item) => typeof item !== 'string' && item.result.ok === true).length).toBeGreaterThan(500)
  })

  it('are parsed once', () => {
    const memo = new SkeletonMemo<{ name: string }>()
    const first = memo.parse('{"id":1,"a":[0]}') as object
    memo.keep(first, { name: 'first' })
    expect(memo.parse('{"id":"x y","a":[0]}')).toBe(first)
    expect(memo.id).toBe('"x y"')
    expect(memo.find(first)).toEqual({ name: 'first' })
    expect(memo.parse('{"id":1,"a":[1]}')).not.toBe(first)
    expect(memo.parse('{"id":[1],"a":[0]}')).toEqual({ id: [1], a: [0] })
    expect(memo.parse('{"id":1,')).toBeUndefined()
  })
})
