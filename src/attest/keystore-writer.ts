import { createCipheriv, randomBytes, randomUUID, scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { Keccak } from '../crypto/keccak.ts'

/** The parameters that wallets use: each guess at the password takes a second and 256 MiB. */
const SCRYPT = { n: 262_144, r: 8, p: 1 }
const MAX_MEMORY_BYTES = 512 * 1_048_576

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt)

/**
 * Encrypts a private key as a key file (Web3 Secret Storage, version 3): scrypt, AES-128-CTR, keccak MAC. `decryptKeystore`
 * reads it.
 *
 * @param key 32 bytes
 * @param address with 0x, in any case
 * @returns the file's content, to be serialised as JSON
 */
export async function encryptKeystore(
  key: Uint8Array,
  password: string,
  address: string,
  keccak: Keccak,
): Promise<object> {
  const { n, r, p } = SCRYPT
  const [salt, iv] = [randomBytes(32), randomBytes(16)]
  const derived = await derive(password, salt, 32, { N: n, r, p, maxmem: MAX_MEMORY_BYTES })
  const cipher = createCipheriv('aes-128-ctr', derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(key), cipher.final()])
  const mac = Buffer.from(keccak.hash(Buffer.concat([derived.subarray(16, 32), ciphertext])))
  return {
    version: 3,
    id: randomUUID(),
    address: address.slice(2).toLowerCase(),
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { dklen: 32, n, r, p, salt: salt.toString('hex') },
      mac: mac.toString('hex'),
    },
  }
}
