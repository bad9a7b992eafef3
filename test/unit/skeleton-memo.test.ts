import { describe, expect, it } from 'vitest'
import { unpack } from '../../src/base/bytes.ts'
import { SkeletonMemo } from '../../src/compute/skeleton-memo.ts'
import type { ChunkResult, ComputeChunk } from '../../src/wire/batch-messages.ts'
import { runChunk } from '../chunk-runner.ts'
import { mutate, SEEDS } from '../mutated-bodies.ts'

const run = (items: readonly Uint8Array[], attest: ComputeChunk['attest'], firstIndex: number) =>
  runChunk(items, { attest, firstIndex, returnsObjects: attest === 'each' })

const point = (lon: number, lat: number) => `{"type":"Point","coordinates":[${lon},${lat}]}`
const createItem = (id: string, lon: number) => `{"op":"distance",${id}"from":${point(lon, 1)},"to":${point(2, lon)}}`

/** Returns the text of each item, or the object if the main thread has to see it. */
function readItems({ texts, unfinished }: ChunkResult) {
  return Array.from({ length: texts.offsets.length - 1 }, (_, index) => {
    return unfinished.get(index) ?? Buffer.from(unpack(texts, index)).toString()
  })
}

describe('items of a chunk that differ only in coordinates and ids', () => {
  it.each([
    ['ids that are numbers', (index: number) => createItem(`"id":${index},`, index / 7)],
    ['ids that are strings', (index: number) => createItem(`"id":"item ${index}",`, index / 7)],
    ['ids on every second item', (index: number) => createItem(index % 2 ? `"id":${index},` : '', index / 7)],
    ['ids that are not echoed', (index: number) => createItem(`"id":${index}.5,`, index / 7)],
    [
      'ids of several spellings',
      (index: number) => createItem(`"id":${[1e3, '1e3', '-0', '"\\u0041"', '"é"', '01'][index % 6]},`, 3),
    ],
    [
      'the id of a Feature',
      (index: number) =>
        `{"op":"length","geometry":{"type":"Feature","id":${index},"properties":null,"geometry":{"type":"LineString","coordinates":[[0,0],[1,${index}]]}}}`,
    ],
    // Regression: the second item with the same id got `"id":,`, which is not JSON.
    ['the same id with a space behind its name', (index: number) => createItem('"id" : 7,', index / 7)],
    ['the same id with an escape in its name', (index: number) => createItem('"\\u0069d":7,', index / 7)],
    [
      'an id with a space behind its name, and ids inside another member',
      (index: number) => createItem(`"x":{"id":${index}},"id" : 7,`, index / 7),
    ],
    [
      'an id with an escape in its name, and ids inside another member',
      (index: number) => createItem(`"x":{"id":${index}},"\\u0069d":7,`, index / 7),
    ],
    ['two ids', (index: number) => createItem(`"id":${index},"x":{"id":${index + 1}},`, index / 7)],
    ['an id inside a string', (index: number) => createItem(`"x":"{\\"id\\":${index}}","id":${index},`, index / 7)],
    ['a key that ends like an id', (index: number) => createItem(`"a\\"id":${index},`, index / 7)],
    [
      'mistakes',
      (index: number) => createItem(`"id":${index},${index % 3 ? '' : '"recipient":"0x1",'}`, index % 2 ? 400 : 4),
    ],
  ])('give the same results as when computed one by one: %s', (_, createText) => {
    const items = Array.from({ length: 12 }, (_, index) => Buffer.from(createText(index)))
    for (const attest of ['none', 'each'] as const) {
      const together = readItems(run(items, attest, 0))
      expect(together).toEqual(items.map((item, index) => readItems(run([item], attest, index))[0]))
    }
  })

  it('give the same results as when computed one by one, for any items', () => {
    const items = Array.from({ length: 3000 }, (_, index) => {
      const [operation, seed] = SEEDS[index % SEEDS.length]!
      const body = index % 3 === 0 ? Buffer.from(seed) : mutate(seed)
      return Buffer.concat([Buffer.from(`{"op":"${operation}","id":${index % 50},`), body.subarray(1)])
    })
    const together = readItems(run(items, 'each', 0))
    for (const [index, item] of items.entries()) {
      expect(together[index], item.toString('latin1')).toEqual(readItems(run([item], 'each', index))[0])
    }
    expect(
      together.filter((item) => typeof item !== 'string' && item.result.type === 'computed').length,
    ).toBeGreaterThan(500)
  })

  it('are parsed once', () => {
    const memo = new SkeletonMemo<{ name: string }>()
    const first = memo.parse('{"id":1,"a":[0]}') as object
    memo.remember(first, { name: 'first' })
    expect(memo.parse('{"id":"x y","a":[0]}')).toBe(first)
    expect(memo.id).toBe('"x y"')
    expect(memo.find(first)).toEqual({ name: 'first' })
    expect(memo.parse('{"id":1,"a":[1]}')).not.toBe(first)
    expect(memo.parse('{"id":[1],"a":[0]}')).toEqual({ id: [1], a: [0] })
    expect(memo.parse('{"id":1,')).toBeUndefined()
  })

  it.each(['{"salt":"0x5a","a":[0]}', '{"s\\u0061lt":"0x5a","a":[0]}'])('are not kept with a salt: %s', (text) => {
    const memo = new SkeletonMemo<object>()
    const first = memo.parse(text) as object
    memo.remember(first, {})
    expect(memo.parse(text)).not.toBe(first)
  })
})
