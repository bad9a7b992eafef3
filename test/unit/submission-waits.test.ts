import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { SubmissionStreams } from '../../src/service/chains/submission-streams.ts'
import { JoinedReads, SubmissionWaits } from '../../src/service/chains/submission-waits.ts'
import { createSubmissionService, type SubmissionServiceParts } from '../../src/service/chains/submissions.ts'
import type { EventSink } from '../../src/service/records/record-services.ts'
import type { RequestContext } from '../../src/service/request.ts'
import type { Submission, SubmissionStatus } from '../../src/wire/relay-messages.ts'
import { eventually } from '../eventually.ts'

function createSubmission(id: string, status: SubmissionStatus = 'queued'): Submission {
  const nothing = { transactionHash: undefined, blockNumber: undefined, timeSeconds: undefined, uid: undefined }
  return { id, chainId: 1, status, error: undefined, ...nothing }
}

const NEVER = Number.POSITIVE_INFINITY
const present = { aborted: false, client: 'one' }

function createWaits(
  read: (ids: readonly string[]) => Promise<readonly Submission[]>,
  maxWaiting = 100,
  maxWaitingPerClient = maxWaiting,
) {
  const polls: (readonly string[])[] = []
  let nowMs = 0
  const waits = new SubmissionWaits({
    read: (ids) => {
      polls.push(ids)
      return read(ids)
    },
    pollMs: 1,
    maxWaiting,
    maxWaitingPerClient,
    now: () => nowMs++, // a millisecond passes with every look
  })
  return { waits, polls }
}

describe('waits for submissions', () => {
  it('poll the store once for all of them', async () => {
    let reads = 0
    const { waits, polls } = createWaits(async (ids) => {
      reads++
      return ids.map((id) => createSubmission(id, reads < 3 ? 'sent' : 'mined'))
    })
    const ids = Array.from({ length: 50 }, (_, index) => `${index % 25}`)
    const ended = await Promise.all(ids.map((id) => waits.wait(createSubmission(id), NEVER, present)))
    expect(ended.map(({ id, status }) => `${id} ${status}`)).toEqual(ids.map((id) => `${id} mined`))
    expect(polls).toHaveLength(3)
    expect(polls[0]).toHaveLength(25)
  })

  it('end on failure, on timeout, when the client leaves and when the service closes', async () => {
    const { waits } = createWaits(async (ids) =>
      ids.map((id) => createSubmission(id, id === 'bad' ? 'failed' : 'sent')),
    )
    const departed = { aborted: false, client: 'one' }
    const open = waits.wait(createSubmission('open'), NEVER, present)
    const leaving = waits.wait(createSubmission('leaving'), NEVER, departed)
    expect((await waits.wait(createSubmission('bad'), NEVER, present)).status).toBe('failed')
    expect((await waits.wait(createSubmission('late'), 20, present)).status).toBe('sent')
    departed.aborted = true
    expect((await leaving).status).toBe('sent')
    waits.close()
    expect((await open).id).toBe('open')
    expect((await waits.wait(createSubmission('later'), NEVER, present)).status).toBe('queued')
  })

  it('continue while the store does not answer', async () => {
    let reads = 0
    const { waits } = createWaits(async (ids) => {
      if (++reads < 4) throw new Error('the store is starting again')
      return ids.map((id) => createSubmission(id, 'mined'))
    })
    expect((await waits.wait(createSubmission('1'), NEVER, present)).status).toBe('mined')
  })

  it('do not start for a final submission, nor beyond the maximum number', async () => {
    const { waits, polls } = createWaits(async () => [], 1)
    expect((await waits.wait(createSubmission('1', 'finalized'), NEVER, present)).status).toBe('finalized')
    void waits.wait(createSubmission('2'), NEVER, present)
    expect((await waits.wait(createSubmission('3'), NEVER, present)).status).toBe('queued')
    waits.close()
    expect(polls.flat()).not.toContain('3')
  })

  it('leave room for other clients when one repeats its request', async () => {
    let status: SubmissionStatus = 'sent'
    const { waits } = createWaits(async (ids) => ids.map((id) => createSubmission(id, status)), 4, 2)
    const own = [0, 1].map(() => waits.wait(createSubmission('1'), NEVER, present))
    expect((await waits.wait(createSubmission('1'), NEVER, present)).status).toBe('queued')
    const other = waits.wait(createSubmission('2'), NEVER, { aborted: false, client: 'two' })
    status = 'mined'
    expect((await Promise.all([...own, other])).map((ended) => ended.status)).toEqual(['mined', 'mined', 'mined'])
    // The places are free again.
    expect((await waits.wait(createSubmission('1'), NEVER, present)).status).toBe('mined')
  })
})

