/** Opens the store on either engine, for suites that run on both: the embedded database, and a PostgreSQL server of this machine. */
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../src/store/database.ts'
import { migrate } from '../src/store/migrations.ts'
import { openPglite } from '../src/store/pglite.ts'
import { openPostgres } from '../src/store/postgres.ts'
import { childrenOf } from '../test/children.ts'

const VERSIONS = '/usr/lib/postgresql'
/** User ID of `nobody` on Debian, because PostgreSQL refuses to run as root. */
const NOBODY_UID = 65_534

export interface PostgresServer {
  readonly url: string
  /** Stops the server: `immediate` like a crash, `kill` by SIGKILL of its first process, `fast` in order (the default). */
  stop(how?: 'immediate' | 'kill' | 'fast'): Promise<void>
  start(): Promise<void>
  /** False also if the server ended by itself. */
  isRunning(): boolean
  /** Stops all of its processes without ending them, as a machine that hangs. */
  pause(): void
  resume(): void
  /** Stops the server and removes its files. */
  remove(): Promise<void>
}

export interface PostgresCluster extends PostgresServer {
  /** Copies the server to another port and starts the copy as a standby, which applies every commit that follows. */
  startStandby(): Promise<PostgresStandby>
}

export interface PostgresStandby extends PostgresServer {
  /** Makes it accept writes. */
  promote(): void
}

/** The folder of the server programs of the oldest installed version. Undefined if none is installed. */
function findPostgresPrograms(): string | undefined {
  if (!existsSync(VERSIONS)) return undefined
  const folders = readdirSync(VERSIONS)
    .sort((a, b) => Number(a) - Number(b))
    .map((version) => join(VERSIONS, version, 'bin'))
  return folders.find((folder) => existsSync(join(folder, 'initdb')))
}

export const POSTGRES = findPostgresPrograms()
if (POSTGRES === undefined) console.warn(`skipped on PostgreSQL: no server programs in ${VERSIONS}`)

/** The engines that are available on this machine; only the embedded one in `npm test`, which is to be quick (scripts/test.mjs). */
export const ENGINES: readonly ('embedded' | 'postgres')[] =
  POSTGRES === undefined || process.env['TEST_VARIANTS'] === 'default' ? ['embedded'] : ['embedded', 'postgres']

/**
 * Creates and starts a PostgreSQL server on a free port, for one suite.
 *
 * @param settings server settings, for example `{ fsync: 'off' }`
 * @param parent where its folder is created
 * @throws {Error} if PostgreSQL is not installed or does not start
 */
export async function startCluster(
  settings: Readonly<Record<string, string>> = {},
  parent = tmpdir(),
): Promise<PostgresCluster> {
  const folder = createServerFolder(parent)
  runProgram(folder, 'initdb', [
    '-D',
    files(folder),
    '-U',
    'trigpoint',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C',
    '-N',
  ])
  const server = await startServer(folder, settings)
  return {
    ...server,
    async startStandby() {
      const copy = createServerFolder(parent)
      runProgram(copy, 'pg_basebackup', ['-D', files(copy), '-d', server.url, '-R', '-X', 'stream', '-c', 'fast'])
      const { synchronous_standby_names: _, ...others } = settings
      const standby = await startServer(copy, others)
      return { ...standby, promote: () => runProgram(copy, 'pg_ctl', ['promote', '-w', '-D', files(copy)]) }
    },
  }
}

const files = (folder: string) => join(folder, 'files')
const OWNER = userInfo().uid === 0 ? { uid: NOBODY_UID, gid: NOBODY_UID } : {}

function createServerFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'trigpoint-postgres-'))
  if (OWNER.uid !== undefined) chownSync(folder, NOBODY_UID, NOBODY_UID)
  return folder
}

/** @throws {Error} if PostgreSQL is not installed or the program fails */
function runProgram(folder: string, name: string, args: readonly string[]): void {
  if (POSTGRES === undefined) throw new Error('no PostgreSQL on this machine')
  const { status, stderr } = spawnSync(join(POSTGRES, name), args, { ...OWNER, cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${name} failed: ${stderr}`)
}

/** Starts a server on a free port with the files in a folder. */
async function startServer(folder: string, settings: Readonly<Record<string, string>>): Promise<PostgresServer> {
  const port = await freePort()
  const url = `postgres://trigpoint@127.0.0.1:${port}/postgres`
  const options = Object.entries({ unix_socket_directories: '', listen_addresses: '127.0.0.1', ...settings })
  let server: ReturnType<typeof spawn> | undefined
  let exited: Promise<void> = Promise.resolve()
  const startOnce = () => {
    const started = spawn(
      join(POSTGRES!, 'postgres'),
      ['-D', files(folder), '-p', String(port), ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...OWNER, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
    )
    server = started
    exited = new Promise((resolve) => started.once('exit', () => resolve()))
    return new Promise<void>((resolve, reject) => {
      let text = ''
      started.stderr!.on('data', (chunk) => {
        text += chunk
        if (/ready to accept (read-only )?connections/.test(text)) resolve()
      })
      started.once('exit', () => reject(new Error(`the server exited: ${text}`)))
    })
  }
  const signalAll = (signal: NodeJS.Signals) => {
    const pid = server!.pid!
    for (const each of [pid, ...childrenOf(pid)]) process.kill(each, signal)
  }
  const started: PostgresServer = {
    url,
    isRunning: () => server?.exitCode === null && server.signalCode === null,
    pause: () => signalAll('SIGSTOP'),
    resume: () => signalAll('SIGCONT'),
    async start() {
      // After a kill, the other processes of the server hold its shared memory until they notice that it is gone.
      for (const deadlineMs = Date.now() + 10_000; ; ) {
        try {
          return await startOnce()
        } catch (error) {
          if (!/shared memory block .*is still in use/.test(String(error)) || Date.now() > deadlineMs) throw error
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
    },
    async stop(how = 'fast') {
      server?.kill({ fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' }[how] as NodeJS.Signals)
      await exited
      server = undefined
    },
    async remove() {
      await started.stop('immediate')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await started.start()
  return started
}

export interface StoreFiles {
  /** Environment variables with which the service stores its records here. */
  readonly environment: Readonly<Record<string, string>>
  /** Opens the database in this process and creates its tables. Close the embedded one before another process opens it. */
  open(): Promise<Database>
  remove(): Promise<void>
}

/** Creates an empty store on an engine. */
export async function makeStore(
  engine: 'embedded' | 'postgres',
  settings: Readonly<Record<string, string>> = { fsync: 'off' },
): Promise<StoreFiles> {
  const openMigrated = async (database: Database) => {
    await migrate(database)
    return database
  }
  if (engine === 'embedded') {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-store-'))
    return {
      environment: { DATA_DIR: folder },
      open: async () => openMigrated(await openPglite(folder)),
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  }
  const cluster = await startCluster(settings)
  return {
    environment: { DATABASE_URL: cluster.url },
    open: async () => openMigrated(await connect(cluster.url)),
    remove: () => cluster.remove(),
  }
}

function connect(url: string, readTimeoutMs = 10_000): Promise<Database> {
  return openPostgres({
    url,
    readers: 8,
    writers: 2,
    connectTimeoutMs: 2000,
    readTimeoutMs,
    writeTimeoutMs: 60_000,
    onLost: () => {},
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
