import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Abi, encodeDeployData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Hex } from '../../src/wire/values.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const compiled: { abi: Abi; bytecode: Hex } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../contracts/compiled/GeoVerifier.json'), 'utf8'),
)
const REQUESTS = [
  ['distance', { from: { type: 'Point', coordinates: [1, 2] }, to: { type: 'Point', coordinates: [3, 4] } }],
  [
    'intersects',
    { geometry1: { type: 'Point', coordinates: [1, 2] }, geometry2: { type: 'Point', coordinates: [1, 2] } },
  ],
] as const

describe.skipIf(skipReason()).each(EAS_VERSIONS)('results whose nonce is used, on EAS %s', (version) => {
  let local: LocalChain
  let service: TestService

  beforeAll(async () => {
    local = await startLocalChain(version)
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
  })
  afterAll(async () => {
    await service?.stop()
    await local?.stop()
  })
  const chainId = () => local.chain.id
  const compute = (operation: string, body: object, headers = {}) =>
    service.post(`/compute/v0/${operation}`, { chainId: chainId(), ...body }, headers)

  it.each(REQUESTS)('are accepted after %s was signed again, with the same data', async (operation, body) => {
    const [first, second] = await Promise.all([compute(operation, body), compute(operation, body)])
    expect(second.body.delegatedAttestation.nonce).toBe(first.body.delegatedAttestation.nonce)
    await local.submitAnswer(first.body)
    // Both had the chain's current nonce; one of them used it.
    expect(await local.rejection(second.body)).toBeDefined()

    const {
      status,
      headers,
      body: again,
    } = await service.post('/compute/v0/resign', { ...second.body, chainId: chainId() })
    expect(status, JSON.stringify(again)).toBe(200)
    expect(headers.get('x-attester-nonce-source')).toBeNull()
    expect(again.delegatedAttestation.nonce).toBe(first.body.delegatedAttestation.nonce + 1)
    expect(again.attestation.data).toBe(second.body.attestation.data)
    expect(await local.submitAnswer(again)).toMatchObject({
      attester: service.attester,
      data: second.body.attestation.data,
      schema: second.body.attestation.schema,
    })
  })

  it('can all be used without EAS', async () => {
    const args = [local.chain.easAddress, schemaUids(readConfig({}, 1))['merkle-root'], service.attester]
    const account = local.submitter
    const data = encodeDeployData({ ...compiled, args })
    const deployment = await local.client.sendTransaction({ account, data, chain: null })
    const { contractAddress } = await local.client.waitForTransactionReceipt({ hash: deployment })
    for (const [operation, body] of REQUESTS) {
      const { body: answer } = await compute(operation, { ...body, recipient: account }, { Prefer: 'result-signature' })
      const { schema, recipient, data } = answer.attestation
      const { signature, deadline, salt } = answer.resultSignature
      const hash = await local.client.writeContract({
        address: contractAddress!,
        abi: compiled.abi,
        functionName: 'useResult',
        args: [{ schema, recipient, data, deadline: BigInt(deadline), salt, signature }],
        account,
        chain: null,
      })
      expect((await local.client.waitForTransactionReceipt({ hash })).status).toBe('success')
    }
  })
})
