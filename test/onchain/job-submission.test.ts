import { Ajv2020 } from 'ajv/dist/2020.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import batchRequestSchema from '../../schemas/batch-request.schema.json' with { type: 'json' }
import batchSchema from '../../schemas/batch-response.schema.json' with { type: 'json' }
import computeRequestSchema from '../../schemas/compute-request.schema.json' with { type: 'json' }
import computeSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import inputSchema from '../../schemas/input.schema.json' with { type: 'json' }
import jobSchema from '../../schemas/job.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { decodeMerkleRoot } from '../../src/attest/data.ts'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient } from '../../src/client/client.ts'
import { verifyResult } from '../../src/client/verify/verify-result.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, LOUVRE, RECIPIENT } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const ajv = new Ajv2020({
  strict: false,
  schemas: [
    geometrySchema,
    proofSchema,
    verifySchema,
    problemSchema,
    computeSchema,
    computeRequestSchema,
    inputSchema,
    batchRequestSchema,
    batchSchema,
    jobSchema,
  ],
})
const isJob = ajv.getSchema('job.schema.json')!
const isJobAttestation = ajv.getSchema('job.schema.json#/$defs/JobAttestation')!
const isResult = ajv.getSchema('batch-response.schema.json#/$defs/BatchResult')!

// biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
type Loose = any

const PATH = '/compute/v0/jobs'
const distance = (index: number) => ({
  op: 'distance',
  id: index,
  from: EIFFEL_TOWER,
  to: { type: 'Point', coordinates: [2.4 + index / 10_000, 48.86] },
})
const lines = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `${JSON.stringify(distance(from + index))}\n`).join('')

/** Functions that use the jobs of a service with its developer's key. */
function jobsOf(service: TestService) {
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': service.developerKey, ...(init.headers as Record<string, string>) }
    return fetch(`${service.url}${PATH}${path}`, { ...init, headers })
  }
  const json = async (path: string, init?: RequestInit) => {
    const response = await ask(path, init)
    return { status: response.status, body: (await response.json()) as Loose }
  }
  const upload = (query: string, body: string) =>
    json(`?${query}`, { method: 'POST', headers: { 'content-type': 'application/x-ndjson' }, body })
  const state = async (id: string) => (await json(`/${id}`)).body
  const untilDone = (id: string) =>
    eventually(
      async () => {
        const job = await state(id)
        expect(job.state, JSON.stringify(job)).toBe('done')
        return job
      },
      { interval: 20 },
    )
  const results = async (id: string) =>
    (await (await ask(`/${id}/results`)).text())
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Loose)
  const submission = async (id: string) =>
    (await (await fetch(`${service.url}/verify/v0/submissions/${id}`)).json()) as Loose
  const untilMined = (id: string) =>
    eventually(
      async () => {
        const found = await submission(id)
        expect(found.status, JSON.stringify(found)).toMatch(/^(mined|finalized)$/)
        return found
      },
      { interval: 50 },
    )
  return { ask, json, upload, state, untilDone, results, untilMined }
}

const countAttestations = async (local: LocalChain, attester: string) =>
  (await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })).filter(({ topics }) =>
    topics[2]?.endsWith(attester.slice(2).toLowerCase()),
  ).length

