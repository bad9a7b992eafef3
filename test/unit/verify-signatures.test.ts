import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { canonicalJson } from '../canonical-json.ts'
import { account, type Loose, NOW, SIGNALS, signatureOf, signDigest, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

function withSignature(changes: Loose): Loose {
  const stamp = stampOf()
  return { ...stamp, signatures: [{ ...stamp['signatures'][0], ...changes }] }
}

const verify = async (stamp: Loose) => {
  const { signaturesValid, details } = await verifier.stamp(stamp)
  return { signaturesValid, ...details.signatures[0] }
}

describe('signatures of stamps', () => {
  it('cover unknown members', async () => {
    const location = { ...unsignedStamp()['location'], bbox: [2.2945, 48.8584, 2.2945, 48.8584] }
    expect(await verify(stampOf('gpsd', { location, 'x-note': ['kept'] }))).toMatchObject({ signaturesValid: true })
  })

  it('report which message was signed', async () => {
    const unsigned = unsignedStamp('mock', { signals: { z: 1, a: { 10: 'x', 2: 'y' } } })
    const sorted = '"signals":{"a":{"2":"y","10":"x"},"z":1}'
    const jcs = canonicalJson(unsigned)
    const clients = jcs.replace(/"signals":\{.*?\}.*?\}/, sorted)
    expect(clients).not.toBe(jcs)
    const verifySigned = (text: string) => verify({ ...unsigned, signatures: [signatureOf(text, 1, unsigned)] })
    expect(await verifySigned(jcs)).toMatchObject({ ok: true, message: 'jcs' })
    expect(await verifySigned(clients)).toMatchObject({ ok: true, message: 'sorted-stringify' })
    expect(await verifySigned(JSON.stringify(unsigned))).toMatchObject({ ok: true, message: 'unsorted-stringify' })
  })

  it('of a device key verify over SHA-256 and over EIP-191', async () => {
    const unsigned = unsignedStamp()
    const text = canonicalJson(unsigned)
    const { publicKey } = account(5)
    const uncompressed = Buffer.from(publicKey)
    const compressed = Buffer.concat([Buffer.of(2 + (uncompressed[64]! & 1)), uncompressed.subarray(1, 33)])
    for (const key of [uncompressed, compressed]) {
      const signer = { scheme: 'device-pubkey', value: `0x${key.toString('hex')}` }
      const base = { signer, algorithm: 'secp256k1', timestamp: NOW }
      const bySha = { ...base, value: signDigest(createHash('sha256').update(text).digest(), 5) }
      expect(await verify({ ...unsigned, signatures: [bySha] })).toMatchObject({ ok: true, reason: 'ecdsa-sha256' })
      const by191 = { ...base, value: signatureOf(text, 5, unsigned)['value'] }
      expect(await verify({ ...unsigned, signatures: [by191] })).toMatchObject({ ok: true, reason: 'ecdsa-eip191' })
      const other = { ...base, value: signatureOf(text, 6, unsigned)['value'] }
      expect(await verify({ ...unsigned, signatures: [other] })).toMatchObject({ ok: false })
    }
  })

  it('of Ed25519 are verified strictly', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')
    const unsigned = unsignedStamp()
    const value = sign(null, Buffer.from(canonicalJson(unsigned)), privateKey)
    const make = (key: Uint8Array, signature: Uint8Array) => ({
      ...unsigned,
      signatures: [
        {
          signer: { scheme: 'device-pubkey', value: `0x${Buffer.from(key).toString('hex')}` },
          algorithm: 'ed25519',
          value: `0x${Buffer.from(signature).toString('hex')}`,
          timestamp: NOW,
        },
      ],
    })
    expect(await verify(make(raw, value))).toMatchObject({ ok: true, reason: 'ed25519' })
    const flipped = Buffer.from(value)
    flipped[40]! ^= 1
    expect(await verify(make(raw, flipped))).toMatchObject({ ok: false })
    // The neutral element as key and as R, with S = 0, satisfies the equation for every message.
    const neutral = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
    expect(await verify(make(neutral, Buffer.concat([neutral, Buffer.alloc(32)])))).toMatchObject({ ok: false })
  })

  const good = stampOf()['signatures'][0].value as string
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const highS = (order - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0')
  it.each([
    ['text that is not a signature', { value: 'not a signature' }, /130 hex digits/],
    ['a prefix without digits', { value: '0x' }, /130 hex digits/],
    ['64 bytes', { value: good.slice(0, 130) }, /130 hex digits/],
    ['an extra byte', { value: `${good}00` }, /130 hex digits/],
    ['zeros', { value: `0x${'0'.repeat(130)}` }, /r outside/],
    ['the high s', { value: `${good.slice(0, 66)}${highS}${good.endsWith('1b') ? '1c' : '1b'}` }, /malleable/],
    ['an unknown v', { value: `${good.slice(0, 130)}23` }, /has v/],
    ['another signer', { signer: { scheme: 'eth-address', value: account(2).address } }, /signer-mismatch/],
    ['an invalid address', { signer: { scheme: 'eth-address', value: 'me' } }, /not an address/],
    ['did:web', { signer: { scheme: 'did:web', value: 'did:web:example.org' } }, /did-resolution-disabled/],
    ['an unknown scheme', { signer: { scheme: 'did:pkh', value: 'x' } }, /unsupported-scheme/],
    ['an unknown algorithm', { algorithm: 'p256' }, /unsupported-algorithm/],
    ['an address with Ed25519', { algorithm: 'ed25519' }, /unsupported-scheme/],
  ])('are rejected with %s', async (_, changes, reason) => {
    const verdict = await verify(withSignature(changes))
    expect(verdict).toMatchObject({ signaturesValid: false, ok: false })
    expect(verdict.reason).toMatch(reason)
  })

  it('are accepted with an address in any case and with v as 0 or 1', async () => {
    const value = `${good.slice(0, 130)}${good.endsWith('1b') ? '00' : '01'}`
    const signer = { scheme: 'eth-address', value: account(1).address.toUpperCase().replace('0X', '0x') }
    expect(await verify(withSignature({ value, signer }))).toMatchObject({ signaturesValid: true })
  })

  it('all have to verify', async () => {
    const stamp = stampOf()
    const signatures = [...stamp['signatures'], { ...stamp['signatures'][0], value: 'x' }]
    expect((await verifier.stamp({ ...stamp, signatures }))['signaturesValid']).toBe(false)
  })

  // Changes each letter and digit of names, values and the signature itself. Only the time of signing is not signed.
  it.each(Object.keys(SIGNALS))('cover every byte of a stamp of %s', async (plugin) => {
    const text = JSON.stringify(stampOf(plugin))
    const end = text.indexOf('"timestamp"', text.indexOf('"signatures"'))
    let evaluated = 0
    for (let at = 0; at < end; at++) {
      const letter = text[at]!
      if (!/[0-9a-zA-Z]/.test(letter)) continue
      const other = /[0-9]/.test(letter) ? (letter === '7' ? '8' : '7') : letter === 'b' ? 'c' : 'b'
      const mutated = `{"stamp":${text.slice(0, at)}${other}${text.slice(at + 1)}}`
      const result = await verifier.run('stamp', mutated, NOW)
      if (!result.ok) continue
      evaluated++
      expect(result.members, `byte ${at}`).toContain('"signaturesValid":false')
    }
    expect(evaluated).toBeGreaterThan(150)
  })

  it('stay valid when the stamp is written in another order or with other white space', async () => {
    const stamp = stampOf('gpsd')
    const reversed = Object.fromEntries(Object.entries(stamp).reverse())
    const result = await verifier.run('stamp', JSON.stringify({ stamp: reversed }, null, 3), NOW)
    expect(result.ok && result.members).toContain('"signaturesValid":true')
  })
})
