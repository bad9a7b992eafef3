/** The table of hours does the same as a map of names, whatever begins, ends, comes back or is forgotten. */
import { expect, it } from 'vitest'
import { COSTS, HourTable, REQUESTS } from '../../src/base/hour-table.ts'
import { KeyedHash } from '../../src/base/keyed-hash.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'
import { SEED } from '../seeded.ts'

const NOON_MS = Date.UTC(2026, 0, 1, 12)
const HOURS = [REQUESTS, COSTS] as const

interface Hours {
  readonly ends: [number, number]
  count: number
  readonly amounts: number[]
}

/** The same as `HourTable`, in a map whose order is that in which the hours began. */
class NamedHours {
  readonly hours = new Map<number | string, Hours>()
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  begin(subject: number | string, hour: 0 | 1, endSeconds: number, nowMs: number): Hours {
    const known = this.hours.get(subject)
    const begun = known ?? { ends: [0, 0], count: 0, amounts: [0, 0, 0] }
    if (known !== undefined) {
      this.hours.delete(subject)
      this.hours.set(subject, begun)
      begun.ends[hour] = endSeconds
    }
    for (const [name, { ends }] of [...this.hours].slice(0, 2)) {
      if (Math.max(...ends) * 1000 > nowMs) break
      this.hours.delete(name)
    }
    if (known === undefined) {
      if (this.hours.size >= this.#max) this.hours.delete([...this.hours.keys()][0]!)
      this.hours.set(subject, begun)
      begun.ends[hour] = endSeconds
    }
    return begun
  }
}

it.each([1, 2, 3, 17, 64])('keeps exactly what a map of %i names keeps', (max) => {
  const random = seededRandom(SEED + max)
  const table = new HourTable(max)
  const named = new NamedHours(max)
  let nowMs = NOON_MS
  let forgotten = 0
  let found = 0
  const subjects = Array.from({ length: max * 2 }, (_, index) => (index % 2 === 0 ? index : `account:${index}`))
  for (let step = 0; step < scaled(20_000); step++) {
    // Some steps are in the same millisecond, some end all hours.
    nowMs += random() < 0.3 ? 0 : Math.floor((random() * 3_600_000 * 4) / (random() < 0.02 ? 1 : 10 * max))
    const subject = subjects[Math.floor(random() * subjects.length)]!
    const hour = HOURS[Math.floor(random() * 2)]!
    const expected = named.hours.get(subject)
    const isOpen = expected !== undefined && expected.ends[hour] * 1000 > nowMs
    const row = table.findOpen(subject, hour, nowMs)
    expect(row !== 0).toBe(isOpen)
    if (!isOpen) {
      const endSeconds = Math.floor(nowMs / 1000) + 3600
      const hours = named.begin(subject, hour, endSeconds, nowMs)
      const begun = table.begin(subject, hour, endSeconds, nowMs)
      if (expected === undefined) forgotten++
      if (hour === REQUESTS) {
        hours.count = 1
        table.setCount(begun, 1)
      } else {
        for (const index of [0, 1, 2]) {
          hours.amounts[index] = random() * 2 ** 50
          table.setAmount(begun, index, hours.amounts[index]!)
        }
      }
    } else {
      found++
      if (hour === REQUESTS) {
        expect(table.count(row)).toBe(expected.count)
        expected.count = Math.floor(random() * 2 ** 32)
        table.setCount(row, expected.count)
      } else expect([0, 1, 2].map((index) => table.amount(row, index))).toEqual(expected.amounts)
    }
    expect(table.size).toBe(named.hours.size)
    if (step % 50 !== 0) continue
    for (const other of subjects) {
      const known = named.hours.get(other)
      const at = table.find(other)
      expect(at !== 0).toBe(known !== undefined)
      if (known !== undefined) expect(HOURS.map((each) => table.endSeconds(at, each))).toEqual(known.ends)
    }
  }
  expect(forgotten).toBeGreaterThan(max)
  expect(found).toBeGreaterThan(0)
})

it('tells a row that another client has taken over, and one that is free', () => {
  const table = new HourTable(1)
  const row = table.begin('a', REQUESTS, NOON_MS / 1000 + 3600, NOON_MS)
  const owner = table.ownerOf(row)
  expect(table.begin('a', COSTS, NOON_MS / 1000 + 3600, NOON_MS)).toBe(row)
  expect(table.ownerOf(row)).toBe(owner)
  expect(table.begin('b', REQUESTS, NOON_MS / 1000 + 3600, NOON_MS)).toBe(row)
  expect(table.ownerOf(row)).not.toBe(owner)
  // The costs of the former client are not those of this one.
  expect(table.findOpen('b', COSTS, NOON_MS)).toBe(0)
})

it('gives texts and integers that look alike different hashes, which depend on the key', () => {
  const values = [
    0,
    1,
    -1,
    97,
    0x610062,
    '',
    '\0',
    '\0\0',
    'a',
    'a\0',
    '\0a',
    'ab',
    'abc',
    'ba',
    '97',
    'ā',
    'account:1',
    'account:2',
  ]
  const hashesWith = (key: readonly number[]) => {
    const hash = new KeyedHash(key)
    return values.map((value) => {
      hash.update(value)
      return `${hash.low} ${hash.high}`
    })
  }
  const hashes = hashesWith([1, 2])
  expect(new Set(hashes).size).toBe(values.length)
  expect(hashesWith([1, 2])).toEqual(hashes)
  for (const others of [hashesWith([1, 3]), hashesWith([2, 2])])
    for (const [index, other] of others.entries()) expect(other).not.toBe(hashes[index])
})

it('changes about half of the bits of a hash with each bit of an address, so that buckets fill evenly', () => {
  const hash = new KeyedHash([0x01234567, 0x89abcdef])
  const flips = new Float64Array(64)
  const addresses = scaled(2000)
  for (let address = 0; address < addresses; address++) {
    hash.update(address)
    const { low, high } = hash
    hash.update(address ^ (1 << (address % 32)))
    for (let bit = 0; bit < 32; bit++) {
      flips[bit]! += ((low ^ hash.low) >>> bit) & 1
      flips[32 + bit]! += ((high ^ hash.high) >>> bit) & 1
    }
  }
  // Six standard deviations, with this key and these addresses always the same.
  const tolerance = 6 * Math.sqrt(addresses / 4)
  for (const count of flips) expect(Math.abs(count - addresses / 2)).toBeLessThan(tolerance)
})
