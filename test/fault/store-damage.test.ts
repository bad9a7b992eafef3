import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { randomFrom, recordWorld } from '../../bench/record-world.ts'
import { backUp } from '../../src/store/backup.ts'
import { checkStore } from '../../src/store/check.ts'
import { embeddedFiles } from '../../src/store/embedded-files.ts'
import { findShrunkFiles } from '../../src/store/file-sizes.ts'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { rebuildStore } from '../../src/store/rebuild.ts'
import { isPartial } from '../../src/store/salvage.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService } from '../service.ts'
import { DAMAGES, relationFiles } from '../store-damager.ts'
import { addressOf, storeRecords, uidOf } from '../store-records.ts'

const PAGE_BYTES = 8192
const SEED = 20_261_123
const RECORDS = 600
const SUBMISSIONS = 60
const NOW = 1_800_000_000_000

/**
 * Each case copies and deletes a thousand files several times. ext4 takes longer for that than the store does, because it avoids the
 * inodes of files that were just deleted. A file system in memory does not.
 */
function fastFolder(): string {
  const memory = '/dev/shm'
  if (!existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 1e9 ? memory : tmpdir()
}

let folder: string
let backup: string
let relations: Readonly<Record<string, string>>

/** A store that was closed, and one whose files are as a kill leaves them. Both have the same content. */
const closed = () => join(folder, 'closed')
const killed = () => join(folder, 'killed')

beforeAll(async () => {
  folder = mkdtempSync(join(fastFolder(), 'trigpoint-damage-'))
  backup = join(folder, 'records.gz')
  const database = await openPglite(closed())
  await migrate(database)
  const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  await storeRecords(store, [...recordWorld({ seed: 3, count: RECORDS, newestSeconds: 1_790_000_000, spanDays: 30 })])
  for (let index = 0; index < SUBMISSIONS; index++) await submit(store, index)
  relations = await relationFiles(database)
  await backUp(database, backup)
  cpSync(closed(), killed(), { recursive: true, filter: (file) => !file.endsWith('/lock') })
  await database.close()
}, 300_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function submit(store: RecordStore, index: number) {
  const data = `0x${'ab'.repeat(500)}` as const
  const payload = { kind: 'verify', chainId: 84532, schema: uidOf(1), recipient: addressOf(2), data } as const
  const submission = {
    id: `s${index}`,
    account: 'a',
    idempotencyKey: `k${index}`,
    sender: addressOf(77),
    payload,
    gas: 1,
  }
  return store.submit({
    submissions: [submission],
    maxQueued: 1e6,
    maxQueuedPerKey: 1e6,
    gasPerDay: 1e9,
    gasPerDayOfAll: 1e9,
    nowMs: NOW,
  })
}

describe.each([
  ['closed', closed, DAMAGES],
  ['killed', killed, DAMAGES.filter(({ name }) => /^log|pg_xact|pg_control/.test(name))],
] as const)('a store that was %s', (state, source, damages) => {
  it.each(damages.map((damage, index) => ({ ...damage, index })))(
    'is whole or named as damaged, and the rebuilt one is whole: $name',
    async ({ apply, name, index }) => {
      const dataDir = join(folder, `damaged-${state}`)
      cpSync(source(), dataDir, { recursive: true })
      const random = randomFrom(SEED + index)
      apply({ files: join(dataDir, 'store', 'files'), relations, random })

      const check = await checkStore(dataDir)
      if (check.faults.length === 0) {
        expect(check).toEqual({ faults: [], records: RECORDS, submissions: SUBMISSIONS })
        console.log(`${state}, ${name}: nothing is lost`)
      } else {
        const { damagedFolder, records, salvage, report } = await rebuildStore({
          dataDir,
          backup,
          nowMs: NOW,
          onProgress: () => {},
        })
        expect(records).toBe(RECORDS)
        expect(readdirSync(damagedFolder)).toContain('files')
        const isComplete = !('fault' in salvage) && !salvage.hasLostWrites && !salvage.tables.some(isPartial)
        // What is not recovered is named.
        if (isComplete) expect(report).toMatchObject({ submissions: SUBMISSIONS, failed: 0 })
        expect(await checkStore(dataDir)).toEqual({ faults: [], records: RECORDS, submissions: report.submissions })
        console.log(`${state}, ${name}: ${report.submissions} submissions recovered; ${check.faults[0]}`)
      }
      rmSync(dataDir, { recursive: true, force: true })
    },
    300_000,
  )
})

describe('a rebuild', () => {
  const dataDir = () => join(folder, 'rebuilt')
  const rebuild = (from: string) => rebuildStore({ dataDir: dataDir(), backup: from, nowMs: NOW, onProgress: () => {} })
  beforeEach(() => cpSync(closed(), dataDir(), { recursive: true }))
  afterEach(() => rmSync(dataDir(), { recursive: true, force: true }))

  it('that is interrupted is named, and continues with the same damaged files', async () => {
    const cut = join(folder, 'cut.gz')
    writeFileSync(cut, readFileSync(backup).subarray(0, 20_000))
    await expect(rebuild(cut)).rejects.toThrow()
    await expect(openPglite(dataDir())).rejects.toThrow(
      /its rebuild was interrupted\): run `npx --no-install trigpoint store check --data \S+`, then .*store rebuild --data/,
    )
    const { records, report } = await rebuild(backup)
    expect([records, report]).toEqual([RECORDS, { submissions: SUBMISSIONS, pending: SUBMISSIONS, failed: 0 }])
    expect(readdirSync(dataDir()).filter((name) => name.startsWith('store-damaged-'))).toHaveLength(1)
    expect(await checkStore(dataDir())).toEqual({ faults: [], records: RECORDS, submissions: SUBMISSIONS })
  }, 300_000)

  it('that was killed while it moved the files continues, even if a start came between', async () => {
    const store = join(dataDir(), 'store')
    const aside = join(dataDir(), 'store-damaged-earlier')
    mkdirSync(aside)
    writeFileSync(join(store, 'rebuilding'), `${aside}\n`)
    for (const name of ['files', 'format.json']) renameSync(join(store, name), join(aside, name))
    await expect(openPglite(dataDir())).rejects.toThrow(/its rebuild was interrupted/)
    const { damagedFolder, report } = await rebuild(backup)
    expect([damagedFolder, report]).toEqual([aside, { submissions: SUBMISSIONS, pending: SUBMISSIONS, failed: 0 }])
  }, 300_000)

  it('that was killed before it named the folder begins again', async () => {
    writeFileSync(join(dataDir(), 'store', 'rebuilding'), '')
    const { records, report } = await rebuild(backup)
    expect([records, report]).toEqual([RECORDS, { submissions: SUBMISSIONS, pending: SUBMISSIONS, failed: 0 }])
  }, 300_000)

  it('keeps the submissions of a store whose mark is not readable, but sends none of them', async () => {
    writeFileSync(join(dataDir(), 'store', 'written'), 'x'.repeat(41))
    await expect(openPglite(dataDir())).rejects.toThrow(/written is not readable/)
    const { report } = await rebuild(backup)
    expect(report).toEqual({ submissions: SUBMISSIONS, pending: 0, failed: SUBMISSIONS })
  }, 300_000)

  it('does not leave a submission as sent whose transaction is lost', async () => {
    const database = await openPglite(dataDir())
    await database.transaction(async (session) => {
      await session.query("update submission set status = 'sent', nonce = 5 where id in ('s1', 's2')")
      await session.query("update submission set nonce = 6 where id = 's2'")
      await session.query(
        `insert into relay_transaction (chain_id, sender, nonce, state, items, updated_ms) values (84532, $1, 6, 'sent', 1, $2)`,
        [addressOf(77), String(NOW)],
      )
    })
    await database.close()
    writeFileSync(join(dataDir(), 'store', 'written'), 'x'.repeat(41)) // writes may be lost
    const { report } = await rebuild(backup)
    expect(report).toEqual({ submissions: SUBMISSIONS, pending: 1, failed: SUBMISSIONS - 1 })
  }, 300_000)

  it('and a check refuse to touch a store that a service uses', async () => {
    const service = await startTestService({ DATA_DIR: dataDir(), RECORDS: '1' })
    await untilReadable(service.url)
    for (const verb of ['check', 'rebuild']) {
      const { exitCode, err } = await runCli(['store', verb, '--data', dataDir()])
      expect([exitCode, err]).toEqual([78, expect.stringContaining(`in use by process ${service.pid}`)])
    }
    await service.stop()
    expect(await runCli(['store', 'check', '--data', dataDir()])).toMatchObject({
      exitCode: 0,
      out: `the store is intact: ${RECORDS} records, ${SUBMISSIONS} submissions\n`,
    })
  }, 300_000)

  it('of an intact store, as of the wrong data folder, needs --force', async () => {
    const refused = await runCli(['store', 'rebuild', '--data', dataDir()])
    expect([refused.exitCode, refused.err]).toEqual([78, expect.stringContaining('is intact (')])
    expect((await checkStore(dataDir())).records).toBe(RECORDS)
    const forced = await runCli(['store', 'rebuild', '--data', dataDir(), '--backup', backup, '--force'])
    expect([forced.exitCode, forced.out]).toEqual([0, expect.stringContaining('the store is rebuilt')])
  }, 300_000)
})

/** Relations of the store with their numbers of pages: tables, their indexes and their long values. */
function ownRelations(): readonly { readonly name: string; readonly path: string; readonly pages: number }[] {
  const files = join(closed(), 'store', 'files')
  const names = Object.entries(relations).filter(([name]) => !name.startsWith('pg_') || name.startsWith('pg_toast'))
  return names
    .map(([name, path]) => ({ name, path, pages: statSync(join(files, path)).size / PAGE_BYTES }))
    .filter(({ pages }) => pages > 0)
}

describe('a truncated file', () => {
  const truncated = async (path: string, pages: number, run: (dataDir: string) => Promise<void>) => {
    const dataDir = join(folder, 'truncated')
    cpSync(closed(), dataDir, { recursive: true })
    truncateSync(join(dataDir, 'store', 'files', path), pages * PAGE_BYTES)
    try {
      await run(dataDir)
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  }
  /** Numbers of pages that remain without one page, without five, and of a half. */
  const remains = (pages: number) => [
    ...new Set([pages - 1, pages - 5, Math.floor(pages / 2)].filter((left) => left >= 0)),
  ]

  it('is found before the engine opens it, whatever table or index it belongs to', () => {
    const own = ownRelations()
    expect(own.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['location_record', 'record_document', 'submission', 'location_record_bounds']),
    )
    const dataDir = join(folder, 'measured')
    cpSync(closed(), dataDir, { recursive: true })
    const paths = embeddedFiles(dataDir)
    expect(findShrunkFiles(paths).shrunk).toEqual([])
    for (const { path, pages } of own) {
      const file = join(paths.engine, path)
      const whole = readFileSync(file)
      for (const left of remains(pages)) {
        truncateSync(file, left * PAGE_BYTES)
        expect(findShrunkFiles(paths).shrunk).toEqual([path])
        writeFileSync(file, whole)
      }
    }
    rmSync(dataDir, { recursive: true })
  })

  it('is named when the store opens, and again by the next check', async () => {
    const path = relations['location_record_event']!
    await truncated(path, 1, async (dataDir) => {
      await expect(openPglite(dataDir)).rejects.toMatchObject({
        kind: 'damaged',
        message: expect.stringContaining(
          'files are shorter than at the last checkpoint: those of location_record_event',
        ),
      })
      for (let check = 0; check < 2; check++) {
        expect((await checkStore(dataDir)).faults).toEqual([
          expect.stringMatching(/location_record_event(?!.*store check)/),
        ])
      }
    })
  }, 300_000)

  it.each(['location_record', 'record_document'])(
    'of %s never makes an answer shorter, also in a store without a note of the sizes',
    async (name) => {
      const path = relations[name]!
      const pages = statSync(join(closed(), 'store', 'files', path)).size / PAGE_BYTES
      for (const left of remains(pages)) {
        await truncated(path, left, async (dataDir) => {
          rmSync(join(dataDir, 'store', 'sizes.json'))
          const database = await openPglite(dataDir)
          const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
          const page = { limit: 1000, offset: 0 }
          const counts = await Promise.allSettled([
            store.page(page).then(({ length }) => length),
            // Without a note, a slice notices missing documents only: it does not know how many records follow.
            name === 'record_document'
              ? store.slice({ query: page, size: { records: 1000, bytes: 1e8 } }).then(({ length }) => length)
              : RECORDS,
            backUp(database, join(dataDir, 'backup.gz')),
          ])
          for (const count of counts) {
            if (count.status === 'fulfilled') expect(count.value).toBe(RECORDS)
            else expect(count.reason).toMatchObject({ kind: 'damaged' })
          }
          expect(counts.some(({ status }) => status === 'rejected')).toBe(true)
          await database.close()
        })
      }
    },
    300_000,
  )
})

it('opens a store that was killed between making its mark and writing it', async () => {
  const dataDir = join(folder, 'unmarked')
  cpSync(killed(), dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'store', 'written'), '')
  expect(await checkStore(dataDir)).toEqual({ faults: [], records: RECORDS, submissions: SUBMISSIONS })
}, 300_000)

