import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import type { Job, JobLimits, JobOptions } from '../../src/wire/job-messages.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import { openStoreForTests } from '../store-for-tests.ts'

const NOW = 1_800_000_000_000
const DAY_MS = 86_400_000
const LIMITS: JobLimits = { maxOperations: 1000, perDay: 1_000_000, maxBytes: 1e9, maxAccountBytes: 1e9, maxOpen: 100 }
const OPTIONS = { chainId: 84532, recipient: undefined, attest: 'none' as const, errorTypeBase: '/errors' }
const bytes = (text: string) => new Uint8Array(Buffer.from(text))

describe.each(ENGINES)('jobs on %s', (engine) => {
  let database: Database
  let store: RecordStore
  let nextId = 0

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  async function newJob(account: string, idempotencyKey?: string, changes: Partial<JobOptions> = {}): Promise<Job> {
    const id = `${nextId++}`
    const options = { ...OPTIONS, ...changes }
    const created = await store.createJob({ id, account, idempotencyKey, options, maxOpen: 100, nowMs: NOW })
    if (created.outcome === 'busy') throw new Error('busy')
    return created.job
  }
  const append = (job: Job, first: number, operations: number, limits: Partial<JobLimits> = {}, nowMs = NOW) =>
    store.appendJob({
      position: job.position,
      first,
      operations,
      stored: bytes(`${job.id} ${first}`),
      room: 100,
      limits: { ...LIMITS, ...limits },
      nowMs,
    })
  const claim = (owner: string, leaseMs = 60_000) => store.claimChunk({ owner, leaseMs, nowMs: NOW })
  const finish = (owner: string, position: number, first: number, lines: string, failed = 0) =>
    store.finishChunk({
      owner,
      position,
      first,
      stored: bytes(lines),
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

  it('counts jobs by state, their bytes, and the operations that wait', async () => {
    const before = await store.jobTotals(undefined)
    const [open, ended] = [await newJob('totals'), await newJob('totals')]
    for (const job of [open, ended]) expect(await append(job, 0, 10)).toBe('stored')
    await store.cancelJob({ id: ended.id, account: 'totals', nowMs: NOW })
    const { byState, waitingOperations, bytes: total } = await store.jobTotals(undefined)
    const added = (state: 'receiving' | 'cancelled') => byState[state]! - (before.byState[state] ?? 0)
    expect([added('receiving'), added('cancelled')]).toEqual([1, 1])
    // Operations of a job that was cancelled do not wait any more, and take room until they are deleted.
    expect([waitingOperations - before.waitingOperations, total - before.bytes]).toEqual([10, 200])
    await cancelAll('totals')
  })

  it('keeps every byte of operations and results', async () => {
    const all = Uint8Array.from({ length: 3 * 65_536 }, (_, index) => (index * 31) ^ (index >> 8))
    const job = await newJob('bytes')
    const { position } = job
    // A part of a larger buffer, as chunks are.
    const input = all.subarray(5, 131_072)
    const chunk = { position, first: 0, operations: 2, stored: input, room: 100, limits: LIMITS, nowMs: NOW }
    expect(await store.appendJob(chunk)).toBe('stored')
    const taken = await claim('bytes')
    expect(Buffer.compare(taken!.stored, input)).toBe(0)
    const [lines, leaves] = [all.subarray(7), all.subarray(0, 64)]
    const results = {
      owner: 'bytes',
      position,
      first: 0,
      stored: lines,
      leaves,
      root: undefined,
      failed: 0,
      errors: {},
      nowMs: NOW,
    }
    expect(await store.finishChunk(results)).toBe(true)
    expect(Buffer.compare((await store.jobResults({ position, from: 1 }))!.stored!, lines)).toBe(0)
    expect(Buffer.compare((await store.jobLeaves({ position, from: 1 }))!.leaves, leaves)).toBe(0)
    await cancelAll('bytes')
  })

  it('reads what a version without compression has stored', async () => {
    const job = await newJob('plain')
    await append(job, 0, 2)
    await append(job, 2, 2)
    // The default of the column, which the migration gave to the rows before it.
    await database.transaction((session) =>
      session.query('update job_chunk set is_compressed = default where job = $1', [job.position]),
    )
    expect(await claim('plain')).toMatchObject({ first: 0, isCompressed: false })
    expect(await finish('plain', job.position, 0, 'new')).toBe(true)
    expect(await store.jobResults({ position: job.position, from: 0 })).toMatchObject({ isCompressed: true })
    expect(await store.jobResults({ position: job.position, from: 2 })).toMatchObject({ isCompressed: false })
    await cancelAll('plain')
  })

  it('runs from the upload to the results', async () => {
    const job = await newJob('a')
    expect(job).toMatchObject({ state: 'receiving', received: 0, total: undefined, options: { chainId: 84532 } })
    expect(await append(job, 0, 2)).toBe('stored')
    expect(await append(job, 2, 1)).toBe('stored')
    // A chunk is computed although the upload goes on.
    const first = await claim('one')
    expect(first).toMatchObject({ job: { id: job.id }, first: 0, operations: 2, attempts: 1 })
    expect(Buffer.from(first!.stored).toString()).toBe(`${job.id} 0`)
    expect(await finish('one', job.position, 0, '{"a":1}\n{"error":1}\n', 1)).toBe(true)
    expect(await store.readJob({ id: job.id, account: 'a' })).toMatchObject({ state: 'receiving', done: 2, failed: 1 })
    expect(await store.endJobInput({ position: job.position, nowMs: NOW })).toMatchObject({
      state: 'running',
      total: 3,
    })
    expect(await store.jobResults({ position: job.position, from: 2 })).toMatchObject({ first: 2, stored: undefined })
    expect(await claim('one')).toMatchObject({ first: 2 })
    expect(await finish('one', job.position, 2, '{"b":1}\n')).toBe(true)
    const done = await store.readJob({ id: job.id, account: 'a' })
    expect(done).toMatchObject({ state: 'done', done: 3, failed: 1, errors: { 'invalid-input': 1 } })
    const results = await store.jobResults({ position: job.position, from: 1 })
    expect(results).toMatchObject({ first: 0, operations: 2 })
    expect(Buffer.from(results!.stored!).toString()).toBe('{"a":1}\n{"error":1}\n')
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
    expect(Buffer.from(results!.stored!).toString()).toBe('right\n')
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

  it('counts the operations of accounts at one address together, and not what an account may not upload', async () => {
    const [first, second] = [await newJob('address a'), await newJob('address b')]
    const address = { subject: 'wallets:1', perDay: 10 }
    expect(await append(first, 0, 6, { address })).toBe('stored')
    expect(await append(second, 0, 5, { address })).toBe('address')
    expect(await append(second, 0, 5, { address: { ...address, subject: 'wallets:2' } })).toBe('stored')
    // Neither has used anything of the other.
    expect(await append(second, 5, 5, { address, perDay: 9 })).toBe('address')
    expect(await append(second, 5, 4, { address, perDay: 8 })).toBe('spent')
    expect(await append(second, 5, 4, { address, perDay: 9 })).toBe('stored')
    expect(await append(second, 9, 1, { address, perDay: 10 })).toBe('address')
    expect(await append(second, 9, 10, { address }, NOW + DAY_MS)).toBe('stored')
    await cancelAll('address a')
    await cancelAll('address b')
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
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 1e9, maxAccountBytes: 1e9, nowMs: NOW }));
    expect(await finish('one', job.position, 1, 'late\n')).toBe(false)
    expect(await store.readJob({ id: job.id, account: 'i' })).toMatchObject({
      state: 'cancelled',
      done: 1,
      received: 3,
    })
    expect(Buffer.from((await store.jobResults({ position: job.position, from: 0 }))!.stored!).toString()).toBe(
      'kept\n',
    )
    expect(await store.jobResults({ position: job.position, from: 1 })).toBeUndefined()
  })

  /** A job that is done. Its results take `size` bytes. */
  async function doneJob(account: string, size: number, nowMs: number): Promise<Job> {
    const job = await newJob(account)
    await append(job, 0, 1)
    await claim('one')
    const none = { leaves: new Uint8Array(0), root: undefined, failed: 0, errors: {} }
    const lines = bytes('x'.repeat(size))
    await store.finishChunk({ owner: 'one', position: job.position, first: 0, stored: lines, ...none, nowMs })
    await store.endJobInput({ position: job.position, nowMs })
    return job
  }
  const left = async (account: string) => (await store.listJobs({ account, limit: 10 })).map(({ id }) => id)
  const prune = async (maxBytes: number, nowMs = NOW, keepMs = DAY_MS, maxAccountBytes = 1e9) => {
    while (await store.pruneJobs({ keepMs, maxBytes, maxAccountBytes, nowMs }));
  }
  const pruneAll = () => prune(1e9, NOW + 100, 0)

  it('deletes jobs that are old, and the oldest finished ones while they take too much room', async () => {
    await pruneAll()
    const jobs: Job[] = []
    for (let index = 0; index < 3; index++) jobs.push(await doneJob('j', 1000, NOW + index))
    const open = await newJob('j')
    await prune(1500)
    expect(await left('j')).toEqual([open.id, jobs[2]!.id])
    await prune(0)
    expect(await left('j')).toEqual([open.id])
    await prune(1e9, NOW + 2 * DAY_MS)
    expect(await left('j')).toEqual([])
  })

  it('deletes finished jobs of the account that takes most room, not the oldest ones', async () => {
    await pruneAll()
    const small = await doneJob('small', 500, NOW)
    const large = [await doneJob('large', 1000, NOW + 1), await doneJob('large', 1000, NOW + 2)]
    await prune(2400)
    expect([await left('small'), await left('large')]).toEqual([[small.id], [large[1]!.id]])
    await prune(1000)
    expect([await left('small'), await left('large')]).toEqual([[small.id], []])
  })

  it('gives an account no more than its share of the room, so that others find some', async () => {
    await pruneAll()
    await doneJob('greedy', 100, NOW)
    const greedy = await newJob('greedy')
    const room = { maxBytes: 400, maxAccountBytes: 200 }
    expect(await append(greedy, 0, 1, room)).toBe('stored')
    expect(await append(greedy, 1, 1, room)).toBe('share')
    const other = await newJob('other')
    expect([await append(other, 0, 1, room), await append(other, 1, 1, room)]).toEqual(['stored', 'stored'])
    expect(await append(other, 2, 1, { ...room, maxAccountBytes: 1000 })).toBe('full')
    // What the account has finished makes room for what it sends, although the store is not full.
    await prune(1e9, NOW, DAY_MS, 199)
    expect(await left('greedy')).toEqual([greedy.id])
    expect(await append(greedy, 1, 1, room)).toBe('stored')
    expect(await left('other')).toEqual([other.id])
    await cancelAll('greedy')
    await cancelAll('other')
  })

  it('keeps room for the results of operations that it has taken', async () => {
    await pruneAll()
    const job = await newJob('k')
    expect(await append(job, 0, 1, { maxBytes: 199 })).toBe('stored')
    expect(await append(job, 1, 1, { maxBytes: 199 })).toBe('full')
    // From now on, the chunk takes what its results take.
    await claim('one')
    await finish('one', job.position, 0, 'x'.repeat(99))
    expect(await append(job, 1, 1, { maxBytes: 199 })).toBe('stored')
    expect(await append(job, 2, 1, { maxBytes: 298 })).toBe('full')
    await store.cancelJob({ id: job.id, account: 'k', nowMs: NOW })
    await prune(1e9)
    const other = await newJob('k')
    expect(await append(other, 0, 1, { maxBytes: 199 })).toBe('stored')
    await cancelAll('k')
  })

  it('ends a chunk that is given up, so that its job ends', async () => {
    const job = await newJob('l')
    for (const first of [0, 2]) await append(job, first, 2)
    await store.endJobInput({ position: job.position, nowMs: NOW })
    await claim('one')
    const chunk = { owner: 'one', position: job.position, first: 0, type: 'internal', problem: 'why', nowMs: NOW }
    expect(await store.giveUpChunk({ ...chunk, owner: 'two' })).toBe(false)
    expect(await store.giveUpChunk(chunk)).toBe(true)
    expect(await store.giveUpChunk(chunk)).toBe(false)
    expect(await store.jobResults({ position: job.position, from: 1 })).toMatchObject({ operations: 2, problem: 'why' })
    expect(await claim('one')).toMatchObject({ first: 2 })
    await finish('one', job.position, 2, 'a\nb\n')
    const ended = { state: 'done', done: 4, failed: 2, errors: { internal: 2 } }
    expect(await store.readJob({ id: job.id, account: 'l' })).toMatchObject(ended)
  })

  const EACH = { attest: 'each', submitOnchain: true } as const
  const MERKLE = { attest: 'merkle', submitOnchain: true } as const
  const pauses = { firstPauseMs: 60_000, maxPauseMs: 60_000 }
  const noPause = { firstPauseMs: 0, maxPauseMs: 0 }
  const postpone = (position: number, first: number, more: { hasProgress: boolean; firstPauseMs: number }) =>
    store.postponeJob({ position, chunk: { owner: 'one', first }, maxPauseMs: 60_000, ...more })
  const keep = (position: number, first: number, lines: string, owner = 'one') =>
    store.keepComputed({ owner, position, first, stored: bytes(lines), errors: { undecided: 1 } })

  it('keeps results until they are submitted, one chunk of a job at a time', async () => {
    const job = await newJob('n', undefined, EACH)
    const { position } = job
    for (const first of [0, 1]) await append(job, first, 1)
    expect(await claim('one')).toMatchObject({ first: 0, computed: undefined })
    expect(await claim('two')).toBeUndefined()
    expect(await keep(position, 0, 'results', 'two')).toBe(false)
    expect(await keep(position, 0, 'results')).toBe(true)
    expect(await keep(position, 0, 'results')).toBe(true) // after an answer that was lost
    expect(await store.jobResults({ position, from: 0 })).toMatchObject({ stored: undefined })
    // The process ends. Another one submits the same results.
    await store.releaseChunks({ owner: undefined })
    const taken = await claim('two')
    expect(taken).toMatchObject({ first: 0, attempts: 2, computed: { errors: { undecided: 1 } } })
    expect([Buffer.from(taken!.computed!.stored).toString(), taken!.stored]).toEqual(['results', new Uint8Array(0)])
    expect(await finish('two', position, 0, 'submitted\n')).toBe(true)
    expect(await claim('two')).toMatchObject({ first: 1, computed: undefined })
    await cancelAll('n')
  })

  it('lets a job wait, longer each time without progress', async () => {
    const job = await newJob('o', undefined, EACH)
    const { position } = job
    await append(job, 0, 1)
    await claim('one')
    await keep(position, 0, 'results')
    const pauseSeconds = async () => {
      const sql = 'select round(extract(epoch from waits_until - now()))::int as seconds from job where position = $1'
      const [row] = await database.reads.query(sql, [position])
      return row!['seconds']
    }
    const measured: unknown[] = []
    for (const hasProgress of [false, false, false, true, false, false, false, false, false, false]) {
      await postpone(position, 0, { hasProgress, firstPauseMs: 2000 })
      measured.push(await pauseSeconds())
    }
    expect(measured).toEqual([2, 4, 8, 2, 4, 8, 16, 32, 60, 60])
    expect(await claim('one')).toBeUndefined()
    await postpone(position, 0, { hasProgress: true, firstPauseMs: 0 })
    // The attempt did not count.
    expect(await claim('one')).toMatchObject({ first: 0, attempts: 1 })
    await cancelAll('o')
    await finish('one', position, 0, 'end\n')
  })

  it('ends the chunks of a cancelled job whose results may be submitted already', async () => {
    const job = await newJob('p', undefined, EACH)
    const { position } = job
    for (const first of [0, 1]) await append(job, first, 1)
    await claim('one')
    await keep(position, 0, 'results')
    await postpone(position, 0, { hasProgress: true, firstPauseMs: 0 })
    await store.cancelJob({ id: job.id, account: 'p', nowMs: NOW })
    while (await store.pruneJobs({ keepMs: DAY_MS, maxBytes: 1e9, maxAccountBytes: 1e9, nowMs: NOW }));
    expect(await claim('one')).toMatchObject({ first: 0, computed: {} })
    expect(await finish('one', position, 0, 'end\n')).toBe(true)
    expect(await claim('one')).toBeUndefined()
    expect(await store.readJob({ id: job.id, account: 'p' })).toMatchObject({ state: 'cancelled', done: 1 })
  })

  it('gives out the root of each job that is done until its submission is noted', async () => {
    const claimRoot = () => store.claimRoot({ leaseMs: 60_000 })
    const plain = await newJob('q', undefined, { attest: 'merkle' })
    const cancelled = await newJob('q', undefined, MERKLE)
    const jobs = [await newJob('q', 'first', MERKLE), await newJob('q', 'second', MERKLE)]
    expect(await claimRoot()).toBeUndefined()
    await store.cancelJob({ id: cancelled.id, account: 'q', nowMs: NOW })
    for (const { position } of [plain, ...jobs]) await store.endJobInput({ position, nowMs: NOW + 5 })
    const [first, second] = [await claimRoot(), await claimRoot()]
    expect(first).toEqual({
      position: jobs[0]!.position,
      id: jobs[0]!.id,
      account: 'q',
      options: { chainId: 84532, attest: 'merkle', submitOnchain: true, errorTypeBase: '/errors' },
      updatedMs: NOW + 5,
    })
    expect(second!.id).toBe(jobs[1]!.id)
    expect(await claimRoot()).toBeUndefined()
    // A process that had no room for it says when it comes again. Meanwhile it is not deleted to make room.
    await store.postponeJob({ position: first!.position, hasProgress: false, ...noPause })
    await store.postponeJob({ position: second!.position, hasProgress: false, ...pauses })
    await prune(0, NOW + 6)
    expect(await claimRoot()).toMatchObject({ id: first!.id })
    const payload = { kind: 'merkle-root', chainId: 84532, schema: '0x1', recipient: '0x2', data: '0x3' } as const
    const submission = { id: 'root of q', account: 'q', idempotencyKey: 'k', sender: '0x4', payload, gas: 1 } as const
    const limits = { maxQueued: 9, maxQueuedPerKey: 9, gasPerDay: 1e9, gasPerDayOfAll: 1e9, nowMs: NOW }
    await store.submit({ submissions: [{ ...submission, job: first!.position }], ...limits })
    await store.settleRoot({ position: first!.position, submissionId: submission.id })
    await store.settleRoot({ position: second!.position, error: 'why' })
    const [last, one] = await store.listJobs({ account: 'q', limit: 9 })
    expect(one).toMatchObject({ submission: { id: submission.id, status: 'queued' }, updatedMs: NOW + 5 })
    expect(last).toMatchObject({ submission: undefined, submissionError: 'why' })
    expect(await claimRoot()).toBeUndefined()
    // Another option is another job.
    const again = { id: 'new', account: 'q', idempotencyKey: 'first', maxOpen: 100, nowMs: NOW }
    const { submitOnchain, ...others } = jobs[0]!.options
    expect(submitOnchain).toBe(true)
    expect(await store.createJob({ ...again, options: jobs[0]!.options })).toMatchObject({ outcome: 'existing' })
    expect(await store.createJob({ ...again, options: others })).toMatchObject({ outcome: 'conflict' })
  })

  it.runIf(engine === 'postgres')('never waits for a chunk while it deletes', async () => {
    await pruneAll()
    const job = await doneJob('m', 1, NOW)
    // As a process that stores results does: it locks the chunk, and later the job.
    await database.transaction(async (session) => {
      await session.query('select 1 from job_chunk where job = $1 for update', [job.position])
      await pruneAll()
      expect(await left('m')).toEqual([])
      await session.query('select 1 from job where position = $1 for update', [job.position])
    })
    await pruneAll()
    const rows = await database.reads.query('select 1 from job where position = $1', [job.position])
    expect(rows).toEqual([])
  })
})
