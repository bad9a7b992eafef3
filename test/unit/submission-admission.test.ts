import { describe, expect, it } from 'vitest'
import type { NewSubmission, SubmitOutcome } from '../../src/relay-messages.ts'
import { createSubmissionAdmission } from '../../src/service/submission-admission.ts'
import { StoreFault } from '../../src/store-messages.ts'

const settle = () => new Promise<void>((done) => setImmediate(done))
const context = { deadlineMs: Number.MAX_SAFE_INTEGER, aborted: false }
const NOW = Number.MAX_SAFE_INTEGER - 60_000

function submissionOf(index: number, account = 'one'): NewSubmission {
  return { id: `${account} ${index}`, account } as NewSubmission
}

/** A store that answers when the test says so. */
function createAdmission({ maxWaiting = 1000, maxTogether = 50 } = {}) {
  const batches: { readonly ids: readonly string[]; readonly end: (fault?: StoreFault) => Promise<void> }[] = []
  const admission = createSubmissionAdmission({
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

const idOf = (outcome: SubmitOutcome) => (outcome.outcome === 'taken' ? outcome.submission.id : outcome.outcome)

describe('the admission of submissions', () => {
  it('stores a burst in few transactions, one at a time, and answers each with its own outcome', async () => {
    const { batches, admit } = createAdmission()
    const admitted = Array.from({ length: 120 }, (_, index) => admit(submissionOf(index)))
    await settle()
    expect(batches.map(({ ids }) => ids.length)).toEqual([50])
    await batches[0]!.end()
    await batches[1]!.end()
    expect(batches.map(({ ids }) => ids.length)).toEqual([50, 50, 20])
    await batches[2]!.end()
    expect((await Promise.all(admitted)).map(idOf)).toEqual(Array.from({ length: 120 }, (_, index) => `one ${index}`))
  })

  it('refuses with 503 and Retry-After when its queue is full, and takes more once it is not', async () => {
    const { batches, admit } = createAdmission({ maxWaiting: 3, maxTogether: 1 })
    const first = admit(submissionOf(0))
    await settle()
    const queued = [1, 2, 3].map((index) => admit(submissionOf(index)))
    await expect(admit(submissionOf(4))).rejects.toMatchObject({
      data: { type: 'overloaded', retryAfterSeconds: expect.any(Number) },
    })
    await batches[0]!.end()
    const next = admit(submissionOf(5))
    for (let index = 1; index < 5; index++) await batches[index]!.end()
    expect((await Promise.all([first, ...queued, next])).map(idOf)).toEqual(
      [0, 1, 2, 3, 5].map((index) => `one ${index}`),
    )
  })

  it('gives each account its turn', async () => {
    const { batches, admit } = createAdmission({ maxTogether: 4 })
    for (let index = 0; index < 100; index++) void admit(submissionOf(index))
    void admit(submissionOf(0, 'two'))
    await settle()
    expect(batches[0]!.ids).toEqual(['one 0', 'two 0', 'one 1', 'one 2'])
  })

  it('does not store what nobody waits for any more', async () => {
    const { batches, admit } = createAdmission({ maxTogether: 1 })
    void admit(submissionOf(0))
    await settle()
    const left = expect(admit(submissionOf(1), { aborted: true })).rejects.toMatchObject({
      data: { type: 'overloaded' },
    })
    void admit(submissionOf(2))
    await batches[0]!.end()
    await left
    expect(batches.map(({ ids }) => ids)).toEqual([['one 0'], ['one 2']])
  })

  it('ends the wait of a request whose time is over', async () => {
    const { admit } = createAdmission()
    await expect(admit(submissionOf(0), { deadlineMs: NOW + 5 })).rejects.toMatchObject({
      data: { type: 'overloaded' },
    })
  })

  it('stores the others alone when the database refuses one of them', async () => {
    const { batches, admit } = createAdmission()
    const admitted = [0, 1].map((index) => admit(submissionOf(index)))
    const refused = expect(admitted[0]).rejects.toThrow('too long')
    await settle()
    await batches[0]!.end(new StoreFault('refused', 'a value is too long'))
    await batches[1]!.end(new StoreFault('refused', 'a value is too long'))
    await batches[2]!.end()
    await refused
    expect(idOf(await admitted[1]!)).toBe('one 1')
  })

  it('tells everybody of a transaction when the store is gone, and goes on with the next', async () => {
    const { batches, admit } = createAdmission()
    const gone = admit(submissionOf(0))
    await settle()
    const next = admit(submissionOf(1))
    void batches[0]!.end(new StoreFault('unavailable', 'gone'))
    await expect(gone).rejects.toThrow('gone')
    await settle()
    await batches[1]!.end()
    expect(idOf(await next)).toBe('one 1')
  })
})
