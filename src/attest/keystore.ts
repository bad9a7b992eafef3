import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import type { Keccak } from '../crypto/primitives.ts'

type DecryptedKeystore =
  | { readonly ok: true; readonly key: Uint8Array }
  | { readonly ok: false; readonly reason: string }

// Wallets use n = 262,144 and r = 8, which take 256 MiB; no wallet writes a file that needs more than 512 MiB. OpenSSL also
// rejects n ≥ 2^(16 r), as RFC 7914 requires.
const MAX_SCRYPT_BYTES = 512 * 1_048_576
const MAX_PBKDF2_ROUNDS = 10_000_000

const deriveScrypt = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
)
const derivePbkdf2 = promisify(pbkdf2)

/**
 * Decrypts the private key in a keystore file (Web3 Secret Storage, version 3): scrypt or PBKDF2, AES-128-CTR, keccak MAC.
 *
 * @returns 32 bytes, or the reason: the file has another format, or the password is wrong
 */
export async function decryptKeystore(json: string, password: string, keccak: Keccak): Promise<DecryptedKeystore> {
  const file = readKeystore(json)
  if (file === undefined)
    return { ok: false, reason: 'is not a version 3 keystore with aes-128-ctr and scrypt or pbkdf2' }
  let derived: Buffer
  try {
    derived = await file.derive(password)
  } catch {
    return { ok: false, reason: 'has a key derivation that is invalid or needs over 512 MiB' }
  }
  const mac = keccak.hash(Buffer.concat([derived.subarray(16, 32), file.ciphertext]))
  if (!timingSafeEqual(mac, file.mac)) return { ok: false, reason: 'cannot be decrypted with this password' }
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), file.iv)
  return { ok: true, key: Buffer.concat([decipher.update(file.ciphertext), decipher.final()]) }
}

interface Keystore {
  readonly ciphertext: Buffer
  readonly iv: Buffer
  readonly mac: Buffer
  readonly derive: (password: string) => Promise<Buffer>
}

function readKeystore(json: string): Keystore | undefined {
  // biome-ignore lint/suspicious/noExplicitAny: an untrusted file; every member that is used is checked
  let file: any
  try {
    file = JSON.parse(json)
  } catch {
    return undefined
  }
  const crypto = file?.crypto ?? file?.Crypto
  const ciphertext = hexBytes(crypto?.ciphertext, 32)
  const iv = hexBytes(crypto?.cipherparams?.iv, 16)
  const mac = hexBytes(crypto?.mac, 32)
  const derive = readDerivation(crypto?.kdf, crypto?.kdfparams)
  if (file?.version !== 3 || crypto?.cipher !== 'aes-128-ctr') return undefined
  return ciphertext && iv && mac && derive ? { ciphertext, iv, mac, derive } : undefined
}

// biome-ignore lint/suspicious/noExplicitAny: an untrusted file; every member that is used is checked
function readDerivation(kdf: unknown, params: any): Keystore['derive'] | undefined {
  const salt = hexBytes(params?.salt)
  if (salt === undefined || params.dklen !== 32) return undefined
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) > 0
  if (kdf === 'scrypt' && isCount(params.n) && isCount(params.r) && isCount(params.p)) {
    const { n: N, r, p } = params
    return (password) => deriveScrypt(password, salt, 32, { N, r, p, maxmem: MAX_SCRYPT_BYTES })
  }
  if (kdf === 'pbkdf2' && params.prf === 'hmac-sha256' && isCount(params.c) && params.c <= MAX_PBKDF2_ROUNDS) {
    return (password) => derivePbkdf2(password, salt, params.c, 32, 'sha256')
  }
  return undefined
}

function hexBytes(text: unknown, length?: number): Buffer | undefined {
  if (typeof text !== 'string' || !/^(?:[0-9a-fA-F]{2})+$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'hex')
  return length === undefined || bytes.length === length ? bytes : undefined
}

/** The parameters that wallets use: each guess at the password takes a second and 256 MiB. */
const SCRYPT = { n: 262_144, r: 8, p: 1 }

/**
 * Encrypts a private key as a keystore file (Web3 Secret Storage, version 3): scrypt, AES-128-CTR, keccak MAC. `decryptKeystore`
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
  const derived = await deriveScrypt(password, salt, 32, { N: n, r, p, maxmem: MAX_SCRYPT_BYTES })
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

/** Generates a BIP-39 mnemonic of 12 English words (128 random bits), and derives the first key of its Ethereum wallet. */
export async function newMnemonic(): Promise<{ readonly mnemonic: string; readonly key: Uint8Array }> {
  const { english, generateMnemonic, mnemonicToAccount } = await import('viem/accounts') // takes 0.2 s
  const mnemonic = generateMnemonic(english)
  const { privateKey } = mnemonicToAccount(mnemonic).getHdKey()
  if (privateKey === null) throw new Error('the mnemonic has no private key')
  return { mnemonic, key: privateKey }
}
