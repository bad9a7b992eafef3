import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { recordWorld } from '../../bench/record-world.ts'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { readCommandLine } from '../../src/cli/arguments.ts'
import { runRecordsCommand } from '../../src/cli/commands/backup.ts'
import { readConfig } from '../../src/config/config.ts'
import { sampleRanges } from '../../src/service/records/sample-records.ts'
import { backUp, restore } from '../../src/store/backup.ts'
import type { Database, Session } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { readCounters } from '../../src/store/records/counters.ts'
import { addressOf, recordOf, storeRecords, uidOf } from '../store-records.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-backup-'))
afterAll(() => rmSync(folder, { recursive: true }))

const everything = { limit: 5000, offset: 0 }
const records = [
  ...recordWorld({ seed: 3, count: 1200, newestSeconds: 1_790_000_000, spanDays: 30 }),
  recordOf(1, { memo: '\u0000 \ud800 \n\r\u2028 "quoted"' }),
]

const QUARANTINED = {
  uid: uidOf(4444),
  blockNumber: 98,
  stage: 'location',
  reason: 'location is no "JSON" \\ at all',
  retryAtSeconds: 1_800_000_000,
  decoder: 1,
} as const

async function contents(files: StoreFiles) {
  const database = await files.open()
  const store = createRecordStore(database, () => '')
  const state = {
    page: await store.page(everything),
    polygons: await store.page({ ...everything, family: 'polygons' }),
    far: await store.page({ limit: 10, offset: 1100 }),
    stats: await store.stats({ nowSeconds: 1_790_000_000 }),
    sync: await store.syncState({ chainId: 84532 }),
    quarantined: await store.quarantined({ chainId: 84532, nowSeconds: 1e10, decoder: 9, limit: 10 }),
  }
  await database.close()
  return state
}

describe.each(ENGINES)('a backup of the store on %s', (engine) => {
  const file = join(folder, `${engine}.gz`)
  let files: StoreFiles
  let original: Awaited<ReturnType<typeof contents>>

  beforeAll(async () => {
    files = await makeStore(engine)
    const database = await files.open()
    const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    await storeRecords(store, records)
    await store.apply({
      chainId: 84532,
      records: [],
      revocations: [{ uid: uidOf(1), blockNumber: 99 }],
      checkpoint: { from: null, to: { blockNumber: 99, blockHash: uidOf(99) } },
      knownBlocks: { add: [{ number: 99, hash: uidOf(99) }], remove: [] },
      quarantine: [QUARANTINED],
      progress: { head: 120, finalized: 90, auditedTo: 50 },
    })
    const payload = { kind: 'verify', chainId: 84532, schema: uidOf(1), recipient: addressOf(2), data: '0x' } as const
    const common = { account: 'a', sender: addressOf(77), payload, gas: 1 }
    for (const id of ['one', 'two']) {
      const submission = { ...common, id, idempotencyKey: id }
      await store.submit({
        submissions: [submission],
        maxQueued: 9,
        maxQueuedPerKey: 9,
        gasPerDay: 9,
        gasPerDayOfAll: 9,
        nowMs: 1,
      })
    }
    await database.close()
    original = await contents(files)
    expect(original.sync).toMatchObject({
      knownBlocks: [{ number: 99, hash: uidOf(99) }],
      finalized: 90,
      auditedTo: 50,
    })
    expect(original.quarantined.map(({ uid }) => uid)).toEqual([QUARANTINED.uid])
    const output = await runRecordsCommand({ kind: 'backup', file }, readConfig(files.environment, 1))
    expect(output).toBe(
      `${records.length.toLocaleString('en-US')} records written to ${file}; not included: 2 pending submissions`,
    )
  })
  afterAll(() => files.remove())

  it.each(ENGINES)('restores the same contents on %s, but not a second time', async (target) => {
    const empty = await makeStore(target)
    const config = readConfig(empty.environment, 1)
    expect(await runRecordsCommand({ kind: 'restore', file }, config)).toContain(
      `${records.length.toLocaleString('en-US')} records restored`,
    )
    expect(await contents(empty)).toEqual(original)
    await expect(runRecordsCommand({ kind: 'restore', file }, config)).rejects.toThrow(/already has records/)
    await empty.remove()
  })

  it('says how many of the restored records are samples, and warns in production', async () => {
    const [source, samples] = [await makeStore(engine), join(folder, `${engine}-samples.gz`)]
    const database = await source.open()
    const chains = new Map([
      ['celo', 42220],
      ['arbitrum', 42161],
      ['base-sepolia', 84532],
      ['sepolia', 11155111],
    ])
    const [range] = sampleRanges({ count: 40, newestSeconds: 1_790_000_000, chains })
    const sampleCount = range!.records.length
    expect(sampleCount).toBeGreaterThan(1)
    const store = createRecordStore(database, () => '')
    await storeRecords(store, [...range!.records, recordOf(1), recordOf(2)])
    await backUp(database, samples)
    await database.close()
    await source.remove()
    const restoreWith = async (changes: Record<string, string>) => {
      const empty = await makeStore(engine)
      const config = readConfig({ ...empty.environment, ...changes }, 1)
      const text = await runRecordsCommand({ kind: 'restore', file: samples }, config)
      await empty.remove()
      return text
    }
    const restored = `${sampleCount + 2} records restored from ${samples}`
    expect(await restoreWith({})).toBe(`${restored}; ${sampleCount} sample records among them`)
    const production = { NODE_ENV: 'production', EMBEDDED_DB: '1', ALLOW_DEV_KEY: '1' }
    expect(await restoreWith(production)).toContain(
      `${restored}; warning: ${sampleCount} sample records among them, which are on no chain`,
    )
  })

  // One engine is enough: opening the embedded one takes seconds each time.
  it.runIf(engine === ENGINES.at(-1))('leaves the store empty if it is truncated or not a backup', async () => {
    const empty = await makeStore(engine)
    const config = readConfig(empty.environment, 1)
    const whole = readFileSync(file)
    const bad = join(folder, `${engine}-bad.gz`)
    const lines = gunzipSync(whole).toString().split('\n')
    const wrong = [...lines.slice(0, 700), '["zz"]'].join('\n')
    for (const [bytes, reason] of [
      [whole.subarray(0, whole.length / 2), /unexpected end of file/],
      [gzipSync('{"format":"other"}\n'), /is not a backup of records/],
      [gzipSync(''), /is empty/],
      [gzipSync(wrong), /./],
    ] as const) {
      writeFileSync(bad, bytes)
      await expect(runRecordsCommand({ kind: 'restore', file: bad }, config)).rejects.toThrow(reason)
      expect((await contents(empty)).page.count).toBe(0)
    }
    await expect(runRecordsCommand({ kind: 'restore', file: join(folder, 'none') }, config)).rejects.toThrow(/ENOENT/)
    await empty.remove()
  })
})

