/**
 * Measures `trigpoint batch --local` without signatures, as a whole process, against the engine in this process. Each round runs
 * all of them once, and a ratio is taken within a round. The rates are rows per second of processor time, over all threads, because
 * other work on the machine affects the time of a process that starts, reads and writes more than that of a loop. The last column
 * compares the time that a person waits, which is shorter where the process compiles and collects garbage on a second core.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type PackedBytes, pack } from '../src/base/bytes.ts'
import { runComputeChunk } from '../src/compute/chunk.ts'
import { createEngine } from '../src/compute/engine.ts'
import { readConfig } from '../src/config/config.ts'
import type { ComputeChunk } from '../src/wire/batch-messages.ts'
import { nodeFlags } from '../test/node-flags.ts'
import { median } from './rounds.ts'
import { Marks, printCells, printHeader } from './tables.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ROWS = 100_000
/** The large files repeat the rows. A short run shows the start of the process, a long one the rows. */
const REPEATS = 10
const ROUNDS = 3
const CHUNK_ITEMS = 256
const ZERO_SCHEMA = `0x${'0'.repeat(64)}` as const
const MIN_RATIO = 0.5

/** A run of the command. The input is the file `rows` with a suffix. */
interface Contender {
  readonly name: string
  readonly rows: number
  readonly input: string
  readonly output: string
}

const CONTENDERS: readonly Contender[] = [1, REPEATS].flatMap((repeats) => {
  const rows = repeats * ROWS
  const title = `trigpoint batch --local, ${rows.toLocaleString('en')} rows`
  return [
    { name: `${title} of JSON`, rows, input: `rows-${repeats}.ndjson`, output: 'results.ndjson' },
    { name: `${title}, CSV to CSV`, rows, input: `rows-${repeats}.csv`, output: 'results.csv' },
  ]
})
const ENGINE = 'engine in this process'

/** Rows per second, by contender. */
type Rates = ReadonlyMap<string, Speed>

interface Speed {
  /** Of processor time. */
  readonly processor: number
  /** Of the time that passes. */
  readonly clock: number
}

interface Seconds {
  readonly processor: number
  readonly clock: number
}

const speed = (rows: number, { processor, clock }: Seconds): Speed => ({
  processor: rows / processor,
  clock: rows / clock,
})

