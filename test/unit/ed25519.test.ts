import { createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto'
import { ED25519_TORSION_SUBGROUP } from '@noble/curves/ed25519.js'
import { expect, it } from 'vitest'
import { loadEd25519 } from '../../src/crypto/ed25519.ts'

const ed25519 = await loadEd25519()
const message = Buffer.from('any message')
const IDENTITY = ED25519_TORSION_SUBGROUP[0]!
/** y = p + 1 and y = p, which ZIP 215 reads as 1 and 0. */
const NOT_CANONICAL = [`ee${'ff'.repeat(30)}7f`, `ed${'ff'.repeat(30)}7f`, `ee${'ff'.repeat(31)}`]

/** The verdict of OpenSSL alone. */
function verifyInOpenSsl(signature: Uint8Array, publicKey: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url')
  try {
    return verify(null, message, createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }), signature)
  } catch {
    return false
  }
}

it('verifies a signature, and not over another message', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
  const signature = sign(null, message, privateKey)
  expect(ed25519.verify(message, signature, key)).toBe(true)
  expect(ed25519.verify(Buffer.from('another message'), signature, key)).toBe(false)
})

// A key of small order times the hash is one of at most eight points, so a forger guesses R and takes S = 0.
it('rejects forgeries with keys of small order, some of which OpenSSL accepts in older releases', () => {
  let accepted = 0
  for (const key of [...ED25519_TORSION_SUBGROUP, ...NOT_CANONICAL]) {
    for (const r of [...ED25519_TORSION_SUBGROUP, ...NOT_CANONICAL]) {
      const signature = Buffer.concat([Buffer.from(r, 'hex'), Buffer.alloc(32)])
      if (verifyInOpenSsl(signature, Buffer.from(key, 'hex'))) accepted++
      expect(ed25519.verify(message, signature, Buffer.from(key, 'hex')), `key ${key}, R ${r}`).toBe(false)
    }
  }
  // The OpenSSL of Node.js 24 accepts none of them.
  if (Number.parseInt(process.versions.node, 10) < 24) expect(accepted).toBeGreaterThanOrEqual(8)
})

it('rejects a key of small order whose sign of x is set where x is 0', () => {
  const signed = Buffer.from(IDENTITY, 'hex')
  signed[31]! |= 0x80
  expect(ed25519.verify(message, Buffer.concat([Buffer.from(IDENTITY, 'hex'), Buffer.alloc(32)]), signed)).toBe(false)
})
