/**
 * The supervisor of several processes on one port. It answers no requests. It holds the signing key, hands it to each process that
 * signs, starts processes again when they end, and stops them in order.
 */
import cluster, { type Worker } from 'node:cluster'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, relative, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type ResolvedKey, serializeSigningKey } from '../attest/signing-key.ts'
import type { Log } from '../base/log.ts'
import { Metrics } from '../base/metrics.ts'
import type { BannerFacts } from '../cli/banner.ts'
import type { Config } from '../config/config.ts'
import { ConfigError, type Environment } from '../config/setting.ts'
import { ListenError } from '../http/transport/port.ts'
import { type Build, MAX_PORTS_TRIED, registerProcessMetrics } from '../start.ts'
import type { ProcessMessage, ProcessStart, SupervisorMessage } from '../wire/process-messages.ts'

const PROGRAM = fileURLToPath(new URL('../../../scripts/trigpoint.mjs', import.meta.url))
/** Standard input, output and error and the channel to the supervisor come before it. */
const KEY_DESCRIPTOR = 4
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5000
/** A process that has answered for this long is started again at once when it ends. */
const STEADY_MS = 10_000
/** How long the supervisor waits for the metrics of a process. */
const METRICS_MS = 2000
const DATA = 'data'
/** Longest path of a Unix socket on Linux, without its last zero byte. */
const MAX_SOCKET_PATH = 107

export interface SupervisorParts {
  readonly config: Config
  /** The settings for the processes, without the signing key. */
  readonly env: Environment
  readonly log: Log
  readonly build: Build
  readonly key: ResolvedKey
}

type Facts = Omit<BannerFacts, 'readySeconds'>

/** One process that was started. */
interface Child {
  readonly name: string
  readonly worker: Worker
  readonly startedMs: number
  isReady: boolean
  readonly ready: Promise<unknown>
  readonly exited: Promise<number>
}

/** Why a process did not start. It has logged the reason itself. */
export class StartFailure extends Error {
  readonly code: number

  constructor(name: string, code: number) {
    super(`process ${name} did not start (${code})`)
    this.code = code
  }
}

const NEVER = new Promise<never>(() => {})

export class Supervisor {
  readonly #parts: SupervisorParts
  readonly #socketPath: string
  readonly #metrics = new Metrics()
  /** The current processes by name, without replaced ones. */
  readonly #children = new Map<string, Child>()
  readonly #pausesMs = new Map<string, number>()
  readonly #metricsRounds = new Map<number, (name: string, text: string) => void>()
  #nextRound = 0
  #port = 0
  #isStopping = false
  #isReplacing = false

