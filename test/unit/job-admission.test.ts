import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import type { JobCaller, JobService } from '../../src/service/jobs/job-services.ts'
import { createJobService } from '../../src/service/jobs/jobs.ts'
import { LOCAL_CALLER } from '../../src/service/request.ts'
import { StoreFault } from '../../src/wire/store-messages.ts'
import { eventually } from '../eventually.ts'

const LINE = new TextEncoder().encode(
  '{"op":"distance","from":{"type":"Point","coordinates":[0,1]},"to":{"type":"Point","coordinates":[2,3]}}\n',
)
const CONTEXT = { client: 'one', aborted: false, deadlineMs: Number.POSITIVE_INFINITY }
const ID = 'a'.repeat(32)
/** Operations that the runner asks for by itself. */
const OF_THE_RUNNER = ['claimChunk', 'holdChunks', 'releaseChunks', 'pruneJobs']

const WAYS = {
  'a JSON batch': (jobs, caller) => {
    const items = new TextDecoder().decode(LINE)
    return jobs.create(
      new TextEncoder().encode(`{"chainId":84532,"attest":"none","items":[${items}]}`),
      caller,
      CONTEXT,
    )
  },
  'an upload of lines': (jobs, caller) => ended(jobs.openUpload('attest=none', caller, CONTEXT, () => {})),
  'an upload that continues': (jobs, caller) => ended(jobs.continueUpload(ID, 'from=0', caller, CONTEXT, () => {})),
} satisfies Record<string, (jobs: JobService, caller: JobCaller) => Promise<unknown>>

function ended(upload: ReturnType<JobService['openUpload']>): Promise<unknown> {
  upload.take(LINE)
  upload.end(false)
  return upload.response
}

let jobs: JobService | undefined
afterEach(() => jobs?.close())

/** A service whose store answers nothing, and what it was asked for a client. */
function startJobs(more: object = {}) {
  const asked: string[] = []
  const store = {
    state: { isOpen: true },
    untilOpen: () => undefined,
    async ask(operation: string) {
      if (!OF_THE_RUNNER.includes(operation)) asked.push(operation)
      throw new StoreFault('unavailable', 'the store of this test answers nothing')
    },
  }
  const chains = { requireForBatch: () => {}, require: (id: number) => ({ id }) }
  const parts = { config: readConfig({}, 1), chains, now: Date.now, log: createLog('json', () => {}), ...more }
  jobs = createJobService(parts as never, store as never, new Metrics())
  return { jobs, asked }
}

/** A promise that the test settles, for the quota that other nodes are asked for. */
function pendingQuota() {
  let settle!: { resolve: () => void; reject: (error: Error) => void }
  const admitted = new Promise<void>((resolve, reject) => {
    settle = { resolve, reject }
  })
  return { caller: { account: 'key:1', tier: 'developer', errorTypeBase: '', admitted } satisfies JobCaller, ...settle }
}

describe.each(Object.entries(WAYS))('%s', (_name, send) => {
  it('waits for its quota, and stores nothing if that is used up', async () => {
    const { jobs, asked } = startJobs()
    const { caller, reject } = pendingQuota()
    const answer = send(jobs, caller)
    const rejected = expect(answer).rejects.toMatchObject({ data: { type: 'rate-limited' } })
    // Everything that does not wait for the quota happens meanwhile.
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toEqual([])
    reject(new ProblemError({ type: 'rate-limited', detail: 'the limit is reached' }))
    await rejected
    expect(asked).toEqual([])
  })

  it('is stored when its quota was granted', async () => {
    const { jobs, asked } = startJobs()
    const { caller, resolve } = pendingQuota()
    const rejected = expect(send(jobs, caller)).rejects.toMatchObject({ data: { type: 'overloaded' } })
    resolve()
    await eventually(() => expect(asked).toHaveLength(1))
    await rejected
  })
})

// Regression: outside production, requests of the own machine may have jobs without a key, and these could spend the operator's money.
it('is asked to submit by nobody, if the job has no API key', async () => {
  const payers: unknown[] = []
  const submissions = {
    require(_chainId: number, { account }: { readonly account: string | undefined }) {
      payers.push(account)
      throw new ProblemError({ type: 'unauthorized', detail: 'submitOnchain needs a key' })
    },
  }
  const { jobs, asked } = startJobs({ submissions })
  const caller = { account: LOCAL_CALLER, tier: 'internal', errorTypeBase: '' } as const
  const upload = ended(jobs.openUpload('chainId=84532&attest=merkle&submitOnchain=true', caller, CONTEXT, () => {}))
  await expect(upload).rejects.toMatchObject({ data: { type: 'unauthorized' } })
  expect([payers, asked]).toEqual([[undefined], []])
})
