/** Checks of the environment of the service: settings, port, folder, database, signing key, pages. */
import { existsSync, readFileSync, rmdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { makeFolder } from '../../base/make-folder.ts'
import { builtFolder } from '../../http/pages/assets.ts'
import { pendingMigrations } from '../../store/migrations.ts'
import { openPostgres } from '../../store/postgres.ts'
import { misspeltSettings } from '../misspelt-settings.ts'
import { formatCount } from '../terminal.ts'
import { type Check, type DoctorParts, type Finding, fail, ok, warn } from './finding.ts'

const GIB = 1_073_741_824

export const ENVIRONMENT_CHECKS: readonly Check[] = [
  { id: 'settings', run: checkSettings },
  { id: 'port', run: checkPort },
  { id: 'data', run: checkData },
  { id: 'database', run: checkDatabase },
  { id: 'signer', run: checkSigner },
  { id: 'pages', run: checkPages },
]

function checkSettings({ terminal }: DoctorParts): Finding {
  const misspelt = misspeltSettings(terminal.env)
  if (misspelt.length === 0) return ok('no misspelt settings')
  const list = misspelt.map(({ name, meant }) => `${name} (did you mean ${meant}?)`).join(', ')
  return warn(`unknown: ${list}`, 'correct the name or unset it; docs/configuration.md lists all settings')
}

async function checkPort({ config }: DoctorParts): Promise<Finding> {
  const { host, port, isPortSet } = config
  const code = await new Promise<string | undefined>((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'))
    server.listen(port, host, () => server.close(() => done(undefined)))
  })
  if (code === undefined) return ok(`${host}:${port} is free`)
  if (code !== 'EADDRINUSE') return fail(`cannot listen on ${host}:${port} (${code})`, 'choose another HOST or PORT')
  if (isPortSet)
    return fail(
      `${host}:${port} is in use`,
      'stop the process that listens there (perhaps another trigpoint), or choose another PORT',
    )
  return warn(
    `${host}:${port} is in use, perhaps by another trigpoint: the service would use the next free port`,
    'set PORT=<number> to choose the port',
  )
}

function checkData({ config: { dataDir } }: DoctorParts): Finding {
  const file = join(dataDir, `doctor.${process.pid}`)
  const existed = existsSync(dataDir)
  try {
    makeFolder(dataDir)
    writeFileSync(file, '')
    rmSync(file)
    const stats = statfsSync(dataDir)
    const bytes = stats.bavail * stats.bsize
    const summary = `${resolve(dataDir)} is writable, ${(bytes / GIB).toFixed(1)} GiB free`
    return bytes >= GIB ? ok(summary) : warn(summary, 'make room, or set DATA_DIR to a folder with more space')
  } catch (error) {
    return fail(
      `${resolve(dataDir)} is not writable (${(error as NodeJS.ErrnoException).code})`,
      'set DATA_DIR (--data) to a writable folder',
    )
  } finally {
    if (!existed) removeEmpty(dataDir)
  }
}

/** Removes a folder if it is empty. A service that started in the meantime may have put its keys there. */
function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It is not empty or was never created.
  }
}

async function checkDatabase({ config }: DoctorParts): Promise<Finding> {
  if (!config.records) return ok('RECORDS=0: no database is needed')
  const { databaseUrl, dataDir, limits } = config
  if (databaseUrl === undefined) {
    if (config.production && !config.allowEmbeddedDatabase) {
      return fail(
        'the embedded database is not enabled in production',
        'set DATABASE_URL, or EMBEDDED_DB=1, or RECORDS=0',
      )
    }
    const folder = join(dataDir, 'store')
    return ok(existsSync(folder) ? `embedded, in ${resolve(folder)}` : 'embedded, will be created on the first start')
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
      const summary = `PostgreSQL ${database.version}`
      if (Number(database.version.split('.')[0]) < 15) return fail(summary, 'PostgreSQL 15 or newer is needed')
      return ok(
        pending === 0
          ? `${summary}, its tables are up to date`
          : `${summary}, ${formatCount(pending, 'migration')} will run on the next start`,
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

/** Checks the source of the signing key, without reading the key. */
function checkSigner({ config, terminal }: DoctorParts): Finding {
  const { env, secretNames } = terminal
  const sources = [...secretNames, ...(env['SIGNER_KEYSTORE'] ? ['SIGNER_KEYSTORE'] : [])]
  if (sources.length > 1) return fail(`${sources.join(' and ')} are set`, 'set only one of them')
  if (sources[0] === 'SIGNER_KEYSTORE') {
    for (const name of ['SIGNER_KEYSTORE', 'SIGNER_PASSWORD_FILE']) {
      const file = env[name]
      if (!file || !existsSync(file))
        return fail(`${name} is not an existing file`, `set ${name} to a file (use trigpoint keygen --keystore)`)
    }
    return ok('a keystore, which the service will open when it starts')
  }
  if (sources.length === 1) return ok(`${sources[0]}, not checked here`)
  const file = join(config.dataDir, 'dev-signer.json')
  if (config.production && !config.allowDevelopmentKey) {
    return fail(
      'no signing key; in production none is generated',
      'trigpoint keygen --keystore signer.json --password-file …, then SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE',
    )
  }
  if (existsSync(file) && process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    return fail(`${file} is readable by other users`, `chmod 600 ${file}`)
  }
  const summary = existsSync(file)
    ? `a development key, ${readKeyFileAddress(file)}`
    : 'a development key, will be generated on the first start'
  return warn(summary, 'fine for development; otherwise trigpoint keygen --keystore, then SIGNER_KEYSTORE')
}

/** Reads the address from a key file, without the key. */
export function readKeyFileAddress(file: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(file, 'utf8')) as { address?: unknown }
    return typeof address === 'string' && /^0x[0-9a-fA-F]{40}$/.test(address) ? address : undefined
  } catch {
    return undefined
  }
}

function checkPages(): Finding {
  const missing = ['docs', 'explore', 'site'].filter((name) => !existsSync(builtFolder(name)))
  if (missing.length === 0) return ok('the reference, guide and explorer are built')
  return warn(`not built: ${missing.join(', ')}; their URLs answer 404`, 'npm run build (with development packages)')
}
