/**
 * What the second opinion costs: services without and with the default share of checked answers get the same load from wrk in turn. There
 * are two pairs, started in opposite orders, because equal processes differ by a few percent too. Prints the medians of the rounds with their extremes. CPU time is that of all threads, so it counts the checks too.
 * The share of the checking thread in it does not depend on what else the machine does.
 * `BENCH_ROUNDS` sets the number of rounds.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './rounds.ts'
import { type BenchService, cpuPerRequest, residentMiB, threadSeconds, withService } from './service-process.ts'
import { Marks, printCells, printHeader } from './tables.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SECONDS = 3
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 12)
const BATCH_ITEMS = 1000
/** The largest loss of throughput, in percent. */
const MAX_LOSS = 2
/** So that a busy machine answers every request. */
const PATIENT = { REQUEST_DEADLINE_MS: '120000', MAX_QUEUE_MS: '60000' }
const UNCHECKED = { CROSS_CHECK: '0' }
/** Only the checking thread has it (workers/cross-check.ts). */
const CHECK_NICENESS = 19

const EIFFEL_TOWER = { type: 'Point', coordinates: [2.2945, 48.8584] }
const LOUVRE = { type: 'Point', coordinates: [2.3376, 48.8606] }
const ZONE = {
  type: 'Polygon',
  coordinates: [
    Array.from({ length: 101 }, (_, index) => {
      const angle = (2 * Math.PI * (index % 100)) / 100
      return [2.3 + 0.05 * Math.cos(angle), 48.86 + 0.04 * Math.sin(angle)]
    }),
  ],
}

interface Scenario {
  readonly name: string
  readonly path: string
  readonly body: object
  readonly connections: number
  /** Operations in one request. */
  readonly operations: number
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'distance of two points',
    path: '/compute/v0/distance',
    body: { from: EIFFEL_TOWER, to: LOUVRE },
    connections: 32,
    operations: 1,
  },
  {
    name: 'contains, 101 positions',
    path: '/compute/v0/contains',
    body: { container: ZONE, containee: LOUVRE },
    connections: 32,
    operations: 1,
  },
  {
    name: 'batch of distances',
    path: '/compute/v0/batch',
    body: {
      attest: 'none',
      items: Array.from({ length: BATCH_ITEMS }, () => ({ op: 'distance', from: EIFFEL_TOWER, to: LOUVRE })),
    },
    connections: 8,
    operations: BATCH_ITEMS,
  },
]

interface Round {
  readonly perSecond: number
  readonly cpuMicros: number
  /** The part of the processor time that the checking thread used; NaN if it cannot be told from others. */
  readonly checkShare: number
}

