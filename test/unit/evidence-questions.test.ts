import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { createEvidenceRunner } from '../../src/service/verify/evidence.ts'
import type { VerifyResult, VerifyTask } from '../../src/wire/evidence-messages.ts'

const TASK: VerifyTask = { kind: 'proof', body: new Uint8Array(10), nowSeconds: 0 }
const RESULT: VerifyResult = { ok: true, members: '' }
const overloaded = { data: { type: 'overloaded' } }

describe('an evidence task', () => {
  /** @param finishedMs time when the threads finish */
  function createRunner(finishedMs: number) {
    let nowMs = 0
    const runVerify = async () => {
      nowMs = finishedMs
      return RESULT
    }
    return createEvidenceRunner(readConfig({}, 1), { runVerify }, () => nowMs)
  }

  it('is answered before its deadline', async () => {
    await expect(createRunner(999)(TASK, { client: undefined, aborted: false, deadlineMs: 1000 })).resolves.toBe(RESULT)
  })

  it('is rejected from its deadline on, whatever the result, because the client already got an error', async () => {
    await expect(
      createRunner(1000)(TASK, { client: undefined, aborted: false, deadlineMs: 1000 }),
    ).rejects.toMatchObject(overloaded)
  })

  it('is rejected when the client has disconnected', async () => {
    await expect(createRunner(1)(TASK, { client: undefined, aborted: true, deadlineMs: 1000 })).rejects.toMatchObject(
      overloaded,
    )
  })
})
