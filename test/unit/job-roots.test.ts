import { expect, it } from 'vitest'
import { ProblemError, problemAt } from '../../src/base/problem.ts'
import { RootSubmitter } from '../../src/service/jobs/roots.ts'
import { eventually } from '../eventually.ts'

const JOB = {
  position: 7,
  id: 'j',
  account: 'a',
  options: { chainId: 84532, recipient: undefined, attest: 'merkle', submitOnchain: true, errorTypeBase: '' },
  updatedMs: 1_800_000_000_999,
} as const
const SCHEMA = `0x${'5c'.repeat(32)}`
const ROOT = `0x${'ab'.repeat(32)}`
const POSTPONED = { position: 7, hasProgress: false, firstPauseMs: 1000, maxPauseMs: 60_000 }

/** Lets the submitter take one job. @returns what it did with the job at the end, and what it submitted */
async function submitOne({ leafCount = 3, error }: { leafCount?: number; error?: Error }) {
  const asked: unknown[] = []
  const submitted: unknown[] = []
  let isTaken = false
  const answers: Readonly<Record<string, () => unknown>> = {
    claimRoot() {
      if (isTaken) return undefined
      isTaken = true
      return JOB
    },
    jobRoots: () => ({ firsts: [0], roots: new Uint8Array(32), leafCount }),
  }
  const parts = {
    config: { role: 'all', limits: { jobPollMs: 1, jobLeaseMs: 10_000, jobComputeMs: 1000 } },
    isStoreOpen: () => true,
    log: { info() {}, warn() {}, error() {} },
    now: () => 0,
    pool: { runLeaves: async () => ({ root: ROOT, proof: [] }) },
    chains: { defaultSchema: () => SCHEMA },
    submissions: {
      async storeForJob(...call: unknown[]) {
        submitted.push(call)
        if (error !== undefined) throw error
        return { submission: { id: 's' }, isNew: true }
      },
    },
    async ask(operation: string, argument: unknown) {
      const answer = answers[operation]
      if (answer !== undefined) return answer()
      asked.push([operation, argument])
      return undefined
    },
  }
  const submitter = new RootSubmitter(parts as never)
  await eventually(() => expect(asked).toHaveLength(1), { interval: 1 })
  submitter.close()
  return { asked: asked[0], submitted }
}

it('submits the root with the time at which the job ended', async () => {
  const { asked, submitted } = await submitOne({})
  expect(asked).toEqual(['settleRoot', { position: 7, submissionId: 's' }])
  const word = (value: number) => value.toString(16).padStart(64, '0')
  const data = `0x${'ab'.repeat(32)}${word(3)}${word(1_800_000_000)}`
  const recipient = `0x${'0'.repeat(40)}`
  expect(submitted).toEqual([
    [
      { kind: 'merkle-root', chainId: 84532, schema: SCHEMA, recipient, data },
      { account: 'a', position: 7, id: 'j', operation: undefined },
    ],
  ])
})

it.each([
  ['a full queue', new ProblemError({ type: 'overloaded', detail: '' })],
  ['a database that is not available', new ProblemError({ type: 'database', detail: '' })],
  ['gas that is used up', new ProblemError({ type: 'rate-limited', detail: '' })],
  ['an account without money', problemAt('not-implemented', [], '', { code: 'no-funds' })],
  ['an error of its own', new TypeError('broken')],
])('tries again later after %s', async (_name, error) => {
  expect((await submitOne({ error })).asked).toEqual(['postponeJob', POSTPONED])
})

it('notes why a root is not submitted', async () => {
  const error = new ProblemError({ type: 'conflict', detail: 'it is another attestation' })
  const noted = ['settleRoot', { position: 7, error: 'it is another attestation' }]
  expect((await submitOne({ error })).asked).toEqual(noted)
  const { asked, submitted } = await submitOne({ leafCount: 0 })
  expect(asked).toEqual(['settleRoot', { position: 7, error: 'no operation of the job has a signed result' }])
  expect(submitted).toEqual([])
})
