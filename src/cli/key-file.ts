import { readFileSync } from 'node:fs'
import { decryptKeystore } from '../attest/keystore.ts'
import { checksumAddress, publicKeyAddress } from '../crypto/address.ts'
import { createKeccak } from '../crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { CommandError, EXIT, usage } from './exit-codes.ts'

export interface Account {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** Checksummed. */
  readonly address: string
  readonly secp256k1: Secp256k1
  readonly keccak: Keccak
}

const PRIVATE_KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** Matches a key with a wrong number of digits, or a mnemonic. Messages must not repeat these, because messages go into logs. */
const SECRET_LIKE = /^(?:0x)?[0-9a-fA-F]{32,}$|^\s*(?:[a-z]+\s+){11,}[a-z]+\s*$/

/**
 * Reads a signing key and derives its address.
 *
 * @param given a key, or a file with a key: hex, `{"privateKey": …}` as in the development key, or a keystore
 * @throws {CommandError} if there is no valid key; the message never contains the secret
 */
export async function readAccount(given: string, passwordFile: string | undefined): Promise<Account> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const privateKey = PRIVATE_KEY.test(given) ? parseKey(given) : await readKeyFile(given, passwordFile, keccak)
  try {
    return {
      privateKey,
      secp256k1,
      keccak,
      address: checksumAddress(publicKeyAddress(secp256k1.publicKey(privateKey), keccak)),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw usage('the key is not a valid secp256k1 private key', error)
  }
}

async function readKeyFile(file: string, passwordFile: string | undefined, keccak: Keccak): Promise<Uint8Array> {
  const text = readText(file, '--key').trim()
  if (PRIVATE_KEY.test(text)) return parseKey(text)
  let value: { privateKey?: unknown; crypto?: unknown; Crypto?: unknown } | null = null
  try {
    value = JSON.parse(text)
  } catch {
    // Reported below.
  }
  if (typeof value?.privateKey === 'string' && PRIVATE_KEY.test(value.privateKey)) return parseKey(value.privateKey)
  if (value?.crypto === undefined && value?.Crypto === undefined) {
    throw usage(`${file}: contains no key; a key file is hex, {"privateKey": "0x…"} or a version 3 keystore`)
  }
  if (passwordFile === undefined) throw usage(`${file} is a keystore: give --password-file <file>`)
  const decrypted = await decryptKeystore(text, readText(passwordFile, '--password-file').replace(/\r?\n$/, ''), keccak)
  if (decrypted.ok) return decrypted.key
  throw new CommandError(EXIT.config, `${file}: ${decrypted.reason}`)
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (SECRET_LIKE.test(file)) throw usage(`${option}: neither a valid key nor an existing file`)
    throw usage(`${option} ${file}: cannot read the file (${(error as NodeJS.ErrnoException).code})`, error)
  }
}

function parseKey(text: string): Uint8Array {
  return Buffer.from(PRIVATE_KEY.exec(text)![1]!, 'hex')
}
