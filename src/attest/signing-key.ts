import { createHash, randomBytes } from 'node:crypto'
import { closeSync, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../base/make-folder.ts'
import { createFile } from '../base/new-file.ts'
import { PROGRAM } from '../base/version.ts'
import { ConfigError } from '../config/setting.ts'
import type { SigningKeySource } from '../config/signing-key.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import { createKeccak } from '../crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import type { Hex } from '../wire/values.ts'
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

/** A key that is resolved, and the kind of its source. */
export interface ResolvedKey {
  readonly kind: SigningKeySource['kind']
  /** 32 bytes. */
  readonly privateKey: Uint8Array
}

/**
 * Loads the key once for all processes: a keystore is opened once.
 *
 * @returns the key, and the address of its account
 * @throws {ConfigError} that names the setting to change
 */
export async function loadSigningKey(source: SigningKeySource): Promise<ResolvedKey & { readonly address: Hex }> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const privateKey = await resolveSigningKey(source, secp256k1, keccak)
  return { kind: source.kind, privateKey, address: publicKeyAddress(secp256k1.publicKey(privateKey), keccak) }
}

/** Returns the message with which a supervisor hands over a key: one line with its kind, then its bytes. */
export function serializeSigningKey({ kind, privateKey }: ResolvedKey): Uint8Array {
  return Buffer.concat([Buffer.from(`${kind}\n`), privateKey])
}

/**
 * Reads the key that a supervisor hands over, and closes the descriptor. Waits for the end of the message.
 *
 * @param descriptor one end of a socket pair
 * @throws {Error} if the other end closed without a key
 */
export function receiveSigningKey(descriptor: number): ResolvedKey {
  const message = readFileSync(descriptor)
  closeSync(descriptor)
  const end = message.indexOf('\n')
  const privateKey = message.subarray(end + 1)
  if (end < 0 || privateKey.length !== 32) throw new Error('the supervisor handed over no key')
  return { kind: message.toString('latin1', 0, end) as ResolvedKey['kind'], privateKey }
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
    const { code } = error as NodeJS.ErrnoException
    const hint = code === 'ENOENT' ? `; \`${PROGRAM} keygen\` with the same settings makes it` : ''
    throw new ConfigError(`${name}: the file cannot be read (${code})${hint}`)
  }
}

const PURPOSE = 'DEVELOPMENT ONLY'

interface DevelopmentKeyParts {
  /** 32 random bytes. */
  readonly generate: () => Uint8Array
  /** Throws on bytes that are not a private key. */
  readonly addressOf: (privateKey: Uint8Array) => Hex
}

/**
 * Loads the development key of a data folder. The first start creates it; later starts reuse it, because a new key would change
 * the attester.
 *
 * @param file must be readable only by its owner (mode 0600)
 * @returns 32 bytes
 * @throws {ConfigError} that says what to do when others can read the file, it is damaged, or it cannot be written
 */
export function loadDevelopmentKey(file: string, { generate, addressOf }: DevelopmentKeyParts): Uint8Array {
  if (!existsSync(file)) {
    const key = generate()
    create(file, `${JSON.stringify({ purpose: PURPOSE, address: addressOf(key), privateKey: hex(key) }, null, 2)}\n`)
  }
  // Read the file even if it was just written: when two processes start at once, both must use the file that won.
  requirePrivate(file)
  return parse(file, addressOf)
}

function requirePrivate(file: string): void {
  const { mode } = statSync(file)
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  throw new ConfigError(`${file} can be read by others: run chmod 600 on it, or delete it for a new development key`)
}

function parse(file: string, addressOf: (privateKey: Uint8Array) => Hex): Uint8Array {
  try {
    const { purpose, address, privateKey } = JSON.parse(readFileSync(file, 'utf8'))
    if (purpose === PURPOSE && typeof privateKey === 'string' && /^0x[0-9a-f]{64}$/.test(privateKey)) {
      const key = Buffer.from(privateKey.slice(2), 'hex')
      if (addressOf(key) === String(address).toLowerCase()) return key
    }
  } catch {
    // The error below must not show the file's content.
  }
  throw new ConfigError(`${file} is damaged: delete it for a new development key (and a new attester address)`)
}

function create(file: string, text: string): void {
  try {
    makeFolder(dirname(file), 0o700)
    createFile(file, text)
  } catch (error) {
    throw new ConfigError(
      `${file} cannot be written (${(error as NodeJS.ErrnoException).code}): set DATA_DIR to a writable folder`,
    )
  }
}

function hex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`
}
