import { createHash, randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { publicKeyAddress, recoverAddress } from '../../src/crypto/address.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import type { Keccak, Secp256k1 } from '../../src/crypto/primitives.ts'
import { loadSecp256k1, TERMINABLE_BACKENDS } from '../../src/crypto/secp256k1.ts'
import { SYSTEM_SECP256K1 } from '../system-secp256k1.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

describe('secp256k1 backends', () => {
  let backends: Secp256k1[]
  let keccak: Keccak

  beforeAll(async () => {
    const names = [...(SYSTEM_SECP256K1 ? (['system'] as const) : []), 'native', 'libauth', 'noble'] as const
    backends = await Promise.all(names.map((name) => loadSecp256k1([name])))
    keccak = await createKeccak()
  })

  it('loads the available backends, the fastest first', async () => {
    expect((await loadSecp256k1()).backend).toBe(SYSTEM_SECP256K1 ? 'system' : 'native')
    expect((await loadSecp256k1(TERMINABLE_BACKENDS)).backend).toBe(SYSTEM_SECP256K1 ? 'system' : 'libauth')
  })

  it('give the same bytes for 300 random messages and keys', () => {
    for (let round = 0; round < 300; round++) {
      const privateKey = randomBytes(32)
      const digest = randomBytes(32)
      const [first, ...others] = backends.map((backend) => {
        const signature = backend.sign(digest, privateKey)
        const recovered = backend.recover(digest, signature)!
        return [signature.compact, signature.recovery, recovered, backend.publicKey(privateKey)].map(String)
      })
      for (const other of others) expect(other).toEqual(first)
      expect(first![2]).toBe(first![3])
    }
  })

  it('sign deterministically whatever they signed before', () => {
    const digest = createHash('sha256')
      .update('All those moments will be lost in time, like tears in rain. Time to die...')
      .digest()
    // Private key 1; r‖s as published with the RFC 6979 vectors for this curve in the test suites of several wallets.
    const published =
      '8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b' +
      '547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21'
    for (const backend of backends) {
      backend.sign(randomBytes(32), randomBytes(32))
      const { compact } = backend.sign(digest, Buffer.from('01'.padStart(64, '0'), 'hex'))
      expect(Buffer.from(compact).toString('hex')).toBe(published)
    }
  })

  it('derive the published address of the first development account of Ethereum tools', () => {
    // "test test … junk", m/44'/60'/0'/0/0.
    const key = Buffer.from('ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80', 'hex')
    for (const backend of backends) {
      const address = publicKeyAddress(backend.publicKey(key), keccak)
      expect(address).toBe('0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266')
      const digest = randomBytes(32)
      expect(recoverAddress(digest, backend.sign(digest, key), backend, keccak)).toBe(address)
    }
  })

  it('reject keys outside 1..n-1 and digests that are not 32 bytes', () => {
    const bytes = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
    for (const backend of backends) {
      for (const key of [bytes(0n), bytes(ORDER), bytes(ORDER + 1n), bytes(2n ** 256n - 1n), Buffer.alloc(31, 1)]) {
        expect(() => backend.sign(randomBytes(32), key)).toThrow(RangeError)
        expect(() => backend.publicKey(key)).toThrow(RangeError)
      }
      expect(() => backend.sign(randomBytes(31), bytes(1n))).toThrow(RangeError)
      expect(() => backend.publicKey(bytes(ORDER - 1n))).not.toThrow()
    }
  })

  it('recover no key from an r or s outside 1..n-1', () => {
    const order = Buffer.from(ORDER.toString(16), 'hex')
    const one = Buffer.from('01'.padStart(64, '0'), 'hex')
    const digest = randomBytes(32)
    for (const backend of backends) {
      for (const [r, s] of [
        [order, one],
        [one, order],
        [Buffer.alloc(32), one],
        [one, Buffer.alloc(32)],
      ] as const) {
        expect(backend.recover(digest, { compact: Buffer.concat([r, s]), recovery: 1 })).toBeUndefined()
      }
    }
  })

  it('read digests, keys and signatures from subarrays, and never change a returned value', () => {
    const buffer = randomBytes(200)
    const [digest, key] = [buffer.subarray(3, 35), buffer.subarray(41, 73)]
    for (const backend of backends) {
      const signature = backend.sign(Uint8Array.from(digest), Uint8Array.from(key))
      expect(backend.sign(digest, key)).toEqual(signature)
      buffer.set(signature.compact, 101)
      const compact = buffer.subarray(101, 165)
      const [before, publicKey] = [Buffer.from(compact), backend.publicKey(key)]
      expect(backend.recover(digest, { compact, recovery: signature.recovery })).toEqual(publicKey)
      backend.sign(randomBytes(32), randomBytes(32))
      backend.publicKey(randomBytes(32))
      expect(Buffer.from(signature.compact)).toEqual(before)
      expect(publicKey).toEqual(backend.publicKey(key))
    }
  })

  it('recover no key from an r that is not an x of the curve', () => {
    // No point of y² = x³ + 7 has x = 5.
    const compact = Buffer.alloc(64)
    compact[31] = 5
    compact[63] = 1
    for (const backend of backends) expect(backend.recover(randomBytes(32), { compact, recovery: 0 })).toBeUndefined()
  })
})

describe('keccak-256', () => {
  it('agrees between WebAssembly and JavaScript for every length up to three blocks', async () => {
    const wasm = await createKeccak('wasm')
    const javascript = javascriptKeccak()
    const bytes = randomBytes(420)
    for (let length = 0; length <= bytes.length; length++) {
      const part = bytes.subarray(0, length)
      expect(wasm.hashHex(part)).toBe(javascript.hashHex(part))
      expect(Buffer.from(wasm.hash(part)).toString('hex')).toBe(wasm.hashHex(part).slice(2))
    }
  })

  it('gives the hash of "abc" that the Keccak team published', async () => {
    expect((await createKeccak()).hashHex(Buffer.from('abc'))).toBe(
      '0x4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45',
    )
  })

  it('does not change an earlier digest when hashing again', async () => {
    const keccak = await createKeccak()
    const first = keccak.hash(Buffer.from('a'))
    const copy = Buffer.from(first)
    keccak.hash(Buffer.from('b'))
    expect(copy.equals(first)).toBe(true)
  })
})
