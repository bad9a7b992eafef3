import { Ajv2020 } from 'ajv/dist/2020.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import responseSchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { eventually } from '../eventually.ts'
import { type Loose, proofOf, stampOf } from '../evidence.ts'
import { LOUVRE, RECIPIENT } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const ajv = new Ajv2020({ strict: false, schemas: [proofSchema, responseSchema] })
const isProofAnswer = ajv.getSchema('verify-response.schema.json#/$defs/VerifyProofResponse')!
const isSubmission = ajv.getSchema('verify-response.schema.json#/$defs/Submission')!
const isProblem = ajv.compile(problemSchema)

const isSkipped = skipReason() !== undefined

describe.skipIf(isSkipped).each(['uws', 'node'])('submitOnchain over %s', (adapter) => {
  let local: LocalChain
  let service: TestService
  let chainId: number
  const key = generatePrivateKey()
  const start = (environment: Record<string, string> = {}) =>
    startTestService({
      ...local.environment,
      HTTP_ADAPTER: adapter,
      ENABLE_ONCHAIN_SUBMIT: '1',
      SIGNER_PRIVATE_KEY: key,
      RECORDS: '1',
      RPC_TIMEOUT_MS: '5000',
      SUBMIT_POLL_MS: '50',
      ...environment,
    })

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    chainId = local.chain.id
    await local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    service = await start({ SUBMIT_WAIT_MS: '13000' })
    await ready(service)
  })
  afterAll(async () => {
    expect(await service?.stop()).toBe(0)
    await local?.stop()
  })

  const ready = (target: TestService) =>
    eventually(() => expect(target.lines.join('\n')).toContain('"relay ready"'), { interval: 50 })
  // Another radius makes another proof.
  const request = (radius: number, options: Loose = {}) => ({
    proof: proofOf([stampOf()], { radius }),
    options: { chainId, recipient: RECIPIENT, submitOnchain: true, ...options },
  })
  const submit = (radius: number, headers: Record<string, string> = {}, target = service) =>
    target.post('/verify/v0/proof', request(radius), { 'x-api-key': target.developerKey, ...headers })
  const readSubmission = async (id: string, target = service) => {
    const response = await fetch(`${target.url}/verify/v0/submissions/${id}`)
    return { status: response.status, body: (await response.json()) as Loose }
  }
  const attestations = async () =>
    (await local.client.getLogs({ address: local.chain.easAddress, fromBlock: 0n })).filter(({ topics }) =>
      topics[2]?.endsWith(service.attester.slice(2).toLowerCase()),
    ).length

  it('returns the attestation as it is on chain', async () => {
    const { status, body } = await submit(100)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(isProofAnswer(body), JSON.stringify(isProofAnswer.errors)).toBe(true)
    expect(body.submission).toMatchObject({ status: 'mined', chainId, uid: body.attestation.uid })
    const stored = await local.getAttestation(body.attestation.uid)
    expect(stored).toMatchObject({
      schema: body.attestation.schema,
      attester: service.attester,
      recipient: RECIPIENT,
      data: body.attestation.data,
      time: BigInt(body.attestation.time),
      refUID: body.attestation.refUID,
      revocable: true,
    })
    const found = await readSubmission(body.submission.id)
    expect(isSubmission(found.body), JSON.stringify(isSubmission.errors)).toBe(true)
    expect(found).toEqual({ status: 200, body: body.submission })
    const receipt = await local.client.getTransactionReceipt({ hash: body.submission.transactionHash })
    expect(Number(receipt.blockNumber)).toBe(body.submission.blockNumber)
  })

  it('returns a proof that is an input of the next request', async () => {
    const { body: verifiedProof } = await submit(100)
    const { status, body } = await service.post('/compute/v0/distance', {
      chainId,
      from: { verifiedProof },
      to: LOUVRE,
    })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.inputRefs[0]).toBe(verifiedProof.attestation.uid)
  })

  it('attests an equal proof once, however often it is submitted', async () => {
    const before = await attestations()
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit(200)))
    answers.push(await submit(200))
    expect(new Set(answers.map(({ body }) => body.attestation.uid)).size).toBe(1)
    expect(await attestations()).toBe(before + 1)
  })

  it('accepts an idempotency key once, and rejects it for another proof', async () => {
    const headers = { 'Idempotency-Key': 'order-17' }
    const [first, again] = [await submit(300, headers), await submit(300, headers)]
    expect(again.body.submission).toEqual(first.body.submission)
    const { status, body } = await submit(301, headers)
    expect(status).toBe(409)
    expect(isProblem(body)).toBe(true)
    expect(body).toMatchObject({ title: 'Conflict', detail: expect.stringContaining('use a new key') })
    // Each account has its own keys.
    const other = await submit(301, { ...headers, 'x-api-key': service.internalKey })
    expect(other.body.submission.status).toBe('mined')
    for (const wrong of ['two words', 'é'.repeat(3), 'x'.repeat(256)]) {
      const refused = await submit(302, { 'Idempotency-Key': Buffer.from(wrong).toString('latin1') })
      expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining('Idempotency-Key') } })
    }
  })

  it('needs an API key', async () => {
    const { status, body } = await service.post('/verify/v0/proof', request(400))
    expect(status).toBe(401)
    expect(body.detail).toContain('needs an API key')
  })

  it('waits for a block longer than the time limit of computing, but no longer than its own limit', async () => {
    await local.client.setAutomine(false)
    const mining = setTimeout(() => void local.client.mine({ blocks: 1 }), 11_000)
    const mined = await submit(500)
    clearTimeout(mining)
    expect(mined.body.submission).toMatchObject({ status: 'mined' })
    const started = performance.now()
    const { status, body } = await submit(501)
    expect(performance.now() - started).toBeGreaterThan(12_900)
    expect(status).toBe(200)
    expect(isProofAnswer(body), JSON.stringify(isProofAnswer.errors)).toBe(true)
    expect(body.submission).toEqual({ id: expect.any(String), status: 'sent', chainId })
    // The attestation in the response is signed, and the client may submit it.
    expect(await local.rejection(body)).toBeUndefined()
    await local.client.setAutomine(true)
    await local.client.mine({ blocks: 1 })
    await eventually(async () =>
      expect((await readSubmission(body.submission.id)).body).toMatchObject({ status: 'mined' }),
    )
    const again = await submit(501)
    expect(again.body.submission.id).toBe(body.submission.id)
    expect(again.body.attestation.uid).not.toBe(body.attestation.uid)
    expect((await local.getAttestation(again.body.attestation.uid)).attester).toBe(service.attester)
  })

  it('returns 404 for unknown submissions', async () => {
    for (const id of ['x', '0'.repeat(32), `${'0'.repeat(31)}'`, encodeURIComponent("' or 1=1")]) {
      expect((await readSubmission(id)).status, id).toBe(404)
    }
  })

  it('is also available in the older API generation', async () => {
    const headers = { 'x-api-key': service.developerKey }
    const { status, body } = await service.post('/v1/verify/proof', request(600), headers)
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.submission.status).toBe('mined')
    expect(body.uid).toBe(body.submission.uid)
    expect(body.chainId).toBe(chainId)
    expect((await local.getAttestation(body.uid)).attester).toBe(service.attester)
  })
})

