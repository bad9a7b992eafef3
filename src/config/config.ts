/**
 * Joins the tables of settings in this folder into one `Config`. Every limit, timeout and queue size of the service is a row of one
 * of these tables.
 *
 * `readConfig` is pure: it takes the environment as a value. It does not read the signing key; `readSigningKey` in
 * `config/signing-key.ts` does, in the signer thread only (decision 96).
 */
import { CHAIN_LIMITS, CHAIN_SETTINGS } from './chains.ts'
import { EVIDENCE_LIMITS, EVIDENCE_SETTINGS } from './evidence.ts'
import { HTTP_LIMITS, HTTP_SETTINGS } from './http.ts'
import { JOB_LIMITS } from './jobs.ts'
import { REQUEST_LIMITS } from './limits.ts'
import { RECORD_LIMITS, RECORD_SETTINGS } from './records.ts'
import { type Environment, readSettings, type Setting, type SettingTable, type Source, type Values } from './setting.ts'
import { SIGN_IN_LIMITS, SIGN_IN_SETTINGS } from './sign-in.ts'
import { SIGNER_SETTINGS } from './signer.ts'
import { STORED_LIMITS } from './stored.ts'
import { SUBMISSION_SETTINGS } from './submission.ts'
import { SYNC_LIMITS, SYNC_SETTINGS } from './sync.ts'

const LIMITS = {
  ...REQUEST_LIMITS,
  ...HTTP_LIMITS,
  ...EVIDENCE_LIMITS,
  ...RECORD_LIMITS,
  ...JOB_LIMITS,
  ...STORED_LIMITS,
  ...CHAIN_LIMITS,
  ...SYNC_LIMITS,
  ...SIGN_IN_LIMITS,
}

/** All settings except for the signing key, in the shape of `Config`. */
export const SETTINGS = {
  production: { names: ['NODE_ENV'], read: ({ production }) => production } satisfies Setting<boolean>,
  ...HTTP_SETTINGS,
  ...SIGN_IN_SETTINGS,
  ...RECORD_SETTINGS,
  ...SYNC_SETTINGS,
  ...SIGNER_SETTINGS,
  ...EVIDENCE_SETTINGS,
  ...CHAIN_SETTINGS,
  ...SUBMISSION_SETTINGS,
  limits: LIMITS,
} satisfies SettingTable

/** Sizes and timeouts. Every queue has a maximum size, and every wait has a limit. */
export interface Limits extends Values<typeof LIMITS> {}

export interface Config extends Omit<Values<typeof SETTINGS>, 'limits'> {
  readonly limits: Limits
}

/** The settings that the signer thread receives. API keys and all other settings stay on the main thread. */
export type SignerConfig = Pick<
  Config,
  | 'production'
  | 'allowDevelopmentKey'
  | 'dataDir'
  | 'chains'
  | 'schemas'
  | 'nonceMaxAgeMs'
  | 'rpcTimeoutMs'
  | 'attestationTtlSeconds'
  | 'submission'
> & {
  /** The file descriptor from which the key is read (`receiveSigningKey`); undefined if the settings say where it is. */
  readonly keyDescriptor: number | undefined
}

/** The settings that the sync thread receives. */
export type ChainAccessConfig = Pick<
  Config,
  'chains' | 'schemas' | 'records' | 'sync' | 'rpcTimeoutMs' | 'submission' | 'limits'
>

/** The settings that the store thread receives. */
export type StoreThreadConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'limits'>

/**
 * Reads all settings except for the signing key.
 *
 * @param env the environment of the process
 * @param cores number of available processors, the default of `COMPUTE_THREADS`
 * @throws {ConfigError} on invalid values; the message names each variable, its value and what is allowed
 */
export function readConfig(env: Environment, cores: number): Config {
  return Object.freeze(readSettings(SETTINGS, sourceOf(env, cores)))
}

/** Reads some of the settings. They can be read while others are invalid. @throws {ConfigError} on invalid values among them */
export function readSome<const M extends keyof Config>(
  env: Environment,
  cores: number,
  members: readonly M[],
): Pick<Config, M> {
  const table: SettingTable = SETTINGS
  const rows = Object.fromEntries(members.map((member) => [member, table[member]!]))
  return readSettings(rows, sourceOf(env, cores)) as Pick<Config, M>
}

function sourceOf(env: Environment, cores: number): Source {
  return { env, production: env['NODE_ENV'] === 'production', cores }
}
