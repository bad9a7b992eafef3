import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Hex } from '../../src/wire/values.ts'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { ATTESTER, attestOffchain, type MakerOptions } from '../offchain-maker.ts'
import { startTestService, type TestService } from '../service.ts'
import { EAS_VERSIONS, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

describe.skipIf(skipReason()).each(EAS_VERSIONS)('off-chain attestations for EAS %s', (version) => {
  let local: LocalChain
  let service: TestService
  let isChainStopped = false

  beforeAll(async () => {
    local = await startLocalChain(version)
    await local.client.setBalance({ address: ATTESTER.address, value: 10n ** 18n })
    await local.client.impersonateAccount({ address: ATTESTER.address })
    service = await startTestService({ ...local.environment, RPC_TIMEOUT_MS: '5000' })
  })
  afterAll(async () => {
    await service?.stop()
    if (!isChainStopped) await local?.stop()
  })

  const revoke = async (uid: string, from: Hex) => {
    const { address, abi } = { address: local.chain.easAddress, abi: local.easAbi }
    const call = { address, abi, functionName: 'revokeOffchain', args: [uid], account: from, chain: null }
    const hash = await local.client.writeContract({ ...call, gas: 1_000_000n })
    expect((await local.client.waitForTransactionReceipt({ hash })).status).toBe('success')
  }
  const distance = (from: object) => service.post('/compute/v0/distance', { chainId: local.chain.id, from, to: ROME })
  /** Signs with the version that the contract states, as tools of EAS do. */
  const attest = async (options: MakerOptions = {}) => {
    const easVersion = await local.read<string>(version === '0.26' ? 'VERSION' : 'version', [])
    return attestOffchain(EIFFEL_TOWER, { chain: { ...local.chain, easVersion }, ...options })
  }

  it.each([1, 2] as const)('of version %s are inputs until their signer revokes them', async (kind) => {
    const attestation = await attest({ version: kind })
    const { uid } = attestation.sig
    const before = await distance({ attestation })
    expect([before.status, before.body.detail]).toEqual([200, undefined])
    expect(before.body).not.toHaveProperty('notes')
    expect(before.body.inputRefs[0]).toBe(uid)
    expect(before.body.result).toBe((await distance(EIFFEL_TOWER)).body.result)
    expect(await local.submitAnswer(before.body)).toMatchObject({ data: before.body.attestation.data })

    // Anybody can write any UID into the registry, under their own address.
    await revoke(uid, local.submitter)
    expect((await distance({ attestation })).status).toBe(200)

    await revoke(uid, ATTESTER.address)
    const after = await distance({ attestation })
    expect([after.status, after.body.errors[0].code]).toEqual([400, 'attestation-revoked'])
    expect(after.body.errors[0].pointer).toBe('#/from/attestation/sig/uid')
    const other = await attest({ version: kind, expirationTime: 4_000_000_000n })
    expect((await distance({ attestation: other })).status).toBe(200)
  })

  it('of an unreachable chain are answered as UIDs are, and forged ones without asking the chain', async () => {
    const attestation = await attest()
    await local.stop()
    isChainStopped = true
    const byUid = await distance({ uid: attestation.sig.uid })
    const { status, body, headers } = await distance({ attestation })
    expect([status, body.type, headers.get('retry-after')]).toEqual([
      byUid.status,
      byUid.body.type,
      byUid.headers.get('retry-after'),
    ])
    expect(body.detail).toMatch(/^chain unreachable/)
    const forged = await distance({ attestation: { ...attestation, signer: `0x${'12'.repeat(20)}` } })
    expect([forged.status, forged.body.errors[0].code]).toEqual([400, 'attestation-signer'])
  })
})
