import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import batchRequestSchema from '../../schemas/batch-request.schema.json' with { type: 'json' }
import batchSchema from '../../schemas/batch-response.schema.json' with { type: 'json' }
import computeRequestSchema from '../../schemas/compute-request.schema.json' with { type: 'json' }
import computeSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import inputSchema from '../../schemas/input.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { decodeBoolean, decodeMerkleRoot, decodeNumeric } from '../../src/attest/data.ts'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient } from '../../src/client/client.ts'
import { verifyResult } from '../../src/client/verify/verify-result.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import type { Loose } from '../evidence.ts'
import { EIFFEL_TOWER, LOUVRE, RECIPIENT } from '../fixtures.ts'
import { runModule, snippetsOf } from '../page-programs.ts'
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
  ],
})
const isAnswer = ajv.getSchema('compute-response.schema.json')!
const isBatchAnswer = ajv.getSchema('batch-response.schema.json')!

describe.skipIf(skipReason() !== undefined)('results with submitOnchain beyond a budget', () => {
  it('refuses items that the gas of 24 hours does not cover, and attests the others', async () => {
    const local = await startLocalChain('1.3.0')
    const key = generatePrivateKey()
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    const service = await startTestService({
      ...local.environment,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      SUBMIT_POLL_MS: '50',
      SUBMIT_GAS_PER_DAY: '1500000',
      MAX_SUBMITTED_ITEMS: '5',
    })
    try {
      await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
      const items = [2, 3, 4, 5, 6].map((lon) => ({
        op: 'distance',
        from: LOUVRE,
        to: { type: 'Point', coordinates: [lon, 48] },
      }))
      const sent = { chainId: local.chain.id, options: { submitOnchain: true }, items }
      const headers = { 'x-api-key': service.developerKey }
      const { body } = await service.post('/compute/v0/batch', sent, headers)
      const statuses = body.results.map(({ error, submission }: Loose) => error?.status ?? submission.status)
      // 492,000 each, the upper bound: 180,000 and 26,000 for each of 12 words. Three of them are within the budget.
      expect(statuses).toEqual(['mined', 'mined', 'mined', 429, 429])
      const logs = await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })
      expect(logs.length).toBe(3)
      const more = await service.post('/compute/v0/batch', { ...sent, items: [...items, ...items] }, headers)
      expect(more).toMatchObject({ status: 400, body: { errors: [{ code: 'too-many-submissions' }] } })
      const single = await service.post(
        '/compute/v0/distance',
        { ...items[4], chainId: local.chain.id, options: sent.options },
        headers,
      )
      expect(single).toMatchObject({ status: 429, body: { detail: expect.stringContaining('gas') } })
    } finally {
      await service.stop()
      await local.stop()
    }
  })
})

describe.skipIf(skipReason() !== undefined)('a root with submitOnchain beyond the quota', () => {
  // Regression: its root covered the items within the quota, so the same batch had another root in the next hour, and got 409.
  it('is refused, and spends neither gas nor the rest of the quota', async () => {
    const local = await startLocalChain('1.3.0')
    const key = generatePrivateKey()
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    const service = await startTestService({
      ...local.environment,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      SUBMIT_POLL_MS: '50',
      RATE_LIMIT_DEVELOPER: '10',
    })
    try {
      await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
      const items = [2, 3, 4, 5, 6, 7].map((lon) => ({
        op: 'distance',
        from: LOUVRE,
        to: { type: 'Point', coordinates: [lon, 48] },
      }))
      const send = (count: number) =>
        service.post(
          '/compute/v0/batch',
          { chainId: local.chain.id, attest: 'merkle', options: { submitOnchain: true }, items: items.slice(0, count) },
          { 'x-api-key': service.developerKey, 'Idempotency-Key': 'one-tree' },
        )
      const first = await send(6)
      expect(first.body.submission.status, JSON.stringify(first.body)).toBe('mined')
      // Four are left: the refused request uses one of them, and none for its items.
      const refused = await send(6)
      expect(refused).toMatchObject({
        status: 429,
        body: {
          detail: expect.stringContaining('items: has 6 items'),
          errors: [{ pointer: '#/items', code: 'limit' }],
        },
      })
      expect(refused.headers.get('x-ratelimit-remaining')).toBe('3')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      // A batch within the quota is computed, and has another root than the first.
      expect((await send(3)).status).toBe(409)
      expect(await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })).toHaveLength(1)
    } finally {
      await service.stop()
      await local.stop()
    }
  })
})

