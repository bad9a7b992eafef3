import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { encryptKeystore } from '../../attest/keystore.ts'
import { createFile } from '../../base/new-file.ts'
import { checksumAddress, publicKeyAddress } from '../../crypto/address.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import { usage } from '../exit-codes.ts'
import { outJson, type Terminal } from '../terminal.ts'

export interface KeygenOptions {
  readonly out?: string
  readonly keystore?: string
  readonly passwordFile?: string
  readonly mnemonic?: boolean
  readonly reveal?: boolean
  readonly json?: boolean
}

/**
 * Runs `trigpoint keygen`. It needs a destination for the key, because an unstored key would be lost. Without options, this is the
 * keystore that the service would open with the same environment.
 */
export async function runKeygen(options: KeygenOptions, terminal: Terminal): Promise<void> {
  const { out, reveal = false } = options
  const isStored = out !== undefined || options.keystore !== undefined || options.passwordFile !== undefined || reveal
  const { keystore, passwordFile } = isStored ? options : makePasswordFile(terminal)
  if ((keystore === undefined) !== (passwordFile === undefined)) {
    throw usage('--keystore and --password-file must be used together')
  }
  const password = passwordFile === undefined ? undefined : readPassword(passwordFile)
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const { key, mnemonic } =
    options.mnemonic === true ? await generateMnemonicKey() : { key: randomBytes(32), mnemonic: undefined }
  const address = checksumAddress(publicKeyAddress(secp256k1.publicKey(key), keccak))
  const secret = mnemonic ?? `0x${Buffer.from(key).toString('hex')}`
  if (out !== undefined) writeNewFile(out, `${secret}\n`)
  if (keystore !== undefined) {
    writeNewFile(keystore, `${JSON.stringify(await encryptKeystore(key, password!, address, keccak), null, 2)}\n`)
  }
  const secretMembers = reveal ? (mnemonic === undefined ? { privateKey: secret } : { mnemonic }) : {}
  const files = [out, keystore].filter((file) => file !== undefined)
  if (options.json === true) return outJson(terminal, { address, ...secretMembers, files })
  await terminal.out(`${address}\n${reveal ? `${secret}\n` : ''}`)
  for (const file of files) terminal.err(`written to ${file}, which only its owner can read: keep a backup elsewhere\n`)
}

/**
 * Reads the files of the signing key from the environment, and makes the password if its file does not exist.
 *
 * @throws a usage error if the environment names none, or the keystore exists
 */
function makePasswordFile(terminal: Terminal): { keystore: string; passwordFile: string } {
  const { SIGNER_KEYSTORE: keystore, SIGNER_PASSWORD_FILE: passwordFile } = terminal.env
  if (!keystore || !passwordFile) {
    throw usage(
      'the key would be lost: give --out <file>, --keystore <file>, or --reveal to print it, or set SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE',
    )
  }
  if (existsSync(keystore)) {
    throw usage(
      `${keystore}: already exists, and keys are never overwritten. ` +
        'For a second key, run keygen with SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE set to the names of new files',
    )
  }
  if (!existsSync(passwordFile)) {
    writeNewFile(passwordFile, `${randomBytes(24).toString('hex')}\n`)
    terminal.err(`made a password in ${passwordFile}, which only its owner can read\n`)
  }
  return { keystore, passwordFile }
}

const alreadyExists = (file: string) => usage(`${file}: already exists, and keys are never overwritten`)

async function generateMnemonicKey(): Promise<{ key: Uint8Array; mnemonic: string }> {
  const { newMnemonic } = await import('../../attest/keystore.ts')
  return newMnemonic()
}

function readPassword(file: string): string {
  let password: string
  try {
    password = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw usage(`--password-file ${file}: cannot read the file (${(error as NodeJS.ErrnoException).code})`, error)
  }
  if (password === '') throw usage(`--password-file ${file}: the file is empty`)
  return password
}

/** Creates a file. It never overwrites an existing one, because that could destroy a key. */
function writeNewFile(file: string, text: string): void {
  let isCreated: boolean
  try {
    isCreated = createFile(file, text)
  } catch (error) {
    throw usage(`${file}: cannot write the file (${(error as NodeJS.ErrnoException).code})`, error)
  }
  if (!isCreated) throw alreadyExists(file)
}
