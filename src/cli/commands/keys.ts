import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type Config, readConfig } from '../../config/config.ts'
import { ConfigError } from '../../config/setting.ts'
import { readKeyFile } from '../../service/keys/key-file.ts'
import { describeKey, KeyFile, KeyManager, type KeyRepository, type NewKey } from '../../service/keys/keys.ts'
import { createKeyStore } from '../../store/keys.ts'
import { migrate } from '../../store/migrations.ts'
import { openPostgresForCommand } from '../../store/postgres.ts'
import { checkKeyProperties } from '../../validation/key-request.ts'
import { DEFAULT_SCOPES, type ListedKey, type Tier } from '../../wire/key-messages.ts'
import { StoreFault } from '../../wire/store-messages.ts'
import { EXIT, type ExitCode, usage } from '../exit-codes.ts'
import { formatCount, outJson, type Terminal } from '../terminal.ts'

export interface KeysOptions {
  readonly data?: string
  readonly file?: string
  readonly json?: boolean
}

export interface AddKeyOptions extends KeysOptions {
  readonly label: string
  readonly scopes?: string
  readonly expires?: string
  readonly requestsPerHour?: number
  readonly origin?: readonly string[]
  readonly address?: readonly string[]
}

/** Runs `trigpoint keys add`. */
export async function addKey(tier: Tier, options: AddKeyOptions, terminal: Terminal): Promise<void> {
  const { label, scopes, expires, requestsPerHour, origin: origins, address: addresses } = options
  const expiresAt = expires === undefined ? undefined : expiryTime(expires, terminal.now())
  const given = { tier, label, scopes: scopes?.split(','), expiresAt, requestsPerHour, origins, addresses }
  // Undefined members would be taken for members of a wrong type.
  const properties = checkKeyProperties(JSON.parse(JSON.stringify(given)), terminal.now())
  await withKeys(options, terminal, async (keys, place) =>
    showNewKey(await keys.add(properties), place, options, terminal),
  )
}

/** Returns the time after a number of days, such as `30d`; any other text unchanged, because the check of the key reads it. */
export function expiryTime(text: string, nowMs: number): string {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  return days === undefined ? text : new Date(nowMs + Number(days) * DAY_MS).toISOString()
}

const DAY_MS = 86_400_000

/** Runs `trigpoint keys rotate`. */
export async function rotateKey(
  idOrKey: string,
  options: KeysOptions & { readonly overlap: number },
  terminal: Terminal,
): Promise<ExitCode> {
  return withKeys(options, terminal, async (keys, place, { otherFile }) => {
    const old = await findKey(keys, idOrKey, place, otherFile, terminal)
    if (old === undefined) return EXIT.failed
    await showNewKey(await keys.rotate(old.id, options.overlap), place, options, terminal)
    terminal.err(
      options.overlap === 0 ? `${old.id} is revoked\n` : `${old.id} is valid for ${options.overlap} s more\n`,
    )
    return EXIT.ok
  })
}

async function showNewKey(
  { key, stored }: NewKey,
  place: string,
  options: KeysOptions,
  terminal: Terminal,
): Promise<void> {
  if (options.json === true) return outJson(terminal, { key, ...describeKey(stored) })
  await terminal.out(`${key}\n`)
  terminal.err(
    `key ${stored.id} (${stored.tier}, ${stored.label}), shown only once; stored in ${place}: a service that uses it accepts the key within a second\n`,
  )
}

/** Runs `trigpoint keys list`. It lists the keys of the database or the file, and counts the others. */
export async function listKeys(options: KeysOptions, terminal: Terminal): Promise<void> {
  await withKeys(options, terminal, async (keys, place, { apiKeys, apiKeysFile, hasDatabase }) => {
    const listed = await keys.list()
    if (options.json === true) return outJson(terminal, listed.map(describeKey))
    await terminal.out(listed.map((key) => `${describeLine(key, terminal.now())}\n`).join(''))
    const inFile = hasDatabase ? readKeyFile(apiKeysFile).length : 0
    const others = [
      ...(inFile === 0 ? [] : [`${inFile} more in ${apiKeysFile}`]),
      ...(apiKeys.length === 0 ? [] : [`${apiKeys.length} more in API_KEYS`]),
    ]
    terminal.err(`${[`${formatCount(listed.length, 'key')} in ${place}`, ...others].join('; ')}\n`)
  })
}

function describeLine({ id, tier, createdAt, label, ...key }: ListedKey, nowMs: number): string {
  const { scopes = DEFAULT_SCOPES, expiresAt, lastUsedAt, requestsPerHour } = key
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= nowMs
  const notes = [
    ...(scopes === DEFAULT_SCOPES ? [] : [`for ${scopes.join(', ')}`]),
    ...(requestsPerHour === undefined ? [] : [`${requestsPerHour} requests per hour`]),
    ...(expiresAt === undefined ? [] : [`${isExpired ? 'expired' : 'expires'} ${expiresAt}`]),
    ...(lastUsedAt === undefined ? [] : [`last used ${lastUsedAt}`]),
  ]
  return `${id}  ${tier.padEnd(9)}  ${createdAt}  ${label}${notes.length === 0 ? '' : `  (${notes.join('; ')})`}`
}

