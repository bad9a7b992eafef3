/** Checks of the machine (Node.js, native libraries, threads, memory) and of the service's settings, port, folder, database, key. */
import { existsSync, readFileSync, rmdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { resolveSigningKey } from '../../attest/signing-key.ts'
import { makeFolder } from '../../base/make-folder.ts'
import { PROGRAM } from '../../base/version.ts'
import { createClient } from '../../client/client.ts'
import type { Config } from '../../config/config.ts'
import { ConfigError, type Environment } from '../../config/setting.ts'
import { readSigningKey, type SigningKeySource } from '../../config/signing-key.ts'
import { computes } from '../../config/sync.ts'
import { checksumAddress, publicKeyAddress } from '../../crypto/address.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import { selfTestScanner } from '../../geometry/scanned-geometry.ts'
import { builtFolder } from '../../http/pages/assets.ts'
import { glibcVersion, loadInstalledUws, uwsFileName } from '../../http/transport/server.ts'
import { embeddedFiles, readDamageNote, repairAdvice } from '../../store/embedded-files.ts'
import { pendingMigrations } from '../../store/migrations.ts'
import { openPostgresForCommand } from '../../store/postgres.ts'
import { startComputePool } from '../../threads/compute-pool.ts'
import { loadKernel } from '../../wasm/loader.ts'
import { selfTestKernel } from '../../wasm/self-test.ts'
import { misspeltSettings } from '../misspelt-settings.ts'
import { formatCount, type Terminal } from '../terminal.ts'

/** The outcome of one check. */
export interface Finding {
  /** `skip`: there was nothing to check. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** How to fix it. Always present with `warn` and `fail`. */
  readonly remedy?: string
}

export interface DoctorParts {
  readonly config: Config
  readonly terminal: Terminal
}

export interface Check {
  readonly id: string
  run(parts: DoctorParts): Finding | Promise<Finding>
}

export const ok = (detail: string): Finding => ({ status: 'ok', detail })
export const warn = (detail: string, remedy: string): Finding => ({ status: 'warn', detail, remedy })
export const fail = (detail: string, remedy: string): Finding => ({ status: 'fail', detail, remedy })

const MINIMUM_NODE = [20, 19] as const
const MIB = 1_048_576
/** Twice the memory of a service with two threads and the embedded database. */
const COMFORTABLE_BYTES = 1024 * MIB
/** How long a service that listens on the port may take to answer. */
const ANSWER_MS = 3000

export const HOST_CHECKS: readonly Check[] = [
  { id: 'node', run: checkNode },
  { id: 'transport', run: checkTransport },
  { id: 'threads', run: checkThreads },
  { id: 'kernel', run: checkKernel },
  { id: 'memory', run: checkMemory },
  { id: 'open-files', run: checkOpenFiles },
  { id: 'settings', run: checkSettings },
  { id: 'port', run: checkPort },
  { id: 'data', run: checkData },
  { id: 'database', run: checkDatabase },
  { id: 'signer', run: checkSigner },
  { id: 'pages', run: checkPages },
]

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const summary = `Node.js ${process.versions.node}, ${libraryText()}`
  if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
    return fail(summary, `install Node.js ${MINIMUM_NODE.join('.')} or newer: https://nodejs.org`)
  }
  return ok(summary)
}

function libraryText(): string {
  const version = glibcVersion()
  if (version !== undefined) return `glibc ${version}`
  return process.platform === 'linux' ? 'no glibc (musl): native libraries do not load' : process.platform
}

function checkTransport({ config }: DoctorParts): Finding {
  if (config.httpAdapter === 'node') return ok('HTTP_ADAPTER=node: the HTTP server of Node.js')
  const loaded = loadInstalledUws([config.dataDir])
  if (loaded.ok) return ok(`uWebSockets.js, ${uwsFileName()}, sha256 verified`)
  return warn(
    `${loaded.reason}, so the slower HTTP server of Node.js is used`,
    'HTTP_ADAPTER=node accepts it; uWebSockets.js needs Node.js 20, npm ci without --omit=optional, and on Linux glibc 2.27',
  )
}

