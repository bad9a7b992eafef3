import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

export interface AnvilOptions {
  readonly binary: string
  /** 0: any free one. */
  readonly port: number
  readonly chainId: number
  /** Where the chain is kept between runs; need not exist. */
  readonly stateFile: string
  /** Of what the program may want to keep for itself. */
  readonly home: string
  readonly stateSeconds: number
  readonly blockSeconds: number
  readonly startMs: number
  readonly stopMs: number
}

/** A running anvil. */
export interface AnvilProcess {
  readonly pid: number
  readonly url: string
  /** Resolves when it is gone, with its last words. */
  readonly ended: Promise<AnvilEnd>
  /** Ends it, within `stopMs`; it writes its state before. */
  stop(): Promise<void>
}

export interface AnvilEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The last lines it wrote, on one line. */
  readonly lastWords: string
}

/** Old states that can still be asked for, as a full node keeps them: memory would grow with the chain. */
const STATES_KEPT = 128
const TAIL_CHARACTERS = 2000
/**
 * Ends anvil when we are gone, however that came about: the other end of descriptor 3 is ours, and a process that dies closes
 * what it has open. A line that is read there means that anvil is gone already; one that hangs is ended by force. `exec` keeps
 * the process id.
 */
const GUARDED = `(
  read -r _ <&3 && exit
  kill -TERM $$
  for _ in 1 2 3 4 5; do sleep 1; kill -0 $$ || exit; done
  kill -KILL $$
) >/dev/null 2>&1 & exec "$0" "$@" 3<&-`

/**
 * Starts anvil on loopback. A transaction has its block at once, and there is one every `blockSeconds` without any.
 *
 * @throws {Error} with its last words when it ends, or listens on nothing within `startMs`
 */
export async function startAnvil(options: AnvilOptions): Promise<AnvilProcess> {
  const child = spawnGuarded(options.binary, [
    ...['--host', '127.0.0.1', '--port', String(options.port), '--chain-id', String(options.chainId)],
    ...['--state', options.stateFile, '--state-interval', String(options.stateSeconds)],
    ...['--mixed-mining', '--block-time', String(options.blockSeconds), '--prune-history', String(STATES_KEPT)],
  ])
  let tail = ''
  const ended = new Promise<AnvilEnd>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, lastWords: error.message }))
    child.once('exit', (code, signal) => resolve({ code, signal, lastWords: lastLine(tail) }))
  })
  const guard = child.stdio[3] as Writable | undefined | null
  guard?.on('error', () => {}) // it is gone, and so is what it guarded
  // Its process id may be another's soon: the guard must not end that one.
  void ended.then(() => guard?.end('\n'))
  const listening = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      // Goes on reading for as long as it writes, or the pipe would fill and stop it; of all that only the end is kept.
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
  const why = url === undefined ? `listens on nothing after ${options.startMs} ms` : 'ended at its start'
  throw new Error(`anvil ${why}: ${(url ?? (await ended)).lastWords}`)

  async function stop(): Promise<void> {
    child.kill('SIGTERM')
    if ((await within(options.stopMs, ended)) === undefined) child.kill('SIGKILL')
    await ended
  }

  function spawnGuarded(binary: string, args: readonly string[]): ChildProcess {
    // An environment of its own: ours may hold the signing key.
    const env = { HOME: options.home, PATH: '/usr/bin:/bin' }
    if (process.platform === 'win32') return spawn(binary, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    // In a group of its own: a Ctrl-C at the terminal is for us, who still need the chain while we answer what is open.
    return spawn('/bin/sh', ['-c', GUARDED, binary, ...args], {
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
  }
}

/** @returns undefined when none of them came in time */
async function within<T>(timeoutMs: number, ...awaited: readonly Promise<T | AnvilEnd>[]) {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  const first = await Promise.race([...awaited, late])
  clearTimeout(timer)
  return first
}

function lastLine(text: string): string {
  return text.trim().split('\n').slice(-3).join(' | ').slice(-400)
}
