import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { MessagePort } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { readConfig } from '../../src/config.ts'
import type { Log } from '../../src/log.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { connectRecords } from '../../src/store/record-line.ts'
import { type RecordStore, StoreFault } from '../../src/store-messages.ts'
import { createStoreClient, type StoreClient } from '../../src/threads/store-client.ts'
import { endsWithFile } from '../children.ts'
import { eventually } from '../eventually.ts'
import { recordOf, uidOf } from '../store-records.ts'

const silent: Log = { info() {}, warn() {}, error() {} }
const soon = () => Date.now() + 600_000

function clientOf(files: StoreFiles, environment: Record<string, string> = {}): StoreClient {
  return createStoreClient(readConfig({ ...files.environment, ...environment }, 2), silent)
}

async function untilOpen(client: StoreClient): Promise<void> {
  client.open()
  await eventually(() => expect(client.state.isOpen).toBe(true))
}

describe.each(ENGINES)('the thread of the store on %s', (engine) => {
  let files: StoreFiles
  let client: StoreClient
  let line: RecordStore

  beforeAll(async () => {
    files = await makeStore(engine)
    client = clientOf(files)
    const port = new Promise<MessagePort>((resolve) => client.connect(resolve))
    await untilOpen(client)
    line = connectRecords(await port)
  })
  afterAll(async () => {
    await client.close()
    await files.remove()
  })

  const page = async () => client.ask('page', { limit: 1000, offset: 0 }, soon())
  const records = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => recordOf(from + index))

  it('stores what another thread sends over its line, and shows it to main', async () => {
    const applied = await line.apply({ chainId: 84532, records: records(0, 10), revocations: [] })
    expect(applied).toEqual({ ok: true, inserted: 10, revoked: 0, rolledBack: 0 })
    expect(await page()).toMatchObject({ count: 10, length: 10, isCountExact: true })
  })

  it('takes a record once, however often it comes', async () => {
    const again = [...records(5, 15), recordOf(14)]
    expect((await line.apply({ chainId: 84532, records: again, revocations: [] })).inserted).toBe(5)
    expect((await line.apply({ chainId: 84532, records: again, revocations: [] })).inserted).toBe(0)
    expect(await page()).toMatchObject({ count: 15 })
  })

  it('keeps more than a hundred records of one second (R1)', async () => {
    const burst = records(1000, 1250).map((record) => ({
      ...record,
      timeSeconds: 1_600_000_000,
      chainId: 42220,
      chain: 'celo',
    }))
    expect((await line.apply({ chainId: 42220, records: burst, revocations: [] })).inserted).toBe(250)
    expect((await client.ask('page', { limit: 1, offset: 0, chainId: 42220 }, soon())).count).toBe(250)
  })

  it('keeps one uid on two chains apart', async () => {
    const twin = { ...recordOf(3), chainId: 42161, chain: 'arbitrum' }
    expect((await line.apply({ chainId: 42161, records: [twin], revocations: [] })).inserted).toBe(1)
    expect(await page()).toMatchObject({ count: 266 })
  })

  it('revokes once, and takes it back when its block goes', async () => {
    const revocations = [
      { uid: uidOf(2), blockNumber: 5000 },
      { uid: uidOf(4), blockNumber: 4000 },
      { uid: uidOf(999_999), blockNumber: 5000 },
    ]
    expect((await line.apply({ chainId: 84532, records: [], revocations })).revoked).toBe(2)
    expect((await line.apply({ chainId: 84532, records: [], revocations })).revoked).toBe(0)
    const statsBefore = await line.stats({ nowSeconds: 0 })
    expect(statsBefore.byChain.find(({ chainId }) => chainId === 84532)).toMatchObject({ records: 15, revoked: 2 })
    expect(JSON.parse((await line.record(uidOf(2)))!).revoked).toBe(true)

    await line.apply({ chainId: 84532, rollBackTo: 4500, records: [], revocations: [] })
    expect(JSON.parse((await line.record(uidOf(2)))!).revoked).toBe(false)
    expect(JSON.parse((await line.record(uidOf(4)))!).revoked).toBe(true)
  })

  it('rolls back to a block: newer records go, and may come again', async () => {
    const undone = await line.apply({ chainId: 84532, rollBackTo: 1009, records: [recordOf(12)], revocations: [] })
    expect(undone).toEqual({ ok: true, inserted: 1, revoked: 0, rolledBack: 5 })
    expect(await line.record(uidOf(11))).toBeUndefined()
    expect(await line.record(uidOf(12))).toBeDefined()
    const { byChain } = await line.stats({ nowSeconds: 0 })
    expect(byChain.find(({ chainId }) => chainId === 84532)).toMatchObject({ records: 11, revoked: 0 })
  })

  it('moves a checkpoint together with its records, or neither', async () => {
    const to = { blockNumber: 7, blockHash: uidOf(7) }
    expect(await line.checkpoint({ chainId: 11155111 })).toBeUndefined()
    const range = { chainId: 11155111, records: [{ ...recordOf(50), chainId: 11155111 }], revocations: [] }
    expect(await line.apply({ ...range, checkpoint: { from: null, to } })).toMatchObject({ ok: true, inserted: 1 })
    expect(await line.checkpoint({ chainId: 11155111 })).toEqual(to)
    // A leader that was replaced still believes in the old state.
    const late = { ...range, records: [{ ...recordOf(51), chainId: 11155111 }] }
    for (const from of [null, uidOf(6)]) {
      expect(await line.apply({ ...late, checkpoint: { from, to } })).toMatchObject({ ok: false, inserted: 0 })
    }
    expect(await line.record(uidOf(51))).toBeUndefined()
    const moved = { blockNumber: 8, blockHash: uidOf(8) }
    expect((await line.apply({ ...late, checkpoint: { from: uidOf(7), to: moved } })).ok).toBe(true)
  })

  it('stores nothing of a range with one record that cannot be stored, and the rest of it later (R2)', async () => {
    const bad = { ...recordOf(61), eventTimeSeconds: 1e15 }
    const before = await line.checkpoint({ chainId: 11155111 })
    const range = {
      chainId: 11155111,
      records: [
        { ...recordOf(60), chainId: 11155111 },
        { ...bad, chainId: 11155111 },
      ],
      revocations: [],
      checkpoint: { from: before!.blockHash, to: { blockNumber: 9, blockHash: uidOf(9) } },
    }
    await expect(line.apply(range)).rejects.toThrow(/no time from 1970 to 9999/)
    expect(await line.record(uidOf(60))).toBeUndefined()
    expect(await line.checkpoint({ chainId: 11155111 })).toEqual(before)
  })

  it('refuses questions beyond its queue at once', async () => {
    const small = await makeSmall(files, engine)
    const asked = Array.from({ length: 200 }, () => small.ask('page', { limit: 1000, offset: 0 }, soon()))
    const settled = await Promise.allSettled(asked)
    const refused = settled.filter((one) => one.status === 'rejected' && one.reason instanceof StoreFault)
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(3)
    expect(refused.length).toBeGreaterThan(100)
    if (small !== client) await small.close()
  })

  /** A client with a queue of four; on the embedded engine the folder is taken, so it gets one of its own. */
  async function makeSmall(files: StoreFiles, engine: string): Promise<StoreClient> {
    const environment = { MAX_STORE_QUEUE: '4' }
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-small-'))
    const small = clientOf(engine === 'embedded' ? { ...files, environment: { DATA_DIR: folder } } : files, environment)
    await untilOpen(small)
    return small
  }
})