describe.skipIf(skipReason() !== undefined)('results with submitOnchain', () => {
  let local: LocalChain
  let service: TestService
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
      SUBMIT_POLL_MS: '50',
      RATE_LIMIT_DEVELOPER: '1000000000',
      SUBMIT_GAS_PER_DAY: '1000000000000',
    })
    await eventually(() => expect(service.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
  })
  afterAll(async () => {
    expect(await service?.stop()).toBe(0)
    await local?.stop()
  })

  const distance = (options: Loose = {}) => ({
    chainId,
    from: EIFFEL_TOWER,
    to: LOUVRE,
    recipient: RECIPIENT,
    options: { submitOnchain: true },
    ...options,
  })
  const submit = (body: Loose, headers: Record<string, string> = {}, operation = 'distance') =>
    service.post(`/compute/v0/${operation}`, body, { 'x-api-key': service.developerKey, ...headers })

  it('attests a distance: the attestation on the chain has the data of the answer', async () => {
    const { status, body } = await submit(distance())
    expect(status, JSON.stringify(body)).toBe(200)
    expect(isAnswer(body), JSON.stringify(isAnswer.errors)).toBe(true)
    expect(body.submission).toMatchObject({ status: 'mined', chainId })
    const stored = await local.getAttestation(body.submission.uid)
    expect(stored).toMatchObject({
      schema: body.attestation.schema,
      attester: service.attester,
      recipient: RECIPIENT,
      data: body.attestation.data,
      time: BigInt(body.submission.time),
      refUID: body.attestation.refUID,
      revocable: true,
    })
    const found = await fetch(`${service.url}/verify/v0/submissions/${body.submission.id}`)
    expect(await found.json()).toEqual(body.submission)
    expect(await verifyResult(body, { attester: service.attester, chainId })).toMatchObject({ ok: true })
  })

  it('is verified on the chain when its nonce is used and its deadline has passed', async () => {
    const [{ body }, { body: other }] = [
      await submit(distance({ to: { type: 'Point', coordinates: [2.33, 48.85] } })),
      await submit(distance({ to: { type: 'Point', coordinates: [2.34, 48.85] } })),
    ]
    await local.submitAnswer(body)
    const nowSeconds = body.delegatedAttestation.deadline + 1
    const trusted = { attester: service.attester, chainId }
    const onChain = { ...trusted, rpcUrl: local.url, nowSeconds }
    const verdict = await verifyResult(body, onChain)
    const statusOf = (id: string) => verdict.checks.find((check) => check.id === id)?.status
    expect(verdict.ok, JSON.stringify(verdict.checks)).toBe(true)
    expect(['on-chain', 'deadline', 'nonce', 'simulation'].map(statusOf)).toEqual(['pass', 'skip', 'skip', 'skip'])
    const failure = async (submission: Loose) => {
      const { checks } = await verifyResult({ ...body, submission: { ...body.submission, ...submission } }, onChain)
      return checks.filter(({ status }) => status === 'fail').map(({ id, detail }) => `${id}: ${detail}`)
    }
    expect(await failure({ uid: `0x${'ab'.repeat(32)}` })).toEqual([
      expect.stringMatching(/^deadline: /),
      expect.stringMatching(/^on-chain: no attestation with the UID 0x(ab){32} of the submission is on the chain/),
    ])
    const found = await failure({ uid: other.submission.uid })
    expect(found).toContainEqual(expect.stringMatching(/^on-chain: .* on the chain has another data/))
    expect(await failure({ time: body.submission.time + 1 })).toContainEqual(expect.stringContaining('another time'))
    expect(await failure({ chainId: 1 })).toContainEqual(expect.stringContaining('names chain 1'))
    expect(await failure({ uid: '0x12' })).toEqual([expect.stringMatching(/^form: submission.uid is not/)])
    // Without an RPC the submission is not checked, and the advice does not lead to a second attestation.
    const offline = await verifyResult(body, { ...trusted, nowSeconds })
    expect(offline.checks.find(({ id }) => id === 'submission')).toMatchObject({
      status: 'skip',
      detail: expect.stringContaining('not signed and was not checked'),
    })
    const { detail } = offline.checks.find(({ id, status }) => id === 'deadline' && status === 'fail')!
    expect(detail).toContain('the submission needs no deadline')
    expect(detail).not.toContain('signed again')
    // The nonce of an answer that names no UID counts.
    const { submission: _, ...plain } = body
    const rejected = await verifyResult(plain, { ...trusted, rpcUrl: local.url })
    expect(rejected.checks.find(({ id }) => id === 'simulation')?.detail).toBe('EAS would reject it: InvalidSignature')
  })

  it('streams the states of a submission until it is final', async () => {
    const { body } = await submit(distance({ to: { type: 'Point', coordinates: [2.31, 48.85] } }))
    const client = createClient({ baseUrl: service.url })
    const states = client.verify.submissionStates(body.submission.id)
    expect(await states.next()).toEqual({ value: body.submission, done: false })
    await local.client.mine({ blocks: 100 })
    expect(await states.next()).toEqual({ value: { ...body.submission, status: 'finalized' }, done: false })
    expect((await states.next()).done).toBe(true)
    // A stream that begins at the final state has one event, and ends.
    const response = await fetch(`${service.url}/verify/v0/submissions/${body.submission.id}/events`)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    const event = `event: submission\ndata: ${JSON.stringify({ ...body.submission, status: 'finalized' })}\n\n`
    expect(await response.text()).toBe(event)
    for (const method of ['GET', 'HEAD']) {
      const unknown = await fetch(`${service.url}/verify/v0/submissions/${'0'.repeat(32)}/events`, { method })
      expect([unknown.status, unknown.headers.get('content-type')]).toEqual([
        404,
        expect.stringMatching(/^application\/problem\+json/),
      ])
    }
  })

  it('is followed to its end by the program of docs/submission.md', async () => {
    const page = readFileSync(resolve(import.meta.dirname, '../../docs/submission.md'), 'utf8')
    const program = snippetsOf(page)
      .replace('http://127.0.0.1:3000', service.url)
      .replace('84532', String(chainId))
      .replace('process.env.KEY', JSON.stringify(service.developerKey))
      .replace('process.env.RPC', JSON.stringify(local.url))
    const ended = runModule(program)
    // The program ends when its submission is final, which takes further blocks.
    let hasEnded = false
    void ended.finally(() => (hasEnded = true)).catch(() => {})
    await eventually(async () => {
      await local.client.mine({ blocks: 100 })
      expect(hasEnded).toBe(true)
    })
    const printed = (await ended)
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
    const [last, read] = printed.slice(-2)
    expect(last).toEqual(['finalized', expect.stringMatching(/^0x[0-9a-f]{64}$/)])
    expect((await local.getAttestation(last![1] as Hex)).attester).toBe(service.attester)
    expect(read).toEqual([service.attester, 'true'])
  })

  const batch = (items: readonly Loose[], members: Loose = {}) => ({
    chainId,
    recipient: RECIPIENT,
    options: { submitOnchain: true },
    items,
    ...members,
  })
  const distances = (count: number, from = 0) =>
    Array.from({ length: count }, (_, index) => ({
      op: 'distance',
      id: from + index,
      from: EIFFEL_TOWER,
      to: { type: 'Point', coordinates: [2.4 + (from + index) / 10_000, 48.86] },
    }))
  const submitBatch = (body: Loose, headers: Record<string, string> = {}) => submit(body, headers, 'batch')
  const countAttestations = async () =>
    (await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })).filter(({ topics }) =>
      topics[2]?.endsWith(service.attester.slice(2).toLowerCase()),
    ).length
  const gasUsed = async (hash: string) =>
    Number((await local.client.getTransactionReceipt({ hash: hash as Hex })).gasUsed)

  /** Waits until the clock shows another second: a result computed then has other data. */
  const nextSecond = async () => {
    const second = () => Math.floor(Date.now() / 1000)
    const now = second()
    await eventually(() => expect(second()).toBeGreaterThan(now), { interval: 20 })
  }

  it('attests predicates under the boolean schema', async () => {
    const within = { chainId, geometry: EIFFEL_TOWER, target: LOUVRE, radius: 5000, options: { submitOnchain: true } }
    const { body } = await submit(within, {}, 'within')
    const stored = await local.getAttestation(body.submission.uid)
    expect(stored).toMatchObject({ schema: body.attestation.schema, data: body.attestation.data })
    expect(decodeBoolean(stored.data)).toMatchObject({ ok: true, value: { result: true, operation: body.operation } })
  })

  it('answers a repeated Idempotency-Key with the first attestation, as of the first time', async () => {
    const before = await countAttestations()
    const headers = { 'Idempotency-Key': 'parcel-9' }
    const first = await submit(distance({ recipient: service.attester }), headers)
    await nextSecond()
    const again = await submit(distance({ recipient: service.attester }), headers)
    expect(again.status, JSON.stringify(again.body)).toBe(200)
    expect(again.body.submission).toEqual(first.body.submission)
    expect(again.body.timestamp).toBe(first.body.timestamp)
    expect(again.body.attestation.data).toBe(first.body.attestation.data)
    expect(await countAttestations()).toBe(before + 1)
    const other = await submit(distance({ to: EIFFEL_TOWER, recipient: service.attester }), headers)
    expect(other).toMatchObject({ status: 409, body: { detail: expect.stringContaining('use a new key') } })
    // Without a key, a later result is another one.
    await nextSecond()
    const later = await submit(distance({ recipient: service.attester }))
    expect(later.body.submission.uid).not.toBe(first.body.submission.uid)
  })

  it('attests an input with a salt that the client drew', async () => {
    const salt = `0x${'7a'.repeat(32)}`
    const { status, body } = await submit(distance({ from: { input: EIFFEL_TOWER, salt } }))
    expect(status, JSON.stringify(body)).toBe(200)
    const stored = await local.getAttestation(body.submission.uid)
    const decoded = decodeNumeric(stored.data)
    expect(decoded.ok && decoded.value.inputRefs[0]).toBe(body.inputRefs[0])
  })

  it('refuses what cannot be submitted, and spends nothing', async () => {
    const before = await countAttestations()
    const pair = { chainId, geometry1: EIFFEL_TOWER, geometry2: LOUVRE, options: { submitOnchain: true } }
    const refused: readonly (readonly [
      operation: string,
      body: Loose,
      status: number,
      pointer: string,
      code: string,
    ])[] = [
      ['relate', pair, 400, '#/options/submitOnchain', 'not-signed'],
      [
        'buffer',
        { chainId, geometry: LOUVRE, radius: 9, options: { submitOnchain: true } },
        400,
        '#/options/submitOnchain',
        'not-signed',
      ],
      ['distance', distance({ options: { submitOnchain: 'yes' } }), 400, '#/options/submitOnchain', 'wrong-type'],
      ['distance', distance({ from: { input: LOUVRE, salt: 'random' } }), 400, '#/from/salt', 'unrepeatable-salt'],
      ['distance', distance({ schema: `0x${'12'.repeat(32)}` }), 400, '#/schema', 'foreign-schema'],
      ['distance', distance({ chainId: 8453 }), 501, '#/options/submitOnchain', 'no-submission'],
      ['batch', batch(distances(1), { attest: 'none' }), 400, '#/options/submitOnchain', 'not-signed'],
      ['batch', batch(distances(1), { sequence: 'consecutive' }), 400, '#/sequence', 'submitted-sequence'],
      ['batch', batch(distances(1), { chainId: 8453 }), 501, '#/options/submitOnchain', 'no-submission'],
      ['batch', batch(distances(101)), 400, '#/items', 'too-many-submissions'],
      ['jobs', batch(distances(1), { attest: 'none' }), 400, '#/options/submitOnchain', 'not-signed'],
    ]
    for (const [operation, sent, status, pointer, code] of refused) {
      const { body, ...answer } = await submit(sent, {}, operation)
      expect({ operation, status: answer.status, errors: body.errors }).toMatchObject({
        operation,
        status,
        errors: [{ pointer, code }],
      })
    }
    const lines = await fetch(`${service.url}/compute/v0/batch?chainId=${chainId}&submitOnchain=true`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': service.developerKey },
      body: JSON.stringify(distances(1)[0]),
    })
    expect(await lines.json()).toMatchObject({ status: 400, errors: [{ code: 'not-for-lines' }] })
    for (const [operation, sent] of [
      ['distance', distance()],
      ['batch', batch(distances(1))],
    ] as const) {
      expect(await service.post(`/compute/v0/${operation}`, sent)).toMatchObject({ status: 401 })
    }
    expect(await countAttestations()).toBe(before)
  })

  it('submits each result of a batch, and rejects items independently', async () => {
    const items: Loose[] = [
      ...distances(3, 1000),
      { op: 'relate', id: 'matrix', geometry1: LOUVRE, geometry2: EIFFEL_TOWER },
      { op: 'distance', id: 'salted', from: { input: LOUVRE, salt: 'random' }, to: EIFFEL_TOWER },
      { op: 'distance', id: 'foreign', schema: `0x${'12'.repeat(32)}`, from: LOUVRE, to: EIFFEL_TOWER },
      { op: 'distance', id: 'option', options: { submitOnchain: true }, from: LOUVRE, to: EIFFEL_TOWER },
      { op: 'within', id: 'near', geometry: LOUVRE, target: EIFFEL_TOWER, radius: 10 },
    ]
    const { status, body } = await submitBatch(batch(items))
    expect(status, JSON.stringify(body)).toBe(200)
    expect(isBatchAnswer(body), JSON.stringify(isBatchAnswer.errors)).toBe(true)
    expect(body).toMatchObject({ count: 8, failed: 4 })
    const codes = body.results.map(({ error }: Loose) => error?.errors[0].code)
    const accepted = undefined
    expect(codes).toEqual([
      accepted,
      accepted,
      accepted,
      'not-signed',
      'unrepeatable-salt',
      'foreign-schema',
      'option-of-item',
      accepted,
    ])
    const uids = new Set<string>()
    for (const { submission, attestation } of body.results.filter(({ error }: Loose) => error === undefined)) {
      expect(submission).toMatchObject({ status: 'mined', chainId })
      expect(await local.getAttestation(submission.uid)).toMatchObject({ recipient: RECIPIENT, data: attestation.data })
      uids.add(submission.uid)
    }
    expect(uids.size).toBe(4)
    expect(await verifyResult(body, { attester: service.attester })).toMatchObject({ ok: true })
    const onChain = { attester: service.attester, rpcUrl: local.url }
    expect(await verifyResult(body, onChain)).toMatchObject({ ok: true })
    const submittedIndex = body.results.findIndex(({ submission }: Loose) => submission !== undefined)
    const forged = structuredClone(body)
    forged.results[submittedIndex].submission.uid = `0x${'ab'.repeat(32)}`
    expect((await verifyResult(forged, onChain)).checks[0]!.detail).toMatch(/^item \d+: on-chain: no attestation/)
  })

  it('answers a repeated batch with the attestations of the first', async () => {
    const headers = { 'Idempotency-Key': 'batch-3' }
    const before = await countAttestations()
    const [first] = [await submitBatch(batch(distances(3, 2000)), headers)]
    await nextSecond()
    // The third item is another one: its key is taken. The fourth is new.
    const again = await submitBatch(batch([...distances(2, 2000), ...distances(2, 2100)]), headers)
    const results = again.body.results
    expect(results.slice(0, 2)).toMatchObject(
      first.body.results.slice(0, 2).map(({ submission, timestamp }: Loose) => ({ submission, timestamp })),
    )
    expect(results[2].error).toMatchObject({ status: 409 })
    expect(results[3].submission.status).toBe('mined')
    expect(await countAttestations()).toBe(before + 4)
  })

  it.each(['each', 'merkle'])('repeats a batch whose items name an input, with attest %s', async (attest) => {
    const headers = { 'Idempotency-Key': `names-${attest}` }
    const items: Loose[] = [
      { op: 'distance', from: { named: 'tower' }, to: LOUVRE },
      { op: 'distance', from: { input: { named: 'tower' }, salt: `0x${'3c'.repeat(32)}` }, to: LOUVRE },
      { op: 'distance', from: { input: { named: 'tower' }, salt: 'random' }, to: LOUVRE },
    ]
    const sent = batch(items, { attest, geometries: { tower: EIFFEL_TOWER } })
    const before = await countAttestations()
    const first = await submitBatch(sent, headers)
    expect(first.status, JSON.stringify(first.body)).toBe(200)
    await nextSecond()
    const again = await submitBatch(sent, headers)
    const withoutSignatures = ({ body }: Loose) => ({
      submissions: [body.submission, ...body.results.map(({ submission }: Loose) => submission)],
      refs: body.results.map(({ inputRefs, timestamp }: Loose) => ({ inputRefs, timestamp })),
      root: body.merkle?.root,
      errors: body.results.map(({ error }: Loose) => error?.errors),
    })
    expect(withoutSignatures(again)).toEqual(withoutSignatures(first))
    expect(first.body.results[2].error.errors[0]).toMatchObject({
      pointer: '#/items/2/from/salt',
      code: 'unrepeatable-salt',
    })
    expect(await countAttestations()).toBe(before + (attest === 'each' ? 2 : 1))
  })

  it('attests one root for a batch of 1,000, under which each result can be proved', async () => {
    const headers = { 'Idempotency-Key': 'tree-1' }
    const sent = batch(distances(1000, 3000), { attest: 'merkle' })
    const before = await countAttestations()
    const { status, body } = await submitBatch(sent, headers)
    expect(status, JSON.stringify(body).slice(0, 500)).toBe(200)
    expect(isBatchAnswer(body), JSON.stringify(isBatchAnswer.errors)).toBe(true)
    expect(body.submission).toMatchObject({ status: 'mined', chainId })
    const stored = await local.getAttestation(body.submission.uid)
    expect(stored).toMatchObject({
      data: body.merkle.attestation.data,
      recipient: RECIPIENT,
      attester: service.attester,
    })
    const root = decodeMerkleRoot(stored.data)
    const keccak = await createKeccak()
    if (!root.ok) throw new Error(root.reason)
    expect(root.value.leafCount).toBe(1000)
    for (const result of body.results)
      expect(verifyMerkleProof(result, result.proof, root.value.merkleRoot, keccak), result.id).toBe(true)
    expect(await verifyResult(body, { attester: service.attester })).toMatchObject({ ok: true })
    const nowSeconds = body.merkle.delegatedAttestation.deadline + 1
    const onChain = { attester: service.attester, rpcUrl: local.url, nowSeconds }
    const verdict = await verifyResult(body, onChain)
    expect(verdict.ok, JSON.stringify(verdict.checks)).toBe(true)
    expect(verdict.checks.find(({ id }) => id === 'on-chain')?.status).toBe('pass')
    expect(await verifyResult(body.results[7], { ...onChain, merkle: body })).toMatchObject({ ok: true })
    await nextSecond()
    const again = await submitBatch(sent, headers)
    expect(again.body.submission).toEqual(body.submission)
    expect(again.body.merkle.root).toBe(body.merkle.root)
    expect(await countAttestations()).toBe(before + 1)
    // Gas of one result: alone, and its share of the root.
    const single = await submit(distance())
    const share =
      (await gasUsed(body.submission.transactionHash)) / 1000 / (await gasUsed(single.body.submission.transactionHash))
    console.log(`gas per result under a root of 1,000: ${share.toFixed(5)} of a single attestation`)
    expect(share).toBeLessThan(0.01)
  })

  it('packs the results of a batch into few transactions', async () => {
    const single = await submit(distance())
    const { body } = await submitBatch(batch(distances(40, 5000)))
    const hashes = new Set<string>(body.results.map(({ submission }: Loose) => submission.transactionHash))
    const gas = await Promise.all([...hashes].map(gasUsed))
    const perResult = gas.reduce((sum, used) => sum + used, 0) / 40
    const ratio = perResult / (await gasUsed(single.body.submission.transactionHash))
    console.log(
      `gas per result of a batch of 40 in ${hashes.size} transactions: ${ratio.toFixed(3)} of a single attestation`,
    )
    expect(hashes.size).toBeLessThan(5)
    expect(ratio).toBeLessThan(1)
  })
})
