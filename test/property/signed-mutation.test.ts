import { beforeAll, describe, expect, it } from 'vitest'
import { authenticateAttestation } from '../../src/attest/authenticate.ts'
import { type AttestMessage, createAttestDigest } from '../../src/attest/typed-data.ts'
import { recoverAddress } from '../../src/crypto/address.ts'
import { formatSignature, parseSignature } from '../../src/crypto/signature.ts'
import type { Hex } from '../../src/wire/values.ts'
import { createTestSigner, NOW_SECONDS, type SignedProof, type TestSigner } from '../attest-parts.ts'

let parts: TestSigner
beforeAll(async () => {
  parts = await createTestSigner()
})

/** One chain of each layout. */
const CHAINS = [
  ['legacy', 42161],
  ['v1', 84532],
  ['v2', 42220],
] as const

function toAttestMessage({ attestation, delegatedAttestation: delegated }: SignedProof): AttestMessage {
  return {
    ...attestation,
    expirationTimeSeconds: attestation.expirationTime,
    data: Buffer.from(attestation.data.slice(2), 'hex'),
    nonce: delegated.nonce,
    deadlineSeconds: delegated.deadline,
  }
}

function recoverSigner(chainId: number, message: AttestMessage, signature: string): Hex | undefined {
  const parsed = parseSignature(signature)
  if (!parsed.ok) return undefined
  const digest = createAttestDigest(parts.chains.get(chainId)!, parts.keccak)(message)
  return recoverAddress(digest, parsed.signature, parts.secp256k1, parts.keccak)
}

function* flipEachBit(hex: string): Generator<[bit: number, changed: Hex]> {
  for (let bit = 0; bit < (hex.length - 2) * 4; bit++) {
    const bytes = Buffer.from(hex.slice(2), 'hex')
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    yield [bit, `0x${bytes.toString('hex')}`]
  }
}

describe.each(CHAINS)('a signature in the %s layout', (profile, chainId) => {
  it('recovers to another signer, or to none, when any bit of any signed field changes', async () => {
    const signed = await parts.signProof(parts.chains.get(chainId)!)
    const message = toAttestMessage(signed)
    const { signature } = signed.delegatedAttestation
    expect(recoverSigner(chainId, message, signature)).toBe(parts.signer.address)
    const survivors: string[] = []
    let tried = 0
    const attempt = (what: string, changes: Partial<AttestMessage>) => {
      tried++
      if (recoverSigner(chainId, { ...message, ...changes }, signature) === parts.signer.address) survivors.push(what)
    }
    for (const field of ['schema', 'recipient', 'refUID'] as const) {
      for (const [bit, value] of flipEachBit(String(message[field]))) attempt(`${field} bit ${bit}`, { [field]: value })
    }
    for (const [bit, value] of flipEachBit(signed.attestation.data)) {
      attempt(`data bit ${bit}`, { data: Buffer.from(value.slice(2), 'hex') })
    }
    attempt('revocable', { revocable: false })
    for (let bit = 0; bit < 48; bit++) {
      const flip = (value: number) => Number(BigInt(value) ^ (1n << BigInt(bit)))
      attempt(`expirationTime bit ${bit}`, { expirationTimeSeconds: flip(message.expirationTimeSeconds) })
      attempt(`nonce bit ${bit}`, { nonce: flip(message.nonce) })
      if (profile !== 'legacy') attempt(`deadline bit ${bit}`, { deadlineSeconds: flip(message.deadlineSeconds) })
    }
    if (profile === 'v2') {
      for (const [bit, value] of flipEachBit(String(message.attester)))
        attempt(`attester bit ${bit}`, { attester: value })
    }
    expect(survivors).toEqual([])
    // Bits: 256 each for schema and refUID, 160 for recipient, 11 × 256 for data, 1 for revocable, 48 for each integer.
    expect(tried).toBe(
      256 + 256 + 160 + 11 * 256 + 1 + 48 * (profile === 'legacy' ? 2 : 3) + (profile === 'v2' ? 160 : 0),
    )
  })

  it('does not depend on fields that its layout omits', async () => {
    const signed = await parts.signProof(parts.chains.get(chainId)!)
    const message = toAttestMessage(signed)
    const { signature } = signed.delegatedAttestation
    const attester = `0x${'99'.repeat(20)}`
    const recoversToAttester = (changes: Partial<AttestMessage>) =>
      recoverSigner(chainId, { ...message, ...changes }, signature) === parts.signer.address
    expect(recoversToAttester({ attester })).toBe(profile !== 'v2')
    expect(recoversToAttester({ deadlineSeconds: 0 })).toBe(profile === 'legacy')
  })

  it('recovers to another signer, or to none, when any of its bytes changes to any other value', async () => {
    const signed = await parts.signProof(parts.chains.get(chainId)!)
    const message = toAttestMessage(signed)
    const bytes = Buffer.from(signed.delegatedAttestation.signature.slice(2), 'hex')
    const survivors: string[] = []
    for (let index = 0; index < bytes.length; index++) {
      const original = bytes[index]!
      for (let value = 0; value < 256; value++) {
        if (value === original) continue
        bytes[index] = value
        if (recoverSigner(chainId, message, `0x${bytes.toString('hex')}`) === parts.signer.address) {
          survivors.push(`byte ${index} = ${value}`)
        }
      }
      bytes[index] = original
    }
    // v may be 0 or 1 instead of 27 or 28 (decision 110). This is the only change that may pass.
    expect(survivors).toEqual([`byte 64 = ${bytes[64]! - 27}`])
  })

  it('has no accepted twin with a high s', async () => {
    const signed = await parts.signProof(parts.chains.get(chainId)!)
    const parsed = parseSignature(signed.delegatedAttestation.signature)
    if (!parsed.ok) throw new Error(parsed.reason)
    const { compact, recovery } = parsed.signature
    const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
    const s = (order - BigInt(`0x${Buffer.from(compact.subarray(32)).toString('hex')}`)).toString(16).padStart(64, '0')
    const twin = {
      compact: Buffer.concat([compact.subarray(0, 32), Buffer.from(s, 'hex')]),
      recovery: (1 - recovery) as 0 | 1,
    }
    // The twin recovers to the same signer, so the code has to reject it.
    const digest = createAttestDigest(parts.chains.get(chainId)!, parts.keccak)(toAttestMessage(signed))
    expect(recoverAddress(digest, twin, parts.secp256k1, parts.keccak)).toBe(parts.signer.address)
    expect(parseSignature(formatSignature(twin)).ok).toBe(false)
    const delegatedAttestation = { ...signed.delegatedAttestation, signature: formatSignature(twin) }
    const result = authenticateAttestation(
      { attestation: { ...signed.attestation, signature: formatSignature(twin) }, delegatedAttestation },
      {
        chain: parts.chains.get(chainId)!,
        attesters: [parts.signer.address],
        nowSeconds: NOW_SECONDS,
        maxAgeSeconds: 0,
        keccak: parts.keccak,
        secp256k1: parts.secp256k1,
      },
    )
    expect(result).toMatchObject({ ok: false, check: 'signature' })
  })
})