async function checkThreads({ config }: DoctorParts): Promise<Finding> {
  const { computeThreads } = config.limits
  if (!computes(config.role)) return ok(`ROLE=${config.role}: no compute threads`)
  if (computeThreads === 0) return ok('COMPUTE_THREADS=0: everything runs on the main thread')
  const startedMs = performance.now()
  const limits = { ...config.limits, computeThreads: 1, largeThreads: 1 }
  const evidence = {
    allowMock: false,
    witnesses: undefined,
    deviceTrust: undefined,
    didKeys: undefined,
    evaluation: config.evaluation,
    pluginUrls: [],
  }
  const modules = {
    compute: () => import('../../../workers/compute.ts'),
    inline: () => import('../../../workers/inline.ts'),
  }
  try {
    const pool = await startComputePool({ ...config, limits }, { chainIds: [], evidence, modules })
    await pool.close()
  } catch (error) {
    return fail(
      `a compute thread does not start: ${(error as Error).message}`,
      'npm run build; or provide more memory if the message says so',
    )
  }
  const { processes } = config
  const where = processes === 1 ? '' : ` in each of ${processes} processes`
  return ok(
    `a compute thread started in ${Math.round(performance.now() - startedMs)} ms; ${computeThreads} will run${where}`,
  )
}

async function checkKernel(): Promise<Finding> {
  try {
    const kernel = loadKernel()
    selfTestKernel(kernel)
    selfTestScanner(kernel)
  } catch (error) {
    return fail(
      (error as Error).message,
      'npm run build; if it fails again, this machine computes wrong results: do not sign on it',
    )
  }
  const { backend, library } = await loadSecp256k1()
  const summary = `13 geodesics, an area and 7,172 bit patterns are correct; secp256k1: ${backend} (${library})`
  if (backend === 'system' || backend === 'native') return ok(summary)
  return warn(
    summary,
    'npm ci (without --omit=optional), and install libsecp256k1 (Debian 12: libsecp256k1-1): signs 2 to 15 times as fast',
  )
}

function checkMemory(): Finding {
  const limitBytes = process.constrainedMemory()
  const bytes = limitBytes > 0 && limitBytes < totalmem() ? limitBytes : totalmem()
  const summary = `${Math.round(bytes / MIB).toLocaleString('en-US')} MiB`
  if (bytes >= COMFORTABLE_BYTES) return ok(summary)
  return warn(summary, 'provide 1 GiB, or set COMPUTE_THREADS=1 and RECORDS=0')
}

function checkOpenFiles({ config }: DoctorParts): Finding {
  let limits: string
  try {
    limits = readFileSync('/proc/self/limits', 'utf8')
  } catch {
    return ok(`unknown on ${process.platform}`)
  }
  const softLimit = /^Max open files\s+(\d+|unlimited)/m.exec(limits)?.[1] ?? 'unlimited'
  const maxConnections = config.limits.maxConnections
  if (softLimit === 'unlimited' || Number(softLimit) >= maxConnections)
    return ok(`${softLimit} open files, at most ${maxConnections} connections`)
  return warn(
    `${softLimit} open files, but MAX_CONNECTIONS allows ${maxConnections} connections`,
    `ulimit -n ${Math.max(65_536, maxConnections)} (LimitNOFILE= of a unit), or MAX_CONNECTIONS=${Math.max(1, Number(softLimit) - 200)}`,
  )
}

const GIB = 1_073_741_824

function checkSettings({ terminal }: DoctorParts): Finding {
  const misspelt = misspeltSettings(terminal.env)
  if (misspelt.length === 0) return ok('no misspelt settings')
  const list = misspelt.map(({ name, meant }) => `${name} (did you mean ${meant}?)`).join(', ')
  return warn(`unknown: ${list}`, 'correct the name or unset it; docs/configuration.md lists all settings')
}

async function checkPort({ config, terminal }: DoctorParts): Promise<Finding> {
  const { host, port, isPortSet } = config
  const code = await new Promise<string | undefined>((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'))
    server.listen(port, host, () => server.close(() => done(undefined)))
  })
  if (code === undefined) return ok(`${host}:${port} is free`)
  if (code !== 'EADDRINUSE') return fail(`cannot listen on ${host}:${port} (${code})`, 'choose another HOST or PORT')
  const attester = await readAttester(config)
  if (attester !== undefined && attester === readOwnAddress({ config, terminal }))
    return ok(`${host}:${port} is in use by the running Trigpoint that signs with this key`)
  if (isPortSet)
    return fail(
      `${host}:${port} is in use`,
      attester === undefined
        ? 'stop the process that listens there (perhaps another trigpoint), or choose another PORT'
        : 'a Trigpoint that signs with another key listens there: restart it if you are replacing its key, or choose another PORT',
    )
  return warn(
    `${host}:${port} is in use, perhaps by another trigpoint: the service would use the next free port`,
    'set PORT=<number> to choose the port',
  )
}

