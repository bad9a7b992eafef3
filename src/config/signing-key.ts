/**
 * Finds the source of the signing key. Only the signer thread calls this. It starts before every other thread, so that the
 * key is in one heap only and in no other thread's environment (decision 96).
 */
import { join } from 'node:path'
import type { Config } from './config.ts'
import { ConfigError, type Environment } from './setting.ts'

const DEFAULT_PATH = "m/44'/60'/0'/0/0"
/**
 * Settings whose value is the key itself. Settings that name a file stay in the environment, so that a restarted thread finds
 * them.
 */
export const SECRETS: readonly string[] = ['SIGNER_PRIVATE_KEY', 'SIGNER_MNEMONIC']
/** All settings of the signing key. Only `readSigningKey` reads them, so they are in no table. */
export const KEY_SETTINGS: readonly string[] = [
  ...SECRETS,
  'SIGNER_MNEMONIC_PATH',
  'SIGNER_KEYSTORE',
  'SIGNER_PASSWORD_FILE',
]

/** Where the signing key is. */
export type SigningKeySource =
  | { readonly kind: 'private-key'; readonly privateKey: string }
  | { readonly kind: 'mnemonic'; readonly mnemonic: string; readonly path: string }
  /** A version 3 keystore file, and the file that holds its password. */
  | { readonly kind: 'keystore'; readonly file: string; readonly passwordFile: string }
  /** Generated on the first start and stored in a file. */
  | { readonly kind: 'development'; readonly file: string }

/**
 * Reads the source of the signing key from the environment.
 *
 * @throws {ConfigError} on an incomplete or ambiguous source, and when a generated key would be used in production; the
 * message never repeats a value
 */
export function readSigningKey(
  env: Environment,
  { dataDir, production, allowDevelopmentKey }: Pick<Config, 'dataDir' | 'production' | 'allowDevelopmentKey'>,
): SigningKeySource {
  const privateKey = env['SIGNER_PRIVATE_KEY']
  const mnemonic = env['SIGNER_MNEMONIC']
  const file = env['SIGNER_KEYSTORE']
  const passwordFile = env['SIGNER_PASSWORD_FILE']
  if ([privateKey, mnemonic, file].filter(Boolean).length > 1) {
    throw new ConfigError('set only one of SIGNER_PRIVATE_KEY, SIGNER_MNEMONIC and SIGNER_KEYSTORE')
  }
  if (privateKey) return { kind: 'private-key', privateKey }
  if (mnemonic) return { kind: 'mnemonic', mnemonic, path: env['SIGNER_MNEMONIC_PATH'] || DEFAULT_PATH }
  if (file) {
    if (!passwordFile)
      throw new ConfigError('SIGNER_KEYSTORE needs SIGNER_PASSWORD_FILE, a file that holds its password')
    return { kind: 'keystore', file, passwordFile }
  }
  if (production && !allowDevelopmentKey) {
    throw new ConfigError(
      'NODE_ENV=production has no signing key: set SIGNER_PRIVATE_KEY (or SIGNER_MNEMONIC, or SIGNER_KEYSTORE with ' +
        'SIGNER_PASSWORD_FILE), or ALLOW_DEV_KEY=1 to sign with a generated development key anyway',
    )
  }
  return { kind: 'development', file: join(dataDir, 'dev-signer.json') }
}

/**
 * Returns an environment without the signing key. It does not even read the key, so that the key is never in the heap of a
 * thread that does not sign (decision 96).
 */
export function publicEnvironment(env: Environment): Environment {
  const names = Object.keys(env).filter((name) => !SECRETS.includes(name))
  return Object.fromEntries(names.map((name) => [name, env[name]]))
}

/** Removes the key from an environment. If threads share the environment, this removes it from the whole process. */
export function forgetSigningKey(env: Record<string, string | undefined>): void {
  for (const name of SECRETS) delete env[name]
}
