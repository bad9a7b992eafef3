import { describe, expect, it } from 'vitest'
import { ProblemError, type ProblemType, problemAt } from '../../src/base/problem.ts'
import { type JobSubmission, mayBeAccepted } from '../../src/service/chains/submissions.ts'
import { rootRequest, SubmissionDelay, submitLines, submitsEach } from '../../src/service/jobs/submit.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'

const OPTIONS = {
  chainId: 84532,
  recipient: undefined,
  attest: 'each',
  submitOnchain: true,
  errorTypeBase: '',
} as const
const CHUNK = { job: { position: 7, id: 'j', options: OPTIONS }, account: 'a', first: 100, operations: 3 }
const RECIPIENT = '0xAbCdEF0000000000000000000000000000000000'
const number = `{"id":"a\\n","result":1,"units":"meters","schema":"0x01","recipient":"${RECIPIENT}","data":"0x02","resultSignature":{}}`
const failed = '{"id":5,"error":{"status":400}}'
const predicate = `{"result":true,"schema":"0x03","recipient":"${RECIPIENT}","data":"0x04","resultSignature":{}}`
const computed = { lines: Buffer.from(`${number}\n${failed}\n${predicate}\n`), errors: { 'invalid-input': 1 } }

/** Submits the three lines. @param store returns the id of a submission, or undefined if the job has ended */
async function submit(store: (operation: number) => string | undefined, isNew = true) {
  const asked: [AttestationPayload, JobSubmission][] = []
  const submissions = {
    async storeForJob(payload: AttestationPayload, owner: JobSubmission) {
      asked.push([payload, owner])
      const id = store(owner.operation!)
      if (id === undefined) return undefined
      const unknown = { transactionHash: undefined, blockNumber: undefined, timeSeconds: undefined, uid: undefined }
      return { submission: { id, chainId: 84532, status: 'queued', ...unknown, error: undefined }, isNew } as const
    },
  }
  const problemJson = (_job: unknown, { type }: { readonly type: string }) => `{"type":"${type}"}`
  const config = { limits: { maxJsonDepth: 16 } } as Parameters<typeof submitLines>[2]['config']
  const { lines, counts } = await submitLines(CHUNK, computed, { config, submissions, problemJson })
  return { lines: Buffer.from(lines).toString().split('\n'), counts: Object.fromEntries(counts), asked }
}

const refuse = (type: ProblemType) => () => {
  throw new ProblemError({ type, detail: 'no' })
}

describe('the lines of a job that submits each result', () => {
  it('have the submissions of their results', async () => {
    const { lines, counts, asked } = await submit((operation) => `s${operation}`)
    const member = (id: string) => `,"submission":{"id":"${id}","status":"queued","chainId":84532}}`
    expect(lines).toEqual([number.slice(0, -1) + member('s100'), failed, predicate.slice(0, -1) + member('s102'), ''])
    expect(counts).toEqual({ 'invalid-input': 1 })
    const owner = { account: 'a', position: 7, id: 'j' }
    const common = { chainId: 84532, recipient: RECIPIENT.toLowerCase() }
    expect(asked).toEqual([
      [
        { kind: 'numeric', schema: '0x01', data: '0x02', ...common },
        { ...owner, operation: 100 },
      ],
      [
        { kind: 'boolean', schema: '0x03', data: '0x04', ...common },
        { ...owner, operation: 102 },
      ],
    ])
  })

  it('stay as they are when the job has ended', async () => {
    const { lines } = await submit(() => undefined)
    expect(lines).toEqual([number, failed, predicate, ''])
  })

  it.each(['rate-limited', 'not-implemented', 'conflict'] as const)('have the problem %s', async (type) => {
    const { lines, counts } = await submit(refuse(type))
    const error = `"error":{"type":"${type}"}}`
    expect(lines).toEqual([`{"id":"a\\n",${error}`, failed, `{${error}`, ''])
    expect(counts).toEqual({ 'invalid-input': 1, [type]: 2 })
  })

  it.each(['overloaded', 'database'] as const)('are submitted later after %s', async (type) => {
    const delay = await submit((operation) => (operation === 100 ? 's' : refuse(type)())).catch((error) => error)
    expect(delay).toBeInstanceOf(SubmissionDelay)
    expect(delay.hasProgress).toBe(true)
    const known = await submit((operation) => (operation === 100 ? 's' : refuse(type)()), false).catch((error) => error)
    expect(known.hasProgress).toBe(false)
  })

  it('do not hide any other error', async () => {
    const broken = submit(() => {
      throw new TypeError('broken')
    })
    await expect(broken).rejects.toThrow(TypeError)
  })
})

describe('a submission that was rejected', () => {
  it.each([
    [new ProblemError({ type: 'overloaded', detail: '' }), true],
    [new ProblemError({ type: 'database', detail: '' }), true],
    [new ProblemError({ type: 'rate-limited', detail: '' }), true],
    [problemAt('not-implemented', ['options'], '', { code: 'no-funds' }), true],
    [problemAt('not-implemented', ['options'], '', { code: 'no-submission' }), true],
    [new ProblemError({ type: 'conflict', detail: '' }), false],
    [new ProblemError({ type: 'database', detail: '' }, { cause: new StoreFault('refused', '') }), false],
    [new ProblemError({ type: 'database', detail: '' }, { cause: new StoreFault('unavailable', '') }), true],
    [new TypeError('broken'), false],
  ])('may be accepted later: %s', (error, expected) => {
    expect(mayBeAccepted(error)).toBe(expected)
  })
})

it('submits one by one only what is attested one by one', () => {
  const [each, merkle] = ['each', 'merkle'] as const
  expect(submitsEach({ attest: each, submitOnchain: true })).toBe(true)
  expect(submitsEach({ attest: each })).toBe(false)
  expect(submitsEach({ attest: merkle, submitOnchain: true })).toBe(false)
})

it('attests a root for the recipient of the job, in lower case', () => {
  const tree = { root: '0x05', leafCount: 2 } as const
  const request = (recipient: string | undefined) => rootRequest({ options: { ...OPTIONS, recipient } }, tree, 9)
  expect(request(RECIPIENT)).toEqual({ chainId: 84532, recipient: RECIPIENT.toLowerCase(), timestampSeconds: 9, tree })
  expect(request(undefined).recipient).toBe(`0x${'0'.repeat(40)}`)
})
