import { rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { migrate } from '../../src/store/migrations.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { rebuildStore } from '../../src/store/rebuild.ts'
import type { StoreFault } from '../../src/wire/store-messages.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { MIB, mountSmallDisk } from '../small-disk.ts'
import { addressOf, recordOf, uidOf } from '../store-records.ts'

const disk = mountSmallDisk()
const { folder } = disk

afterAll(() => disk.remove())

describe.runIf(disk.isMounted)('a full disk', () => {
  const RECORDS = 50
  const range = (index: number) => ({
    chainId: 84532,
    records: Array.from({ length: RECORDS }, (_, at) => recordOf(index * RECORDS + at, { memo: 'x'.repeat(3000) })),
    revocations: [],
    checkpoint: {
      from: index === 0 ? null : uidOf(index),
      to: { blockNumber: index + 1, blockHash: uidOf(index + 1) },
    },
  })
  let stored = 0
  let service: TestService | undefined

  async function metric(): Promise<string | undefined> {
    const text = await (await fetch(`${service!.url}/metrics`)).text()
    return /^store_state\{state="(\w+)"\} 1$/m.exec(text)?.[1]
  }

  afterAll(() => service?.stop())

  it('stops writes before the engine breaks down, keeps what was acknowledged, and lets them go on when there is room', async () => {
    const database = await openPglite(folder)
    await migrate(database)
    const store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
    const applyUntilFull = async () => {
      try {
        for (;;) {
          await store.apply(range(stored))
          stored++
        }
      } catch (error) {
        return error as StoreFault
      }
    }
    disk.fill(80 * MIB)
    expect(await applyUntilFull()).toMatchObject({ kind: 'full', message: expect.stringContaining('make room') })
    expect(stored).toBeGreaterThan(0)
    for (const leave of [10 * MIB, 0]) {
      disk.fill(leave)
      await expect(store.apply(range(stored))).rejects.toMatchObject({ kind: 'full' })
      expect(await store.page({ limit: 1, offset: 0 })).toMatchObject({ count: stored * RECORDS })
      expect(JSON.parse((await store.record(uidOf(0)))!).uid).toBe(uidOf(0))
    }
    disk.makeRoom()
    const before = stored
    expect((await store.apply(range(stored++))).ok).toBe(true)
    expect((await store.page({ limit: 1, offset: 0 })).count).toBe((before + 1) * RECORDS)
    await database.close()
  }, 300_000)

  it('stops a rebuild that cannot copy the damaged files, and it goes on without losing submissions', async () => {
    const dataDir = join(folder, 'rebuilt')
    const database = await openPglite(dataDir)
    await migrate(database)
    const payload = { kind: 'verify', chainId: 84532, schema: uidOf(1), recipient: addressOf(2), data: '0x00' } as const
    const submission = { id: 's', account: 'a', idempotencyKey: 'k', sender: addressOf(3), payload, gas: 1 }
    await createRecordStore(database, () => '').submit({
      submissions: [submission],
      maxQueued: 1,
      maxQueuedPerKey: 1,
      gasPerDay: 1,
      gasPerDayOfAll: 1,
      nowMs: 0,
    })
    await database.close()
    const large = join('files', 'large')
    writeFileSync(join(dataDir, 'store', large), '')
    truncateSync(join(dataDir, 'store', large), 1024 * MIB) // takes no room itself, but its copy does
    let aside = ''
    const rebuild = () =>
      rebuildStore({
        dataDir,
        backup: undefined,
        nowMs: 0,
        onProgress(step) {
          if (step.type === 'set aside') aside = step.folder
        },
      })
    await expect(rebuild()).rejects.toMatchObject({ code: 'ENOSPC' })
    rmSync(join(aside, large))
    expect((await rebuild()).report).toEqual({ submissions: 1, pending: 1, failed: 0 })
    rmSync(dataDir, { recursive: true })
    rmSync(aside, { recursive: true, force: true })
  }, 300_000)

  it('is reported by the service, which computes and reads records, and goes on by itself when there is room', async () => {
    service = await startTestService({ DATA_DIR: folder, RECORDS: '1' })
    const get = async (path: string) => (await fetch(service!.url + path)).json() as Promise<Record<string, unknown>>
    await eventually(async () => expect(await metric()).toBe('open'))
    expect(await get('/health')).not.toHaveProperty('detail')

    disk.fill(MIB)
    await eventually(async () => expect(await metric()).toBe('full'))
    expect(await get('/health')).toMatchObject({
      database: 'connected',
      detail: expect.stringMatching(/disk .* is full: records are read, but writing fails/),
    })
    expect((await fetch(`${service.url}/ready`)).status).toBe(200)
    expect((await get('/ready'))['checks']).toMatchObject({
      database: { ok: false, detail: expect.stringContaining('make room') },
    })
    expect(service.lines.some((line) => line.includes('the disk is full'))).toBe(true)
    expect((await get('/api/v0/location-records?limit=1'))['count']).toBe(stored * RECORDS)
    const distance = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }
    expect((await service.post('/compute/v0/distance', distance)).body.result).toBe(4238.77)

    disk.makeRoom()
    await eventually(async () => expect(await metric()).toBe('open'))
    expect(await get('/health')).not.toHaveProperty('detail')
    expect((await get('/api/v0/location-records?limit=1'))['count']).toBe(stored * RECORDS)
  }, 300_000)

  it('does not need a restart even if the service is killed and starts on a disk without any room', async () => {
    process.kill(service!.pid, 'SIGKILL')
    disk.fill(0)
    service = await startTestService({ DATA_DIR: folder, RECORDS: '1' })
    // A store that needs no room to open is readable; any other says why it is not open.
    await eventually(async () => expect(await metric()).toBe('full'))
    disk.makeRoom()
    const list = `${service.url}/api/v0/location-records?limit=1`
    await eventually(async () => expect(await (await fetch(list)).json()).toMatchObject({ count: stored * RECORDS }))
  }, 300_000)
})
