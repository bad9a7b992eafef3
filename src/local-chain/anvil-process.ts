import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import type { Writable } from 'node:stream'
import { type Rpc, RpcError } from '../sync/rpc.ts'

/** Checks that no process listens on a port of 127.0.0.1. */
export function isPortFree(port: number): Promise<boolean> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
  })
}

const PACKAGE_ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/** Returns the name of the npm package with anvil for a platform, e.g. `@foundry-rs/anvil-linux-amd64`. */
export function anvilPackage(platform: string, architecture: string): string {
  return `@foundry-rs/anvil-${platform}-${PACKAGE_ARCHITECTURES[architecture] ?? architecture}`
}

/**
 * Finds anvil, the program that runs a local chain: in the npm package for this machine, else in the search path.
 *
 * @param searchPath folders of programs, as in `PATH`
 * @param packageName npm package to look in first
 * @returns its path, or undefined when there is none
 */
export function findAnvil(
  searchPath: string,
  packageName = anvilPackage(process.platform, process.arch),
): string | undefined {
  const program = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const folders = searchPath.split(delimiter).filter((folder) => folder !== '')
  const candidates = [packageBinFolder(packageName), ...folders].filter((folder) => folder !== undefined)
  return candidates.map((folder) => join(folder, program)).find(isProgram)
}

function packageBinFolder(packageName: string): string | undefined {
  try {
    return join(createRequire(import.meta.url).resolve(`${packageName}/package.json`), '..', 'bin')
  } catch {
    return undefined // optional packages for other machines are not installed
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

interface AnvilOptions {
  readonly binary: string
  /** 0 for any free port. */
  readonly port: number
  readonly chainId: number
  /** File that keeps the chain between runs; it need not exist yet. */
  readonly stateFile: string
  /** Home folder for the program's own files. */
  readonly home: string
  /** Interval at which anvil saves its state. */
  readonly stateSeconds: number
  /** Interval between blocks without transactions. */
  readonly blockSeconds: number
  /** Time limit for the start. */
  readonly startMs: number
  /** Time limit for a clean stop. */
  readonly stopMs: number
}

/** A running anvil. */
export interface AnvilProcess {
  readonly pid: number
  readonly url: string
  /** Resolves when the process has ended. */
  readonly ended: Promise<AnvilEnd>
  /** Stops the process, which saves its state first. Kills it after `stopMs`. */
  stop(): Promise<void>
}

interface AnvilEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The last lines of its output, joined to one line. */
  readonly lastOutput: string
}

/** Number of past states that anvil keeps, as many as a full node. Without a limit, memory would grow with the chain. */
const STATE_HISTORY_BLOCKS = 128
/** Amount of output that is kept. */
const TAIL_CHARACTERS = 2000
/**
 * Shell script that runs anvil and ends it when this process ends, for whatever reason. This process holds the other end of
 * descriptor 3, which closes when the process dies; the guard then terminates anvil, and kills it after 5 s. If the guard reads a
 * line instead, anvil has already ended. `exec` keeps the process id.
 */
const GUARD_SCRIPT = `(
  read -r _ <&3 && exit
  kill -TERM $$
  for _ in 1 2 3 4 5; do sleep 1; kill -0 $$ || exit; done
  kill -KILL $$
) >/dev/null 2>&1 & exec "$0" "$@" 3<&-`

/**
 * Starts anvil on the loopback interface. Each transaction gets a block at once; without transactions there is a block every
 * `blockSeconds`.
 *
 * @throws {Error} with anvil's last output when it ends or does not listen within `startMs`
 */
export async function startAnvil(options: AnvilOptions): Promise<AnvilProcess> {
  const child = spawnGuarded(options.binary, [
    ...['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(options.chainId)],
    ...['--state', options.stateFile, '--state-interval', String(options.stateSeconds)],
    ...[
      '--mixed-mining',
      '--block-time',
      String(options.blockSeconds),
      '--prune-history',
      String(STATE_HISTORY_BLOCKS),
    ],
  ])
  let tail = ''
  const ended = new Promise<AnvilEnd>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, lastOutput: error.message }))
    child.once('exit', (code, signal) => resolve({ code, signal, lastOutput: lastLines(tail) }))
  })
  const guard = child.stdio[3] as Writable | undefined | null
  guard?.on('error', () => {}) // the guard has ended, and so has anvil
  // Another process may soon get anvil's process id, and the guard must not end that one.
  void ended.then(() => guard?.end('\n'))
  const listening = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      // Reads all output, because a full pipe would block anvil. Only the end of it is kept.
      stream?.on('data', (data: Buffer) => {
        tail = (tail + data.toString('latin1')).slice(-TAIL_CHARACTERS)
        const address = /^Listening on (127\.0\.0\.1:\d+)\s/m.exec(tail)?.[1]
        if (address !== undefined) resolve(`http://${address}`)
      })
    }
  })
  const url = await within(options.startMs, listening, ended)
  if (typeof url === 'string') return { pid: child.pid!, url, ended, stop }
  child.kill('SIGKILL')
  const reason = url === undefined ? `does not listen after ${options.startMs} ms` : 'ended while it started'
  throw new Error(`anvil ${reason}: ${(url ?? (await ended)).lastOutput}`)

  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    if ((await within(options.stopMs, ended)) === undefined) child.kill('SIGKILL')
    await ended
  }

  function spawnGuarded(binary: string, args: readonly string[]): ChildProcess {
    // Does not inherit our environment, which may contain the signing key.
    const env = { HOME: options.home, PATH: '/usr/bin:/bin' }
    if (process.platform === 'win32') return spawn(binary, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    // Detached into its own process group, so that Ctrl-C reaches only us: open requests still need the chain while we shut down.
    return spawn('/bin/sh', ['-c', GUARD_SCRIPT, binary, ...args], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
  }
}

/** Waits for the first promise to resolve. @returns undefined when none does within `timeoutMs` */
async function within<T>(timeoutMs: number, ...promises: readonly Promise<T | AnvilEnd>[]) {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  const first = await Promise.race([...promises, timeout])
  clearTimeout(timer)
  return first
}

/** Returns the last three lines, joined to one. */
function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join(' | ').slice(-400)
}

