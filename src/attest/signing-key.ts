import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ConfigError, type SigningKeySource } from '../config.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Secp256k1 } from '../crypto/secp256k1.ts'
import { loadDevelopmentKey } from './development-key.ts'
import { decryptKeystore } from './keystore.ts'

/**
 * The private key of a source, 32 bytes.
 *
 * @throws {ConfigError} that names what to change, without a word of the secret
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
      return fromMnemonic(source.mnemonic.trim(), source.path)
    case 'keystore':
      return fromKeystore(source.file, source.passwordFile, keccak)
    default:
      return loadDevelopmentKey(source.file, {
        generate: () => randomBytes(32),
        addressOf: (key) => publicKeyAddress(secp256k1.publicKey(key), keccak),
      })
  }
}

function requireKey(text: string, secp256k1: Secp256k1): Uint8Array {
  const wrong = 'SIGNER_PRIVATE_KEY: must be 0x and 64 hex digits, a number from 1 to the order of secp256k1'
  if (!/^(?:0x)?[0-9a-fA-F]{64}$/.test(text)) throw new ConfigError(wrong)
  const key = Buffer.from(text.replace('0x', ''), 'hex')
  try {
    secp256k1.publicKey(key)
  } catch {
    throw new ConfigError(wrong)
  }
  return key
}

async function fromMnemonic(mnemonic: string, path: string): Promise<Uint8Array> {
  if (!/^m(?:\/\d+'?)+$/.test(path)) throw new ConfigError("SIGNER_MNEMONIC_PATH: must be like m/44'/60'/0'/0/0")
  const { mnemonicToAccount } = await import('viem/accounts') // 0.2 s, for those who need it
  try {
    const key = mnemonicToAccount(mnemonic, { path: path as `m/44'/60'/${string}` }).getHdKey().privateKey
    if (key !== null) return key
  } catch {
    // The error may repeat the words.
  }
  throw new ConfigError('SIGNER_MNEMONIC: is not a BIP-39 mnemonic (12 to 24 English words with a checksum)')
}

async function fromKeystore(file: string, passwordFile: string, keccak: Keccak): Promise<Uint8Array> {
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