/** Prints and returns the rows per second of each contender, and their ratios to the engine. */
export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  try {
    const computeAll = prepareEngine()
    writeInputs(folder)
    computeAll() // optimizing compilers finish here
    const rounds = Array.from({ length: ROUNDS }, (): Rates => {
      const engine = [ENGINE, speed(ROWS, ownSeconds(computeAll))] as const
      return new Map([
        engine,
        ...CONTENDERS.map((one) => [one.name, speed(one.rows, commandSeconds(folder, one))] as const),
      ])
    })
    return report(rounds)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function report(rounds: readonly Rates[]): object {
  const marks = new Marks([])
  const results: Record<string, object> = {}
  printHeader(['distances, unsigned', 'median', 'slowest–fastest', '× engine', '× engine, by the clock'])
  for (const name of [ENGINE, ...CONTENDERS.map((one) => one.name)]) {
    const rates = rounds.map((round) => round.get(name)!.processor)
    const ratioOf = (kind: keyof Speed) =>
      median(rounds.map((round) => round.get(name)![kind] / round.get(ENGINE)![kind]))
    const ratio = ratioOf('processor')
    const clockRatio = ratioOf('clock')
    const rate = (value: number) => `${Math.round(value).toLocaleString('en')}/s`
    const range = `${rate(Math.min(...rates))}–${rate(Math.max(...rates))}`
    printCells([name, rate(median(rates)), range, ratio.toFixed(2), clockRatio.toFixed(2)])
    results[name] = {
      rowsPerSecond: Math.round(median(rates)),
      ratio: Number(ratio.toFixed(3)),
      clockRatio: Number(clockRatio.toFixed(3)),
    }
    if (name === ENGINE) continue
    marks.add(`${name}: ≥ ${MIN_RATIO} × engine`, `${ratio.toFixed(2)} ×`, ratio >= MIN_RATIO)
    marks.add(`${name}: ≥ ${MIN_RATIO} × engine by the clock`, `${clockRatio.toFixed(2)} ×`, clockRatio >= MIN_RATIO)
  }
  return { ...results, marks: marks.list }
}

/** The coordinates of row `index`: longitude and latitude of two points that differ in each row. */
function rowNumbers(index: number): readonly number[] {
  const scaled = (factor: number, limit: number) => Number((((index * factor) % 1) * 2 * limit - limit).toFixed(6))
  return [scaled(0.618034, 180), scaled(0.381966, 90), scaled(0.754878, 180), scaled(0.56984, 90)]
}

function rowInputs(index: number): object {
  const [fromLon, fromLat, toLon, toLat] = rowNumbers(index)
  const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
  return { id: index, from: point(fromLon!, fromLat!), to: point(toLon!, toLat!) }
}

/** Returns a function that computes all rows with the code of the service's compute threads. */
function prepareEngine(): () => void {
  const limits = { ...readConfig({}, 1).limits, chainIds: [84532] }
  const engine = createEngine(limits)
  const items = Array.from({ length: ROWS }, (_, index) =>
    Buffer.from(JSON.stringify({ ...rowInputs(index), op: 'distance' })),
  )
  const chunks: PackedBytes[] = []
  for (let begin = 0; begin < ROWS; begin += CHUNK_ITEMS) chunks.push(pack(items.slice(begin, begin + CHUNK_ITEMS)))
  const common: Omit<ComputeChunk, 'items'> = {
    type: 'chunk',
    firstIndex: undefined,
    chainId: 84532,
    recipient: undefined,
    attest: 'none',
    itemsInQuota: CHUNK_ITEMS,
    quotaProblem: { type: 'internal', detail: '' },
    maxItemBytes: limits.maxBodyBytes,
    schemas: { numeric: ZERO_SCHEMA, boolean: ZERO_SCHEMA },
    attester: undefined,
    returnsObjects: false,
    resolved: [],
    timestampSeconds: 1_767_225_600,
  }
  return () => {
    for (const chunk of chunks) {
      const { unfinished } = runComputeChunk({ ...common, items: chunk }, engine, limits)
      if (unfinished.size > 0) throw new Error('the engine rejected a row')
    }
  }
}

/** Writes the same rows as lines of JSON and as tables. */
function writeInputs(folder: string): void {
  const indexes = Array.from({ length: ROWS }, (_, index) => index)
  const lines = indexes.map((index) => `${JSON.stringify(rowInputs(index))}\n`)
  const rows = indexes.map((index) => `${[index, ...rowNumbers(index)].join(',')}\n`)
  for (const repeats of [1, REPEATS]) {
    writeFileSync(join(folder, `rows-${repeats}.ndjson`), lines.join('').repeat(repeats))
    writeFileSync(
      join(folder, `rows-${repeats}.csv`),
      `id,from_lon,from_lat,to_lon,to_lat\n${rows.join('').repeat(repeats)}`,
    )
  }
}

/** Writes the processor time of a process to the file TRIGPOINT_BENCH_CPU when it ends, in microseconds. */
const NOTE_CPU = `data:text/javascript,${encodeURIComponent(`
  import { writeFileSync } from 'node:fs'
  process.on('exit', () => {
    const { user, system } = process.cpuUsage()
    writeFileSync(process.env.TRIGPOINT_BENCH_CPU, String(user + system))
  })`)}`

/** Runs the command on a file. Returns its time, from the start of the process to its end. */
function commandSeconds(folder: string, { rows, input, output }: Contender): Seconds {
  const program = join(root, 'scripts/trigpoint.mjs')
  const argv = ['batch', 'distance', input, '-o', output, '--local', '--attest', 'none', '--restart']
  const note = join(folder, 'cpu')
  const beginMs = performance.now()
  const run = spawnSync(process.execPath, [...nodeFlags(root), '--import', NOTE_CPU, program, ...argv], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], TRIGPOINT_BENCH_CPU: note },
  })
  const clock = (performance.now() - beginMs) / 1000
  if (run.status !== 0) throw new Error(`trigpoint ${argv.join(' ')}: ${run.stderr}`)
  const written = readFileSync(join(folder, output), 'utf8').split('\n').length - 1
  if (written < rows) throw new Error(`${output} has ${written} lines`)
  return { processor: Number(readFileSync(note, 'utf8')) / 1e6, clock }
}

function ownSeconds(work: () => void): Seconds {
  const beginMs = performance.now()
  const start = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(start)
  return { processor: (user + system) / 1e6, clock: (performance.now() - beginMs) / 1000 }
}