  constructor(parts: SupervisorParts) {
    this.#parts = parts
    this.#socketPath = chooseSocketPath(parts.config.dataDir)
    registerProcessMetrics(this.#metrics, parts.build)
    let restarts = 0
    this.#countRestart = () => restarts++
    this.#metrics.samples('process_restarts_total', 'Processes started again after they ended', 'counter', () => [
      [{}, restarts],
    ])
    cluster.schedulingPolicy = cluster.SCHED_NONE // the processes accept connections themselves
  }

  readonly #countRestart: () => void

  /**
   * Starts all processes.
   *
   * @returns the facts for the banner
   * @throws {StartFailure | ListenError} when a process cannot start
   */
  async start(): Promise<Facts> {
    const { config } = this.#parts
    this.#port = await choosePort(config)
    await this.#started(DATA)
    const names = this.#httpNames()
    // One after the first, because the first one creates what all of them need, such as the API keys for development.
    const facts = (await this.#started(names[0]!)) as Facts
    await Promise.all(names.slice(1).map((name) => this.#started(name)))
    const busyPort = config.port !== 0 && this.#port !== config.port ? config.port : undefined
    return { ...facts, busyPort, processes: config.processes }
  }

  /** Starts a process, and waits until it is ready. During a stop nothing is started, and the wait does not end. */
  async #started(name: string): Promise<unknown> {
    if (this.#isStopping) return NEVER
    try {
      const facts = await this.#fork(name).ready
      return this.#isStopping ? NEVER : facts
    } catch (error) {
      if (this.#isStopping) return NEVER
      throw error
    }
  }

  /** Stops the HTTP processes when they have answered open requests, then the data process. */
  async stop(): Promise<void> {
    this.#isStopping = true
    const http = [...this.#children.values()].filter(({ name }) => name !== DATA)
    await Promise.all(http.map((child) => this.#stopChild(child, false)))
    const data = this.#children.get(DATA)
    if (data !== undefined) await this.#stopChild(data, false)
    rmSync(this.#socketPath, { force: true })
  }

  /** Ends all processes at once. */
  kill(): void {
    this.#isStopping = true
    for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGKILL')
  }

  /** Replaces the HTTP processes one after another. Each ends when the new one answers and its clients have moved there. */
  async replaceAll(): Promise<void> {
    const { log } = this.#parts
    if (this.#isReplacing || this.#isStopping) return
    this.#isReplacing = true
    log.info('replacing the HTTP processes')
    for (const name of this.#httpNames()) {
      if (this.#isStopping) break
      const old = this.#children.get(name)
      const next = this.#fork(name)
      try {
        await next.ready
      } catch (error) {
        log.error('a new process did not start, the others continue', { name, reason: (error as Error).message })
        if (old !== undefined && this.#children.get(name) === undefined) this.#children.set(name, old)
        break
      }
      if (this.#isStopping) break
      if (old !== undefined) await this.#stopChild(old, true)
    }
    this.#isReplacing = false
    if (!this.#isStopping) log.info('the HTTP processes are replaced')
  }

  #httpNames(): string[] {
    return Array.from({ length: this.#parts.config.processes }, (_, index) => String(index + 1))
  }

  async #stopChild(child: Child, isReplaced: boolean): Promise<void> {
    post(child, { type: 'stop', isReplaced })
    await child.exited
  }

  #fork(name: string): Child {
    const { config, env, build, key } = this.#parts
    const signs = name !== DATA || config.submission !== undefined
    cluster.setupPrimary({
      exec: PROGRAM,
      args: ['process'],
      execArgv: nodeFlags(),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc', signs ? 'pipe' : 'ignore'],
    })
    const worker = cluster.fork({ ...env, PORT: String(this.#port) })
    // A socket pair: the key is neither in the environment nor in the arguments of the process.
    if (signs) {
      const channel = worker.process.stdio[KEY_DESCRIPTOR] as Writable
      channel.on('error', () => {}) // the process ended before it read the key
      channel.end(serializeSigningKey(key))
    }
    const keyDescriptor = signs ? KEY_DESCRIPTOR : undefined
    const role = name === DATA ? 'data' : 'http'
    const socketPath = this.#socketPath
    const child = this.#watch(name, worker, { type: 'start', role, name, socketPath, keyDescriptor, build })
    this.#children.set(name, child)
    return child
  }

  #watch(name: string, worker: Worker, start: ProcessStart): Child {
    let onReady: (facts: unknown) => void = () => {}
    let onFailure: (error: Error) => void = () => {}
    const ready = new Promise<unknown>((resolve, reject) => {
      onReady = resolve
      onFailure = reject
    })
    ready.catch(() => {}) // the caller that starts the process handles the rejection
    const exited = new Promise<number>((resolve) => {
      worker.once('exit', (code, signal) => {
        onFailure(new StartFailure(name, code ?? 1))
        resolve(code)
        this.#onExit(child, signal ?? String(code))
      })
    })
    const child: Child = { name, worker, startedMs: performance.now(), isReady: false, ready, exited }
    worker.on('error', () => {}) // the channel broke, so the process will end
    worker.on('message', (message: ProcessMessage) => {
      // A stop that was posted before may be lost.
      if (message.type === 'listening') post(child, this.#isStopping ? { type: 'stop', isReplaced: false } : start)
      else if (message.type === 'ready') {
        child.isReady = true
        this.#sendRunning()
        onReady(message.facts)
      } else if (message.type === 'metrics') this.#metricsRounds.get(message.id)?.(name, message.text)
      else void this.#collectMetrics().then((texts) => post(child, { type: 'all-metrics', id: message.id, texts }))
    })
    return child
  }

  /** Restarts a process that ended unexpectedly. */
  #onExit(child: Child, reason: string): void {
    const { name } = child
    if (this.#children.get(name) !== child) return // it was replaced
    this.#children.delete(name)
    if (this.#isStopping) return
    this.#sendRunning()
    const isFirstStart = !child.isReady && !this.#pausesMs.has(name)
    if (isFirstStart) return // `start` and `replaceAll` report it
    const wasSteady = child.isReady && performance.now() - child.startedMs > STEADY_MS
    const pauseMs = wasSteady ? FIRST_PAUSE_MS : (this.#pausesMs.get(name) ?? FIRST_PAUSE_MS)
    this.#pausesMs.set(name, Math.min(pauseMs * 2, LONGEST_PAUSE_MS))
    this.#parts.log.error('a process ended and is started again', { name, reason, pauseMs })
    setTimeout(() => {
      if (this.#isStopping || this.#children.has(name)) return
      this.#countRestart()
      this.#fork(name)
    }, pauseMs)
  }

  #sendRunning(): void {
    const http = [...this.#children.values()].filter(({ name }) => name !== DATA)
    const running = http.filter(({ isReady }) => isReady).length
    for (const child of http) post(child, { type: 'running', running, expected: this.#parts.config.processes })
  }

  /** Returns the metrics of all processes that answer in time, and of this one. */
  #collectMetrics(): Promise<readonly (readonly [string, string])[]> {
    const id = this.#nextRound++
    const texts = new Map([['supervisor', this.#metrics.render()]])
    const asked = [...this.#children.values()].filter(({ isReady }) => isReady)
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        this.#metricsRounds.delete(id)
        resolve([...texts])
      }
      const timer = setTimeout(end, METRICS_MS)
      this.#metricsRounds.set(id, (name, text) => {
        texts.set(name, text)
        if (texts.size > asked.length) end()
      })
      for (const child of asked) post(child, { type: 'metrics', id })
    })
  }
}

function post({ worker }: Child, message: SupervisorMessage): void {
  // Without a channel the process is about to end.
  if (worker.isConnected()) worker.send(message, () => {})
}

/** Returns the flags of Node.js for the processes: those of this one, except for `-e` and its script. */
function nodeFlags(): string[] {
  const { execArgv } = process
  const script = execArgv.findIndex((flag) => flag === '-e' || flag === '--eval')
  return script < 0 ? execArgv : [...execArgv.slice(0, script), ...execArgv.slice(script + 2)]
}

/** Returns the path of the socket of the data process in the data folder. */
function chooseSocketPath(dataDir: string): string {
  const path = resolve(dataDir, `data-${process.pid}.sock`)
  const shortest = [path, relative(process.cwd(), path)].sort((a, b) => a.length - b.length)[0]!
  if (Buffer.byteLength(shortest) > MAX_SOCKET_PATH) {
    const limit = `a Unix socket in it may have ${MAX_SOCKET_PATH} bytes`
    throw new ConfigError(
      `DATA_DIR=${dataDir}: the path is too long for several processes (${limit}); use a shorter one`,
    )
  }
  return shortest.includes('/') ? shortest : join('.', shortest)
}

/**
 * Chooses the port as a single process does: the configured one or, if none is configured, the first free one from the default on. The
 * processes share it afterwards, so only this check notices another service on it.
 *
 * @throws {ListenError} if the port cannot be used
 */
async function choosePort({ host, port: firstPort, isPortSet }: Config): Promise<number> {
  for (let port = firstPort; ; port++) {
    try {
      return await tryPort(host, port)
    } catch (error) {
      const isBusy = error instanceof ListenError && error.failure === 'in-use'
      if (!isBusy || isPortSet || port >= firstPort + MAX_PORTS_TRIED) throw error
    }
  }
}

function tryPort(host: string, port: number): Promise<number> {
  return new Promise((done, reject) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => reject(new ListenError(host, port, error.code)))
    server.listen({ host, port }, () => {
      const address = server.address()
      const chosen = typeof address === 'object' && address !== null ? address.port : port
      server.close(() => done(chosen))
    })
  })
}
