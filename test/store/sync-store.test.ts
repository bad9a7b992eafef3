import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { randomFrom } from '../../bench/record-world.ts'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { BlockRange, RecordStore } from '../../src/wire/store-messages.ts'
import type { Quarantined } from '../../src/wire/sync-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createMemorySyncStore } from '../memory-sync-store.ts'
import { recordOf, uidOf } from '../store-records.ts'
import { simulate } from '../sync-simulation.ts'

let nextChain = 1_000_000

const TABLES = [
  'location_record',
  'record_counter',
  'chain_checkpoint',
  'block_ladder',
  'chain_sync',
  'quarantine',
  'page_mark',
]

/** Dumps the database in the form of `dump` of the store in memory. */
async function dumpDatabase(database: Database): Promise<string> {
  const records = await database.reads.query(
    `select '0x' || encode(uid, 'hex') as hex, document, bounds::text as box, coalesce(revoked_block::text, 'null') as revoked, block_number::text as block
     from location_record join record_document using (id) where chain_id = 84532`,
  )
  const setAside = await database.reads.query(
    `select '0x' || encode(uid, 'hex') as hex, block_number::int as block, stage, reason, revoked_block::int as revoked from quarantine where chain_id = 84532`,
  )
  const [checkpoint] = await database.reads.query(
    'select block_number::int as number, block_hash as hash from chain_checkpoint where chain_id = 84532',
  )
  const documents = records.map(({ document, box, revoked }) => {
    const [east, north, west, south] = String(box).replaceAll(/[()]/g, '').split(',')
    return `${document} ${west},${south},${east},${north} ${revoked}`
  })
  const allBlocks = setAside.map(({ hex, block, stage, reason, revoked }) =>
    JSON.stringify({ uid: hex, blockNumber: block, stage, reason, revokedBlock: revoked }),
  )
  const blocks = records.map(({ hex, block }) => `${hex} ${block}`)
  return [...documents.sort(), ...allBlocks.sort(), ...blocks.sort(), JSON.stringify(checkpoint)].join('\n')
}