/**
 * Runs `trigpoint keys import`, which copies the keys of a file into the database. Keys that the database has stay as they are there,
 * and keys that were revoked there stay revoked, so the command can be repeated (decision 171).
 *
 * @param file default: the file that a service without a database uses
 */
export async function importKeys(
  file: string | undefined,
  options: Omit<KeysOptions, 'file'>,
  terminal: Terminal,
): Promise<void> {
  await withKeys(options, terminal, async (keys, place, { apiKeysFile, hasDatabase }) => {
    const source = file ?? apiKeysFile
    if (!hasDatabase)
      throw usage(
        'keys import needs a database: set DATABASE_URL, and do not set RECORDS=0; without one, use a copy of the file',
      )
    if (!existsSync(source)) throw usage(`there is no file ${source}`)
    const inFile = readKeyFile(source)
    const { added, revoked } = await keys.import(inFile)
    if (options.json === true) return outJson(terminal, { added, revoked, file: source })
    await terminal.out(
      `${formatCount(added, 'key')} of ${formatCount(inFile.length, 'key')} in ${source} added to ${place}\n`,
    )
    if (revoked > 0) terminal.err(`${formatCount(revoked, 'key')} of the file were revoked in ${place} and stay so\n`)
    terminal.err(
      `now move the file away: a service that reads it accepts its keys even after they are revoked in ${place}\n`,
    )
  })
}

/** Runs `trigpoint keys revoke`. @returns 1 if there is no such key */
export async function revokeKey(idOrKey: string, options: KeysOptions, terminal: Terminal): Promise<ExitCode> {
  return withKeys(options, terminal, async (keys, place, { otherFile }) => {
    const key = await findKey(keys, idOrKey, place, otherFile, terminal)
    if (key === undefined) return EXIT.failed
    await keys.revoke(key.id)
    if (options.json === true) await outJson(terminal, { revoked: key.id })
    else await terminal.out(`${key.id} (${key.tier}, ${key.label}) is revoked\n`)
    return EXIT.ok
  })
}

/**
 * Finds the key with an ID or the first digits of one, or the key itself; says so if there is none.
 *
 * @param otherFile file whose keys are valid too
 */
async function findKey(
  keys: KeyManager,
  idOrKey: string,
  place: string,
  otherFile: string | undefined,
  terminal: Terminal,
): Promise<ListedKey | undefined> {
  const sha256 = createHash('sha256').update(idOrKey).digest('hex')
  const isMeant = (key: ListedKey) => key.sha256 === sha256 || (idOrKey.length >= 4 && key.id.startsWith(idOrKey))
  const matches = (await keys.list()).filter(isMeant)
  if (matches.length > 1) throw usage(`${idOrKey} matches ${matches.length} keys: give more digits`)
  if (matches[0] === undefined) {
    const isInFile = otherFile !== undefined && readKeyFile(otherFile).some(isMeant)
    const advice = isInFile ? `, but in the file ${otherFile}: add --file ${otherFile}` : ''
    terminal.err(`no key ${idOrKey.startsWith('tp_') ? 'like this' : idOrKey} in ${place}${advice}\n`)
  }
  return matches[0]
}

/** Where a service with these settings finds keys. */
interface KeySources extends Pick<Config, 'apiKeys' | 'apiKeysFile'> {
  /** True if the command works on the database. */
  readonly hasDatabase: boolean
  /** The key file, if the command works on the database. */
  readonly otherFile: string | undefined
}

/**
 * Opens the keys of the database, if there is one and no file is named, or else those of the file.
 *
 * @param run gets the keys, and where they are in words for people
 * @throws {ConfigError} if the database cannot be reached
 */
async function withKeys<T>(
  { data, file }: KeysOptions,
  { env, now }: Terminal,
  run: (keys: KeyManager, place: string, sources: KeySources) => Promise<T>,
): Promise<T> {
  const folder = data === undefined ? {} : { DATA_DIR: data }
  const config = readConfig({ ...env, ...folder, ...(file === undefined ? {} : { API_KEYS_FILE: file }) }, 1)
  const { apiKeys, apiKeysFile, databaseUrl, limits } = config
  const { maxApiKeys } = limits
  const start = (repository: KeyRepository, place: string, hasDatabase: boolean) =>
    run(new KeyManager(repository, now), place, {
      apiKeys,
      apiKeysFile,
      hasDatabase,
      otherFile: hasDatabase ? apiKeysFile : undefined,
    })
  // A service without records uses no database.
  if (databaseUrl === undefined || !config.records || file !== undefined)
    return start(new KeyFile(apiKeysFile, maxApiKeys), apiKeysFile, false)
  try {
    const database = await openPostgresForCommand(databaseUrl, limits.storeConnectMs, limits.storeWriteMs)
    try {
      await migrate(database)
      const { listKeys: list, findKeyOwner, changeKeys: change } = createKeyStore(database)
      const repository = {
        list: () => list(undefined),
        findOwner: (id: string) => findKeyOwner({ id }),
        change: (wanted: Parameters<KeyRepository['change']>[0]) => change({ ...wanted, maxKeys: maxApiKeys }),
      }
      return await start(repository, 'the database', true)
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof StoreFault)
      throw new ConfigError(`the database cannot be used: ${error.message}`, { cause: error })
    throw error
  }
}
