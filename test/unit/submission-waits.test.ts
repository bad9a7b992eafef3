import { describe, expect, it } from 'vitest'
import type { Submission, SubmissionStatus } from '../../src/relay-messages.ts'
import { createSubmissionWaits } from '../../src/service/submission-waits.ts'

function submissionOf(id: string, status: SubmissionStatus = 'queued'): Submission {
  const nothing = { transactionHash: undefined, blockNumber: undefined, timeSeconds: undefined, uid: undefined }
  return { id, chainId: 1, status, error: undefined, ...nothing }
}

const NEVER = Number.POSITIVE_INFINITY
const here = { aborted: false }

function createWaits(read: (ids: readonly string[]) => Promise<readonly Submission[]>, maxWaiting = 100) {
  const questions: (readonly string[])[] = []
  let nowMs = 0
  const waits = createSubmissionWaits({
    read: (ids) => {
      questions.push(ids)
      return read(ids)
    },
    pollMs: 1,
    maxWaiting,
    now: () => nowMs++, // a millisecond passes with every look
  })
  return { waits, questions }
}

describe('waits for blocks', () => {
  it('ask the store once for all', async () => {
    let looks = 0
    const { waits, questions } = createWaits(async (ids) => {
      looks++
      return ids.map((id) => submissionOf(id, looks < 3 ? 'sent' : 'mined'))
    })
    const ids = Array.from({ length: 50 }, (_, index) => `${index % 25}`)
    const ended = await Promise.all(ids.map((id) => waits.wait(submissionOf(id), NEVER, here)))
    expect(ended.map(({ id, status }) => `${id} ${status}`)).toEqual(ids.map((id) => `${id} mined`))
    expect(questions).toHaveLength(3)
    expect(questions[0]).toHaveLength(25)
  })

  it('end with a failure, with their time, with their client and with the service', async () => {
    const { waits } = createWaits(async (ids) => ids.map((id) => submissionOf(id, id === 'bad' ? 'failed' : 'sent')))
    const gone = { aborted: false }
    const open = waits.wait(submissionOf('open'), NEVER, here)
    const leaving = waits.wait(submissionOf('leaving'), NEVER, gone)
    expect((await waits.wait(submissionOf('bad'), NEVER, here)).status).toBe('failed')
    expect((await waits.wait(submissionOf('late'), 20, here)).status).toBe('sent')
    gone.aborted = true
    expect((await leaving).status).toBe('sent')
    waits.close()
    expect((await open).id).toBe('open')
    expect((await waits.wait(submissionOf('later'), NEVER, here)).status).toBe('queued')
  })

  it('go on while the store does not answer', async () => {
    let looks = 0
    const { waits } = createWaits(async (ids) => {
      if (++looks < 4) throw new Error('the store is starting again')
      return ids.map((id) => submissionOf(id, 'mined'))
    })
    expect((await waits.wait(submissionOf('1'), NEVER, here)).status).toBe('mined')
  })

  it('are not begun for what is over, nor beyond their number', async () => {
    const { waits, questions } = createWaits(async () => [], 1)
    expect((await waits.wait(submissionOf('1', 'finalized'), NEVER, here)).status).toBe('finalized')
    void waits.wait(submissionOf('2'), NEVER, here)
    expect((await waits.wait(submissionOf('3'), NEVER, here)).status).toBe('queued')
    waits.close()
    expect(questions.flat()).not.toContain('3')
  })
})
