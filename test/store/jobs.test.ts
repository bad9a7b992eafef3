import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, makeStore, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { createRecordStore } from '../../src/store/operations.ts'
import type { Job, JobLimits } from '../../src/wire/job-messages.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'

const NOW = 1_800_000_000_000
const DAY_MS = 86_400_000
const LIMITS: JobLimits = { maxOperations: 1000, perDay: 1_000_000, maxBytes: 1e9, maxOpen: 100 }
const OPTIONS = { chainId: 84532, recipient: undefined, attest: 'none' as const, errorTypeBase: '/errors' }
const bytes = (text: string) => new Uint8Array(Buffer.from(text))

describe.each(ENGINES)('jobs on %s', (engine) => {
  let files: StoreFiles
  let database: Database
  let store: RecordStore
  let nextId = 0

  beforeAll(async () => {
    files = await makeStore(engine)
    database = await files.open()
    store = createRecordStore(database, () => '2026-01-01T00:00:00.000Z')
  })
  afterAll(async () => {
    await database.close()
    await files.remove()
  })

  async function newJob(account: string, idempotencyKey?: string): Promise<Job> {
    const id = `${nextId++}`
    const created = await store.createJob({ id, account, idempotencyKey, options: OPTIONS, maxOpen: 100, nowMs: NOW })
    if (created.outcome === 'busy') throw new Error('busy')
    return created.job
  }
  const append = (job: Job, first: number, operations: number, limits: Partial<JobLimits> = {}, nowMs = NOW) =>
    store.appendJob({
      position: job.position,
      first,
      operations,
      input: bytes(`${job.id} ${first}`),
      limits: { ...LIMITS, ...limits },
      nowMs,
    })
  const claim = (owner: string, leaseMs = 60_000) => store.claimChunk({ owner, leaseMs, nowMs: NOW })
  const finish = (owner: string, position: number, first: number, lines: string, failed = 0) =>
    store.finishChunk({
      owner,
      position,
      first,
      lines: bytes(lines),
      leaves: new Uint8Array(0),
      root: undefined,
      failed,
      errors: failed > 0 ? { 'invalid-input': failed } : {},
      nowMs: NOW,
    })
  const cancelAll = async (account: string) => {
    for (const { id } of await store.listJobs({ account, limit: 100 }))
      await store.cancelJob({ id, account, nowMs: NOW })
  }

  it('runs from the upload to the results', async () => {
    const job = await newJob('a')
    expect(job).toMatchObject({ state: 'receiving', received: 0, total: undefined, options: { chainId: 84532 } })
    expect(await append(job, 0, 2)).toBe('stored')
    expect(await append(job, 2, 1)).toBe('stored')
    // A chunk is computed although the upload goes on.
    const first = await claim('one')
    expect(first).toMatchObject({ job: { id: job.id }, first: 0, operations: 2, attempts: 1 })
    expect(Buffer.from(first!.input).toString()).toBe(`${job.id} 0`)
    expect(await finish('one', job.position, 0, '{"a":1}\n{"error":1}\n', 1)).toBe(true)
    expect(await store.readJob({ id: job.id, account: 'a' })).toMatchObject({ state: 'receiving', done: 2, failed: 1 })
    expect(await store.endJobInput({ position: job.position, nowMs: NOW })).toMatchObject({
      state: 'running',
      total: 3,
    })
    expect(await store.jobResults({ position: job.position, from: 2 })).toMatchObject({ first: 2, lines: undefined })
    expect(await claim('one')).toMatchObject({ first: 2 })
    expect(await finish('one', job.position, 2, '{"b":1}\n')).toBe(true)
    const done = await store.readJob({ id: job.id, account: 'a' })
    expect(done).toMatchObject({ state: 'done', done: 3, failed: 1, errors: { 'invalid-input': 1 } })
    const results = await store.jobResults({ position: job.position, from: 1 })
    expect(results).toMatchObject({ first: 0, operations: 2 })
    expect(Buffer.from(results!.lines!).toString()).toBe('{"a":1}\n{"error":1}\n')
    expect(await store.jobResults({ position: job.position, from: 3 })).toBeUndefined()
    expect(await claim('one')).toBeUndefined()
  })

  it('shows a job only to its account', async () => {
    const job = await newJob('b')
    expect(await store.readJob({ id: job.id, account: 'other' })).toBeUndefined()
    expect(await store.cancelJob({ id: job.id, account: 'other', nowMs: NOW })).toBeUndefined()
    const ids = [job.id]
    while (ids.length < 12) ids.unshift((await newJob('b')).id)
    expect((await store.listJobs({ account: 'b', limit: 20 })).map(({ id }) => id)).toEqual(ids)
    await cancelAll('b')
  })

  it('stores a chunk once, whoever computes it', async () => {
    const job = await newJob('c')
    await append(job, 0, 1)
    expect(await claim('one')).toMatchObject({ first: 0 })
    expect(await claim('two')).toBeUndefined() // it is held
    await store.holdChunks({ owner: 'one', leaseMs: -1 }) // the process gave no sign of life
    expect(await claim('two')).toMatchObject({ first: 0, attempts: 2 })
    expect(await finish('one', job.position, 0, 'late\n')).toBe(false)
    expect(await finish('two', job.position, 0, 'right\n')).toBe(true)
    expect(await finish('two', job.position, 0, 'again\n')).toBe(false)
    const results = await store.jobResults({ position: job.position, from: 0 })
    expect(Buffer.from(results!.lines!).toString()).toBe('right\n')
    expect(await store.readJob({ id: job.id, account: 'c' })).toMatchObject({ done: 1, received: 1 })
    await cancelAll('c')
  })

  it('gives chunks back: an attempt of a process that ended by itself does not count', async () => {
    const job = await newJob('d')
    await append(job, 0, 1)
    await claim('one')
    await store.releaseChunks({ owner: 'one' })
    expect(await claim('one')).toMatchObject({ attempts: 1 })
    await store.releaseChunks({ owner: undefined })
    expect(await claim('one')).toMatchObject({ attempts: 2 })
    await store.releaseChunk({ owner: 'two', position: job.position, first: 0 })
    await store.holdChunks({ owner: 'one', leaseMs: -1 })
    expect(await claim('one')).toBeUndefined() // it is computing the chunk, only late
    await store.releaseChunk({ owner: 'one', position: job.position, first: 0 })
    expect(await claim('one')).toMatchObject({ attempts: 3 })
    await cancelAll('d')
  })

  it('serves accounts in turn, whatever their jobs are', async () => {
    const many = await newJob('e')
    for (let first = 0; first < 4; first++) await append(many, first, 1)
    const few = await newJob('f')
    for (let first = 0; first < 2; first++) await append(few, first, 1)
    const served: string[] = []
    for (let chunk = 0; chunk < 6; chunk++) served.push((await claim('one'))!.job.id)
    expect(served.slice(0, 4).filter((id) => id === few.id)).toHaveLength(2)
    expect(served[0]).not.toBe(served[1])
    expect(await claim('one')).toBeUndefined()
    await cancelAll('e')
    await cancelAll('f')
  })

  it('finds the job of an idempotency key, and rejects other options', async () => {
    const job = await newJob('g', 'key')
    expect((await newJob('g', 'key')).id).toBe(job.id)
    expect((await newJob('other', 'key')).id).not.toBe(job.id)
    const conflict = await store.createJob({
      id: 'new',
      account: 'g',
      idempotencyKey: 'key',
      options: { ...OPTIONS, chainId: 8453 },
      maxOpen: 100,
      nowMs: NOW,
    })
    expect(conflict.outcome).toBe('conflict')
    const busy = { id: 'new', account: 'g', idempotencyKey: undefined, options: OPTIONS, maxOpen: 1, nowMs: NOW }
    expect(await store.createJob(busy)).toEqual({ outcome: 'busy' })
    await cancelAll('g')
    await cancelAll('other')
  })

  it('adds operations only where the job ends, and within its limits', async () => {
    const job = await newJob('h')
    expect(await append(job, 0, 5)).toBe('stored')
    expect(await append(job, 0, 5)).toBe(5)
    expect(await append(job, 5, 1, { maxBytes: 1 })).toBe('full')
    expect(await append(job, 5, 6, { perDay: 10 })).toBe('spent')
    expect(await append(job, 5, 5, { perDay: 10 })).toBe('stored')
    expect(await append(job, 10, 1, { perDay: 10 })).toBe('spent')
    expect(await append(job, 10, 1, { perDay: 10 }, NOW + DAY_MS)).toBe('stored')
    await store.endJobInput({ position: job.position, nowMs: NOW })
    expect(await append(job, 11, 1)).toBe('closed')
    // Numbers, not texts, are in order: 10 follows 5.
    expect(await store.jobResults({ position: job.position, from: 10 })).toMatchObject({ first: 10, operations: 1 })
    const large = await newJob('h')
    await append(large, 0, 5)
    expect(await append(large, 5, 996)).toBe('large')
    const reason = 'it has more than 1000 operations'
    expect(await store.readJob({ id: large.id, account: 'h' })).toMatchObject({ state: 'failed', reason })
    await cancelAll('h')
  })

  it('computes nothing more of a cancelled job, and keeps what was computed', async () => {
    const job = await newJob('i')
    for (let first = 0; first < 3; first++) await append(job, first, 1)
    await claim('one')
    await finish('one', job.position, 0, 'kept\n')
    await claim('one')
    await store.cancelJob({ id: job.id, account: 'i', nowMs: NOW })
    expect(await claim('one')).toBeUndefined()
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 1e9, nowMs: NOW }));
    expect(await finish('one', job.position, 1, 'late\n')).toBe(false)
    expect(await store.readJob({ id: job.id, account: 'i' })).toMatchObject({
      state: 'cancelled',
      done: 1,
      received: 3,
    })
    expect(Buffer.from((await store.jobResults({ position: job.position, from: 0 }))!.lines!).toString()).toBe('kept\n')
    expect(await store.jobResults({ position: job.position, from: 1 })).toBeUndefined()
  })

  it('deletes jobs that are old, and the oldest finished ones while they take too much room', async () => {
    while (await store.pruneJobs({ keepMs: 0, maxBytes: 1e9, nowMs: NOW + 1 }));
    const jobs: Job[] = []
    for (let index = 0; index < 3; index++) {
      const job = await newJob('j')
      await append(job, 0, 1)
      await claim('one')
      await store.finishChunk({
        owner: 'one',
        position: job.position,
        first: 0,
        lines: bytes('x'.repeat(1000)),
        leaves: new Uint8Array(0),
        root: undefined,
        failed: 0,
        errors: {},
        nowMs: NOW + index,
      })
      await store.endJobInput({ position: job.position, nowMs: NOW + index })
      jobs.push(job)
    }
    const open = await newJob('j')
    const left = async () => (await store.listJobs({ account: 'j', limit: 10 })).map(({ id }) => id)
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 1500, nowMs: NOW }));
    expect(await left()).toEqual([open.id, jobs[2]!.id])
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 0, nowMs: NOW }));
    expect(await left()).toEqual([open.id])
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 1e9, nowMs: NOW + 2 * DAY_MS }));
    expect(await left()).toEqual([])
  })
})
