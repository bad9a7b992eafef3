/**
 * Bounded loopback load on the built service: signed `distance` requests by wrk, a process of its own on the same cores,
 * alone and beside connections that send 10,000-vertex polygons. Prints requests/s, p50, p99 and the service's CPU per
 * request, and recovers the signer of a sample of answers with viem: a fast wrong answer fails the run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { recoverTypedDataAddress } from 'viem'
import { ATTEST_V1 } from './eas-v1.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SECONDS = 5
const ROUNDS = 3
const SIGNATURES_CHECKED = 200
const CLOCK_TICKS_PER_SECOND = 100

const SMALL = JSON.stringify({
  chainId: 84532,
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [2.3522, 48.8566] },
})

interface LoadRow {
  readonly scenario: string
  readonly requestsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly cpuMicrosPerRequest: number
  readonly errors: number
}

export async function run(): Promise<object> {
  if (spawnSync('wrk', ['-v']).error !== undefined) {
    console.log('skipped: wrk is not installed (Debian package wrk)')
    return { skipped: 'wrk is not installed' }
  }
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-load-'))
  const rows: LoadRow[] = []
  let checked = 0
  try {
    const service = await start(folder)
    try {
      const small = writeScript(folder, 'small', 'distance', SMALL)
      const large = writeScript(folder, 'large', 'area', polygonBody(10_000))
      wrk(service.url, small, 32, 2) // warm-up, not counted
      for (const connections of [1, 32, 256]) {
        rows.push(medianRow(`distance, ${connections} connections`, () => measure(service, small, connections)))
      }
      rows.push(
        medianRow('distance, 32 connections, beside 8 sending 10,000-vertex polygons', () => {
          const beside = spawn('wrk', ['-t1', '-c8', `-d${SECONDS + 1}s`, '-s', large, service.url], {
            stdio: 'ignore',
          })
          const row = measure(service, small, 32)
          beside.kill()
          return row
        }),
      )
      checked = await checkSignatures(service.url)
    } finally {
      service.child.kill('SIGTERM')
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.table(rows)
  console.log(`${checked} signatures recovered with viem: each is the attester's`)
  return { rows, checked, seconds: SECONDS, rounds: ROUNDS }
}

/** The round with the median rate. */
function medianRow(scenario: string, measureOnce: () => Omit<LoadRow, 'scenario'>): LoadRow {
  const rounds = Array.from({ length: ROUNDS }, measureOnce).sort((a, b) => a.requestsPerSecond - b.requestsPerSecond)
  const row = { scenario, ...rounds[Math.floor(ROUNDS / 2)]! }
  if (row.errors > 0) throw new Error(`${scenario}: ${row.errors} requests were not answered with 200`)
  return row
}

function measure(service: Service, script: string, connections: number): Omit<LoadRow, 'scenario'> {
  const cpuBefore = cpuSeconds(service.child.pid!)
  const result = wrk(service.url, script, connections, SECONDS)
  const cpu = cpuSeconds(service.child.pid!) - cpuBefore
  return { ...result, cpuMicrosPerRequest: round((cpu * 1e6) / result.requests) }
}

function wrk(url: string, script: string, connections: number, seconds: number) {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url]
  const { stdout } = spawnSync('wrk', args, { encoding: 'utf8' })
  const line = stdout.split('\n').find((text) => text.startsWith('RESULT '))
  if (line === undefined) throw new Error(`wrk printed no result:\n${stdout}`)
  const [requests, micros, p50, p99, errors] = line.slice(7).split(' ').map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ]
  return {
    requests,
    requestsPerSecond: Math.round((requests * 1e6) / micros),
    p50Ms: round(p50 / 1000),
    p99Ms: round(p99 / 1000),
    errors,
  }
}

/** wrk's script: the same request again and again, and one line of numbers at the end. */
function writeScript(folder: string, name: string, operation: string, body: string): string {
  const bodyFile = join(folder, `${name}.json`)
  const script = join(folder, `${name}.lua`)
  writeFileSync(bodyFile, body)
  writeFileSync(
    script,
    `local file = io.open("${bodyFile}", "rb")
wrk.method = "POST"
wrk.path = "/compute/v0/${operation}"
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

function polygonBody(vertices: number): string {
  const ring = Array.from({ length: vertices }, (_, index) => {
    const angle = (2 * Math.PI * index) / vertices
    const radius = 0.5 + 0.01 * Math.sin(50 * angle)
    return [10 + radius * Math.cos(angle), 45 + radius * Math.sin(angle)]
  })
  ring.push(ring[0]!)
  return JSON.stringify({ chainId: 84532, geometry: { type: 'Polygon', coordinates: [ring] } })
}

interface Service {
  readonly url: string
  readonly child: ChildProcess
}

function start(folder: string): Promise<Service> {
  const child = spawn(process.execPath, ['-e', 'import("./dist/src/main.js").then((m) => m.main([]))'], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      DATA_DIR: folder,
      LOG_FORMAT: 'json',
      LOG_SAMPLE_RATIO: '0',
      RATE_LIMIT_PUBLIC: '1000000000',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      if (line.includes('"event":"ready"')) resolve({ url: JSON.parse(line).url, child })
    })
    child.on('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
}

/** User and system time of all threads of a process, from /proc. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}

async function checkSignatures(url: string): Promise<number> {
  for (let index = 0; index < SIGNATURES_CHECKED; index++) {
    const body = SMALL.replace('2.3522', String(2.3522 + index / 1000))
    const response = await fetch(`${url}/compute/v0/distance`, { method: 'POST', body })
    // biome-ignore lint/suspicious/noExplicitAny: the answer's shape is held by the contract tests
    const { attestation, delegatedAttestation } = (await response.json()) as any
    const signer = await recoverTypedDataAddress({
      domain: {
        name: 'EAS',
        version: '1.2.0',
        chainId: 84532,
        verifyingContract: '0x4200000000000000000000000000000000000021',
      },
      types: { Attest: ATTEST_V1 },
      primaryType: 'Attest',
      message: {
        ...attestation,
        expirationTime: 0n,
        value: 0n,
        nonce: BigInt(delegatedAttestation.nonce),
        deadline: BigInt(delegatedAttestation.deadline),
      },
      signature: delegatedAttestation.signature,
    })
    if (signer !== attestation.attester) throw new Error(`answer ${index} is signed by ${signer}`)
  }
  return SIGNATURES_CHECKED
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
