import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { EIFFEL_TOWER, RECIPIENT } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const uids = schemaUids(readConfig({}, 1))

/** Measures and predicates, alternating. */
const items = (count: number) =>
  Array.from({ length: count }, (_, id) => {
    const other = { type: 'Point', coordinates: [2.2945 + id / 1000, 48.8566] }
    return id % 3 === 1
      ? { op: 'intersects', id, geometry1: EIFFEL_TOWER, geometry2: other }
      : { op: 'distance', id, from: EIFFEL_TOWER, to: other }
  })

describe.skipIf(skipReason()).each(EAS_VERSIONS)('batches of the service on EAS %s', (version) => {
  let local: LocalChain
  let service: TestService
  let chainId: number
  let isChainUp = false

  beforeAll(async () => {
    local = await startLocalChain(version)
    isChainUp = true
    chainId = local.chain.id
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
  })
  afterAll(async () => {
    await service?.stop()
    if (isChainUp) await local.stop()
  })

  const batch = async (body: object) => {
    const answer = await service.post('/compute/v0/batch', { chainId, ...body })
    expect(answer.status, JSON.stringify(answer.body).slice(0, 400)).toBe(200)
    return answer.body
  }

  it('submit 40 consecutive signatures of two kinds in one transaction', async () => {
    const before = await local.nonce(service.attester)
    const { results, multi, failed } = await batch({ sequence: 'consecutive', recipient: RECIPIENT, items: items(40) })
    expect(failed).toBe(0)
    expect(multi.map(({ schema }: { schema: string }) => schema)).toEqual([uids.numeric, uids.boolean])
    const nonces = multi.flatMap(({ nonces }: { nonces: number[] }) => nonces)
    expect(nonces).toEqual(Array.from({ length: 40 }, (_, index) => Number(before) + index))
    const stored = await local.submitGroups(multi)
    expect(stored).toHaveLength(40)
    const sent = results.map(({ attestation }: { attestation: { data: string } }) => attestation.data)
    expect(stored.map(({ data }) => data).sort()).toEqual(sent.sort())
    for (const { attester, recipient } of stored) expect([attester, recipient]).toEqual([service.attester, RECIPIENT])
    expect(await local.nonce(service.attester)).toBe(before + 40n)
  })

  it('use no nonce for an item that cannot be computed', async () => {
    const before = Number(await local.nonce(service.attester))
    const wrong = { op: 'area', geometry: EIFFEL_TOWER }
    const { results, multi, failed } = await batch({
      sequence: 'consecutive',
      items: [...items(2), wrong, ...items(1)],
    })
    expect(failed).toBe(1)
    expect(results[2].error.errors[0].pointer).toBe('#/items/2/geometry')
    const nonces = multi.flatMap(({ nonces }: { nonces: number[] }) => nonces)
    expect(nonces).toEqual([before, before + 1, before + 2])
    await local.submitGroups(multi)
  })

  it('cover 300 results with one attestation of a root', async () => {
    const keccak = await createKeccak()
    const { results, merkle, failed } = await batch({ attest: 'merkle', recipient: RECIPIENT, items: items(300) })
    expect([failed, merkle.leafCount]).toEqual([0, 300])
    const stored = await local.submitAnswer(merkle)
    expect(stored).toMatchObject({
      attester: service.attester,
      recipient: RECIPIENT,
      data: merkle.attestation.data,
    })
    expect(stored.data.slice(0, 66)).toBe(merkle.root)
    for (const { schema, recipient, data, proof } of results) {
      expect(verifyMerkleProof({ schema, recipient, data }, proof, merkle.root, keccak)).toBe(true)
    }
    const [first, second] = results
    expect(verifyMerkleProof({ ...first, data: second.data }, first.proof, merkle.root, keccak)).toBe(false)
  })
})
