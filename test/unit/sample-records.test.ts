import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import recordSchema from '../../schemas/location-record.schema.json' with { type: 'json' }
import { ConfigError, readConfig } from '../../src/config.ts'
import { fillWithSamples } from '../../src/service/sample-fill.ts'
import { sampleRanges } from '../../src/service/sample-records.ts'
import { documentOf } from '../../src/store/document.ts'
import { explorerAddress, isMadeUp } from '../../web/explorer/records/place.ts'

const CHAINS = new Map([
  ['celo', 42220],
  ['arbitrum', 42161],
  ['base-sepolia', 84532],
  ['sepolia', 11155111],
])
const NEWEST = 1_790_000_000
const ranges = [...sampleRanges({ count: 5000, newestSeconds: NEWEST, chains: CHAINS })]
const records = ranges.flatMap((range) => range.records)

describe('sample records', () => {
  it('are as many as were asked for, of four chains, each with a uid of its own', () => {
    expect(records.length).toBe(5000)
    expect(new Set(records.map(({ uid }) => uid)).size).toBe(5000)
    expect(new Set(records.map(({ chainId }) => chainId))).toEqual(new Set(CHAINS.values()))
    for (const { chainId, records: ofRange } of ranges) {
      expect(ofRange.every((record) => record.chainId === chainId && CHAINS.get(record.chain) === chainId)).toBe(true)
    }
  })

  it('are the same every time, but for the time', () => {
    const [again] = sampleRanges({ count: 5000, newestSeconds: NEWEST, chains: CHAINS })
    expect(again).toEqual(ranges[0])
  })

  it('say that they are samples, and look like records', () => {
    const validate = new Ajv2020({ strictTypes: false, allowUnionTypes: true }).compile(recordSchema)
    for (const record of records) {
      expect(record.memo).toMatch(/^Sample: /)
      const shown = { ...JSON.parse(documentOf(record, '2026-01-01T00:00:00.000Z')), finalized: false }
      expect(validate(shown), JSON.stringify(validate.errors)).toBe(true)
    }
  })

  it('are known as made up by their UID, and nothing that a chain has is by its memo', () => {
    for (const record of records) {
      const shown = JSON.parse(documentOf(record, '2026-01-01T00:00:00.000Z'))
      expect([isMadeUp(shown), explorerAddress(shown)]).toEqual([true, undefined])
      // The same attested: what `--chain` does with the samples, and anybody may.
      const attested = { ...shown, uid: `0x${'5a'.repeat(32)}` }
      expect(isMadeUp(attested)).toBe(false)
      expect(explorerAddress(attested)).toContain(attested.uid)
    }
  })

  it('lie within a year up to the newest, most of them lately', () => {
    const ages = records.map(({ timeSeconds }) => NEWEST - timeSeconds)
    expect(Math.min(...ages)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...ages)).toBeLessThanOrEqual(365 * 86_400)
    expect(ages.filter((age) => age < 92 * 86_400).length).toBeGreaterThan(2500)
  })

  it('have boxes that hold exactly their positions, across the antimeridian too', () => {
    let crossing = 0
    for (const { location, bounds } of records) {
      const [west, south, east, north] = bounds
      const positions = (JSON.parse(location).coordinates.flat(2) as number[])
        .map((number, index, all) => [number, all[index + 1]!] as const)
        .filter((_, index) => index % 2 === 0)
      if (east > 180) crossing++
      const turned = positions.map(([x, y]) => [x < west ? x + 360 : x, y] as const)
      expect(turned.every(([x, y]) => Math.abs(x) <= 540 && Math.abs(y) <= 90)).toBe(true)
      expect([
        Math.min(...turned.map(([x]) => x)),
        Math.min(...turned.map(([, y]) => y)),
        Math.max(...turned.map(([x]) => x)),
        Math.max(...turned.map(([, y]) => y)),
      ]).toEqual([west, south, east, north])
      expect(west).toBeGreaterThanOrEqual(-180)
      expect(west).toBeLessThanOrEqual(180)
      expect(east - west).toBeLessThan(1)
    }
    expect(crossing).toBeGreaterThan(0)
  })

  it('revoke a few of their own', () => {
    const revoked = ranges.flatMap(({ revocations }) => revocations)
    expect(revoked.length).toBeGreaterThan(50)
    expect(revoked.length).toBeLessThan(200)
  })

  it('are refused in production and where no records are kept', () => {
    expect(() => readConfig({ SAMPLE_RECORDS: '1', NODE_ENV: 'production' }, 1)).toThrow(ConfigError)
    expect(() => readConfig({ SAMPLE_RECORDS: '1', RECORDS: '0' }, 1)).toThrow(ConfigError)
    expect(readConfig({}, 1).sampleRecords).toBe(false)
  })
})

describe('the fill with sample records', () => {
  /** A store in memory that fails at the n-th range. */
  function createStore(uids = new Set<string>()) {
    let rangesLeft = Number.POSITIVE_INFINITY
    const store = {
      state: { isOpen: true },
      async ask(operation: string, argument: never): Promise<unknown> {
        if (operation === 'stats') return { byChain: [{ chainId: 1, records: uids.size, revoked: 0 }] }
        if (operation === 'record') return uids.has(argument) ? '{}' : undefined
        if (rangesLeft-- === 0) throw new Error('the process ends here')
        const { records: added } = argument as { records: { uid: string }[] }
        const before = uids.size
        for (const { uid } of added) uids.add(uid)
        return { inserted: uids.size - before }
      },
    }
    const fill = () => fillWithSamples(store as never, CHAINS, readConfig({}, 1).limits, () => NEWEST * 1000)
    return {
      uids,
      fill,
      failAfter(count: number) {
        rangesLeft = count
      },
    }
  }

  it('is completed by the next start when it was interrupted', async () => {
    const { uids, fill, failAfter } = createStore()
    failAfter(3)
    await expect(fill()).rejects.toThrow('the process ends here')
    expect(uids.size).toBe(1500)
    failAfter(Number.POSITIVE_INFINITY)
    expect(await fill()).toEqual({ stored: 3500 })
    expect(uids.size).toBe(5000)
    expect(await fill()).toEqual({ stored: 0, reason: 'the sample records are stored already' })
  })

  it('leaves a store alone that has records of chains', async () => {
    const { uids, fill } = createStore(new Set([`0x${'5a'.repeat(32)}`]))
    expect(await fill()).toEqual({ stored: 0, reason: 'the store has records already' })
    expect(uids.size).toBe(1)
  })
})
