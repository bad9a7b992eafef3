import { describe, expect, it } from 'vitest'
import { ENGINES } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import type {
  NewSubmission,
  RelayAttempt,
  RelayStep,
  Submission,
  SubmitOutcome,
} from '../../src/wire/relay-messages.ts'
import type { RecordStore } from '../../src/wire/store-messages.ts'
import type { Hex } from '../../src/wire/values.ts'
import { openStoreForTests } from '../store-for-tests.ts'
import { addressOf, uidOf } from '../store-records.ts'

const SENDER = addressOf(77)
const NOW = 1_800_000_000_000
const LIMITS = { maxQueued: 100, maxQueuedPerKey: 100, gasPerDay: 10_000_000, gasPerDayOfAll: 1e12, nowMs: NOW }
const DAY_MS = 86_400_000
const BLOCK = { number: 50, hash: uidOf(50), timeSeconds: 1_800_000_000 }

describe.each(ENGINES)('submissions on %s', (engine) => {
  let database: Database
  let store: RecordStore
  /** Each test uses another chain. */
  let chainId = 0

  openStoreForTests(engine, (opened, ofDatabase) => {
    store = opened
    database = ofDatabase
  })

  const newSubmission = (index: number, changes: Partial<NewSubmission> = {}): NewSubmission => ({
    id: `${chainId}-${index}`,
    account: `account ${chainId}`,
    idempotencyKey: `key ${index}`,
    sender: SENDER,
    payload: { kind: 'verify', chainId, schema: uidOf(1), recipient: addressOf(2), data: `0x${uidOf(index).slice(2)}` },
    gas: 400_000,
    ...changes,
  })
  const put = (index: number, changes: Partial<NewSubmission> = {}, limits: Partial<typeof LIMITS> = {}) =>
    store.submit({ submissions: [newSubmission(index, changes)], ...LIMITS, ...limits }).then(([outcome]) => outcome!)
  const work = (maxItems = 40) => store.relayWork({ chainId, sender: SENDER, maxItems })
  const step = (change: RelayStep, nowMs = NOW) => store.relayStep({ chainId, sender: SENDER, change, nowMs })
  const read = async (...indexes: number[]) => {
    const submissions = await store.submissions(indexes.map((index) => `${chainId}-${index}`))
    return indexes.map((index) => submissions.find(({ id }) => id === `${chainId}-${index}`))
  }
  const forgetAll = () => database.transaction((session) => session.query('delete from submission'))
  const toIds = (...indexes: number[]) => indexes.map((index) => `${chainId}-${index}`)
  const attempt = (number: number): RelayAttempt => ({
    hash: uidOf(9000 + number),
    raw: `0x02${'ab'.repeat(number + 1)}`,
    gas: 500_000,
    maxFeePerGas: 2n ** 70n,
    maxPriorityFeePerGas: 1n,
    sentBlock: 40 + number,
  })
  const takenSubmission = (outcome: SubmitOutcome): Submission => {
    if (outcome.outcome !== 'taken') throw new Error(outcome.outcome)
    return outcome.submission
  }
  const mined = (nonce: number, uids: readonly Hex[], changes: Partial<typeof BLOCK> = {}) =>
    step({ step: 'mined', nonce, hash: uidOf(9000), block: { ...BLOCK, ...changes }, uids, gasUsed: 700_001 })

  it('accepts a payload once for each idempotency key of an account', async () => {
    chainId = 1
    const first = takenSubmission(await put(1))
    expect(first).toEqual({ id: '1-1', chainId: 1, status: 'queued' })
    expect(takenSubmission(await put(1, { id: 'another' }))).toEqual(first)
    const { kind, data } = newSubmission(1).payload
    const conflict = { outcome: 'conflict', stored: { kind, data } }
    expect(await put(1, { payload: newSubmission(2).payload })).toEqual(conflict)
    expect(await put(1, { payload: { ...newSubmission(1).payload, chainId: 9 } })).toEqual(conflict)
    expect(takenSubmission(await put(1, { id: 'other', account: 'other' })).id).toBe('other')
    expect((await work()).queued.map(({ id }) => id)).toEqual(['1-1', 'other'])
    expect((await work()).queued[0]!.payload).toEqual(newSubmission(1).payload)
    expect(await store.submissions(['1-1', 'nobody'])).toEqual([first])
    expect((await store.relayWork({ chainId: 2, sender: SENDER, maxItems: 40 })).queued).toEqual([])
    expect((await store.relayWork({ chainId: 1, sender: addressOf(1), maxItems: 40 })).queued).toEqual([])
  })

  it('accepts nothing of a job that was cancelled, and finds what was accepted before', async () => {
    chainId = 30
    const options = { chainId, recipient: undefined, attest: 'each', submitOnchain: true, errorTypeBase: '' } as const
    const job = { id: 'job', account: 'account', idempotencyKey: undefined, options, maxOpen: 9, nowMs: NOW }
    const created = await store.createJob(job)
    if (created.outcome === 'busy') throw new Error('busy')
    const ofJob = { job: created.job.position }
    expect(takenSubmission(await put(1, ofJob)).id).toBe('30-1')
    await store.cancelJob({ id: 'job', account: 'account', nowMs: NOW })
    expect(takenSubmission(await put(1, { ...ofJob, id: 'again' })).id).toBe('30-1')
    const outcomes = await store.submit({
      submissions: [newSubmission(2, ofJob), newSubmission(3), newSubmission(4, { job: 999_999 })],
      ...LIMITS,
    })
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['ended', 'taken', 'ended'])
    expect(await read(2, 4)).toEqual([undefined, undefined])
  })

  it.runIf(engine === 'postgres')('never accepts a submission after its job was cancelled', async () => {
    chainId = 31
    const options = { chainId, recipient: undefined, attest: 'each', submitOnchain: true, errorTypeBase: '' } as const
    const job = { id: 'raced', account: 'account', idempotencyKey: undefined, options, maxOpen: 9, nowMs: NOW }
    const created = await store.createJob(job)
    if (created.outcome === 'busy') throw new Error('busy')
    // The submission waits for the end of a cancellation that has begun before it.
    const late = await database.transaction(async (session) => {
      await session.query("update job set state = 'cancelled' where id = 'raced'")
      const pending = put(1, { job: created.job.position })
      expect(await Promise.race([pending, new Promise((resolve) => setImmediate(() => resolve('waits')))])).toBe(
        'waits',
      )
      return { pending }
    })
    expect(await late.pending).toEqual({ outcome: 'ended' })
  })

  it('accepts no gas beyond the budget of all accounts, whatever their chains and senders', async () => {
    await forgetAll()
    const ofAll = { gasPerDayOfAll: 400_000 * 3 }
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        chainId = 26 + (index % 3)
        return put(index, { account: `other ${index}`, sender: addressOf(80 + (index % 2)) }, ofAll)
      }),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toHaveLength(3)
    expect(outcomes.filter(({ outcome }) => outcome === 'all-spent')).toHaveLength(9)
    // In one database transaction each one counts for the next.
    await forgetAll()
    const together = Array.from({ length: 5 }, (_, index) => newSubmission(index, { account: `one of ${index}` }))
    const more = await store.submit({ submissions: together, ...LIMITS, ...ofAll })
    expect(more.map(({ outcome }) => outcome)).toEqual(['taken', 'taken', 'taken', 'all-spent', 'all-spent'])
    // The limit of the account is the first, because the client can do something about it.
    expect(await put(9, { account: 'one of 0' }, { ...ofAll, gasPerDay: 400_000 })).toEqual({ outcome: 'spent' })
  })

  it('waits for a submission of the same account, and for one to the same sender of a chain', async () => {
    const [account, sender] = ['one account', addressOf(78)]
    const tight = { gasPerDay: 400_000 * 3 }
    const outcomes = await Promise.all(
      Array.from({ length: 24 }, (_, index) => {
        chainId = 22 + (index % 3)
        return put(index, { account, sender }, tight)
      }),
    )
    expect(outcomes.filter(({ outcome }) => outcome === 'taken')).toHaveLength(3)
    chainId = 25
    const others = await Promise.all(
      Array.from({ length: 24 }, (_, index) => put(index, { account: `separate ${index}`, sender }, { maxQueued: 5 })),
    )
    expect(others.filter(({ outcome }) => outcome === 'taken')).toHaveLength(5)
  })

  it('accepts equal concurrent requests once, and no gas beyond the budget', async () => {
    chainId = 2
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, index) => put(5, { id: `2-${index}` })))
    expect(new Set(outcomes.map((outcome) => takenSubmission(outcome).id)).size).toBe(1)
    const tight = { gasPerDay: 400_000 * 6 }
    const others = await Promise.all(Array.from({ length: 20 }, (_, index) => put(100 + index, {}, tight)))
    expect(others.filter(({ outcome }) => outcome === 'taken')).toHaveLength(5)
    expect(others.filter(({ outcome }) => outcome === 'spent')).toHaveLength(15)
    // A known submission costs nothing again.
    expect((await put(5, {}, tight)).outcome).toBe('taken')
  })

  // Regression: the budget was full again after a day, and a queue that stood still for a week was then sent for the gas of seven days.
  it('counts submissions until they are in a block, and for a day after that', async () => {
    chainId = 34
    const [days, later] = [NOW + 9 * DAY_MS, NOW + 10 * DAY_MS]
    const tight = { gasPerDay: 400_000 * 3 }
    for (const index of [0, 1, 2]) expect((await put(index, {}, tight)).outcome).toBe('taken')
    expect((await put(3, {}, { ...tight, nowMs: days })).outcome).toBe('spent')
    expect(await step({ step: 'begin', nonce: 0, ids: toIds(0, 1), attempt: attempt(0) }, NOW)).toBe(true)
    expect((await put(3, {}, { ...tight, nowMs: days })).outcome).toBe('spent')
    const block = { step: 'mined', nonce: 0, hash: uidOf(9000), block: BLOCK, uids: [uidOf(1), uidOf(2)] } as const
    expect(await step({ ...block, gasUsed: 800_000 }, days)).toBe(true)
    expect((await put(3, {}, { ...tight, nowMs: later - 1 })).outcome).toBe('spent')
    // Only the one that still waits counts a day after the block.
    const outcomes: string[] = []
    for (const index of [3, 4, 5]) outcomes.push((await put(index, {}, { ...tight, nowMs: later })).outcome)
    expect(outcomes).toEqual(['taken', 'taken', 'spent'])
  })

  it('counts what one that failed long ago has used, when it is queued again', async () => {
    chainId = 35
    const tight = { gasPerDay: 400_000 * 2 }
    await put(0, {}, tight)
    await step({ step: 'begin', nonce: 0, ids: toIds(0), attempt: attempt(0) })
    await step({ step: 'reverted', nonce: 0, hash: uidOf(9000), block: BLOCK })
    await step({ step: 'lost', nonce: 0, maxAttempts: 1, error: 'x' })
    const later = NOW + 2 * DAY_MS
    const again = { submissions: [newSubmission(0), newSubmission(1)], ...LIMITS, ...tight, nowMs: later }
    expect((await store.submit(again)).map(({ outcome }) => outcome)).toEqual(['taken', 'spent'])
    expect((await put(1, {}, { ...tight, nowMs: later })).outcome).toBe('spent')
  })

  it('counts the gas of reverted transactions, also for failed submissions that are retried', async () => {
    chainId = 31
    const tight = { gasPerDay: 400_000 * 3 }
    const begin = (nonce: number) => step({ step: 'begin', nonce, ids: toIds(0), attempt: attempt(0) })
    const lose = (nonce: number) => step({ step: 'lost', nonce, maxAttempts: 2, error: 'x' })
    await put(0, {}, tight)
    // Another transaction used the first nonce, which costs nothing. Then ours reverts, so the submission fails.
    await begin(0)
    await lose(0)
    await begin(1)
    await step({ step: 'reverted', nonce: 1, hash: uidOf(9000), block: BLOCK })
    await lose(1)
    expect(await read(0)).toMatchObject([{ status: 'failed' }])
    expect((await put(1, {}, tight)).outcome).toBe('taken')
    // One reverted, one queued, and the first request again: a fourth exceeds the budget.
    expect((await put(0, {}, tight)).outcome).toBe('taken')
    expect((await put(2, {}, tight)).outcome).toBe('spent')
  })

  it('counts only the queue of its own account', async () => {
    chainId = 32
    const former = { sender: addressOf(78) }
    for (let index = 0; index < 3; index++) await put(index, former, { maxQueued: 3 })
    // A change of the signing key does not affect those submissions; the new account has a separate queue.
    expect((await put(10, {}, { maxQueued: 3 })).outcome).toBe('taken')
  })

  it('rejects submissions beyond the queue', async () => {
    chainId = 3
    for (let index = 0; index < 3; index++) expect((await put(index, {}, { maxQueued: 3 })).outcome).toBe('taken')
    expect(await put(3, {}, { maxQueued: 3 })).toEqual({ outcome: 'full' })
    expect((await put(2, {}, { maxQueued: 3 })).outcome).toBe('taken')
  })

  it('leaves places of the queue to other accounts when one has its share', async () => {
    chainId = 33
    const share = { maxQueued: 4, maxQueuedPerKey: 2 }
    for (let index = 0; index < 2; index++) expect((await put(index, {}, share)).outcome).toBe('taken')
    expect(await put(2, {}, share)).toEqual({ outcome: 'share' })
    expect((await put(2, { account: 'another' }, share)).outcome).toBe('taken')
  })

  it('takes submissions from the queue through a transaction to finality', async () => {
    chainId = 4
    for (let index = 0; index < 5; index++) await put(index)
    expect(await work(2)).toMatchObject({ queued: [{ id: '4-0' }, { id: '4-1' }], open: [], nextNonce: undefined })
    expect(await step({ step: 'begin', nonce: 7, ids: toIds(3, 1), attempt: attempt(0) })).toBe(true)
    expect(await read(1, 2, 3)).toMatchObject([{ status: 'sent' }, { status: 'queued' }, { status: 'sent' }])
    expect(await step({ step: 'raise', nonce: 7, attempts: 1, attempt: attempt(1) })).toBe(true)
    expect(await work()).toEqual({
      queued: toIds(0, 2, 4).map((id) => ({ id, payload: newSubmission(Number(id.slice(2))).payload })),
      open: [
        {
          nonce: 7,
          itemCount: 2,
          state: 'sent',
          attempts: [attempt(0), attempt(1)],
          items: [newSubmission(3).payload, newSubmission(1).payload],
        },
      ],
      nextNonce: 8,
    })
    expect(await mined(7, [uidOf(33), uidOf(11)])).toBe(true)
    expect((await work()).open).toEqual([
      { nonce: 7, itemCount: 2, state: 'mined', hash: uidOf(9000), blockNumber: 50, blockHash: BLOCK.hash },
    ])
    expect(await read(1, 3)).toMatchObject([
      {
        status: 'mined',
        uid: uidOf(11),
        transactionHash: uidOf(9000),
        blockNumber: 50,
        timeSeconds: BLOCK.timeSeconds,
      },
      { status: 'mined', uid: uidOf(33) },
    ])
    await step({ step: 'finalized', blocks: [{ nonce: 7, hash: uidOf(49) }] }) // another block than it was read in
    expect(await read(1)).toMatchObject([{ status: 'mined' }])
    await step({ step: 'finalized', blocks: [{ nonce: 7, hash: BLOCK.hash }] })
    expect(await read(1, 3)).toMatchObject([{ status: 'finalized', uid: uidOf(11) }, { status: 'finalized' }])
    expect(await work()).toMatchObject({ open: [], nextNonce: 8 })
    // The daily budget counts the gas that was used: 350,001 each.
    const [row] = await database.reads.query(
      "select sum(gas)::int as gas from submission where chain_id = 4 and status = 'finalized'",
    )
    expect(row!['gas']).toBe(700_002)
  })

  it('assigns a nonce to one transaction, and a submission to one nonce', async () => {
    chainId = 5
    for (let index = 0; index < 4; index++) await put(index)
    const begin = (nonce: number, ...indexes: number[]) =>
      step({ step: 'begin', nonce, ids: toIds(...indexes), attempt: attempt(nonce) })
    expect(await begin(0, 0, 1)).toBe(true)
    expect(await begin(0, 2, 3)).toBe(false)
    expect(await begin(1, 1, 2)).toBe(false)
    expect(await begin(1, 2, 2)).toBe(false)
    expect(await begin(1, 99)).toBe(false)
    expect((await work()).queued.map(({ id }) => id)).toEqual(toIds(2, 3))
    expect((await work()).open).toHaveLength(1)
    const raise = () => step({ step: 'raise', nonce: 0, attempts: 1, attempt: attempt(5) })
    expect((await Promise.all([raise(), raise()])).filter(Boolean)).toHaveLength(1)
    expect(await step({ step: 'raise', nonce: 9, attempts: 0, attempt: attempt(5) })).toBe(false)
    // Any two of these use the same nonce or the same submission; the engine decides which one is first.
    chainId = 55
    for (let index = 0; index < 4; index++) await put(index)
    const races = [begin(0, 0, 1), begin(0, 2, 3), begin(1, 1, 2)]
    expect((await Promise.all(races)).filter(Boolean)).toHaveLength(1)
    chainId = 5
    // The number of UIDs must equal the number of submissions.
    expect(await mined(0, [uidOf(1)])).toBe(false)
    expect(await mined(0, [uidOf(1), uidOf(2), uidOf(3)])).toBe(false)
    expect(await mined(4, [])).toBe(false)
    expect(await mined(0, [uidOf(1), uidOf(2)])).toBe(true)
  })

  it('forgets a block that was replaced, and keeps the transaction', async () => {
    chainId = 6
    for (let index = 0; index < 3; index++) await put(index)
    await step({ step: 'begin', nonce: 0, ids: toIds(0, 1), attempt: attempt(0) })
    await mined(0, [uidOf(1), uidOf(2)])
    await step({ step: 'vanished', nonces: [0] })
    expect(await read(0)).toEqual([{ id: '6-0', chainId: 6, status: 'sent' }])
    expect((await work()).open).toMatchObject([{ nonce: 0, state: 'sent', attempts: [attempt(0)] }])
    await mined(0, [uidOf(3), uidOf(4)], { number: 51 })
    expect(await read(0)).toMatchObject([{ status: 'mined', uid: uidOf(3), blockNumber: 51 }])
    await step({ step: 'finalized', blocks: [{ nonce: 0, hash: BLOCK.hash }] })
    // A final submission does not change any more.
    await step({ step: 'vanished', nonces: [0] })
    expect(await mined(0, [uidOf(5), uidOf(6)])).toBe(false)
    expect(await step({ step: 'lost', nonce: 0, maxAttempts: 1, error: 'x' })).toBe(false)
    expect(await read(0)).toMatchObject([{ status: 'finalized', uid: uidOf(3) }])
  })

  it('requeues the submissions of a lost nonce at their old position, and fails them after maxAttempts', async () => {
    chainId = 7
    for (let index = 0; index < 3; index++) await put(index)
    const lose = async (nonce: number) => {
      await step({ step: 'begin', nonce, ids: toIds(0), attempt: attempt(0) })
      await step({ step: 'reverted', nonce, hash: uidOf(9000), block: BLOCK })
      expect(await read(0)).toMatchObject([{ status: 'sent' }])
      return step({ step: 'lost', nonce, maxAttempts: 3, error: 'it reverted' })
    }
    expect(await lose(0)).toBe(true)
    expect((await work()).queued.map(({ id }) => id)).toEqual(toIds(0, 1, 2))
    await lose(1)
    await lose(2)
    expect(await read(0)).toEqual([{ id: '7-0', chainId: 7, status: 'failed', error: 'it reverted' }])
    expect((await work()).queued.map(({ id }) => id)).toEqual(toIds(1, 2))
    // Nothing is on the chain, so the same request may be sent again.
    expect(takenSubmission(await put(0, { id: 'later' }))).toEqual({ id: '7-0', chainId: 7, status: 'queued' })
    expect((await work()).queued.map(({ id }) => id)).toEqual(toIds(0, 1, 2))
  })

  it('fails only queued submissions', async () => {
    chainId = 8
    for (let index = 0; index < 2; index++) await put(index)
    await step({ step: 'begin', nonce: 0, ids: toIds(0), attempt: attempt(0) })
    await step({ step: 'failed', ids: toIds(0, 1), error: 'it reverts' })
    expect(await read(0, 1)).toMatchObject([{ status: 'sent' }, { status: 'failed', error: 'it reverts' }])
  })

  it('deletes old finished submissions, and never forgets a nonce', async () => {
    chainId = 9
    for (let index = 0; index < 4; index++) await put(index)
    for (const nonce of [0, 1]) {
      await step({ step: 'begin', nonce, ids: toIds(nonce), attempt: attempt(nonce) })
      await mined(nonce, [uidOf(nonce)], { number: 50 + nonce })
    }
    await step({ step: 'failed', ids: toIds(2), error: 'x' })
    await step({ step: 'finalized', blocks: [{ nonce: 0, hash: BLOCK.hash }] })
    await step({ step: 'forget', beforeMs: NOW })
    expect((await read(0, 1, 2, 3)).every((submissions) => submissions !== undefined)).toBe(true)
    await step({ step: 'forget', beforeMs: NOW + 1 })
    expect((await read(0, 1, 2, 3)).map((submissions) => submissions?.status)).toEqual([
      undefined,
      'mined',
      undefined,
      'queued',
    ])
    expect((await work()).nextNonce).toBe(2)
    const [row] = await database.reads.query('select count(*)::int as attempts from relay_attempt where chain_id = 9')
    expect(row!['attempts']).toBe(1)
  })
})
