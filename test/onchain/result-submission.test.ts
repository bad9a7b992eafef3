import { Ajv2020 } from 'ajv/dist/2020.js'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import computeSchema from '../../schemas/compute-response.schema.json' with { type: 'json' }
import geometrySchema from '../../schemas/geometry.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { eventually } from '../eventually.ts'
import type { Loose } from '../evidence.ts'
import { EIFFEL_TOWER, LOUVRE, RECIPIENT } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const ajv = new Ajv2020({
  strict: false,
  schemas: [geometrySchema, proofSchema, verifySchema, problemSchema, computeSchema],
})
const isAnswer = ajv.getSchema('compute-response.schema.json')!

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
  })
})