describe('streams of a submission', () => {
  const context = (client = 'one'): RequestContext => ({ client, aborted: false, deadlineMs: NEVER }) as RequestContext

  /** @param statuses what the store returns, one after the other; then always the last one. With `never` it does not answer */
  function createStreams(
    statuses: readonly SubmissionStatus[] | 'never',
    changed: Partial<Record<string, number>> = {},
  ) {
    let reads = 0
    const { waits } = createWaits((ids) =>
      statuses === 'never'
        ? new Promise(() => {})
        : Promise.resolve(ids.map((id) => createSubmission(id, statuses[Math.min(reads++, statuses.length - 1)]))),
    )
    const limits = { maxStreams: 3, maxStreamsPerClient: 2, streamHeartbeatMs: 50, streamLifeMs: 10_000, ...changed }
    let nowMs = 0
    const streams = new SubmissionStreams({ waits, limits, now: () => nowMs++ })
    const written: string[] = []
    const goneListeners: (() => void)[] = []
    const sink = {
      write: (text: string) => void written.push(text),
      tryWrite: (text: string) => void written.push(text),
      onGone: (listener: () => void) => void goneListeners.push(listener),
    } as unknown as EventSink
    const disconnect = () => {
      for (const listener of goneListeners) listener()
    }
    const open = (from = context(), find = async () => createSubmission('1')) => streams.run(find, from, sink)
    const states = () => written.flatMap((text) => /^event: submission\ndata: (.*)\n\n$/.exec(text)?.[1] ?? [])
    return { waits, open, written, disconnect, statuses: () => states().map((state) => JSON.parse(state).status) }
  }

  it('write each state once, until the final one', async () => {
    const { open, statuses } = createStreams(['queued', 'sent', 'sent', 'mined', 'mined', 'sent', 'mined', 'finalized'])
    await open()
    expect(statuses()).toEqual(['queued', 'sent', 'mined', 'sent', 'mined', 'finalized'])
  })

  it('write one state of a submission that has failed', async () => {
    const { open, statuses } = createStreams(['queued'])
    await open(context(), async () => createSubmission('1', 'failed'))
    expect(statuses()).toEqual(['failed'])
  })

  it('end when they are too old', async () => {
    const { open, statuses } = createStreams(['sent'], { streamLifeMs: 100 })
    await open()
    expect(statuses()).toEqual(['queued', 'sent'])
  })

  it('write heartbeats while the store does not answer, and end when their clients disconnect or the service stops', async () => {
    const { open, waits, written, disconnect } = createStreams('never', { streamHeartbeatMs: 1, maxStreams: 1 })
    const leaving = { ...context(), aborted: false }
    const left = open(leaving)
    await eventually(() => expect(written.filter((text) => text === ':\n\n').length).toBeGreaterThan(1))
    leaving.aborted = true
    disconnect()
    await left
    const stopped = open()
    waits.close()
    await stopped
  })

  it('are limited in number, by client and in all', async () => {
    const { open, waits } = createStreams(['sent'])
    const opened = [open(), open()]
    await expect(open()).rejects.toMatchObject({
      data: { type: 'overloaded', detail: expect.stringContaining('too many of your streams') },
    })
    opened.push(open(context('two')))
    await expect(open(context('three'))).rejects.toMatchObject({
      data: { detail: 'too many streams of submissions are open: end one, or try again', retryAfterSeconds: 10 },
    })
    waits.close()
    await Promise.all(opened)
    // An unknown submission gives its place back.
    for (let index = 0; index < 4; index++)
      await expect(open(context(), () => Promise.reject(new Error('unknown')))).rejects.toThrow('unknown')
    await open()
  })
})

describe('the first states of streams', () => {
  it('are read together while another query runs', async () => {
    const queries: string[][] = []
    const answers: (() => void)[] = []
    const reads = new JoinedReads((ids) => {
      queries.push([...ids])
      return new Promise((resolve) =>
        answers.push(() => resolve(ids.filter((id) => id !== 'x').map((id) => createSubmission(id)))),
      )
    })
    const found = [reads.find('1')]
    await eventually(() => expect(queries).toHaveLength(1))
    found.push(...['2', '3', '2', 'x'].map((id) => reads.find(id)))
    answers[0]!()
    await eventually(() => expect(answers).toHaveLength(2))
    answers[1]!()
    expect((await Promise.all(found)).map((submission) => submission?.id)).toEqual(['1', '2', '3', '2', undefined])
    expect(queries).toEqual([['1'], ['2', '3', 'x']])
  })

  it('are read again after a query has failed', async () => {
    let reads = 0
    const joined = new JoinedReads(async (ids) => {
      if (++reads === 1) throw new Error('the store is starting again')
      return ids.map((id) => createSubmission(id))
    })
    await expect(Promise.all([joined.find('1'), joined.find('2')])).rejects.toThrow('the store is starting again')
    expect((await joined.find('1'))?.id).toBe('1')
    expect(reads).toBe(2)
  })
})

describe('the state of a submission', () => {
  it('is read from the store in the line of the client who asks, and charged to it', async () => {
    const callers: unknown[] = []
    const store = {
      untilOpen: async (_deadlineMs: number, caller: unknown) => void callers.push(caller),
      ask: async (_operation: string, [id]: readonly string[], _deadlineMs: number, caller: unknown) => {
        callers.push(caller)
        return [createSubmission(id!)]
      },
    }
    const config = { ...readConfig({}, 1), submission: { maxUnstored: 1, pollMs: 1, maxQueued: 1 } }
    const parts = { config, store, now: Date.now } as unknown as SubmissionServiceParts
    const context = { client: 'one', costs: { charge() {} }, aborted: false, deadlineMs: NEVER }
    const { json } = await createSubmissionService(parts).submission('0'.repeat(32), context)
    expect(JSON.parse(json).status).toBe('queued')
    expect(callers).toEqual([context, context])
  })
})