/** Identifies a running anvil, so that the next start can end it if both the service and its guard were killed. */
interface Note {
  readonly pid: number
  readonly url: string
  /** Random id that anvil chooses when it starts. The process id is not enough, because another process may get it. */
  readonly instance: string
}

const POLL_MS = 50

/** Writes the note of a running anvil. */
export async function noteProcess(file: string, pid: number, url: string, rpc: Rpc): Promise<void> {
  const note: Note = { pid, url, instance: await readInstance(rpc) }
  writeFileSync(file, `${JSON.stringify(note)}\n`, { mode: 0o600 })
}

/**
 * Ends an anvil that is still running because its service and its guard were killed. It would otherwise overwrite the state of
 * the next anvil.
 *
 * @param connect connects to an RPC address
 * @param stopMs time limit for a clean stop, after which the process is killed
 * @returns the id of the process that was ended, or undefined when none was
 */
export async function endLeftover(
  file: string,
  connect: (url: string) => Rpc,
  stopMs: number,
): Promise<number | undefined> {
  const note = readNote(file)
  if (note === undefined) return undefined
  try {
    if ((await readInstance(connect(note.url))) !== note.instance) return undefined
  } catch (error) {
    if (error instanceof RpcError) return undefined // nothing listens there, or another program does
    throw error
  } finally {
    rmSync(file, { force: true })
  }
  const deadlineMs = performance.now() + stopMs
  for (let signal: NodeJS.Signals | 0 = 'SIGTERM'; sendSignal(note.pid, signal); ) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    signal = performance.now() > deadlineMs ? 'SIGKILL' : 0
  }
  return note.pid
}

async function readInstance(rpc: Rpc): Promise<string> {
  const { instanceId } = (await rpc.request('anvil_metadata', [])) as { instanceId: string }
  return instanceId
}

function readNote(file: string): Note | undefined {
  try {
    const { pid, url, instance } = JSON.parse(readFileSync(file, 'utf8'))
    return Number.isInteger(pid) && pid > 1 && typeof instance === 'string' ? { pid, url, instance } : undefined
  } catch {
    return undefined // there is no note, or it is incomplete
  }
}

/** Sends a signal; 0 only tests whether the process exists. @returns false when it does not exist */
function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}