export async function run(): Promise<object> {
  if (!isWrkInstalled()) {
    console.log('skipped: wrk is not installed (Debian package wrk)')
    return { skipped: 'wrk is not installed' }
  }
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-cross-check-'))
  try {
    const start = (
      name: string,
      settings: Readonly<Record<string, string>>,
      use: (service: BenchService) => Promise<object>,
    ) => withService(join(folder, name), { ...PATIENT, ...settings }, use)
    return await start('without-1', UNCHECKED, (without1) =>
      start('with-1', {}, (checked1) =>
        start('with-2', {}, (checked2) =>
          start('without-2', UNCHECKED, (without2) =>
            measureAll(
              [
                { without: without1, checked: checked1 },
                { without: without2, checked: checked2 },
              ],
              folder,
            ),
          ),
        ),
      ),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Pair {
  readonly without: BenchService
  readonly checked: BenchService
}

async function measureAll(pairs: readonly [Pair, Pair], folder: string): Promise<object> {
  const marks = new Marks([])
  const rows: Record<string, object> = {}
  printHeader([
    'load',
    'operations/s without',
    'with',
    'with ÷ without: median, extremes',
    'CPU µs per operation: without, with',
    'with ÷ without: median, extremes',
    'share of the checking thread',
  ])
  for (const [index, scenario] of SCENARIOS.entries()) {
    const body = JSON.stringify({ chainId: 84532, ...scenario.body })
    const script = writeScript(folder, `scenario-${index}`, scenario.path, body)
    for (const service of pairs.flatMap(({ without, checked }) => [without, checked]))
      await measure(service, scenario, script) // warm-up
    const rounds: { without: Round; checked: Round }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const { without, checked } = pairs[round % 2]!
      // The order alternates, because load of others on the machine may rise or fall within a round.
      const isCheckedLast = round % 4 < 2
      const first = await measure(isCheckedLast ? without : checked, scenario, script)
      const second = await measure(isCheckedLast ? checked : without, scenario, script)
      rounds.push(isCheckedLast ? { without: first, checked: second } : { without: second, checked: first })
    }
    const rates = rounds.map((round) => round.checked.perSecond / round.without.perSecond)
    const cpu = rounds.map((round) => round.checked.cpuMicros / round.without.cpuMicros)
    const middle = (select: (round: (typeof rounds)[number]) => number) => median(rounds.map(select))
    const share = 100 * middle((round) => round.checked.checkShare)
    printCells([
      scenario.name,
      middle((round) => round.without.perSecond).toFixed(0),
      middle((round) => round.checked.perSecond).toFixed(0),
      spread(rates),
      `${middle((round) => round.without.cpuMicros).toFixed(2)}, ${middle((round) => round.checked.cpuMicros).toFixed(2)}`,
      spread(cpu),
      `${share.toFixed(2)} %`,
    ])
    const loss = 100 * (1 - median(rates))
    marks.add(
      `${scenario.name}: the second opinion costs ≤ ${MAX_LOSS} % of throughput`,
      `${loss.toFixed(1)} %`,
      loss <= MAX_LOSS,
    )
    marks.add(
      `${scenario.name}: the checking thread takes ≤ ${MAX_LOSS} % of the processor time`,
      `${share.toFixed(2)} %`,
      Number.isNaN(share) ? undefined : share <= MAX_LOSS,
    )
    rows[scenario.name] = { rounds, rates, cpu }
  }
  const [{ without, checked }] = pairs
  const counts = await readCounts(checked)
  const memory = [without, checked].map(({ child }) => residentMiB(child.pid!))
  console.log(`checks of the service with the second opinion: ${counts}`)
  console.log(`resident memory without and with: ${memory.join(' and ')} MiB`)
  marks.add('no answer disagrees', counts, !/disagreed [1-9]/.test(counts))
  return { rows, counts, memory, seconds: SECONDS, rounds: ROUNDS, marks: marks.list }
}

async function measure(
  { url, child }: BenchService,
  { connections, operations }: Scenario,
  script: string,
): Promise<Round> {
  const pid = child.pid!
  const before = threadSeconds(pid)
  const { requests, requestsPerSecond, errors } = await runWrk({ url, script, connections, seconds: SECONDS })
  if (errors > 0) throw new Error(`${errors} requests were not answered with 200`)
  const cpu = cpuPerRequest(pid, before, requests)
  const after = threadSeconds(pid)
  const [checking, ...others] = [...after.keys()].filter((thread) => niceness(pid, thread) === CHECK_NICENESS)
  const used = (thread: number) => after.get(thread)! - (before.get(thread) ?? 0)
  const total = [...after.keys()].reduce((sum, thread) => sum + used(thread), 0)
  const checkShare = others.length > 0 ? Number.NaN : checking === undefined ? 0 : used(checking) / total
  return { perSecond: requestsPerSecond * operations, cpuMicros: cpu.all / operations, checkShare }
}

function niceness(pid: number, thread: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ')[1]!.split(' ')[16])
}

/** Returns how many samples had each outcome, as text. */
async function readCounts({ url }: BenchService): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = new Map<string, number>()
  for (const [, outcome, count] of text.matchAll(/^cross_checks_total\{.*outcome="(\w+)"\} (\d+)$/gm))
    counts.set(outcome!, (counts.get(outcome!) ?? 0) + Number(count))
  return [...counts].map(([outcome, count]) => `${outcome} ${count}`).join(', ')
}

function spread(ratios: readonly number[]): string {
  return `${median(ratios).toFixed(3)}, ${Math.min(...ratios).toFixed(3)}–${Math.max(...ratios).toFixed(3)}`
}
