import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import type { VerifyResult, VerifyTask } from '../../src/evidence-messages.ts'
import { createEvidenceQuestions } from '../../src/service/evidence.ts'

const TASK: VerifyTask = { question: 'proof', body: new Uint8Array(10), nowSeconds: 0 }
const JUDGED: VerifyResult = { ok: true, members: '' }
const refusal = { data: { type: 'overloaded' } }

describe('a question about evidence', () => {
  /** @param judgedMs when the threads are done */
  function askAt(judgedMs: number) {
    let nowMs = 0
    const runVerify = async () => {
      nowMs = judgedMs
      return JUDGED
    }
    return createEvidenceQuestions(readConfig({}, 1), { runVerify }, () => nowMs)
  }

  it('is answered before its deadline', async () => {
    await expect(askAt(999)(TASK, { aborted: false, deadlineMs: 1000 })).resolves.toBe(JUDGED)
  })

  it('is refused from then on, whatever the evidence is, for the client was told so', async () => {
    await expect(askAt(1000)(TASK, { aborted: false, deadlineMs: 1000 })).rejects.toMatchObject(refusal)
  })

  it('is refused when the client left', async () => {
    await expect(askAt(1)(TASK, { aborted: true, deadlineMs: 1000 })).rejects.toMatchObject(refusal)
  })
})
