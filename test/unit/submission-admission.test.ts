import { describe, expect, it } from 'vitest'
import { SubmissionAdmission } from '../../src/service/chains/submission-admission.ts'
import type { NewSubmission, SubmitOutcome } from '../../src/wire/relay-messages.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'

const settle = () => new Promise<void>((done) => setImmediate(done))
const context = { deadlineMs: Number.MAX_SAFE_INTEGER, aborted: false }
const NOW = Number.MAX_SAFE_INTEGER - 60_000

function createSubmission(index: number, account = 'one'): NewSubmission {
  return { id: `${account} ${index}`, account } as NewSubmission
}

/** A store whose answers the test controls. */
function createAdmission({ maxWaiting = 1000, maxTogether = 50 } = {}) {
  const batches: { readonly ids: readonly string[]; readonly end: (fault?: StoreFault) => Promise<void> }[] = []
  const admission = new SubmissionAdmission({
    store: (submissions) =>
      new Promise((resolve, reject) => {
        const ids = submissions.map(({ id }) => id)
        const outcomes = ids.map((id) => ({ outcome: 'taken', submission: { id } }) as unknown as SubmitOutcome)
        batches.push({
          ids,
          async end(fault) {
            if (fault === undefined) resolve(outcomes)
            else reject(fault)
            await settle()
          },
        })
      }),
    maxWaiting,
    maxTogether,
    now: () => NOW,
  })
  return {
    batches,
    admit: (submission: NewSubmission, changes = {}) => admission.admit(submission, { ...context, ...changes }),
  }
}

const readId = (outcome: SubmitOutcome) => (outcome.outcome === 'taken' ? outcome.submission.id : outcome.outcome)

describe('the admission of submissions', () => {
  it('stores a burst in few transactions, one at a time, and answers each submission with its own outcome', async () => {
    const { batches, admit } = createAdmission()
    const admitted = Array.from({ length: 120 }, (_, index) => admit(createSubmission(index)))
    await settle()
    expect(batches.map(({ ids }) => ids.length)).toEqual([50])
    await batches[0]!.end()
    await batches[1]!.end()
    expect(batches.map(({ ids }) => ids.length)).toEqual([50, 50, 20])
    await batches[2]!.end()
    expect((await Promise.all(admitted)).map(readId)).toEqual(Array.from({ length: 120 }, (_, index) => `one ${index}`))
  })

  it('answers 503 with Retry-After while its queue is full, and accepts more afterwards', async () => {
    const { batches, admit } = createAdmission({ maxWaiting: 3, maxTogether: 1 })
    const first = admit(createSubmission(0))
    await settle()
    const queued = [1, 2, 3].map((index) => admit(createSubmission(index)))
    await expect(admit(createSubmission(4))).rejects.toMatchObject({
      data: { type: 'overloaded', retryAfterSeconds: expect.any(Number) },
    })
    await batches[0]!.end()
    const next = admit(createSubmission(5))
    for (let index = 1; index < 5; index++) await batches[index]!.end()
    expect((await Promise.all([first, ...queued, next])).map(readId)).toEqual(
      [0, 1, 2, 3, 5].map((index) => `one ${index}`),
    )
  })

  it('keeps a place for another account while one sends more than there are places', async () => {
    const { batches, admit } = createAdmission({ maxWaiting: 3, maxTogether: 1 })
    const flood = Array.from({ length: 10 }, (_, index) => admit(createSubmission(index)))
    const outcomes = Promise.allSettled(flood)
    const honest = admit(createSubmission(0, 'two'))
    await settle()
    for (let index = 0; index < 3; index++) await batches[index]!.end()
    expect(readId(await honest)).toBe('two 0')
    expect((await outcomes).filter(({ status }) => status === 'rejected').length).toBeGreaterThan(6)
  })

  it('takes submissions from each account in turn', async () => {
    const { batches, admit } = createAdmission({ maxTogether: 4 })
    const admitted = Array.from({ length: 100 }, (_, index) => admit(createSubmission(index)))
    admitted.push(admit(createSubmission(0, 'two')))
    await settle()
    expect(batches[0]!.ids).toEqual(['one 0', 'two 0', 'one 1', 'one 2'])
    for (let index = 0; index < batches.length; index++) await batches[index]!.end()
    await Promise.all(admitted)
  })

  it('does not store a submission whose client has left', async () => {
    const { batches, admit } = createAdmission({ maxTogether: 1 })
    const first = admit(createSubmission(0))
    await settle()
    const abandoned = expect(admit(createSubmission(1), { aborted: true })).rejects.toMatchObject({
      data: { type: 'overloaded' },
    })
    const last = admit(createSubmission(2))
    await batches[0]!.end()
    await abandoned
    expect(batches.map(({ ids }) => ids)).toEqual([['one 0'], ['one 2']])
    await batches[1]!.end()
    await Promise.all([first, last])
  })

  it('ends the wait of a request when its time is over', async () => {
    const { admit } = createAdmission()
    await expect(admit(createSubmission(0), { deadlineMs: NOW + 5 })).rejects.toMatchObject({
      data: { type: 'overloaded' },
    })
  })

  it('stores the others one by one when the database rejects one of them', async () => {
    const { batches, admit } = createAdmission()
    const admitted = [0, 1].map((index) => admit(createSubmission(index)))
    const rejection = expect(admitted[0]).rejects.toThrow('too long')
    await settle()
    await batches[0]!.end(new StoreFault('refused', 'a value is too long'))
    await batches[1]!.end(new StoreFault('refused', 'a value is too long'))
    await batches[2]!.end()
    await rejection
    expect(readId(await admitted[1]!)).toBe('one 1')
  })

  it('fails every submission of a transaction when the store is unavailable, and continues with the next', async () => {
    const { batches, admit } = createAdmission()
    const failed = admit(createSubmission(0))
    await settle()
    const next = admit(createSubmission(1))
    void batches[0]!.end(new StoreFault('unavailable', 'gone'))
    await expect(failed).rejects.toThrow('gone')
    await settle()
    await batches[1]!.end()
    expect(readId(await next)).toBe('one 1')
  })
})