describe('a service whose store has a bad page', () => {
  it('finds it, closes the store and says how to repair it, and opens the rebuilt one', async () => {
    const dataDir = join(folder, 'served')
    cpSync(closed(), dataDir, { recursive: true })
    const files = join(dataDir, 'store', 'files')
    DAMAGES.find(({ name }) => name === 'location_record: a page of random bytes')!.apply({
      files,
      relations,
      random: randomFrom(SEED),
    })
    let service = await startTestService({ DATA_DIR: dataDir, RECORDS: '1' })
    const get = async (path: string) => (await fetch(service.url + path)).json() as Promise<Record<string, unknown>>
    // The columns in memory are loaded from every page soon after the start.
    await eventually(async () =>
      expect((await get('/health'))['detail']).toBe(
        'the store is damaged: run `npx --no-install trigpoint store check`, then `npx --no-install trigpoint store rebuild`',
      ),
    )
    const ready = await get('/ready')
    expect(ready['checks']).toMatchObject({
      database: {
        ok: false,
        detail: expect.stringMatching(/is damaged.*trigpoint store check.*trigpoint store rebuild/),
      },
    })
    // The data folder is for the log, because anyone may read the rest.
    for (const answer of [ready, await get('/health')]) expect(JSON.stringify(answer)).not.toContain(dataDir)
    const command = (verb: string) => `npx --no-install trigpoint store ${verb} --data ${dataDir}`
    const advice = `run \`${command('check')}\`, then \`${command('rebuild')}\`, with --backup <file>`
    await eventually(() => expect(service.lines.join('\n')).toContain(advice))
    expect((await get('/api/v0/location-records?limit=1'))['detail']).toMatch(
      /trigpoint store check.*trigpoint store rebuild/,
    )
    const distance = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }
    expect((await service.post('/compute/v0/distance', distance)).status).toBe(200)
    // One end that found the damage, and one start that read about it.
    expect(service.lines.filter((line) => line.includes('store not open'))).toHaveLength(2)

    // The service does not use the store now, and need not stop.
    const { exitCode, out } = await runCli(['store', 'rebuild', '--data', dataDir, '--backup', backup])
    expect([exitCode, out]).toEqual([0, expect.stringContaining(`records: ${RECORDS} restored`)])
    expect(out).toContain(`submissions: ${SUBMISSIONS} recovered`)
    await service.stop()
    service = await startTestService({ DATA_DIR: dataDir, RECORDS: '1' })
    await untilReadable(service.url)
    expect((await get('/api/v0/location-records?limit=1'))['count']).toBe(RECORDS)
    await service.stop()
  }, 300_000)
})