describe('the folder of the embedded store', () => {
  it('is kept for one process, and says whose it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-lock-'))
    const database = await openPglite(folder)
    const lock = join(folder, 'store', 'lock')
    expect(readFileSync(lock, 'utf8')).toMatch(new RegExp(`^${process.pid} `))
    await database.close()
    expect(existsSync(lock)).toBe(false)
    // The parent of this process runs for sure; a process id that was given away again does not count.
    writeFileSync(lock, `${process.ppid} `)
    await expect(openPglite(folder)).rejects.toThrow(
      new RegExp(`in use by process ${process.ppid}: stop it, or choose another`),
    )
    writeFileSync(lock, `${process.ppid} 1`)
    await (await openPglite(folder)).close()
    rmSync(folder, { recursive: true })
  })

  it('goes to one of many processes that find it left behind at the same moment', async () => {
    const root = join(import.meta.dirname, '../..')
    // Each says that it is ready, waits for the first word, says what came of it, and lives until its input ends.
    const taker = `const { lockFolder } = await import('./dist/src/store/folder-lock.js')
      process.stdin.once('data', () => {
        try { lockFolder(process.argv[1]); console.log('held') } catch (error) { console.log(error.message.includes('in use by') ? 'refused' : error.stack) }
      })
      console.log('ready')`
    for (let round = 0; round < 4; round++) {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-race-'))
      // Nobody has this id: the kernel gives none so high.
      writeFileSync(join(folder, 'lock'), round % 2 === 0 ? '99999999 1' : '')
      utimesSync(join(folder, 'lock'), 1, 1)
      const takers = Array.from({ length: 6 }, () => {
        const args = ['--input-type=module', '-e', taker, folder]
        const child = endsWithFile(spawn(process.execPath, args, { cwd: root, stdio: 'pipe' }))
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
        return { child, nextLine: async () => (await lines.next()).value as string }
      })
      expect(new Set(await Promise.all(takers.map(({ nextLine }) => nextLine())))).toEqual(new Set(['ready']))
      for (const { child } of takers) child.stdin.write('go\n')
      const said = await Promise.all(takers.map(({ nextLine }) => nextLine()))
      const ended = takers.map(({ child }) => new Promise((resolve) => child.once('exit', resolve)))
      for (const { child } of takers) child.stdin.end()
      await Promise.all(ended)
      expect(said.sort()).toEqual(['held', 'refused', 'refused', 'refused', 'refused', 'refused'])
      expect(readdirSync(folder)).toEqual(['lock'])
      rmSync(folder, { recursive: true })
    }
  })

  it('of another engine is refused with what to do, and left as it is', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-format-'))
    await (await openPglite(folder)).close()
    const format = join(folder, 'store', 'format.json')
    writeFileSync(format, '{"engineMajor":17}')
    await expect(openPglite(folder)).rejects.toThrow(/written by PostgreSQL 17 and this version has 18: make a backup/)
    expect(existsSync(join(folder, 'store', 'files', 'PG_VERSION'))).toBe(true)
    rmSync(folder, { recursive: true })
  })

  it('whose first start was cut short is made anew', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-cut-'))
    await (await openPglite(folder)).close()
    rmSync(join(folder, 'store', 'format.json'))
    writeFileSync(join(folder, 'store', 'making'), '')
    rmSync(join(folder, 'store', 'files', 'base'), { recursive: true })
    await (await openPglite(folder)).close()
    expect(existsSync(join(folder, 'store', 'making'))).toBe(false)
    rmSync(folder, { recursive: true })
  })

  it.each([
    ['lost, as by a copy of the files alone', (format: string) => rmSync(format)],
    ['cut short, as by a loss of power', (format: string) => writeFileSync(format, '{"engineM')],
  ])('whose format was %s, keeps its records', async (_what, damage) => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-copy-'))
    const database = await openPglite(folder)
    await database.transaction((session) => session.query('create table kept as select 7 as seven'))
    await database.close()
    damage(join(folder, 'store', 'format.json'))
    const again = await openPglite(folder)
    expect(await again.reads.query('select seven from kept')).toEqual([{ seven: 7 }])
    await again.close()
    rmSync(folder, { recursive: true })
  })
})
