import { describe, expect, it } from 'vitest'
import { type ProblemData, ProblemError } from '../../src/base/problem.ts'
import { readConfig } from '../../src/config/config.ts'
import { createSubmissionService, type SubmissionServiceParts } from '../../src/service/chains/submissions.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import { accountSubject } from '../../src/wire/usage-messages.ts'

const CHAINS = [84532, 8453]
const WALLET = accountSubject(`eip155:0:0x${'12'.repeat(20)}`)
const KEY = `key:${'34'.repeat(32)}`
const OF_QUERY = { pointer: ['submitOnchain'], otherWay: 'do this' }

/** @param outcome of every submission that reaches the store */
function createService(env: Record<string, string> = {}, state = 'ready', outcome = 'all-spent') {
  const limits: Record<string, unknown>[] = []
  const parts = {
    config: readConfig({ ENABLE_ONCHAIN_SUBMIT: '1', ...env }, 1),
    relay: { state: (chainId: number) => (CHAINS.includes(chainId) ? { state } : undefined), chainIds: CHAINS },
    store: {
      untilOpen: async () => {},
      ask: async (_operation: string, { submissions, ...others }: { submissions: readonly unknown[] }) => {
        limits.push(others)
        return submissions.map(() => ({ outcome }))
      },
    },
    signer: { address: `0x${'56'.repeat(20)}` },
    now: () => 0,
  }
  return { service: createSubmissionService(parts as unknown as SubmissionServiceParts), limits }
}

const caller = (account: string | undefined) => ({ account, tier: 'developer', idempotencyKey: 'k' }) as const
const payload = { kind: 'verify', chainId: 84532, data: '0x' } as unknown as AttestationPayload
const context = { client: 'one', aborted: false, deadlineMs: 60_000 }
const ofJob = (account: string) => ({ account, position: 1, id: 'job', operation: 0 })

function problemOf(run: () => unknown): ProblemData {
  try {
    run()
  } catch (error) {
    if (error instanceof ProblemError) return error.data
    throw error
  }
  throw new Error('nothing was refused')
}

const rejection = (promise: Promise<unknown>) =>
  promise.then(() => undefined).catch((error) => error.data as ProblemData)

describe('accounts of wallets', () => {
  it('submit nothing, with a key of the operator they do', async () => {
    const { service, limits } = createService()
    const expected = {
      type: 'forbidden',
      invalidParts: [{ code: 'wallet-account', pointer: '#/options/submitOnchain' }],
    }
    expect(problemOf(() => service.require(84532, caller(WALLET)))).toMatchObject(expected)
    expect(await rejection(service.store(payload, caller(WALLET), context))).toMatchObject(expected)
    // The setting may have changed since the job was created.
    expect(await rejection(service.storeForJob(payload, ofJob(WALLET)))).toMatchObject(expected)
    expect(limits).toEqual([])
    for (const account of [KEY, `token:${'78'.repeat(32)}`]) {
      service.require(84532, caller(account))
      expect(await rejection(service.storeForJob(payload, ofJob(account)))).toMatchObject({ type: 'overloaded' })
    }
  })

  it('submit if the operator allows it', async () => {
    const { service } = createService({ SUBMIT_WALLET_ACCOUNTS: '1' })
    service.require(84532, caller(WALLET))
    expect(await rejection(service.storeForJob(payload, ofJob(WALLET)))).toMatchObject({ type: 'overloaded' })
  })
})

describe('the gas of all accounts', () => {
  it('is by default ten times that of one', async () => {
    for (const [env, gasPerDay, gasPerDayOfAll] of [
      [{}, 20_000_000, 200_000_000],
      [{ SUBMIT_GAS_PER_DAY: '700000' }, 700_000, 7_000_000],
      [{ SUBMIT_GAS_PER_DAY_ALL: '5000000' }, 20_000_000, 5_000_000],
    ] as const) {
      const { service, limits } = createService(env)
      await rejection(service.store(payload, caller(KEY), context))
      expect(limits).toMatchObject([{ gasPerDay, gasPerDayOfAll }])
    }
  })

  it('is no fault of the client when it is used up: 503, and 429 for its own', async () => {
    const all = await rejection(createService().service.store(payload, caller(KEY), context))
    expect(all).toMatchObject({
      type: 'overloaded',
      retryAfterSeconds: 3600,
      detail: expect.stringContaining('all API'),
    })
    const own = await rejection(createService({}, 'ready', 'spent').service.store(payload, caller(KEY), context))
    expect(own).toMatchObject({ type: 'rate-limited', retryAfterSeconds: 3600 })
  })
})

describe('a refusal', () => {
  it('without a key names the header', () => {
    const { service } = createService()
    for (const nobody of [caller(undefined), { ...caller(KEY), tier: 'public' } as const]) {
      const { type, detail } = problemOf(() => service.require(84532, nobody))
      expect({ type, detail }).toEqual({ type: 'unauthorized', detail: expect.stringContaining('X-API-Key') })
    }
  })

  it('names the chains to which the service submits', () => {
    const part = (run: () => unknown) => problemOf(run).invalidParts![0]!
    expect(part(() => createService().service.require(1, caller(KEY)))).toEqual({
      pointer: '#/options/submitOnchain',
      code: 'no-submission',
      detail: 'this service does not submit attestations to chain 1, only to 84532, 8453',
      hint: 'leave out submitOnchain, and submit the delegated attestation of the response yourself',
    })
    const { service } = createService({ ENABLE_ONCHAIN_SUBMIT: '0' })
    expect(part(() => service.require(84532, caller(KEY))).detail).toContain('to chain 84532, nor to any other')
  })

  it('leads to the place of the option, with what works there', () => {
    const place = (service: ReturnType<typeof createService>['service'], chainId: number, account: string) => {
      const { code, pointer, hint } = problemOf(() => service.require(chainId, caller(account), OF_QUERY))
        .invalidParts![0]!
      expect(pointer).toBe('#/submitOnchain')
      return [code, hint]
    }
    expect(place(createService().service, 1, KEY)).toEqual(['no-submission', 'do this'])
    expect(place(createService({}, 'unfunded').service, 84532, KEY)).toEqual(['no-funds', 'do this'])
    expect(place(createService({ ENABLE_ONCHAIN_SUBMIT: '0' }).service, 84532, KEY)).toEqual([
      'no-submission',
      'do this',
    ])
    expect(place(createService().service, 84532, WALLET)[0]).toBe('wallet-account')
  })
})
