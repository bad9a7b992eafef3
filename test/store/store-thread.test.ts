import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { MessagePort } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Log } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import { openPglite } from '../../src/store/pglite.ts'
import { StoreConnection } from '../../src/sync/sync-records.ts'
import { StoreClient } from '../../src/threads/store-client.ts'
import { type RecordStore, StoreFault } from '../../src/wire/store-messages.ts'
import { endsWithFile } from '../children.ts'
import { eventually } from '../eventually.ts'
import { recordOf, uidOf } from '../store-records.ts'

const silent: Log = { info() {}, warn() {}, error() {} }
const soon = () => Date.now() + 600_000

function makeClient(files: StoreFiles, environment: Record<string, string> = {}): StoreClient {
  return new StoreClient(readConfig({ ...files.environment, ...environment }, 2), silent)
}

async function untilOpen(client: StoreClient): Promise<void> {
  client.open()
  await eventually(() => expect(client.state.isOpen).toBe(true))
}

describe.each(ENGINES)('the store thread on %s', (engine) => {
  let files: StoreFiles
  let client: StoreClient
  let line: RecordStore

  beforeAll(async () => {
    files = await makeStore(engine)
    client = makeClient(files)
    const port = new Promise<MessagePort>((resolve) => client.connect(resolve))
    await untilOpen(client)
    const connection = new StoreConnection()
    connection.connect(await port)
    line = connection.store
  })
  afterAll(async () => {
    await client.close()
    await files.remove()
  })

  const page = async () => client.ask('page', { limit: 1000, offset: 0 }, soon())
  const records = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => recordOf(from + index))

  it('stores records that another thread sends over its port, and returns them to the main thread', async () => {
    const applied = await line.apply({ chainId: 84532, records: records(0, 10), revocations: [] })
    expect(applied).toEqual({ ok: true, inserted: 10, revoked: 0, rolledBack: 0 })
    expect(await page()).toMatchObject({ count: 10, length: 10 })
  })

  it('stores a record once, however often it is sent', async () => {
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

  it('keeps a UID on two chains as two records', async () => {
    const twin = { ...recordOf(3), chainId: 42161, chain: 'arbitrum' }
    expect((await line.apply({ chainId: 42161, records: [twin], revocations: [] })).inserted).toBe(1)
    expect(await page()).toMatchObject({ count: 266 })
  })

  it('revokes once, and restores the record when the block is rolled back', async () => {
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

  it('rolls back to a block: newer records are removed, and may be stored again', async () => {
    const undone = await line.apply({ chainId: 84532, rollBackTo: 1009, records: [recordOf(12)], revocations: [] })
    expect(undone).toEqual({ ok: true, inserted: 1, revoked: 0, rolledBack: 5 })
    expect(await line.record(uidOf(11))).toBeUndefined()
    expect(await line.record(uidOf(12))).toBeDefined()
    const { byChain } = await line.stats({ nowSeconds: 0 })
    expect(byChain.find(({ chainId }) => chainId === 84532)).toMatchObject({ records: 11, revoked: 0 })
  })

  it('commits a checkpoint and its records together or not at all', async () => {
    const to = { blockNumber: 7, blockHash: uidOf(7) }
    const readCheckpoint = async () => (await line.syncState({ chainId: 11155111 })).checkpoint
    expect(await readCheckpoint()).toBeUndefined()
    const range = { chainId: 11155111, records: [{ ...recordOf(50), chainId: 11155111 }], revocations: [] }
    expect(await line.apply({ ...range, checkpoint: { from: null, to } })).toMatchObject({ ok: true, inserted: 1 })
    expect(await readCheckpoint()).toEqual({ number: 7, hash: uidOf(7) })
    // A leader that was replaced still assumes the old checkpoint.
    const late = { ...range, records: [{ ...recordOf(51), chainId: 11155111 }] }
    for (const from of [null, uidOf(6)]) {
      expect(await line.apply({ ...late, checkpoint: { from, to } })).toMatchObject({ ok: false, inserted: 0 })
    }
    expect(await line.record(uidOf(51))).toBeUndefined()
    const moved = { blockNumber: 8, blockHash: uidOf(8) }
    expect((await line.apply({ ...late, checkpoint: { from: uidOf(7), to: moved } })).ok).toBe(true)
  })

  it('stores nothing of a range with one invalid record (R2)', async () => {
    const bad = { ...recordOf(61), eventTimeSeconds: 1e15 }
    const before = await line.syncState({ chainId: 11155111 })
    const range = {
      chainId: 11155111,
      records: [
        { ...recordOf(60), chainId: 11155111 },
        { ...bad, chainId: 11155111 },
      ],
      revocations: [],
      checkpoint: { from: before.checkpoint!.hash, to: { blockNumber: 9, blockHash: uidOf(9) } },
    }
    await expect(line.apply(range)).rejects.toThrow(/not a time between 1970 and 9999/)
    expect(await line.record(uidOf(60))).toBeUndefined()
    expect(await line.syncState({ chainId: 11155111 })).toEqual(before)
  })

  it('rejects queries beyond its queue immediately', async () => {
    const small = await makeSmall(files, engine)
    const requests = Array.from({ length: 200 }, () => small.ask('page', { limit: 1000, offset: 0 }, soon()))
    const settled = await Promise.allSettled(requests)
    const rejected = settled.filter((one) => one.status === 'rejected' && one.reason instanceof StoreFault)
    expect(settled.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThan(3)
    expect(rejected.length).toBeGreaterThan(100)
    if (small !== client) await small.close()
  })

  it('runs no query of a client that disconnected, and gives its place to another', async () => {
    const small = await makeSmall(files, engine)
    const clients = Array.from({ length: 12 }, () => ({ aborted: false }))
    const ask = (client: { readonly aborted: boolean }) =>
      small.ask('page', { limit: 10, offset: 0 }, soon(), client).then(
        () => 'page',
        (fault: StoreFault) => fault.message,
      )
    // Some run, four wait, and any others are rejected.
    const settled = clients.map(ask)
    for (const client of clients) client.aborted = true
    const next = Array.from({ length: 4 }, () => ask({ aborted: false }))
    expect(await Promise.all(next)).toEqual(['page', 'page', 'page', 'page'])
    const outcomes = await Promise.all(settled)
    expect(outcomes.filter((outcome) => outcome === 'the client has disconnected')).toHaveLength(4)
    if (small !== client) await small.close()
  })

  it.runIf(engine === 'embedded')(
    'runs a call of another client after one of a client with many, not after two',
    async () => {
      const order: string[] = []
      const ask = async (name: string) => {
        await client.ask('page', { limit: 1000, offset: 0 }, soon(), { client: name })
        order.push(name)
      }
      await Promise.all(['busy', 'busy', 'busy', 'other'].map(ask))
      expect(order).toEqual(['busy', 'other', 'busy', 'busy'])
    },
  )

  /** Creates a client with a queue of four. On the embedded engine it needs another folder, because the first one is in use. */
  async function makeSmall(files: StoreFiles, engine: string): Promise<StoreClient> {
    const environment = { MAX_STORE_QUEUE: '4' }
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-small-'))
    const small = makeClient(
      engine === 'embedded' ? { ...files, environment: { DATA_DIR: folder } } : files,
      environment,
    )
    await untilOpen(small)
    return small
  }
})

describe('the folder of the embedded store', () => {
  it('is locked for one process, and the error names that process', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-lock-'))
    const database = await openPglite(folder)
    const lock = join(folder, 'store', 'lock')
    expect(readFileSync(lock, 'utf8')).toMatch(new RegExp(`^${process.pid} `))
    await database.close()
    expect(existsSync(lock)).toBe(false)
    // The parent of this process is certainly running. A process id that was reused (another start time) does not count.
    writeFileSync(lock, `${process.ppid} `)
    await expect(openPglite(folder)).rejects.toThrow(
      new RegExp(`in use by process ${process.ppid}: stop it, or choose another data folder with DATA_DIR or --data`),
    )
    writeFileSync(lock, `${process.ppid} 1`)
    await (await openPglite(folder)).close()
    rmSync(folder, { recursive: true })
  })

  it('is locked by exactly one of many processes that find a stale lock at the same moment', async () => {
    const root = join(import.meta.dirname, '../..')
    // Each process reports that it is ready, waits for a line, reports the outcome, and runs until its input ends.
    const taker = `const { lockFolder } = await import('./dist/src/store/folder-lock.js')
      process.stdin.once('data', () => {
        try { lockFolder(process.argv[1]); console.log('held') } catch (error) { console.log(error.message.includes('in use by') ? 'refused' : error.stack) }
      })
      console.log('ready')`
    for (let round = 0; round < 4; round++) {
      const folder = mkdtempSync(join(tmpdir(), 'trigpoint-race-'))
      // No process has this id: the kernel assigns none that high.
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
      const outcomes = await Promise.all(takers.map(({ nextLine }) => nextLine()))
      const ended = takers.map(({ child }) => new Promise((resolve) => child.once('exit', resolve)))
      for (const { child } of takers) child.stdin.end()
      await Promise.all(ended)
      expect(outcomes.sort()).toEqual(['held', 'refused', 'refused', 'refused', 'refused', 'refused'])
      expect(readdirSync(folder)).toEqual(['lock'])
      rmSync(folder, { recursive: true })
    }
  })

  it('of another engine version is rejected with a remedy, and left unchanged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-format-'))
    await (await openPglite(folder)).close()
    const format = join(folder, 'store', 'format.json')
    writeFileSync(format, '{"engineMajor":17}')
    await expect(openPglite(folder)).rejects.toThrow(/written by PostgreSQL 17 and this version has 18: make a backup/)
    expect(existsSync(join(folder, 'store', 'files', 'PG_VERSION'))).toBe(true)
    rmSync(folder, { recursive: true })
  })

  it('is created again if its first start was interrupted', async () => {
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
    ['lost, as when only the files were copied', (format: string) => rmSync(format)],
    ['truncated, as by a power failure', (format: string) => writeFileSync(format, '{"engineM')],
  ])('keeps its records when its format file was %s', async (_what, damage) => {
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
