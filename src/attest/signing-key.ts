import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError } from '../config/setting.ts'
import type { SigningKeySource } from '../config/signing-key.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { loadDevelopmentKey } from './development-key.ts'
import { decryptKeystore } from './keystore.ts'

/**
 * Loads or derives the private key of a source, 32 bytes.
 *
 * @throws {ConfigError} that names the setting to change and shows nothing of the secret
 */
export async function resolveSigningKey(
  source: SigningKeySource,
  secp256k1: Secp256k1,
  keccak: Keccak,
): Promise<Uint8Array> {
  switch (source.kind) {
    case 'private-key':
      return requireKey(source.privateKey.trim(), secp256k1)
    case 'mnemonic':
      return keyFromMnemonic(source.mnemonic.trim(), source.path)
    case 'keystore':
      return keyFromKeystore(source.file, source.passwordFile, keccak)
    default:
      return loadDevelopmentKey(source.file, {
        generate: () => randomBytes(32),
        addressOf: (key) => publicKeyAddress(secp256k1.publicKey(key), keccak),
      })
  }
}

function requireKey(text: string, secp256k1: Secp256k1): Uint8Array {
  const message = 'SIGNER_PRIVATE_KEY: must be 0x and 64 hex digits, a number from 1 to the order of secp256k1'
  if (!/^(?:0x)?[0-9a-fA-F]{64}$/.test(text)) throw new ConfigError(message)
  const key = Buffer.from(text.replace('0x', ''), 'hex')
  try {
    secp256k1.publicKey(key)
  } catch {
    throw new ConfigError(message)
  }
  return key
}

async function keyFromMnemonic(mnemonic: string, path: string): Promise<Uint8Array> {
  if (!/^m(?:\/\d+'?)+$/.test(path)) throw new ConfigError("SIGNER_MNEMONIC_PATH: must be like m/44'/60'/0'/0/0")
  const { english, mnemonicToAccount } = await import('viem/accounts') // takes 0.2 s, so it is imported on demand
  const words = mnemonic.normalize('NFKD').split(/\s+/)
  // viem derives a key from any words: a typo would silently give another attester.
  if (!hasChecksum(words, english)) {
    throw new ConfigError('SIGNER_MNEMONIC: is not a BIP-39 mnemonic (12 to 24 English words with their checksum)')
  }
  const { privateKey } = mnemonicToAccount(words.join(' '), { path: path as `m/44'/60'/${string}` }).getHdKey()
  if (privateKey === null) throw new ConfigError('SIGNER_MNEMONIC_PATH: leads to no private key')
  return privateKey
}

/** Checks the BIP-39 checksum: a word is 11 bits, and 1 of every 33 bits, at the end, is from the SHA-256 of the bits before. */
function hasChecksum(words: readonly string[], list: readonly string[]): boolean {
  if (![12, 15, 18, 21, 24].includes(words.length)) return false
  const indices = words.map((word) => list.indexOf(word))
  if (indices.includes(-1)) return false
  const bits = indices.map((index) => index.toString(2).padStart(11, '0')).join('')
  const checksumBits = bits.length / 33
  const entropy = bits.slice(0, -checksumBits)
  const bytes = Buffer.from(entropy.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const hash = createHash('sha256').update(bytes).digest()[0]!.toString(2).padStart(8, '0')
  return hash.slice(0, checksumBits) === bits.slice(-checksumBits)
}

async function keyFromKeystore(file: string, passwordFile: string, keccak: Keccak): Promise<Uint8Array> {
  const json = readText(file, 'SIGNER_KEYSTORE')
  const password = readText(passwordFile, 'SIGNER_PASSWORD_FILE').replace(/\r?\n$/, '')
  const decrypted = await decryptKeystore(json, password, keccak)
  if (decrypted.ok) return decrypted.key
  throw new ConfigError(`SIGNER_KEYSTORE: ${decrypted.reason}`)
}

function readText(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${name}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}