describe.skipIf(skipReason() !== undefined)('jobs with submitOnchain', () => {
  let local: LocalChain
  let service: TestService
  let jobs: ReturnType<typeof jobsOf>
  let chainId: number
  const key = generatePrivateKey()

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    chainId = local.chain.id
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 20n })
    service = await startTestService({
      ...local.environment,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      RPC_TIMEOUT_MS: '5000',
      JOB_POLL_MS: '20',
      SUBMIT_POLL_MS: '50',
      RATE_LIMIT_DEVELOPER: '1000000000',
      SUBMIT_GAS_PER_DAY: '1000000000000',
      JOB_MAX_SUBMISSIONS: '300',
      // One key may have 30 of them.
      MAX_QUEUED_SUBMISSIONS: '120',
    })
    jobs = jobsOf(service)
    await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
  })
  afterAll(async () => {
    expect(await service?.stop()).toBe(0)
    await local?.stop()
  })
  const attestations = () => countAttestations(local, service.attester)

  it('attests one root when the job is done, under which each result can be proved', async () => {
    const before = await attestations()
    const query = `chainId=${chainId}&attest=merkle&submitOnchain=true&recipient=${RECIPIENT}`
    const created = await jobs.upload(query, `${lines(5000)}{"op":"area","geometry":1}\n`)
    expect(created, JSON.stringify(created.body)).toMatchObject({ status: 202, body: { submitOnchain: true } })
    const { id } = created.body
    await jobs.untilDone(id)
    const job = await eventually(async () => {
      const found = await jobs.state(id)
      expect(found.submission?.status).toBe('mined')
      return found
    })
    expect(isJob(job), JSON.stringify(isJob.errors)).toBe(true)
    const stored = await local.getAttestation(job.submission.uid)
    const { body } = await jobs.json(`/${id}/attestation`)
    expect(isJobAttestation(body), JSON.stringify(isJobAttestation.errors)).toBe(true)
    expect(body.submission).toEqual(job.submission)
    expect(stored).toMatchObject({
      schema: body.merkle.attestation.schema,
      data: body.merkle.attestation.data,
      recipient: RECIPIENT,
      attester: service.attester,
      time: BigInt(job.submission.time),
    })
    const root = decodeMerkleRoot(stored.data)
    if (!root.ok) throw new Error(root.reason)
    expect(root.value.leafCount).toBe(5000)
    const keccak = await createKeccak()
    const results = await jobs.results(id)
    for (const operation of [0, 4095, 4096, 4999]) {
      const { proof } = (await jobs.json(`/${id}/results/${operation}/proof`)).body
      const result = results[operation] as Parameters<typeof verifyMerkleProof>[0]
      expect(verifyMerkleProof(result, proof, root.value.merkleRoot, keccak), `${operation}`).toBe(true)
    }
    // Every later answer has the same data, and nothing is submitted again.
    await eventually(() => expect(Math.floor(Date.now() / 1000)).toBeGreaterThan(job.submission.time), { interval: 50 })
    const again = (await jobs.json(`/${id}/attestation`)).body
    expect(again.merkle.attestation.data).toBe(stored.data)
    expect(await attestations()).toBe(before + 1)
  })

  it('submits each result, more of them than one key may have in the queue', async () => {
    const before = await attestations()
    const foreign = [
      { op: 'distance', id: 'foreign', schema: `0x${'12'.repeat(32)}`, from: LOUVRE, to: EIFFEL_TOWER },
      { op: 'distance', id: 'other chain', chainId: 8453, from: LOUVRE, to: EIFFEL_TOWER },
      { op: 'relate', id: 'matrix', geometry1: LOUVRE, geometry2: EIFFEL_TOWER },
      { op: 'distance', id: 'salted', from: { input: LOUVRE, salt: 'random' }, to: EIFFEL_TOWER },
      { op: 'within', id: 'near', geometry: LOUVRE, target: EIFFEL_TOWER, radius: 10 },
    ]
    const body = lines(150) + foreign.map((item) => `${JSON.stringify(item)}\n`).join('')
    const created = await jobs.upload(`chainId=${chainId}&submitOnchain=true`, body)
    expect(created.status, JSON.stringify(created.body)).toBe(202)
    const job = await jobs.untilDone(created.body.id)
    expect(job).toMatchObject({ done: 155, failed: 4, errors: { 'invalid-input': 4 } })
    expect(isJob(job), JSON.stringify(isJob.errors)).toBe(true)
    const results = await jobs.results(job.id)
    const codes = results.slice(150).map(({ error }) => error?.errors[0].code)
    expect(codes).toEqual(['foreign-schema', 'other-chain', 'not-signed', 'unrepeatable-salt', undefined])
    const submitted = results.filter(({ error }) => error === undefined)
    for (const result of submitted) expect(isResult(result), JSON.stringify(isResult.errors)).toBe(true)
    const { checks } = await verifyResult(submitted[0], { attester: service.attester, chainId })
    expect(checks.filter(({ status }) => status === 'fail')).toEqual([])
    const mined = await jobs.untilMined(submitted[0].submission.id)
    const onChain = {
      attester: service.attester,
      rpcUrl: local.url,
      nowSeconds: submitted[0].resultSignature.deadline + 1,
    }
    const verdict = await verifyResult({ ...submitted[0], submission: mined }, onChain)
    expect(verdict.ok, JSON.stringify(verdict.checks)).toBe(true)
    expect(verdict.checks.find(({ id }) => id === 'on-chain')?.status).toBe('pass')
    const uids = new Set<string>()
    for (const { submission, schema, data } of submitted) {
      const { uid } = await jobs.untilMined(submission.id)
      expect(await local.getAttestation(uid)).toMatchObject({ schema, data, attester: service.attester })
      uids.add(uid)
    }
    expect(uids.size).toBe(151)
    expect(await attestations()).toBe(before + 151)
  })

  it('submits nothing more of a job that is cancelled, and keeps the results that were submitted', async () => {
    const before = await attestations()
    await local.client.setAutomine(false)
    try {
      const { id } = (await jobs.upload(`chainId=${chainId}&submitOnchain=true`, lines(200, 1000))).body
      // All that one key may have in the queue: the other results wait.
      const { ask } = jobs
      await eventually(async () => {
        const metrics = await (await fetch(`${service.url}/metrics`)).text()
        // Those that were stored first may be in a transaction already.
        const counts = metrics.matchAll(/submissions\{chain_id="84532",status="(?:queued|sent)"\} (\d+)\n/g)
        expect([...counts].reduce((sum, [, count]) => sum + Number(count), 0)).toBe(30)
      })
      const cancelled = await ask(`/${id}`, { method: 'DELETE' })
      expect(await cancelled.json()).toMatchObject({ state: 'cancelled' })
      // The first chunk had begun. It ends with what was submitted of it.
      await eventually(async () => expect(await jobs.state(id)).toMatchObject({ done: 100, failed: 0 }))
      // The root of another job waits for room in the queue.
      const root = (await jobs.upload(`chainId=${chainId}&attest=merkle&submitOnchain=true`, lines(2))).body
      const waiting = await jobs.untilDone(root.id)
      expect(waiting).not.toHaveProperty('submission')
      await local.client.setAutomine(true)
      await local.client.mine({ blocks: 1 })
      await eventually(async () => expect((await jobs.state(root.id)).submission?.status).toBe('mined'))
      const results = await jobs.results(id)
      expect(results).toHaveLength(100)
      const submitted = results.filter(({ submission }) => submission !== undefined)
      expect(submitted).toHaveLength(30)
      for (const { submission } of submitted) await jobs.untilMined(submission.id)
      expect(await attestations()).toBe(before + 31)
    } finally {
      await local.client.setAutomine(true)
    }
  })

  it('takes JSON, and finds the job again under its Idempotency-Key', async () => {
    const before = await attestations()
    const send = (options: Loose) =>
      jobs.json('', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'the-json-job' },
        body: JSON.stringify({ chainId, attest: 'merkle', options, items: [distance(1), distance(2)] }),
      })
    const { body } = await send({ submitOnchain: true })
    await jobs.untilDone(body.id)
    const again = await send({ submitOnchain: true })
    expect(again.body.id).toBe(body.id)
    expect(await send({})).toMatchObject({ status: 409 })
    const job = await eventually(async () => {
      const found = await jobs.state(body.id)
      expect(found.submission?.status).toBe('mined')
      return found
    })
    const listed = (await jobs.json('')).body.jobs.find(({ id }: Loose) => id === body.id)
    expect(listed.submission).toEqual(job.submission)
    expect(await attestations()).toBe(before + 1)
  })

  it('says why a root is not submitted', async () => {
    const { body } = await jobs.upload(`chainId=${chainId}&attest=merkle&submitOnchain=true`, '{"op":"area"}\n')
    await jobs.untilDone(body.id)
    await eventually(async () => {
      const job = await jobs.state(body.id)
      expect(job).toMatchObject({ failed: 1, submissionError: 'no operation of the job has a signed result' })
      expect(isJob(job)).toBe(true)
    })
  })

  it('works through the client', async () => {
    const client = createClient({ baseUrl: service.url, apiKey: service.developerKey, chainId })
    const { id } = await client.jobs.create(
      [1, 2, 3].map((lon) => ({ op: 'distance', from: LOUVRE, to: { type: 'Point', coordinates: [lon, 50] } })),
      { attest: 'merkle', submitOnchain: true },
    )
    await client.jobs.wait(id)
    const job = await eventually(async () => {
      const found = await client.jobs.state(id)
      expect(found.submission?.status).toBe('mined')
      return found
    })
    const { attestation } = await client.jobs.attestation(id)
    expect(await local.getAttestation(job.submission!.uid as `0x${string}`)).toMatchObject({ data: attestation.data })
  })

  it('refuses what cannot be submitted, and spends nothing', async () => {
    const before = await attestations()
    const stored = (await jobs.json('')).body.jobs.length
    const refused: readonly (readonly [query: string, status: number, pointer: string, code: string])[] = [
      [`chainId=${chainId}&attest=none&submitOnchain=true`, 400, '#/submitOnchain', 'not-signed'],
      [`chainId=${chainId}&submitOnchain=yes`, 400, '#/submitOnchain', 'wrong-type'],
      ['submitOnchain=true', 400, '#/chainId', 'missing-member'],
      ['attest=merkle&submitOnchain=true', 400, '#/chainId', 'missing-member'],
      ['chainId=8453&submitOnchain=true', 501, '#/submitOnchain', 'no-submission'],
      ['chainId=8453&attest=merkle&submitOnchain=true', 501, '#/submitOnchain', 'no-submission'],
    ]
    for (const [query, status, pointer, code] of refused) {
      const { body, ...answer } = await jobs.upload(query, lines(1))
      expect({ query, status: answer.status, errors: body.errors }).toMatchObject({
        query,
        status,
        errors: [{ pointer, code }],
      })
    }
    const json = await jobs.json('', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chainId: 8453, options: { submitOnchain: true }, items: [distance(1)] }),
    })
    expect(json).toMatchObject({
      status: 501,
      body: {
        errors: [
          {
            pointer: '#/options/submitOnchain',
            detail: `this service does not submit attestations to chain 8453, only to ${chainId}`,
            hint: expect.stringContaining('use attest=merkle'),
          },
        ],
      },
    })
    const many = await jobs.json('', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        chainId,
        options: { submitOnchain: true },
        items: Array.from({ length: 301 }, (_, index) => distance(index)),
      }),
    })
    expect(many).toMatchObject({
      status: 400,
      body: { errors: [{ pointer: '#/items', code: 'too-many-submissions' }] },
    })
    const anonymous = await fetch(`${service.url}${PATH}?chainId=${chainId}&submitOnchain=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: lines(1),
    })
    expect(anonymous.status).toBe(401)
    expect(await anonymous.json()).toMatchObject({ detail: expect.stringContaining('X-API-Key') })
    expect((await jobs.json('')).body.jobs).toHaveLength(stored)
    // The length of an upload is known at its end.
    const long = await jobs.upload(`chainId=${chainId}&submitOnchain=true`, `${'{"op":"area"}\n'.repeat(301)}`)
    expect(long).toMatchObject({ status: 413, body: { errors: [{ code: 'too-many-submissions' }] } })
    expect(await attestations()).toBe(before)
  })
})

describe.skipIf(skipReason() !== undefined)('jobs with submitOnchain beyond a budget', () => {
  it('fails the operations that the gas of 24 hours does not cover', async () => {
    const local = await startLocalChain('1.3.0')
    const key = generatePrivateKey()
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    const service = await startTestService({
      ...local.environment,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      JOB_POLL_MS: '20',
      SUBMIT_GAS_PER_DAY: '1500000',
    })
    try {
      await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
      const jobs = jobsOf(service)
      const created = await jobs.upload(`chainId=${local.chain.id}&submitOnchain=true`, lines(5))
      // 492,000 each, the upper bound: 180,000 and 26,000 for each of 12 words. Three of them are within the budget.
      expect(await jobs.untilDone(created.body.id)).toMatchObject({ failed: 2, errors: { 'rate-limited': 2 } })
      const results = await jobs.results(created.body.id)
      expect(results.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4])
      const submitted = results.filter(({ error }) => error?.status !== 429)
      for (const { submission } of submitted) await jobs.untilMined(submission.id)
      expect(await countAttestations(local, service.attester)).toBe(3)
    } finally {
      await service.stop()
      await local.stop()
    }
  })
})