describe.skipIf(isSkipped)('submitOnchain', () => {
  let local: LocalChain
  let service: TestService | undefined
  beforeAll(async () => {
    local = await startLocalChain('0.26')
  })
  afterAll(() => local.stop())

  const submit = (radius: number) => {
    const options = { chainId: local.chain.id, submitOnchain: true }
    const headers = { 'x-api-key': service!.developerKey }
    return service!.post('/verify/v0/proof', { proof: proofOf([stampOf()], { radius }), options }, headers)
  }
  const run = async (environment: Record<string, string>, check: () => Promise<void>) => {
    service = await startTestService({ ...local.environment, RECORDS: '1', SUBMIT_POLL_MS: '50', ...environment })
    try {
      await check()
    } finally {
      await service.stop()
    }
  }
  const untilLogged = (text: string) =>
    eventually(() => expect(service!.lines.join('\n')).toContain(text), { interval: 50 })

  it('returns 501 unless it is enabled', () =>
    run({}, async () => {
      const { status, body } = await submit(1)
      expect({ status, code: body.errors[0].code }).toEqual({ status: 501, code: 'no-submission' })
    }))

  it('returns 501 for a chain without an RPC', () =>
    run({ ENABLE_ONCHAIN_SUBMIT: '1' }, async () => {
      const options = { chainId: 84532, submitOnchain: true }
      const headers = { 'x-api-key': service!.developerKey }
      const { status, body } = await service!.post(
        '/verify/v0/proof',
        { proof: proofOf([stampOf()]), options },
        headers,
      )
      expect({ status, code: body.errors[0].code }).toEqual({ status: 501, code: 'no-submission' })
    }))

  it('returns 501 while the account has no funds', () =>
    run({ ENABLE_ONCHAIN_SUBMIT: '1' }, async () => {
      await untilLogged('the account has 0 wei')
      const { status, body } = await submit(1)
      expect({ status, code: body.errors[0].code }).toEqual({ status: 501, code: 'no-funds' })
    }))

  it('returns 429 beyond the daily gas', () =>
    run({ ENABLE_ONCHAIN_SUBMIT: '1', SUBMIT_GAS_PER_DAY: '1000000', SIGNER_PRIVATE_KEY: rich() }, async () => {
      await local.client.setBalance({ address: service!.attester as `0x${string}`, value: 10n ** 19n })
      await eventually(async () => expect((await submit(1)).status).toBe(200), { interval: 500 })
      const statuses: number[] = []
      for (let radius = 2; radius < 8; radius++) statuses.push((await submit(radius)).status)
      // The gas used counts, not the estimate: about 330,000 each.
      expect(statuses).toEqual([200, 429, 429, 429, 429, 429])
      const { headers, body } = await submit(9)
      expect(headers.get('retry-after')).toBe('3600')
      expect(body.detail).toContain('gas')
    }))

  it('refuses to start without a store for submissions', async () => {
    await expect(startTestService({ ENABLE_ONCHAIN_SUBMIT: '1', RECORDS: '0' })).rejects.toThrow('ended with 78')
  })

  /** Creates a key whose account has funds before the service starts. */
  function rich(): string {
    const key = generatePrivateKey()
    void local.client.setBalance({ address: privateKeyToAddress(key), value: 10n ** 19n })
    return key
  }
})
