import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { LOUVRE, RECIPIENT } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const uids = schemaUids(readConfig({}, 1))

describe.skipIf(skipReason()).each(EAS_VERSIONS)('verified proofs on EAS %s', (version) => {
  let local: LocalChain
  let service: TestService
  let chainId: number

  beforeAll(async () => {
    local = await startLocalChain(version)
    chainId = local.chain.id
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
  })
  afterAll(async () => {
    await service?.stop()
    await local?.stop()
  })

  const verify = async (radius: number) => {
    const options = { chainId, recipient: RECIPIENT }
    const { status, body } = await service.post('/verify/v0/proof', {
      proof: proofOf([stampOf()], { radius }),
      options,
    })
    expect(status).toBe(200)
    return body
  }
  const distanceFrom = (verifiedProof: unknown) =>
    service.post('/compute/v0/distance', { chainId, from: { verifiedProof }, to: LOUVRE, recipient: RECIPIENT })

  it('are stored as they were signed, and accepted as inputs under their UID', async () => {
    const verified = await verify(100)
    const stored = await local.submitAnswer(verified)
    expect(stored).toMatchObject({
      schema: uids.verify,
      attester: service.attester,
      recipient: RECIPIENT,
      data: verified.attestation.data,
      expirationTime: 0n,
    })
    const attestation = { ...verified.attestation, uid: stored.uid, time: Number(stored.time) }
    const { status, body } = await distanceFrom({ ...verified, attestation })
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.proofInputs[0]).toMatchObject({ ref: stored.uid, evaluatedAt: verified.evaluatedAt })
  })

  it('are inputs of a result that can be submitted too', async () => {
    const verified = await verify(200)
    const { status, body } = await distanceFrom(verified)
    if (local.chain.profile === 'legacy') {
      // No deadline is signed for these: only a proof that is on chain has a known age.
      expect(body.errors?.[0].code).toBe('proof-on-chain')
      return
    }
    expect(status, JSON.stringify(body)).toBe(200)
    expect(body.inputRefs[0]).toBe(verified.attestation.uid)
    expect(body.proofInputs[0]).toMatchObject({ ref: verified.attestation.uid, credibility: verified.credibility })
    expect(await local.submitAnswer(body)).toMatchObject({ data: body.attestation.data })
  })
})
