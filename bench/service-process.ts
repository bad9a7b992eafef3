/** Starts the built service as a separate process and reads its CPU time and memory from /proc. */
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { nodeFlags } from '../test/node-flags.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const CLOCK_TICKS_PER_SECOND = 100

export interface BenchService {
  readonly url: string
  readonly child: ChildProcess
  /** The secp256k1 backend that it signs with. */
  readonly secp256k1: string
  /** An API key of the internal tier. */
  readonly internalKey: string
}

/**
 * Starts the service and resolves when it is ready.
 *
 * @param folder the data directory, which holds its development key
 * @param environment additional settings, undefined for the default; records and the limit of the public tier are off unless set here
 */
export function startService(
  folder: string,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<BenchService> {
  const child = spawn(
    process.execPath,
    [...nodeFlags(root), '-e', 'import("./dist/src/main.js").then((m) => m.main([]))'],
    {
      cwd: root,
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        DATA_DIR: folder,
        LOG_FORMAT: 'json',
        LOG_SAMPLE_RATIO: '0',
        RATE_LIMIT_PUBLIC: '1000000000',
        // Never used up, but charged as in any service.
        COST_LIMIT_PUBLIC: 'cpu-ms=999999999999',
        RECORDS: '0',
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      if (!line.includes('"event":"ready"')) return
      const { url, secp256k1, internalKey } = JSON.parse(line)
      resolve({ url, child, secp256k1, internalKey })
    })
    child.on('exit', (code) => reject(new Error(`the service exited with ${code}`)))
  })
}

/** User and system time in seconds by thread ID. The ID of the main thread is that of the process. */
export function threadSeconds(pid: number): Map<number, number> {
  const seconds = new Map<number, number>()
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const fields = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]!.split(' ')
    seconds.set(Number(thread), (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND)
  }
  return seconds
}

/** CPU time per request in microseconds: of the main thread, of the three busiest other threads, and of all threads. */
export function cpuPerRequest(pid: number, before: Map<number, number>, requests: number) {
  const micros = [...threadSeconds(pid)].map(
    ([thread, seconds]) => [thread, ((seconds - (before.get(thread) ?? 0)) * 1e6) / requests] as const,
  )
  const round = (value: number) => Math.round(value * 10) / 10
  const others = micros
    .filter(([thread]) => thread !== pid)
    .map(([, value]) => value)
    .sort((a, b) => b - a)
  return {
    main: round(micros.find(([thread]) => thread === pid)?.[1] ?? 0),
    others: others.slice(0, 3).map(round),
    all: round(micros.reduce((sum, [, value]) => sum + value, 0)),
  }
}

export function residentMiB(pid: number): number {
  const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
  return Math.round(kib / 1024)
}

/** The highest resident memory of a process since its start, or since `/proc/<pid>/clear_refs` was written. */
export function peakMiB(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024)
}

/** Runs a measurement with a service, which then stops. */
export async function withService<T>(
  folder: string,
  settings: Readonly<Record<string, string | undefined>>,
  run: (service: BenchService) => Promise<T>,
): Promise<T> {
  const service = await startService(folder, settings)
  const exited = new Promise((resolve) => service.child.once('exit', resolve))
  try {
    return await run(service)
  } finally {
    service.child.kill('SIGTERM')
    await exited
  }
}
