import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { checksumAddress } from '../../attest/address.ts'
import { encryptKeystore } from '../../attest/keystore-writer.ts'
import { publicKeyAddress } from '../../crypto/address.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import { CommandError, EXIT, usage } from '../exit-codes.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface KeygenOptions {
  readonly out?: string
  readonly keystore?: string
  readonly passwordFile?: string
  readonly mnemonic?: boolean
  readonly reveal?: boolean
  readonly json?: boolean
}

/** `trigpoint keygen`: a key that nobody keeps would be lost, so one place for it has to be named. */
export async function runKeygen(options: KeygenOptions, terminal: Terminal): Promise<void> {
  const { out, keystore, passwordFile, reveal = false } = options
  if (out === undefined && keystore === undefined && !reveal) {
    throw usage('the key would be lost: name --out <file> or --keystore <file>, or --reveal to print it')
  }
  if ((keystore === undefined) !== (passwordFile === undefined)) {
    throw usage('--keystore and --password-file belong together')
  }
  const password = passwordFile === undefined ? undefined : readPassword(passwordFile)
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const { key, mnemonic } =
    options.mnemonic === true ? await keyOfNewMnemonic() : { key: randomBytes(32), mnemonic: undefined }
  const address = checksumAddress(publicKeyAddress(secp256k1.publicKey(key), keccak))
  const secret = mnemonic ?? `0x${Buffer.from(key).toString('hex')}`
  if (out !== undefined) writeNew(out, `${secret}\n`)
  if (keystore !== undefined) {
    writeNew(keystore, `${JSON.stringify(await encryptKeystore(key, password!, address, keccak), null, 2)}\n`)
  }
  const told = reveal ? (mnemonic === undefined ? { privateKey: secret } : { mnemonic }) : {}
  const files = [out, keystore].filter((file) => file !== undefined)
  if (options.json === true) return outJson(terminal, { address, ...told, files })
  await terminal.out(`${address}\n${reveal ? `${secret}\n` : ''}`)
  for (const file of files) terminal.err(`written to ${file}, which its owner alone can read: keep a copy elsewhere\n`)
}

async function keyOfNewMnemonic(): Promise<{ key: Uint8Array; mnemonic: string }> {
  const { newMnemonic } = await import('../../attest/new-mnemonic.ts')
  return newMnemonic()
}

function readPassword(file: string): string {
  let password: string
  try {
    password = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw usage(`--password-file ${file}: cannot be read (${(error as NodeJS.ErrnoException).code})`, error)
  }
  if (password === '') throw usage(`--password-file ${file}: is empty`)
  return password
}

/** Never over a file that is there: a key that is overwritten is gone. */
function writeNew(file: string, text: string): void {
  try {
    const descriptor = openSync(file, 'wx', 0o600)
    writeFileSync(descriptor, text)
    fsyncSync(descriptor)
    closeSync(descriptor)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why = code === 'EEXIST' ? 'is there already, and a key is not overwritten' : `cannot be written (${code})`
    throw new CommandError(EXIT.usage, `${file}: ${why}`, { cause: error })
  }
}