describe.each(ENGINES)('a restore on %s', (engine) => {
  it('fills a store that has a checkpoint but no records, and makes listeners reload the list', async () => {
    const files = await makeStore(engine)
    const database = await files.open()
    const store = createRecordStore(database, () => '')
    const checkpoint = { from: null, to: { blockNumber: 7, blockHash: uidOf(7) } }
    await store.apply({ chainId: 84532, records: [recordOf(1)], revocations: [], checkpoint })
    await store.apply({ chainId: 84532, records: [], revocations: [], rollBackTo: 0 })
    const size = { records: 10, bytes: 1000 }
    const { next } = await store.changes({ after: undefined, size })
    expect(await restore(database, join(folder, `${engine}.gz`))).toBe(records.length)
    expect((await store.syncState({ chainId: 84532 })).checkpoint).toEqual({ number: 99, hash: uidOf(99) })
    const { chains, total } = await readCounters(database.reads)
    expect([total, chains.find(({ chainId }) => chainId === 84532)?.revoked]).toEqual([records.length, 1])
    expect((await store.changes({ after: next, size })).isLost).toBe(true)
    await database.close()
    await files.remove()
  })
})

describe('a backup that cannot be finished', () => {
  it('leaves the previous backup unchanged', async () => {
    const before = readdirSync(folder)
    const file = join(folder, `${ENGINES[0]}.gz`)
    const whole = readFileSync(file)
    let queryCount = 0
    const session: Session = {
      async query() {
        if (queryCount++ > 0) throw new Error('the disk broke')
        return []
      },
    }
    const broken = { readTransaction: (run: (session: Session) => Promise<void>) => run(session) } as Database
    await expect(backUp(broken, file)).rejects.toThrow('the disk broke')
    expect(readFileSync(file).equals(whole)).toBe(true)
    expect(readdirSync(folder)).toEqual(before)
    const nowhere = { readTransaction: (run: (session: Session) => Promise<void>) => run({ query: async () => [] }) }
    await expect(backUp(nowhere as unknown as Database, join(folder, 'nowhere', 'file.gz'))).rejects.toThrow(/ENOENT/)
  })
})

describe('the command line', () => {
  it('makes no backup of a folder without a store, and no store', async () => {
    const [dataDir, file] = [join(folder, 'elsewhere'), join(folder, 'elsewhere.gz')]
    await expect(runRecordsCommand({ kind: 'backup', file }, readConfig({ DATA_DIR: dataDir }, 1))).rejects.toThrow(
      `there is no store in ${dataDir}: name the data folder`,
    )
    expect(readdirSync(folder)).not.toContain('elsewhere')
    expect(readdirSync(folder)).not.toContain('elsewhere.gz')
  })

  it('accepts either --backup or --restore', () => {
    expect(readCommandLine(['--backup', 'a.gz'], {}).records).toEqual({ kind: 'backup', file: 'a.gz' })
    expect(readCommandLine(['--restore', 'a.gz'], {}).records).toEqual({ kind: 'restore', file: 'a.gz' })
    expect(readCommandLine([], {}).records).toBeUndefined()
    expect(() => readCommandLine(['--backup', 'a', '--restore', 'b'], {})).toThrow(/cannot be used together/)
  })
})
