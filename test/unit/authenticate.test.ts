import { beforeAll, describe, expect, it } from 'vitest'
import { type AuthenticationOptions, authenticateAttestation } from '../../src/attest/authenticate.ts'
import { attestationUid } from '../../src/attest/uid.ts'
import { createTestSigner, NOW_SECONDS, type SignedProof, type TestSigner, TTL_SECONDS } from '../attest-parts.ts'

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

function options(chainId: number, changes: Partial<AuthenticationOptions> = {}): AuthenticationOptions {
  return {
    chain: parts.chains.get(chainId)!,
    attesters: [parts.signer.address],
    nowSeconds: NOW_SECONDS + 10,
    maxAgeSeconds: 86_400,
    keccak: parts.keccak,
    secp256k1: parts.secp256k1,
    ...changes,
  }
}

async function proof(chainId = 84532): Promise<SignedProof> {
  return parts.signProof(parts.chains.get(chainId)!)
}

/** Returns the proof with changed fields and a recomputed UID, as a forger would send it. */
function forge(
  { attestation, delegatedAttestation }: SignedProof,
  changes: Partial<SignedProof['attestation']>,
): SignedProof {
  const fields = { ...attestation, ...changes }
  const { time: timeSeconds, expirationTime: expirationTimeSeconds } = fields
  const uid = attestationUid({ ...fields, timeSeconds, expirationTimeSeconds }, parts.keccak)
  return { attestation: { ...fields, uid }, delegatedAttestation }
}

describe('authenticateAttestation', () => {
  it('accepts what our signer signed, for every chain, in any case of its hex digits', async () => {
    for (const chainId of parts.chains.keys()) {
      const { attestation, delegatedAttestation } = await proof(chainId)
      expect(authenticateAttestation({ attestation, delegatedAttestation }, options(chainId))).toEqual({ ok: true })
      const upper = (text: string) => `0x${text.slice(2).toUpperCase()}`
      const uppercase = {
        attestation: {
          ...attestation,
          uid: upper(attestation.uid),
          attester: upper(attestation.attester),
          data: upper(attestation.data),
        },
        delegatedAttestation: { ...delegatedAttestation, signature: upper(delegatedAttestation.signature) },
      }
      expect(authenticateAttestation(uppercase, options(chainId))).toEqual({ ok: true })
    }
  })

  it('rejects a signature for another chain', async () => {
    const signed = await proof(84532)
    for (const chainId of [...parts.chains.keys()].filter((id) => id !== 84532)) {
      expect(authenticateAttestation(signed, options(chainId))).toMatchObject({ ok: false, check: 'signature' })
    }
  })

  it('rejects an attester that is not ours and accepts a retired one', async () => {
    const signed = await proof()
    const stranger = `0x${'99'.repeat(20)}`
    expect(authenticateAttestation(signed, options(84532, { attesters: [stranger] }))).toMatchObject({
      check: 'attester',
    })
    expect(authenticateAttestation(signed, options(84532, { attesters: [stranger, parts.signer.address] })).ok).toBe(
      true,
    )
    // Signed by our key, but naming an attester that is not ours.
    const forged = forge(signed, { attester: stranger })
    const { delegatedAttestation } = signed
    expect(authenticateAttestation(forged, options(84532, { attesters: [stranger] }))).toMatchObject({
      check: 'attester',
    })
    const forgedTwice = { ...forged, delegatedAttestation: { ...delegatedAttestation, attester: stranger } }
    expect(authenticateAttestation(forgedTwice, options(84532, { attesters: [stranger] }))).toMatchObject({
      check: 'signature',
    })
  })

  it('rejects a change to any signed field, even with a recomputed UID', async () => {
    const signed = await proof()
    const other = `0x${'11'.repeat(32)}`
    const forgeries: Partial<SignedProof['attestation']>[] = [
      { schema: other },
      { refUID: other },
      { recipient: `0x${'11'.repeat(20)}` },
      { revocable: false },
      { expirationTime: 1 },
      { data: `${signed.attestation.data.slice(0, -1)}3` },
      { data: '0x' },
    ]
    for (const changes of forgeries) {
      expect(authenticateAttestation(forge(signed, changes), options(84532))).toMatchObject({
        ok: false,
        check: 'signature',
      })
    }
  })

  it('rejects a UID that does not match the fields, or a changed time', async () => {
    const signed = await proof()
    const { attestation } = signed
    for (const changes of [{ uid: `0x${'11'.repeat(32)}` }, { time: attestation.time + 1 }]) {
      const changed = { ...signed, attestation: { ...attestation, ...changes } }
      expect(authenticateAttestation(changed, options(84532))).toMatchObject({ ok: false, check: 'uid' })
    }
  })

  it('rejects two signatures that differ, and accepts an attestation without a copy of the signature', async () => {
    const signed = await proof()
    const { signature, ...withoutSignature } = signed.attestation
    expect(authenticateAttestation({ ...signed, attestation: withoutSignature }, options(84532))).toEqual({ ok: true })
    const last = signature.at(-1) === 'b' ? 'c' : 'b'
    const differing = { ...signed.attestation, signature: signature.slice(0, -1) + last }
    expect(authenticateAttestation({ ...signed, attestation: differing }, options(84532))).toMatchObject({
      check: 'signature',
    })
  })

  it('counts the age from the signed deadline', async () => {
    const signed = await proof()
    const last = NOW_SECONDS + TTL_SECONDS + 86_400
    expect(authenticateAttestation(signed, options(84532, { nowSeconds: last }))).toEqual({ ok: true })
    expect(authenticateAttestation(signed, options(84532, { nowSeconds: last + 1 }))).toMatchObject({ check: 'age' })
    const younger = { ...signed, delegatedAttestation: { ...signed.delegatedAttestation, deadline: last } }
    expect(authenticateAttestation(younger, options(84532, { nowSeconds: last }))).toMatchObject({ check: 'signature' })
    // On a legacy chain the deadline is not signed, so it proves no age.
    const legacy = await proof(42161)
    expect(authenticateAttestation(legacy, options(42161, { nowSeconds: last + 1 }))).toEqual({ ok: true })
  })

  it('rejects an attestation with a revocation time', async () => {
    const signed = await proof()
    const revoked = { ...signed, attestation: { ...signed.attestation, revocationTime: NOW_SECONDS } }
    expect(authenticateAttestation(revoked, options(84532))).toMatchObject({ ok: false, check: 'revoked' })
  })

  it('never throws on malformed fields', async () => {
    const signed = await proof()
    const values: unknown[] = [
      undefined,
      null,
      0,
      -1,
      1.5,
      2 ** 53,
      Number.NaN,
      '',
      '0x',
      '0xzz',
      'abc',
      {},
      [],
      true,
      `0x${'1'.repeat(63)}`,
    ]
    for (const part of ['attestation', 'delegatedAttestation'] as const) {
      for (const field of Object.keys(signed[part])) {
        for (const value of values) {
          const changed = { ...signed, [part]: { ...signed[part], [field]: value } } as SignedProof
          const result = authenticateAttestation(changed, options(84532))
          const isAbsentCopy = part === 'attestation' && field === 'signature' && value === undefined
          const isUnchanged = (signed[part] as Record<string, unknown>)[field] === value
          expect([field, value, result.ok]).toEqual([field, value, isAbsentCopy || isUnchanged])
        }
      }
    }
  })
})
