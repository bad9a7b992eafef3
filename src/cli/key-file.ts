import { readFileSync } from 'node:fs'
import { checksumAddress } from '../attest/address.ts'
import { decryptKeystore } from '../attest/keystore.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import { createKeccak, type Keccak } from '../crypto/keccak.ts'
import { loadSecp256k1, type Secp256k1 } from '../crypto/secp256k1.ts'
import { CommandError, EXIT, usage } from './exit-codes.ts'

export interface Account {
  /** 32 bytes. */
  readonly privateKey: Uint8Array
  /** Checksummed. */
  readonly address: string
  readonly secp256k1: Secp256k1
  readonly keccak: Keccak
}

const KEY = /^(?:0x)?([0-9a-fA-F]{64})$/

/** A key with a digit too few or too many, or the words of one: not to be repeated in a message, which goes into logs. */
const SECRET_LIKE = /^(?:0x)?[0-9a-fA-F]{32,}$|^\s*(?:[a-z]+\s+){11,}[a-z]+\s*$/

/**
 * @param given a key, or a file with one: hex alone, `{"privateKey": …}` as the development key has it, or a keystore
 * @throws {CommandError} without a word of the secret
 */
export async function readAccount(given: string, passwordFile: string | undefined): Promise<Account> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const privateKey = KEY.test(given) ? bytesOf(given) : await keyOfFile(given, passwordFile, keccak)
  try {
    return {
      privateKey,
      secp256k1,
      keccak,
      address: checksumAddress(publicKeyAddress(secp256k1.publicKey(privateKey), keccak)),
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw usage('the key is no number from 1 to the order of secp256k1', error)
  }
}

async function keyOfFile(file: string, passwordFile: string | undefined, keccak: Keccak): Promise<Uint8Array> {
  const text = readText(file, '--key').trim()
  if (KEY.test(text)) return bytesOf(text)
  let value: { privateKey?: unknown; crypto?: unknown; Crypto?: unknown } | null = null
  try {
    value = JSON.parse(text)
  } catch {
    // Said below.
  }
  if (typeof value?.privateKey === 'string' && KEY.test(value.privateKey)) return bytesOf(value.privateKey)
  if (value?.crypto === undefined && value?.Crypto === undefined) {
    throw usage(`${file}: holds no key: hex alone, {"privateKey": "0x…"} or a version 3 keystore`)
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
    if (SECRET_LIKE.test(file)) throw usage(`${option}: is neither a key nor a file that is there`)
    throw usage(`${option} ${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, error)
  }
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(KEY.exec(text)![1]!, 'hex')
}
