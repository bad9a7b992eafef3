/** The built service as a separate process, as an operator runs it, for tests that speak HTTP to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { endsWithFile } from './children.ts'
import { nodeFlags } from './node-flags.ts'
import type { AdapterName } from './running-http-server.ts'
import { WATCHED_ORIGINS } from './watched-origins.ts'

const root = resolve(import.meta.dirname, '..')

/**
 * Limits that a busy machine does not reach by chance. Projects whose subject is not limits request them
 * (vitest.config.ts); a test of one of them sets it.
 */
const PATIENT = {
  REQUEST_DEADLINE_MS: '120000',
  MAX_QUEUE_MS: '60000',
  STORE_READ_MS: '60000',
  STORE_STUCK_MS: '60000',
  RPC_TIMEOUT_MS: '10000',
}

/**
 * Settings of a service that treats this machine like any other: with a proxy to trust, a loopback address proves nothing. Without
 * them, requests from this machine have the limit of the internal tier.
 */
export const NO_LOCAL_CALLERS = { TRUSTED_PROXIES: '192.0.2.1' }

export interface TestService {
  readonly url: string
  readonly attester: string
  readonly developerKey: string
  readonly internalKey: string
  readonly adapter: string
  readonly pid: number
  /** Every line that the service wrote, structured logs included. */
  readonly lines: readonly string[]
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  /** Sends SIGTERM; resolves to the exit code. */
  stop(): Promise<number | NodeJS.Signals>
}

/** A service that other test files use too, so no test stops it. */
export type SharedService = Omit<TestService, 'stop'>

export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
  readonly body: any
}

/** Starts the service. */
const START = 'import("./dist/src/main.js").then((m) => m.main([]))'
/** Ends the service when the process that started it ends, which closes this pipe, and then removes its folder. */
const END_WITH_PARENT = `
process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'))
process.once('exit', () => require('node:fs').rmSync(process.env.DATA_DIR, { recursive: true, force: true }))
`

/** Limits of callers on this machine that several test files together do not reach. */
const NO_LIMITS = { RATE_LIMIT_INTERNAL: '1000000000', COST_LIMIT_INTERNAL: 'cpu-ms=999999999999' }

const shared = new Map<AdapterName, Promise<TestService>>()

/**
 * Returns the service without a store that the test files of one process share, and starts it for the first of them. A test must not
 * depend on what earlier tests asked it, and not change what later tests see. It has no limit that tests could reach.
 */
export async function sharedService(adapter: AdapterName): Promise<SharedService> {
  const running = shared.get(adapter) ?? startService({ ...NO_LIMITS, HTTP_ADAPTER: adapter }, 'process')
  shared.set(adapter, running)
  return running
}

/**
 * Starts `dist/src/main.js` on a free port with a fresh data folder, for one test file.
 *
 * @param environment variables added to a clean environment; `RATE_LIMIT_PUBLIC` and `COST_LIMIT_PUBLIC` are high unless a test sets them
 */
export function startTestService(environment: Record<string, string> = {}): Promise<TestService> {
  return startService(environment, 'file')
}

/** @param lifetime the service ends with the test file or with the process of the test files */
async function startService(environment: Record<string, string>, lifetime: 'file' | 'process'): Promise<TestService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-test-'))
  const child = spawn(
    process.execPath,
    [
      ...nodeFlags(root),
      ...(process.env['TEST_NODE_FLAGS']?.split(' ') ?? []),
      '-e',
      lifetime === 'file' ? START : END_WITH_PARENT + START,
    ],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATA_DIR: dataDir,
        LOG_FORMAT: 'json',
        RATE_LIMIT_PUBLIC: '1000000000',
        COST_LIMIT_PUBLIC: 'cpu-ms=999999999999',
        RECORDS: '0', // creating a database takes seconds; tests of records turn them on
        ...(process.env['TEST_LIMITS'] === 'patient' ? PATIENT : {}),
        ...(process.env['TEST_COMPUTE_THREADS'] ? { COMPUTE_THREADS: process.env['TEST_COMPUTE_THREADS'] } : {}),
        ...environment,
      },
      stdio: [lifetime === 'file' ? 'ignore' : 'pipe', 'ignore', 'pipe'],
    },
  )
  if (lifetime === 'file') endsWithFile(child)
  const exited = new Promise<number | NodeJS.Signals>((done) => {
    child.on('exit', (code, signal) => done(code ?? signal ?? 1))
  })
  // Without this, every file after one that made the shared service exit would fail too.
  if (lifetime === 'process') child.on('exit', () => shared.clear())
  const lines: string[] = []
  let isReady = false
  child.on('exit', (code, signal) => {
    // A crash writes its cause to standard error only, and the failure of a test would not show it.
    if (isReady && code !== 0 && signal !== 'SIGTERM') {
      console.error(`the service ended with ${code ?? signal}:\n${lines.slice(-60).join('\n')}`)
    }
  })
  const facts = await ready(child, lines, exited)
  isReady = true
  WATCHED_ORIGINS.add(new URL(String(facts['url'])).origin)
  return {
    url: String(facts['url']),
    attester: String(facts['attester']),
    developerKey: String(facts['developerKey']),
    internalKey: String(facts['internalKey']),
    adapter: String(facts['adapter']),
    pid: child.pid!,
    lines,
    async post(path, body, headers = {}) {
      const response = await fetch(`${facts['url']}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      })
      return { status: response.status, headers: response.headers, body: await response.json() }
    },
    async stop() {
      child.kill('SIGTERM')
      const code = await exited
      rmSync(dataDir, { recursive: true, force: true })
      return code
    },
  }
}

function ready(child: ChildProcess, lines: string[], exited: Promise<unknown>): Promise<Record<string, unknown>> {
  return new Promise((done, refuse) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      lines.push(line)
      if (line.includes('"event":"ready"')) done(JSON.parse(line))
    })
    void exited.then((code) => refuse(new Error(`the service ended with ${code}:\n${lines.join('\n')}`)))
  })
}
