/** Runs wrk (https://github.com/wg/wrk) as a load generator, in a separate process with one thread. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface WrkResult {
  readonly requests: number
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** Responses that were not 2xx, and failed connections. */
  readonly errors: number
}

export interface WrkLoad {
  readonly url: string
  /** The path that `writeScript` returned. */
  readonly script: string
  readonly connections: number
  readonly seconds: number
}

export function isWrkInstalled(): boolean {
  return spawnSync('wrk', ['-v']).error === undefined
}

/** Runs wrk and resolves with its results when it ends. Rejects if it printed none. */
export function runWrk({ url, script, connections, seconds }: WrkLoad): Promise<WrkResult> {
  const child = start({ url, script, connections, seconds })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.setEncoding('utf8').on('data', (piece) => {
      text += piece
    })
    child.on('close', () => {
      const line = text.split('\n').find((found) => found.startsWith('RESULT '))
      if (line === undefined) reject(new Error(`wrk printed no result:\n${text}`))
      else resolve(readResult(line))
    })
  })
}

/** Starts background load for another measurement. The caller kills the process. */
export function startWrk(load: WrkLoad): ChildProcess {
  return start(load)
}

function start({ url, script, connections, seconds }: WrkLoad): ChildProcess {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url]
  return spawn('wrk', args, { stdio: ['ignore', 'pipe', 'ignore'] })
}

function readResult(line: string): WrkResult {
  const [requests, micros, p50, p99, errors] = line.slice(7).split(' ').map(Number) as number[]
  const ms = (value: number) => Math.round(value / 10) / 100
  return {
    requests: requests!,
    requestsPerSecond: Math.round((requests! * 1e6) / micros!),
    p50Ms: ms(p50!),
    p99Ms: ms(p99!),
    errors: errors!,
  }
}

/**
 * Writes a wrk script that repeats one request and prints one line of numbers at the end. Without a body it is a GET request.
 *
 * @returns the path of the script
 */
export function writeScript(folder: string, name: string, path: string, body?: string): string {
  const bodyFile = join(folder, `${name}.json`)
  const script = join(folder, `${name}.lua`)
  writeFileSync(bodyFile, body ?? '')
  writeFileSync(
    script,
    `local file = io.open("${bodyFile}", "rb")
wrk.method = "${body === undefined ? 'GET' : 'POST'}"
wrk.path = "${path}"
wrk.body = file:read("*a")
wrk.headers["Content-Type"] = "application/json"
done = function(summary, latency)
  local errors = summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.status + summary.errors.timeout
  print(string.format("RESULT %d %d %d %d %d", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors))
end
`,
  )
  return script
}
