/** The place where it runs: settings, port, folder, database, signing key, pages. */
import { existsSync, readFileSync, rmdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { builtFolder } from '../../http/assets.ts'
import { makeFolder } from '../../make-folder.ts'
import { pendingMigrations } from '../../store/migrations.ts'
import { openPostgres } from '../../store/postgres.ts'
import { misspeltSettings } from '../misspelt-settings.ts'
import { counted } from '../terminal.ts'
import { type Check, type DoctorParts, type Finding, fail, ok, warn } from './finding.ts'

const GIB = 1_073_741_824

export const PLACE_CHECKS: readonly Check[] = [
  { id: 'settings', run: checkSettings },
  { id: 'port', run: checkPort },
  { id: 'data', run: checkData },
  { id: 'database', run: checkDatabase },
  { id: 'signer', run: checkSigner },
  { id: 'pages', run: checkPages },
]

function checkSettings({ terminal }: DoctorParts): Finding {
  const slips = misspeltSettings(terminal.env)
  if (slips.length === 0) return ok('every name of the environment that looks like ours is one of ours')
  const list = slips.map(({ name, meant }) => `${name} (did you mean ${meant}?)`).join(', ')
  return warn(`nobody reads ${list}`, 'correct the name, or unset it: docs/configuration.md has them all')
}

async function checkPort({ config }: DoctorParts): Promise<Finding> {
  const { host, port, portAsked } = config
  const code = await new Promise<string | undefined>((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'))
    server.listen(port, host, () => server.close(() => done(undefined)))
  })
  if (code === undefined) return ok(`${host}:${port} is free`)
  if (code !== 'EADDRINUSE')
    return fail(`${host}:${port} cannot be listened on (${code})`, 'choose another HOST or PORT')
  if (portAsked)
    return fail(
      `${host}:${port} is in use`,
      'stop who listens there (perhaps a service of ours), or choose another PORT',
    )
  return warn(
    `${host}:${port} is in use, perhaps by a service that runs: the next free port would be taken`,
    'PORT=<number> says which one',
  )
}

function checkData({ config: { dataDir } }: DoctorParts): Finding {
  const file = join(dataDir, `doctor.${process.pid}`)
  const isThere = existsSync(dataDir)
  try {
    makeFolder(dataDir)
    writeFileSync(file, '')
    rmSync(file)
    const free = statfsSync(dataDir)
    const bytes = free.bavail * free.bsize
    const found = `${resolve(dataDir)} can be written, ${(bytes / GIB).toFixed(1)} GiB free`
    return bytes >= GIB ? ok(found) : warn(found, 'make room, or set DATA_DIR to a folder with more')
  } catch (error) {
    return fail(
      `${resolve(dataDir)} cannot be written (${(error as NodeJS.ErrnoException).code})`,
      'set DATA_DIR (--data) to a folder that can',
    )
  } finally {
    if (!isThere) removeEmpty(dataDir)
  }
}

/** A service that starts meanwhile may have put its keys into the folder. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It is not empty, or was never made.
  }
}

async function checkDatabase({ config }: DoctorParts): Promise<Finding> {
  if (!config.records) return ok('RECORDS=0: none is needed')
  const { databaseUrl, dataDir, limits } = config
  if (databaseUrl === undefined) {
    if (config.production && !config.allowEmbeddedDatabase) {
      return fail(
        'production keeps no records in the embedded database',
        'set DATABASE_URL, or EMBEDDED_DB=1, or RECORDS=0',
      )
    }
    const folder = join(dataDir, 'store')
    return ok(existsSync(folder) ? `embedded, in ${resolve(folder)}` : 'embedded, made on the first start')
  }
  try {
    const database = await openPostgres({
      url: databaseUrl,
      readers: 1,
      writers: 1,
      connectTimeoutMs: limits.storeConnectMs,
      readTimeoutMs: limits.storeReadMs,
      writeTimeoutMs: limits.storeReadMs,
      onLost: () => {},
    })
    try {
      const pending = await pendingMigrations(database.reads)
      const found = `PostgreSQL ${database.version}`
      if (Number(database.version.split('.')[0]) < 15) return fail(found, 'PostgreSQL 15 or newer is needed')
      return ok(
        pending === 0
          ? `${found}, tables as this version has them`
          : `${found}, ${counted(pending, 'change')} of tables on the next start`,
      )
    } finally {
      await database.close()
    }
  } catch (error) {
    return fail(
      `DATABASE_URL: ${(error as Error).message}`,
      'start the server, or correct the address, user and password',
    )
  }
}

/** The key itself is not read. */
function checkSigner({ config, terminal }: DoctorParts): Finding {
  const { env, secretNames } = terminal
  const sources = [...secretNames, ...(env['SIGNER_KEYSTORE'] ? ['SIGNER_KEYSTORE'] : [])]
  if (sources.length > 1) return fail(`${sources.join(' and ')} are set`, 'set one of them')
  if (sources[0] === 'SIGNER_KEYSTORE') {
    for (const name of ['SIGNER_KEYSTORE', 'SIGNER_PASSWORD_FILE']) {
      const file = env[name]
      if (!file || !existsSync(file))
        return fail(`${name} names no file`, `set ${name} to a file (trigpoint keygen --keystore makes both)`)
    }
    return ok('a keystore, opened when the service starts')
  }
  if (sources.length === 1) return ok(`${sources[0]}, not looked at here`)
  const file = join(config.dataDir, 'dev-signer.json')
  if (config.production && !config.allowDevelopmentKey) {
    return fail(
      'no signing key, and production makes none',
      'trigpoint keygen --keystore signer.json --password-file …, then SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE',
    )
  }
  if (existsSync(file) && process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    return fail(`${file} can be read by others`, `chmod 600 ${file}`)
  }
  const found = existsSync(file)
    ? `a development key, ${addressOf(file)}`
    : 'a development key, made on the first start'
  return warn(found, 'enough for trying things; for more: trigpoint keygen --keystore, then SIGNER_KEYSTORE')
}

/** Of a key file, without its key. */
export function addressOf(file: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(file, 'utf8')) as { address?: unknown }
    return typeof address === 'string' && /^0x[0-9a-fA-F]{40}$/.test(address) ? address : undefined
  } catch {
    return undefined
  }
}

function checkPages(): Finding {
  const missing = ['docs', 'explore', 'site'].filter((name) => !existsSync(builtFolder(name)))
  if (missing.length === 0) return ok('reference, guide and explorer are built')
  return warn(
    `not built: ${missing.join(', ')}; their addresses answer 404`,
    'npm run build (with development packages)',
  )
}