/** Returns the address of the attester of the service that listens on the port, in lower case; undefined if it is not Trigpoint. */
async function readAttester({ host, port }: Config): Promise<string | undefined> {
  // A service that listens on all addresses answers on this one.
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  const client = createClient({ baseUrl: `http://${name}:${port}` })
  const call = { timeoutMs: ANSWER_MS, maxRetries: 0 }
  try {
    await client.health(call)
    const { address } = await client.issuer(call)
    return String(address).toLowerCase()
  } catch {
    return undefined // another program, or a service that does not answer
  }
}

/** Returns the address of the signing key of this environment, in lower case, if a file contains it. */
export function readOwnAddress({ config, terminal: { env, secretNames } }: DoctorParts): string | undefined {
  if (secretNames.length > 0) return undefined
  return readKeyFileAddress(env['SIGNER_KEYSTORE'] || join(config.dataDir, 'dev-signer.json'))?.toLowerCase()
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
    const files = embeddedFiles(dataDir)
    const { folder } = files
    const damage = readDamageNote(files)
    if (damage !== undefined) return fail(`${resolve(folder)} is damaged: ${damage}`, repairAdvice(folder))
    return ok(existsSync(folder) ? `embedded, in ${resolve(folder)}` : 'embedded, will be created on the first start')
  }
  try {
    const database = await openPostgresForCommand(databaseUrl, limits.storeConnectMs, limits.storeReadMs)
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

/** Checks the source of the signing key. Opens a key file as the service does. */
async function checkSigner({ config, terminal }: DoctorParts): Promise<Finding> {
  const { env, secretNames } = terminal
  const sources = [...secretNames, ...(env['SIGNER_KEYSTORE'] ? ['SIGNER_KEYSTORE'] : [])]
  if (sources.length > 1) return fail(`${sources.join(' and ')} are set`, 'set only one of them')
  if (secretNames.length === 1) return ok(`${secretNames[0]}, not checked here`)
  try {
    const source = readSigningKey(env, config)
    if (source.kind === 'keystore') {
      return ok(`${source.file} opens with ${source.passwordFile}; the attester is ${await readSignerAddress(source)}`)
    }
    const summary =
      source.kind === 'development' && existsSync(source.file)
        ? `a development key, ${await readSignerAddress(source)}`
        : 'a development key, will be generated on the first start'
    return warn(summary, `fine for development; otherwise ${PROGRAM} keygen --keystore, then SIGNER_KEYSTORE`)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return fail(error.message, signerRemedy(env, config))
  }
}

/** Opens a key file, and returns its address, checksummed. */
async function readSignerAddress(source: SigningKeySource): Promise<string> {
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const key = await resolveSigningKey(source, secp256k1, keccak)
  return checksumAddress(publicKeyAddress(secp256k1.publicKey(key), keccak))
}

function signerRemedy(env: Environment, { dataDir, production, allowDevelopmentKey }: Config): string {
  if (!env['SIGNER_KEYSTORE']) {
    const file = join(dataDir, 'dev-signer.json')
    const isUsed = existsSync(file) && (!production || allowDevelopmentKey)
    return isUsed
      ? `correct ${file} as said, or delete it: the next start generates another key, with another address`
      : `${PROGRAM} keygen --keystore signer.json --password-file …, then SIGNER_KEYSTORE and SIGNER_PASSWORD_FILE`
  }
  for (const name of ['SIGNER_KEYSTORE', 'SIGNER_PASSWORD_FILE']) {
    if (!existsSync(env[name] ?? ''))
      return `set ${name} to a file; ${PROGRAM} keygen with the same settings makes both`
  }
  return 'name the password file of this keystore in SIGNER_PASSWORD_FILE, or restore both files from a backup'
}

/** Reads the address from a key file, without the key. */
function readKeyFileAddress(file: string): string | undefined {
  try {
    const { address } = JSON.parse(readFileSync(file, 'utf8')) as { address?: unknown }
    // Keystores of wallets contain the address without 0x.
    const digits = typeof address === 'string' ? /^(?:0x)?([0-9a-fA-F]{40})$/.exec(address)?.[1] : undefined
    return digits === undefined ? undefined : `0x${digits}`
  } catch {
    return undefined
  }
}

function checkPages(): Finding {
  const missing = ['docs', 'explore', 'site'].filter((name) => !existsSync(builtFolder(name)))
  if (missing.length === 0) return ok('the reference, guide and explorer are built')
  return warn(`not built: ${missing.join(', ')}; their URLs answer 404`, 'npm run build (with development packages)')
}
