import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { ENGINES, makeStore, startCluster } from '../../bench/store-engines.ts'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPostgres } from '../../src/store/postgres.ts'
import { endsWithFile } from '../children.ts'
import { scaled } from '../scale.ts'
import { recordOf, uidOf } from '../store-records.ts'

const root = resolve(import.meta.dirname, '../..')
const CYCLES = scaled(40)
const RECORDS_PER_RANGE = 20
const SEED = 40

// A process that stores ranges as fast as it can and prints each one that was acknowledged: range n has the records
// 20n … 20n + 19 and moves the checkpoint from n to n + 1; every third one revokes a record of the previous range.
const WRITER = `
const { openPglite } = await import('./dist/src/store/pglite.js')
const { openPostgres } = await import('./dist/src/store/postgres.js')
const { migrate } = await import('./dist/src/store/migrations.js')
const { createRecordStore } = await import('./dist/src/store/operations.js')
const [target] = process.argv.slice(1)
const times = { readers: 1, writers: 1, connectTimeoutMs: 2000, readTimeoutMs: 9000, writeTimeoutMs: 9000, onLost() {} }
const database = await (target.startsWith('postgres:') ? openPostgres({ url: target, ...times }) : openPglite(target))
await migrate(database)
const store = createRecordStore(database, () => new Date().toISOString())
const hex = (value, digits) => '0x' + value.toString(16).padStart(digits, '0')
const { checkpoint } = await store.syncState({ chainId: 1 })
let from = checkpoint === undefined ? null : checkpoint.hash
for (let range = checkpoint === undefined ? 0 : checkpoint.number; ; range++) {
  const records = Array.from({ length: ${RECORDS_PER_RANGE} }, (_, index) => ({
    uid: hex(range * ${RECORDS_PER_RANGE} + index, 64), chainId: 1, chain: 'one', prover: hex(1, 40), subject: hex(2, 40),
    timeSeconds: 1e9 + range, eventTimeSeconds: 1e9, srs: 'EPSG:4326', locationType: 'geojson-point', location: '{}',
    longitude: 1, latitude: 2, bounds: [1, 2, 1, 2], recipeTypes: [], recipePayloads: [], mediaTypes: [], mediaData: [],
    memo: null, blockNumber: range,
  }))
  const revocations = range % 3 === 2 ? [{ uid: hex((range - 1) * ${RECORDS_PER_RANGE}, 64), blockNumber: range }] : []
  const to = { blockNumber: range + 1, blockHash: hex(range + 1, 64) }
  const { ok } = await store.apply({ chainId: 1, records, revocations, checkpoint: { from, to } })
  if (!ok) throw new Error('the checkpoint is not where it was')
  from = to.blockHash
  process.stdout.write(String(range) + '\\n')
}`

it.each(ENGINES)(
  `loses nothing on %s that was acknowledged in ${CYCLES} ends by kill -9, and tears no range`,
  async (engine) => {
    const files = await makeStore(engine)
    const target = files.environment['DATABASE_URL'] ?? files.environment['DATA_DIR']!
    const random = randomFrom(SEED)
    let acknowledged = -1
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      const first = acknowledged
      const writer = spawn(process.execPath, ['--input-type=module', '-e', WRITER, target], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      endsWithFile(writer).stderr.pipe(process.stderr)
      const exited = new Promise<NodeJS.Signals | number | null>((done) =>
        writer.once('exit', (code, signal) => done(signal ?? code)),
      )
      const lines = createInterface({ input: writer.stdout })
      // From the first acknowledgement on the writer writes without a pause, so any moment is in the middle of a range.
      lines.once('line', () => setTimeout(() => writer.kill('SIGKILL'), random() * 250))
      lines.on('line', (line) => {
        acknowledged = Number(line)
      })
      expect(await exited, `cycle ${cycle}`).toBe('SIGKILL')
      expect(acknowledged).toBeGreaterThan(first)
    }

    const database = await files.open()
    const store = createRecordStore(database, () => '')
    const { number: blockNumber } = (await store.syncState({ chainId: 1 })).checkpoint!
    // The last range may be stored even if its acknowledgement was lost.
    expect(blockNumber - 1 - acknowledged).toBeOneOf([0, 1])
    const total = blockNumber * RECORDS_PER_RANGE
    const revoked = Math.floor(blockNumber / 3)
    expect((await store.stats({ nowSeconds: 0 })).byChain).toEqual([{ chainId: 1, records: total, revoked }])
    const [rows] = await database.reads.query(
      `select count(*)::int as records, count(*) filter (where revoked)::int as revoked,
       (select count(*)::int from record_document) as documents from location_record`,
    )
    expect(rows).toEqual({ records: total, revoked, documents: total })
    for (const index of [0, 1, total - RECORDS_PER_RANGE, total - 1]) {
      expect(JSON.parse((await store.record(uidOf(index)))!).uid).toBe(uidOf(index))
    }
    const last = await store.page({ limit: 1, offset: total - 1 })
    expect(last.documents).toContain(uidOf(0))
    console.log(`${engine}: ${CYCLES} ends, ${acknowledged + 1} ranges acknowledged, none lost`)
    await database.close()
    await files.remove()
  },
  300_000,
)

it.runIf(ENGINES.includes('postgres'))(
  `loses nothing that was acknowledged in ${CYCLES} crashes of the server`,
  async () => {
    const cluster = await startCluster()
    const open = () =>
      openPostgres({
        url: cluster.url,
        readers: 2,
        writers: 1,
        connectTimeoutMs: 2000,
        readTimeoutMs: 5000,
        writeTimeoutMs: 5000,
        onLost: () => {},
      })
    let applied = 0
    for (let cycle = 0; cycle < CYCLES; cycle++) {
      // Half of the runs end as in a panic, half with the postmaster killed.
      const how = cycle % 2 === 0 ? 'immediate' : 'kill'
      const database = await open()
      await migrate(database)
      const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
      expect((await store.stats({ nowSeconds: 0 })).byChain[0]?.records ?? 0).toBeOneOf([applied, applied + 1])
      const crash = setTimeout(() => void cluster.stop(how), 100 + ((cycle * 37) % 200))
      try {
        for (;;) {
          const index = cycle * 100_000 + applied
          const { inserted } = await store.apply({
            chainId: 1,
            records: [recordOf(index, { chainId: 1, chain: 'one' })],
            revocations: [],
          })
          applied += inserted
        }
      } catch (error) {
        expect((error as { kind?: string }).kind).toBe('unavailable')
      }
      clearTimeout(crash)
      await database.close().catch(() => {})
      await cluster.stop(how)
      await cluster.start()
      const after = await open()
      const [row] = await after.reads.query('select count(*)::int as records from location_record')
      expect(row!['records']).toBeOneOf([applied, applied + 1])
      applied = row!['records'] as number
      await after.close()
    }
    console.log(`postgres: ${CYCLES} crashes, ${applied} records acknowledged, none lost`)
    await cluster.remove()
  },
  300_000,
)
