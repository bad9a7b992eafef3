/**
 * PostGIS as a contender, in a temporary PostgreSQL cluster that listens on a Unix socket and is removed at the end. Times are
 * those of psql for one statement over many rows: the better of two, after the same statement has run once.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Contender } from './rounds.ts'

const DEBIAN_FOLDER = '/usr/lib/postgresql'
const SECONDS_TO_START = 20
const SECONDS_TO_RUN = 60
/** Number of timed statements per round. */
const TIMED_STATEMENTS = 2
const SETTINGS = [
  'listen_addresses=',
  'fsync=off',
  'shared_buffers=64MB',
  'jit=off',
  'max_parallel_workers_per_gather=0',
]

export interface PostGis {
  /** Creates a table with columns of these types and fills it from rows of WKB. */
  load(table: string, columns: readonly string[], rows: readonly (readonly Buffer[])[]): void
  /**
   * Creates a contender. One call is one repetition, and its result is the first number that the statement prints.
   *
   * @param select a statement in which `:n` stands for the number of repetitions; without it one statement is one call
   */
  contender(name: string, select: string): Contender
  /** Runs a script of psql and returns what it prints. */
  run(script: string): string
  /** The first column of a statement, as numbers. */
  numbers(select: string): number[]
  close(): Promise<void>
}

/** Starts PostGIS and prints its version. If that fails, prints the reason and returns undefined. */
export async function openPostGis(): Promise<PostGis | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-postgis-'))
  const opened = await open(folder)
  if (typeof opened !== 'string') return opened
  console.log(`- not in the tables: PostGIS: ${opened}`)
  rmSync(folder, { recursive: true, force: true })
  return undefined
}

async function open(folder: string): Promise<PostGis | string> {
  const binaries = newestBinaries()
  if (binaries === undefined) return `no PostgreSQL in ${DEBIAN_FOLDER} (Debian's postgresql-15-postgis-3)`
  const user = serverUser()
  if (user === undefined) return 'PostgreSQL refuses to run as root, and there is no user postgres'
  chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  const data = join(folder, 'data')
  const env = { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: folder }
  const options = {
    ...user,
    env,
    cwd: folder,
    encoding: 'utf8',
    timeout: 1000 * SECONDS_TO_RUN,
    maxBuffer: 1 << 30,
  } as const
  const initialized = spawnSync(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'bench', '-A', 'trust', '--no-sync'],
    options,
  )
  if (initialized.status !== 0) return `initdb failed: ${initialized.stderr}`
  const settings = SETTINGS.flatMap((setting) => ['-c', setting])
  const server = spawn(join(binaries, 'postgres'), ['-D', data, '-k', folder, ...settings], {
    ...user,
    env,
    cwd: folder,
    stdio: 'ignore',
  })
  const killAtExit = () => server.kill('SIGQUIT')
  process.once('exit', killAtExit)
  const stop = async () => {
    await stopServer(server)
    process.off('exit', killAtExit)
    rmSync(folder, { recursive: true, force: true })
  }
  const psql = (input: string): string => {
    const args = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-h', folder, '-U', 'bench', '-d', 'postgres']
    const { status, stdout, stderr } = spawnSync(join(binaries, 'psql'), args, { ...options, input })
    if (status !== 0) throw new Error(`psql: ${stderr}`)
    return stdout
  }
  try {
    await waitUntilReady(server, psql)
    psql('CREATE EXTENSION postgis;')
  } catch (error) {
    await stop()
    return error instanceof Error ? error.message.trim() : String(error)
  }
  console.log(`- PostGIS: ${psql('SELECT postgis_full_version();').trim()}`)
  return {
    load(table, columns, rows) {
      const lines = rows.map((row) => row.map((bytes) => bytes.toString('hex').toUpperCase()).join('\t'))
      const names = columns.map((type, index) => `${'abc'[index]} ${type}`)
      psql(
        [
          `CREATE TABLE ${table} (${names.join(', ')});`,
          // Store uncompressed, because decompression would count as computation.
          ...columns.map((_, index) => `ALTER TABLE ${table} ALTER ${'abc'[index]} SET STORAGE EXTERNAL;`),
          `COPY ${table} FROM stdin;`,
          ...lines,
          '\\.',
          '',
        ].join('\n'),
      )
    },
    contender(name, select) {
      let repetitions = 1
      const round = (milliseconds: number) => {
        const statement = `${select.replaceAll(':n', String(repetitions))};\n`
        const printed = psql(`${statement}\\timing on\n${statement.repeat(TIMED_STATEMENTS)}`)
        const elapsed = Math.min(...Array.from(printed.matchAll(/Time: ([\d.]+) ms/g), (match) => Number(match[1])))
        const nanoseconds = (elapsed * 1e6) / repetitions
        if (select.includes(':n'))
          repetitions = Math.max(1, Math.round((repetitions * milliseconds) / Math.max(elapsed, 0.1)))
        return { nanoseconds, result: Number(printed.split('\n')[0]) }
      }
      return { name, round }
    },
    run: psql,
    numbers: (select) => psql(`${select};`).trim().split('\n').map(Number),
    close: stop,
  }
}

/** Derives the name of a table from the name of a row. */
export function tableName(row: string): string {
  return row.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_')
}

function newestBinaries(): string | undefined {
  if (!existsSync(DEBIAN_FOLDER)) return undefined
  const versions = readdirSync(DEBIAN_FOLDER).sort((a, b) => Number(b) - Number(a))
  return versions
    .map((version) => join(DEBIAN_FOLDER, version, 'bin'))
    .find((bin) => ['initdb', 'postgres', 'psql'].every((file) => existsSync(join(bin, file))))
}

/** The user that runs the server, because PostgreSQL refuses to run as root. Undefined if there is no such user. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid!() !== 0) return { uid: process.getuid!(), gid: process.getgid!() }
  const ids = ['-u', '-g'].map((option) => spawnSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  if (ids.some(({ status }) => status !== 0)) return undefined
  const [uid, gid] = ids.map(({ stdout }) => Number(stdout))
  return { uid: uid!, gid: gid! }
}

async function waitUntilReady(server: ChildProcess, psql: (input: string) => string): Promise<void> {
  const deadline = performance.now() + 1000 * SECONDS_TO_START
  for (;;) {
    try {
      psql('SELECT 1;')
      return
    } catch (error) {
      if (server.exitCode !== null || performance.now() > deadline) throw error
      await sleep(100)
    }
  }
}

async function stopServer(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = once(server, 'exit')
  server.kill('SIGINT')
  const hasExited = await Promise.race([exited.then(() => true), sleep(10_000, false, { ref: false })])
  if (!hasExited) {
    server.kill('SIGKILL')
    await exited
  }
}