describe.each(ENGINES)('the state of the synchronisation on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  let chainId: number

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  })
  beforeEach(() => {
    chainId = nextChain++
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  const blockHashOn = (number: number, fork: number): Hex =>
    `0x${(number * 1000 + fork).toString(16).padStart(64, '0')}`
  const setAside = (index: number, changes: Partial<Quarantined> = {}): Quarantined => ({
    uid: uidOf(index),
    blockNumber: index,
    stage: 'location',
    reason: 'the location is not JSON of a geometry',
    retryAtSeconds: null,
    decoder: 1,
    ...changes,
  })

  it('marks nothing as audited or final after a reorganisation that was not before', async () => {
    const step = (from: Hex | null, number: number, changes: Partial<BlockRange> = {}) => {
      const to = { blockNumber: number, blockHash: blockHashOn(number, changes.rollBackTo === undefined ? 0 : 1) }
      return store.apply({ chainId, records: [], revocations: [], checkpoint: { from, to }, ...changes })
    }
    await step(null, 9, { progress: { head: 9, headSeconds: 1 } })
    await step(blockHashOn(9, 0), 7, { rollBackTo: 7 })
    expect(await store.syncState({ chainId })).toMatchObject({ finalized: -1, auditedTo: -1 })
    await step(blockHashOn(7, 1), 9, { progress: { finalized: 5, auditedTo: 3 } })
    await step(blockHashOn(9, 0), 8, { rollBackTo: 8 })
    expect(await store.syncState({ chainId })).toMatchObject({ finalized: 5, auditedTo: 3 })
    await step(blockHashOn(8, 1), 2, { rollBackTo: 2 })
    expect(await store.syncState({ chainId })).toMatchObject({ finalized: 2, auditedTo: 2 })
  })

  it('equals the store in memory after any sequence of steps', async () => {
    const random = randomFrom(7)
    const below = (count: number) => Math.floor(random() * count)
    const memory = createMemorySyncStore()
    let block = 0
    let fork = 0
    let tip: Hex | null = null
    const choose = async (chance: number) => {
      const stored = [...(await memory.storedLogs({ chainId, from: 0, to: 1000 }))]
      return stored.filter(() => random() < chance)
    }
    for (let step = 0; step < 80; step++) {
      const isBack = step > 5 && random() < 0.15
      if (isBack) fork++
      const to = isBack ? Math.max(1, block - 1 - below(6)) : block + 1 + below(3)
      const hash = blockHashOn(to, fork)
      const between = () => (isBack ? to : block + 1 + below(Math.max(1, to - block)))
      const fresh = isBack ? 0 : below(4)
      const indices = Array.from({ length: fresh }, () => 100 + below(400))
      const range: BlockRange = {
        chainId,
        records: indices.map((index) => recordOf(index, { chainId, chain: 'test', blockNumber: between() })),
        revocations: Array.from({ length: below(3) }, () => ({ uid: uidOf(100 + below(400)), blockNumber: between() })),
        quarantine: Array.from({ length: below(2) }, () =>
          setAside(600 + below(50), { blockNumber: between(), retryAtSeconds: random() < 0.5 ? below(100) : null }),
        ),
        released: random() < 0.2 ? [uidOf(600 + below(50))] : [],
        // Sometimes by a process whose lease has expired.
        checkpoint: { from: random() < 0.1 ? blockHashOn(9999, 9) : tip, to: { blockNumber: to, blockHash: hash } },
        knownBlocks: { add: [{ number: to, hash }], remove: random() < 0.2 ? [below(block + 1)] : [] },
        progress: { finalized: Math.max(0, to - 4), ...(random() < 0.3 ? { auditedTo: Math.max(0, to - 5) } : {}) },
        ...(isBack ? { rollBackTo: to } : {}),
        ...(!isBack && random() < 0.3 ? { areAgreed: true, removed: await choose(0.05) } : {}),
      }
      const applied = await store.apply(range)
      expect(await memory.apply(range)).toEqual(applied)
      if (applied.ok) {
        block = to
        tip = hash
      }
      expect(await memory.syncState({ chainId })).toEqual(await store.syncState({ chainId }))
    }
    const sorted = <T>(rows: readonly T[]) => rows.map((row) => JSON.stringify(row)).sort()
    const allBlocks = { chainId, from: 0, to: 1000 }
    expect(sorted(await memory.storedLogs(allBlocks))).toEqual(sorted(await store.storedLogs(allBlocks)))
    expect((await store.storedLogs(allBlocks)).length).toBeGreaterThan(20)
    const uids = Array.from({ length: 700 }, (_, index) => uidOf(index))
    expect(sorted(await memory.known({ chainId, uids }))).toEqual(sorted(await store.known({ chainId, uids })))
    for (const due of [
      { nowSeconds: 50, decoder: 1 },
      { nowSeconds: 0, decoder: 2 },
    ]) {
      const query = { chainId, limit: 20, ...due }
      expect(await memory.quarantined(query)).toEqual(await store.quarantined(query))
    }
    for (const after of [null, uidOf(250)]) {
      const query = { chainId, after, limit: 15 }
      expect(await memory.activeRecords(query)).toEqual(await store.activeRecords(query))
    }
  })

  it('finally matches the chain, through everything that the simulator does', async () => {
    const keccak = await createKeccak()
    for (let seed = 1; seed <= 4; seed++) {
      // The simulated chain always has the same id, so the rows of the previous run are deleted first.
      for (const table of TABLES)
        await database.transaction((session) => session.query(`delete from ${table} where chain_id = 84532`))
      const { found, wanted } = await simulate(seed, keccak, { store, dump: () => dumpDatabase(database) })
      expect(found).toBe(wanted)
    }
  })

  it('returns for each record whether its block is final, in every kind of response', async () => {
    const size = { records: 100, bytes: 1_000_000 }
    const query = { chainId, limit: 10, offset: 0 }
    const { next: start } = await store.changes({ after: undefined, size })
    const blockOn = (block: number, fork: number) => ({ blockNumber: block, blockHash: blockHashOn(block, fork) })
    const commit = (from: Hex | null, to: ReturnType<typeof blockOn>, more: Partial<BlockRange>) =>
      store.apply({ chainId, records: [], revocations: [], checkpoint: { from, to }, ...more })
    const record = (index: number, blockNumber: number) =>
      recordOf(index, { chainId, chain: 'test', blockNumber, memo: `block ${blockNumber}: é€💥` })
    const finality = async () => {
      const byNumber = (documents: readonly string[]) =>
        Object.fromEntries(
          documents.map((text) => JSON.parse(text)).map(({ memo, finalized }) => [memo.slice(6, 8), finalized]),
        )
      const page = JSON.parse(`[${(await store.page(query)).documents}]`) as { uid: Hex }[]
      const finalityByRecord = byNumber(page.map((found) => JSON.stringify(found)))
      const slice = JSON.parse(`[${(await store.slice({ query, size })).documents}]`) as object[]
      expect(byNumber(slice.map((found) => JSON.stringify(found)))).toEqual(finalityByRecord)
      const single = await Promise.all(page.map(async ({ uid }) => (await store.record(uid))!))
      expect(byNumber(single)).toEqual(finalityByRecord)
      const { changes } = await store.changes({ after: start, size })
      expect(byNumber(changes.filter(({ kind }) => kind === 'new').map(({ document }) => document))).toEqual(
        finalityByRecord,
      )
      return finalityByRecord
    }
    await commit(null, blockOn(30, 0), { records: [record(8001, 10), record(8002, 20), record(8003, 30)] })
    expect(await finality()).toEqual({ 10: false, 20: false, 30: false })
    // No record changes, but a cached response must not be sent again.
    await commit(blockHashOn(30, 0), blockOn(31, 0), { progress: { finalized: 10 } })
    expect(await finality()).toEqual({ 10: true, 20: false, 30: false })
    await commit(blockHashOn(31, 0), blockOn(32, 0), { progress: { finalized: 31 } })
    // Another endpoint reports a lower finalized block.
    await commit(blockHashOn(32, 0), blockOn(33, 0), { progress: { finalized: 12 } })
    expect(await finality()).toEqual({ 10: true, 20: true, 30: true })
    // A reorganisation below the final block: a record that returns in another block is not final because of the earlier report.
    await commit(blockHashOn(33, 0), blockOn(15, 0), { rollBackTo: 15 })
    expect(await finality()).toEqual({ 10: true })
    await commit(blockHashOn(15, 0), blockOn(25, 1), { records: [record(8002, 25)], progress: { finalized: 14 } })
    expect(await finality()).toEqual({ 10: true, 25: false })
    await commit(blockHashOn(25, 1), blockOn(26, 1), { progress: { finalized: 25 } })
    expect(await finality()).toEqual({ 10: true, 25: true })
  })

  it('gives the lease of a chain to one owner at a time, and to the next when it expires', async () => {
    const lease = async (owner: string, holdMs = 60_000, jobs: readonly number[] = []) => {
      const { held, isDesired } = await store.lease({ owner, holdMs, chainIds: [chainId], jobs })
      return { generation: held[0]?.generation, isDesired }
    }
    const first = (await lease('a')).generation!
    expect(first).toBeGreaterThan(0)
    expect(await lease('b')).toEqual({ generation: undefined, isDesired: true })
    expect(await lease('a')).toEqual({ generation: first, isDesired: true })
    expect(await lease('a', 0)).toEqual({ generation: undefined, isDesired: true })
    expect(await lease('b', 0)).toEqual({ generation: undefined, isDesired: true })
    expect((await lease('c', 1)).generation).toBe(first + 1)
    while ((await lease('a')).generation === undefined); // `c` holds it for one millisecond
    await store.setWorkerDesired({ isDesired: false })
    expect(await lease('a')).toEqual({ generation: undefined, isDesired: false })
    expect(await lease('a', 60_000, [chainId])).toEqual({ generation: first + 3, isDesired: false })
    await store.setWorkerDesired({ isDesired: true })
    expect(await lease('a', 0)).toEqual({ generation: undefined, isDesired: true })
    expect(await lease('b', 0)).toEqual({ generation: undefined, isDesired: true })
  })

  it('spreads chains over the processes that can read them', async () => {
    const chains = [901, 902, 903]
    const lease = async (owner: string, chainIds = chains, holdMs = 60_000) => {
      const { held, surplus } = await store.lease({ owner, holdMs, chainIds, jobs: [] })
      return { held: held.map((chain) => chain.chainId).sort(), surplus }
    }
    expect(await lease('a')).toEqual({ held: chains, surplus: [] })
    expect(await lease('b', [902, 903])).toEqual({ held: [], surplus: [] })
    // `b` cannot read the first chain, and holds none.
    expect(await lease('a')).toEqual({ held: chains, surplus: [902] })
    expect(await lease('a', [901, 903])).toEqual({ held: [901, 903], surplus: [] })
    expect(await lease('a')).toEqual({ held: [901, 903], surplus: [] }) // leaves the free one to `b`
    expect(await lease('b', [902, 903])).toEqual({ held: [902], surplus: [] })
    expect(await lease('a', chains, 0)).toEqual({ held: [], surplus: [] })
    expect(await lease('b', [902, 903])).toEqual({ held: [902, 903], surplus: [] })
    await lease('b', chains, 0)
  })

  it('stores nothing from a process whose lease another one has got', async () => {
    const grant = async (owner: string, holdMs: number) => {
      const { held } = await store.lease({ owner, holdMs, chainIds: [chainId], jobs: [] })
      return held[0]?.generation
    }
    const old = (await grant('a', 1))!
    let current: number | undefined
    while (current === undefined) current = await grant('b', 60_000) // `a` holds it for one millisecond
    const before = await store.syncStatus({ recentErrors: 100 })
    const run = { kind: 'attestations' as const, chainId, startedMs: 1, endedMs: 2, ok: true, count: 7, revoked: 0 }
    const end = { run, progress: { head: 123, headSeconds: 1 }, errors: ['from the old owner'] }
    const range = { chainId, records: [recordOf(8100, { chainId })], revocations: [] }
    await store.beginRun({ kind: 'attestations', chainId, leaseGeneration: old })
    await store.endRun({ ...end, leaseGeneration: old })
    expect(await store.apply({ ...range, leaseGeneration: old })).toMatchObject({ ok: false, inserted: 0 })
    expect((await store.syncStatus({ recentErrors: 100 })).runs).toEqual(before.runs)
    expect((await store.syncStatus({ recentErrors: 100 })).errors).toEqual(before.errors)
    expect(await store.apply({ ...range, leaseGeneration: current })).toMatchObject({ ok: true, inserted: 1 })
    await grant('b', 0)
  })

  it('reports the outcome of runs, and keeps the newest hundred errors of each chain', async () => {
    const run = {
      kind: 'attestations' as const,
      chainId,
      startedMs: 1_750_000_000_000,
      endedMs: 1_750_000_002_500,
      count: 5,
      revoked: 0,
    }
    const before = (await store.syncStatus({ recentErrors: 1 })).runs.find(({ kind }) => kind === 'attestations')!
    const { held } = await store.lease({ owner: 'a', holdMs: 60_000, chainIds: [chainId], jobs: [] })
    const leaseGeneration = held[0]!.generation
    await store.beginRun({ kind: 'attestations', chainId, leaseGeneration })
    await store.endRun({
      run: { ...run, ok: true },
      leaseGeneration,
      progress: { head: 77, headSeconds: 1_750_000_000 },
      errors: [],
    })
    for (let index = 0; index < 30; index++) {
      const errors = Array.from({ length: 5 }, (_, blockOn) => `error ${index} ${blockOn} "\u2028`)
      await store.endRun({
        run: { ...run, ok: false, count: 0, endedMs: run.endedMs + index },
        leaseGeneration,
        errors,
      })
    }
    const status = await store.syncStatus({ recentErrors: 10 })
    const after = status.runs.find(({ kind }) => kind === 'attestations')!
    expect(after).toMatchObject({
      total: before.total + 31,
      failed: before.failed + 30,
      counted: before.counted + 5,
      lastSuccessAt: '2025-06-15T15:06:42.500Z',
      lastDurationMs: 2529,
    })
    expect(status.chains.find((chain) => chain.chainId === chainId)).toMatchObject({
      head: 77,
      lastIngested: 0,
      block: null,
    })
    expect(status.errors).toHaveLength(10)
    expect(status.errors[0]!.message).toMatch(/^error 29 /)
    const [allBlocks] = await database.reads.query('select count(*)::int as kept from sync_error where chain_id = $1', [
      chainId,
    ])
    expect(allBlocks!['kept']).toBe(100)
  })
})
