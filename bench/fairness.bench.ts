/**
 * Measures what an honest client notices of an attack by another client, on both transports: without an attack, under the attack
 * with the limits lifted, and under the attack with the default settings. Without an attack, a process uses as much of the
 * processor as an attacker may, so that the times can be compared.
 *
 * `BENCH_SECONDS` sets the length of one measurement, `BENCH_ATTACKS` selects attacks whose name contains the text.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ATTACKER_SHARE, ATTACKS, type Attack, type AttackReport, evidenceOf, startAttack } from '../test/attacks.ts'
import { createHonestClient, type HonestClient, type HonestResult, REQUESTS_PER_SECOND } from '../test/honest-client.ts'
import { type BenchService, startService } from './service-process.ts'
import { Marks, printCells, printHeader } from './tables.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 10)
const SELECTED = ATTACKS.filter(({ name }) => name.includes(process.env['BENCH_ATTACKS'] ?? ''))
const ADAPTERS = ['uws', 'node'] as const
const MAX_RATIO = 3
const WARM_UP_SECONDS = 3
/** Longest time that an attack gets to open its connections before the measurement: 10,000 take about 15 s. */
const RAMP_MS = 60_000
const ADDRESS = '127.0.0.2'

const SETTINGS = {
  RECORDS: '1',
  SAMPLE_RECORDS: '1',
  // With a proxy to trust, requests from this machine have no larger limit than others.
  TRUSTED_PROXIES: '192.0.2.1',
  RATE_LIMIT_INTERNAL: '1000000000',
  RATE_LIMIT_PUBLIC: undefined,
  COST_LIMIT_PUBLIC: undefined,
}

/** The limits that defend the service, as high as the settings allow. The size of one request stays limited, because the attacks keep to it. */
const LIFTED = {
  RATE_LIMIT_PUBLIC: '1000000000',
  COST_LIMIT_PUBLIC: 'bytes=0,vertices=0,cpu-ms=0',
  MAX_WORK: '1000000000',
  MAX_OPEN_BODIES_PER_ADDRESS: '1000000',
  MAX_IN_FLIGHT_BYTES: '8000000000',
  MAX_CLIENT_BODY_BYTES: '8000000000',
  MAX_CONNECTIONS: '1000000',
  MAX_CONNECTIONS_PER_ADDRESS: '1000000',
  MAX_QUEUED_REQUESTS: '1000000',
  MAX_QUEUE_MS: '600000',
  MAX_STORE_QUEUE: '100000',
  MAX_EXPORTS: '10000',
  MAX_EXPORTS_PER_CLIENT: '10000',
  STORE_READ_MS: '600000',
  STORE_STUCK_MS: '600000',
  REQUEST_DEADLINE_MS: '600000',
  STREAM_IDLE_MS: '600000',
}

interface Row {
  readonly adapter: string
  readonly attack: string
  readonly without: HonestResult
  readonly lifted: HonestResult
  readonly defended: HonestResult
  /** What the attacker did against the default settings. */
  readonly report: AttackReport
  readonly holds: boolean
}

export async function run(): Promise<object> {
  printHeader([
    'transport',
    'attack',
    'no attack: p50, p99 ms',
    'limits lifted: p50, p99 ms, failed',
    'default settings: p50, p99 ms, failed',
    '× p99',
    'attacker: connections opened, evidence, share of a core',
    'holds',
  ])
  const rows: Row[] = []
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-fairness-'))
  try {
    // The first start fills the store, which later ones find filled.
    await withService(folder, {}, async () => {})
    for (const adapter of ADAPTERS) for (const attack of SELECTED) rows.push(await measureRow(folder, adapter, attack))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const marks = new Marks([])
  for (const adapter of ADAPTERS) {
    const ofAdapter = rows.filter((row) => row.adapter === adapter)
    const held = ofAdapter.filter(({ holds }) => holds).length
    const mark = `${adapter}: every attack leaves an honest client 0 failures and p99 ≤ ${MAX_RATIO} × that without it`
    marks.add(mark, `${held} of ${ofAdapter.length}`, held === ofAdapter.length)
  }
  return { rows, seconds: SECONDS, attackerShare: ATTACKER_SHARE, marks: marks.list }
}

async function measureRow(folder: string, adapter: string, attack: Attack): Promise<Row> {
  const { without, defended, report } = await withService(
    folder,
    { HTTP_ADAPTER: adapter },
    async (service, honest) => {
      const beside = await measure(service, honest, undefined)
      const attacked = await measure(service, honest, attack)
      return { without: beside.result, defended: attacked.result, report: attacked.report }
    },
  )
  const { result: lifted } = await withService(folder, { HTTP_ADAPTER: adapter, ...LIFTED }, (service, honest) =>
    measure(service, honest, attack),
  )
  const ratio = defended.p99Ms / without.p99Ms
  // An attack that has not reached its size proves nothing.
  const isWhole = report.opened >= attack.connections
  const holds = isWhole && failuresOf(defended) === 0 && ratio <= MAX_RATIO
  const times = ({ p50Ms, p99Ms }: HonestResult) => `${p50Ms.toFixed(1)}, ${p99Ms.toFixed(1)}`
  const cells = (result: HonestResult) => `${times(result)}, ${describeFailures(result)}`
  printCells([
    adapter,
    attack.name,
    times(without),
    cells(lifted),
    cells(defended),
    ratio.toFixed(1),
    `${report.opened} of ${attack.connections}, ${evidenceOf(attack, report)} ${attack.evidence}, ${report.coreShare.toFixed(2)}`,
    holds ? 'yes' : 'no',
  ])
  return { adapter, attack: attack.name, without, lifted, defended, report, holds }
}

/** Runs a measurement with a service and an honest client of it, after both have warmed up. */
async function withService<T>(
  folder: string,
  environment: Readonly<Record<string, string>>,
  run: (service: BenchService, honest: HonestClient) => Promise<T>,
): Promise<T> {
  const service = await startService(folder, { ...SETTINGS, ...environment })
  const exited = new Promise((resolve) => service.child.once('exit', resolve))
  try {
    const honest = await createHonestClient(service.url, service.internalKey)
    await honest.run(WARM_UP_SECONDS * REQUESTS_PER_SECOND)
    const measured = await run(service, honest)
    honest.close()
    return measured
  } finally {
    // Not asked to stop, because the requests of an attack without limits would take minutes to drain.
    service.child.kill('SIGKILL')
    await exited
  }
}

/** Measures the honest client beside an attack, or beside a process that only uses the processor. */
async function measure(service: BenchService, honest: HonestClient, attack: Attack | undefined) {
  const running = startAttack(root, attack, { url: service.url, address: ADDRESS })
  try {
    const deadlineMs = performance.now() + RAMP_MS
    const isReady = () => running.report !== undefined && running.report.opened >= (attack?.connections ?? 0)
    while (!isReady() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, 50))
    const result = await honest.run(SECONDS * REQUESTS_PER_SECOND)
    const { report } = running
    if (report === undefined) throw new Error('the attacker reported nothing')
    return { result, report }
  } finally {
    await running.stop()
  }
}

function failuresOf({ failures }: HonestResult): number {
  return Object.values(failures).reduce((sum, count) => sum + count, 0)
}

function describeFailures({ failures }: HonestResult): string {
  const kinds = Object.entries(failures).map(([kind, count]) => `${count} × ${kind}`)
  return kinds.length === 0 ? '0' : kinds.join(' ')
}
