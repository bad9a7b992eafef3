import { Ajv2020 } from 'ajv/dist/2020.js'
import { keccak256, recoverTypedDataAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import computeResponse from '../../schemas/compute-response.schema.json' with { type: 'json' }
import problemSchema from '../../schemas/problem.schema.json' with { type: 'json' }
import resignResponse from '../../schemas/resign-response.schema.json' with { type: 'json' }
import proofSchema from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifySchema from '../../schemas/verify-response.schema.json' with { type: 'json' }
import { SIGNED_RESULT_TYPES } from '../attest-parts.ts'
import { EIFFEL_TOWER, RECIPIENT, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService, startTestService } from '../service.ts'

const ajv = new Ajv2020({ strict: false, schemas: [computeResponse, verifySchema, proofSchema] })
const isComputeResponse = ajv.getSchema('compute-response.schema.json')!
const isResigned = ajv.compile(resignResponse)
const isProblem = ajv.compile(problemSchema)

const body = {
  chainId: 84532,
  from: EIFFEL_TOWER,
  to: TOWN_HALL,
  recipient: RECIPIENT,
}

describe.each(ADAPTERS)('signatures over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })
  const distance = (headers?: Record<string, string>) => service.post('/compute/v0/distance', body, headers)

  describe('Prefer: result-signature', () => {
    it.each([
      ['distance', body, 'result-signature'],
      ['intersects', { chainId: 84532, geometry1: body.from, geometry2: body.to }, 'wait=1, Result-Signature'],
      ['distance', { ...body, padding: 'x'.repeat(20_000) }, 'result-signature'],
    ])('adds a signature that any contract can check to %s', async (operation, request, Prefer) => {
      const { status, headers, body: signedBody } = await service.post(`/compute/v0/${operation}`, request, { Prefer })
      expect(status).toBe(200)
      expect(headers.get('preference-applied')).toBe('result-signature')
      expect(headers.get('access-control-expose-headers')).toContain('Preference-Applied')
      expect(isComputeResponse(signedBody), JSON.stringify(isComputeResponse.errors)).toBe(true)
      const { schema, recipient, data } = signedBody.attestation
      const { signature, attester, deadline, salt } = signedBody.resultSignature
      expect(attester).toBe(service.attester)
      expect(deadline - signedBody.timestamp).toBeGreaterThanOrEqual(3600)
      const recovered = await recoverTypedDataAddress({
        domain: { name: 'GeoResult', version: '1', chainId: 84532 },
        types: SIGNED_RESULT_TYPES,
        primaryType: 'SignedResult',
        message: { schema, recipient, dataHash: keccak256(data), deadline: BigInt(deadline), salt },
        signature,
      })
      expect(recovered).toBe(service.attester)
    })

    it('salts each signature', async () => {
      const responses = await Promise.all(Array.from({ length: 20 }, () => distance({ Prefer: 'result-signature' })))
      expect(new Set(responses.map((response) => response.body.resultSignature.salt)).size).toBe(20)
    })

    it.each([undefined, 'respond-async', 'result-signature=1', 'x-result-signature'])(
      'does not change the response for %j',
      async (Prefer) => {
        const { headers, body: plainBody } = await distance(Prefer === undefined ? {} : { Prefer })
        expect(headers.get('preference-applied')).toBeNull()
        expect(plainBody).not.toHaveProperty('resultSignature')
      },
    )

    it('is allowed from a page of another origin', async () => {
      const preflight = await fetch(`${service.url}/compute/v0/distance`, { method: 'OPTIONS' })
      expect(preflight.headers.get('access-control-allow-headers')).toContain('Prefer')
    })

    it('does not change an error response', async () => {
      const { status, headers } = await service.post('/compute/v0/distance', {}, { Prefer: 'result-signature' })
      expect(status).toBe(400)
      expect(headers.get('preference-applied')).toBeNull()
    })
  })

  describe('POST /compute/v0/resign', () => {
    const resign = async (request: unknown) => {
      const resigned = await service.post('/compute/v0/resign', request)
      const valid = resigned.status === 200 ? isResigned : isProblem
      expect(valid(resigned.body), JSON.stringify([valid.errors, resigned.body])).toBe(true)
      return resigned
    }

    it('accepts an unchanged response and returns it with a new deadline', async () => {
      const { body: before } = await distance()
      const { status, headers, body: after } = await resign({ ...before, chainId: 84532 })
      expect(status).toBe(200)
      expect(headers.get('x-attester-nonce-source')).toBe('default')
      const { signature, ...fields } = after.attestation
      expect(before.attestation).toMatchObject(fields)
      expect(after.delegatedAttestation.signature).toBe(signature)
      expect(after.delegatedAttestation.deadline).toBeGreaterThanOrEqual(before.delegatedAttestation.deadline)
      // A response that was signed again can be signed once more.
      expect((await resign({ ...before, ...after, chainId: 84532 })).status).toBe(200)
    })

    it.each([
      ['for another chain', { chainId: 8453 }, 'resign-signature'],
      ['for an unsupported chain', { chainId: 1 }, 'unsupported-chain'],
      ['without its chain', { chainId: undefined }, 'missing-member'],
      ['without its attestation', { attestation: undefined }, 'missing-member'],
    ])('rejects a response %s', async (_, changes, code) => {
      const { body: before } = await distance()
      const { status, body: problem } = await resign({ ...before, chainId: 84532, ...changes })
      expect(status).toBe(400)
      expect(problem).toMatchObject({ title: 'Invalid Input', errors: [{ code }] })
    })

    it('rejects a changed result', async () => {
      const { body: before } = await distance()
      const data = before.attestation.data.replace(/^0x0/, '0x1')
      const { body: problem } = await resign({
        ...before,
        chainId: 84532,
        attestation: { ...before.attestation, data },
      })
      expect(problem.errors[0]).toMatchObject({ code: 'resign-signature', hint: expect.any(String) })
    })

    it('counts towards the hourly limit and is listed', async () => {
      const before = await resign({})
      const after = await resign({})
      const remaining = ({ headers }: typeof before) => Number(headers.get('x-ratelimit-remaining'))
      expect(remaining(after)).toBe(remaining(before) - 1)
      const root = await (await fetch(service.url)).json()
      expect(JSON.stringify(root)).toContain('/compute/v0/resign')
      const response = await fetch(`${service.url}/.well-known/attester.json`)
      const identity = (await response.json()) as { chains: { schemas: { merkleRoot: string } }[] }
      expect(identity.chains[0]!.schemas.merkleRoot).toMatch(/^0x[0-9a-f]{64}$/)
    })
  })
})

it('does not sign a response again after RESIGN_MAX_AGE_SECONDS', async () => {
  const service = await startTestService({ RESIGN_MAX_AGE_SECONDS: '0' })
  try {
    const { body: before } = await service.post('/compute/v0/distance', body)
    await expect
      .poll(
        async () => (await service.post('/compute/v0/resign', { ...before, chainId: 84532 })).body.errors?.[0].code,
        {
          timeout: 120_000,
        },
      )
      .toBe('resign-age')
  } finally {
    await service.stop()
  }
})
