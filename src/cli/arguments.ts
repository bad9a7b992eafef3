import { parseArgs } from 'node:util'
import { ConfigError, type Environment } from '../config/setting.ts'
import type { RecordsCommand } from './commands/backup.ts'

/** Command-line flags. Each sets an environment variable and overrides its value. */
const FLAGS = {
  port: { type: 'string', environment: 'PORT', help: 'port to listen on (default 3000, or the next free port)' },
  host: { type: 'string', environment: 'HOST', help: 'address to listen on (default 127.0.0.1)' },
  data: { type: 'string', environment: 'DATA_DIR', help: 'folder for keys and data (default ./.data)' },
  processes: { type: 'string', environment: 'PROCESSES', help: 'HTTP processes on the port, or auto (default 1)' },
  chain: { type: 'boolean', environment: 'LOCAL_CHAIN', help: 'run a local chain with EAS (needs anvil)' },
  'http-adapter': { type: 'string', environment: 'HTTP_ADAPTER', help: 'uws (default) or node' },
  'log-format': { type: 'string', environment: 'LOG_FORMAT', help: 'pretty (default) or json' },
  plugin: { type: 'string', environment: 'PLUGINS', help: 'module of a plugin to add; can be repeated' },
  'allow-dev-key': {
    type: 'boolean',
    environment: 'ALLOW_DEV_KEY',
    help: 'allow a generated signing key in production',
  },
  'embedded-db': { type: 'boolean', environment: 'EMBEDDED_DB', help: 'allow the embedded database in production' },
  'sample-records': { type: 'boolean', environment: 'SAMPLE_RECORDS', help: 'fill an empty store with sample records' },
  backup: { type: 'string', environment: undefined, help: 'write all records to a file and exit' },
  restore: { type: 'string', environment: undefined, help: 'fill an empty store from a backup file and exit' },
  help: { type: 'boolean', environment: undefined, help: 'print this text' },
  version: { type: 'boolean', environment: undefined, help: 'print the version' },
} as const

export interface CommandLine {
  readonly help: boolean
  readonly version: boolean
  /** If set, this command runs instead of the service. */
  readonly records: RecordsCommand | undefined
  /** The environment, with the flags applied. */
  readonly env: Environment
}

/** An invalid command line, with exit code 2. An invalid setting has exit code 78. */
export class UsageError extends ConfigError {}

/** Parses the command line of the service. @throws {UsageError} on an unknown flag */
export function readCommandLine(argv: readonly string[], env: Environment): CommandLine {
  let values: Record<string, string | boolean | readonly string[] | undefined>
  try {
    const options = Object.fromEntries(
      Object.entries(FLAGS).map(([name, { type }]) => [name, { type, multiple: name === 'plugin' }]),
    )
    values = parseArgs({ args: [...argv], options, allowPositionals: false }).values as typeof values
  } catch (error) {
    const isUnknown = (error as NodeJS.ErrnoException).code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
    const flags = Object.keys(FLAGS).map((name) => `--${name}`)
    const help = isUnknown ? `the flags are ${flags.join(', ')}` : 'see --help'
    throw new UsageError(`${(error as Error).message.split('. ')[0]}; ${help}`, { cause: error })
  }
  const overlay: Record<string, string | undefined> = {}
  for (const [name, { environment }] of Object.entries(FLAGS)) {
    const value = values[name]
    if (environment !== undefined && value !== undefined)
      overlay[environment] = value === true ? '1' : [value].flat().join(',')
  }
  return {
    help: values['help'] === true,
    version: values['version'] === true,
    records: parseRecordsCommand(values['backup'], values['restore']),
    env: { ...env, ...overlay },
  }
}

function parseRecordsCommand(backup: unknown, restore: unknown): RecordsCommand | undefined {
  if (backup !== undefined && restore !== undefined)
    throw new UsageError('--backup and --restore cannot be used together')
  if (backup !== undefined) return { kind: 'backup', file: String(backup) }
  return restore === undefined ? undefined : { kind: 'restore', file: String(restore) }
}

/** The flags with their descriptions, in the notation of the help: `--port <value>`. */
export const SERVICE_FLAGS: readonly (readonly [flag: string, help: string])[] = Object.entries(FLAGS).map(
  ([name, { type, help }]) => [`--${name}${type === 'string' ? ' <value>' : ''}`, help],
)

export function helpText(): string {
  const lines = SERVICE_FLAGS.map(([flag, help]) => `  ${flag.padEnd(26)}${help}`)
  return [
    'trigpoint: answers spatial questions with signed facts',
    '',
    'Usage: npm start -- [flags]',
    '       npm start -- plugin-test <module.mjs>   tests a plugin before you add it',
    '',
    ...lines,
    '',
    'All other settings are environment variables: see docs/configuration.md.',
    '',
  ].join('\n')
}
