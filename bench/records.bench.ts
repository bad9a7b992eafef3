/**
 * Measures the store on both engines with generated records: storing, lists by every combination of filters, lookups by UID, and
 * pages at any offset. Then measures the built service on the same records, under load from wrk.
 *
 * `BENCH_RECORDS=100000` selects one size instead of both.
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRecordStore } from '../src/store/operations.ts'
import { RecordMemory } from '../src/store/records/memory.ts'
import type { Bounds, LocationRecord, RecordQuery, RecordStore } from '../src/wire/store-messages.ts'
import { BATCH, CHAINS_AT_ONCE, ingest } from './record-ingest.ts'
import { cities, randomFrom } from './record-world.ts'
import { residentMiB, startService } from './service-process.ts'
import { ENGINES, makeStore, type StoreFiles } from './store-engines.ts'
import { type Mark, printCells, printHeader, significant } from './tables.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SEED = 7
const SIZES = process.env['BENCH_RECORDS'] ? [Number(process.env['BENCH_RECORDS'])] : [100_000, 1_000_000]
const NEWEST = 1_790_000_000
const SPAN_DAYS = 365
const ROUNDS = 9
/** The maximum time for one query. */
const QUERY_MS = 2000
const LOOKUPS = 2000
const OFFSETS = 300
const WRK_SECONDS = 5
const LOADING_WAIT_MS = 20_000

const GOALS = {
  embedded: { ingest: 7000, listMs: 200, uidMs: 10, pages: 2000 },
  postgres: { ingest: 15_000, listMs: 50, uidMs: 5, pages: 5000 },
} as const

interface Percentiles {
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export async function run(): Promise<object> {
  const marks: Mark[] = []
  const results: Record<string, object> = {}
  for (const count of SIZES) {
    for (const engine of ENGINES) {
      console.log(`\n### ${count} records, ${engine}\n`)
      const files = await makeStore(engine, {})
      try {
        results[`${engine} ${count}`] = await measure(engine, count, files, marks)
      } finally {
        await files.remove()
      }
    }
  }
  return { ...results, marks }
}

async function measure(engine: keyof typeof GOALS, count: number, files: StoreFiles, marks: Mark[]) {
  const goal = GOALS[engine]
  const database = await files.open()
  // As in the service. `maintain` waits until the memory is loaded.
  const memory = new RecordMemory(database, 2_000_000)
  const store = createRecordStore(database, () => new Date().toISOString(), memory)
  const add = (what: string, measured: string, isReached: boolean) =>
    marks.push({ mark: `${engine}, ${count} records: ${what}`, measured, reached: isReached ? 'yes' : 'no' })

  const { sample, recordsPerSecond, worstMs } = await ingest(store, {
    seed: SEED,
    count,
    newestSeconds: NEWEST,
    spanDays: SPAN_DAYS,
  })
  console.log(
    `stored ${Math.round(recordsPerSecond)} records/s in batches of ${BATCH}, ${CHAINS_AT_ONCE} chains at a time, worst batch ${Math.round(worstMs)} ms`,
  )
  add(`ingest ≥ ${goal.ingest} records/s`, `${Math.round(recordsPerSecond)}/s`, recordsPerSecond >= goal.ingest)
  const started = performance.now()
  await store.maintain(undefined)
  console.log(`maintenance, including loading the columns: ${significant((performance.now() - started) / 1000)} s\n`)

  const lists = await measureLists(store, sample)
  add(
    `list p99 ≤ ${goal.listMs} ms`,
    `${significant(lists.p99)} ms (p50 ${significant(lists.p50)})`,
    lists.p99 <= goal.listMs,
  )
  const byUid = await measureTimes(LOOKUPS, (index) => store.record(sample[index % sample.length]!.uid))
  add(
    `by uid p99 ≤ ${goal.uidMs} ms`,
    `${significant(byUid.p99)} ms (p50 ${significant(byUid.p50)})`,
    byUid.p99 <= goal.uidMs,
  )
  const random = randomFrom(SEED + 1)
  const offsets = await measureTimes(OFFSETS, () => store.page({ limit: 100, offset: Math.floor(random() * count) }))
  add('any offset p50 ≤ 15 ms', `${significant(offsets.p50)} ms (p99 ${significant(offsets.p99)})`, offsets.p50 <= 15)
  await database.close()
  const service = await measureService(files, sample, add, goal.pages)
  return { recordsPerSecond, worstBatchMs: worstMs, lists, byUid, offsets, service }
}

/** Lists records for every combination of box and filter, at offsets 0 and 1000. */
async function measureLists(store: RecordStore, sample: readonly LocationRecord[]): Promise<Percentiles> {
  const [[cityLongitude, cityLatitude]] = cities(SEED) as [readonly [number, number]]
  const [edgeLongitude, edgeLatitude] = cities(SEED)[45]!
  const boxes: Record<string, Bounds | undefined> = {
    none: undefined,
    city: [cityLongitude - 1, cityLatitude - 1, cityLongitude + 1, cityLatitude + 1],
    small: [edgeLongitude - 0.05, edgeLatitude - 0.05, edgeLongitude + 0.05, edgeLatitude + 0.05],
    empty: [0.5, -89, 0.51, -88.9],
    continent: [-20, 20, 40, 60],
    antimeridian: [170, -50, -170, 50],
    hemisphere: [-180, 0, 180, 90],
  }
  const busiest = mostFrequent(sample.map(({ prover }) => prover))
  const quietest = sample.find(({ prover }) => sample.filter((other) => other.prover === prover).length === 1)!.prover
  const week = { fromSeconds: NEWEST - 100 * 86_400, toSeconds: NEWEST - 93 * 86_400 }
  const filters: Record<string, Partial<RecordQuery>> = {
    '': {},
    chain: { chainId: 42220 },
    'rare chain': { chainId: 8453 },
    'busy prover': { prover: busiest },
    'quiet prover': { prover: quietest },
    subject: { subject: mostFrequent(sample.map(({ subject }) => subject)) },
    week,
    'last month': { fromSeconds: NEWEST - 30 * 86_400 },
    'chain and week': { chainId: 42220, ...week },
    'busy prover and chain': { prover: busiest, chainId: 42161 },
  }
  printHeader(['box', 'filter', 'offset', 'matching', 'first', 'p50', 'max'])
  const all: number[] = []
  const rows: { readonly max: number; readonly cells: readonly string[] }[] = []
  for (const [boxName, bbox] of Object.entries(boxes)) {
    for (const [filterName, filter] of Object.entries(filters)) {
      for (const offset of [0, 1000]) {
        const query: RecordQuery = { ...filter, ...(bbox === undefined ? {} : { bbox }), limit: 100, offset }
        const times: number[] = []
        let count = 0
        let versionTag: string | undefined
        const end = performance.now() + QUERY_MS
        for (let round = 0; round < ROUNDS && performance.now() < end; round++) {
          const started = performance.now()
          // As the service asks: the page is read once, and then only its version tag is compared.
          const answer = await store.newPage({ query, versionTag })
          versionTag = answer.versionTag
          count = answer.page?.count ?? count
          times.push(performance.now() - started)
        }
        all.push(...times)
        const { p50, max } = percentiles(times)
        const cells = [boxName, filterName, String(offset), String(count), ...[times[0]!, p50, max].map(significant)]
        rows.push({ max, cells })
      }
    }
  }
  for (const { cells } of rows.sort((a, b) => b.max - a.max).slice(0, 20)) printCells(cells)
  const lists = percentiles(all)
  console.log(
    `\n${rows.length} queries, the 20 slowest shown; p50 ${significant(lists.p50)}, p99 ${significant(lists.p99)} ms\n`,
  )
  return lists
}

function mostFrequent(values: readonly string[]): `0x${string}` {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])[0]![0] as `0x${string}`
}

/** Measures the service on these records: request rates with wrk, and memory after a restart. */
async function measureService(
  files: StoreFiles,
  sample: readonly LocationRecord[],
  add: (what: string, measured: string, isReached: boolean) => void,
  pagesGoal: number,
) {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const withoutRecords = await startService(folder)
  const baseMiB = residentMiB(withoutRecords.child.pid!)
  withoutRecords.child.kill('SIGTERM')
  const { url, child } = await startService(folder, { ...files.environment, RECORDS: '1' })
  while ((await fetch(`${url}/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  // The service answers lists from now on. Their full speed needs the columns to be loaded.
  await new Promise((resolve) => setTimeout(resolve, LOADING_WAIT_MS))
  const openMiB = residentMiB(child.pid!)
  const result: Record<string, number> = { openMiB, addedMiB: openMiB - baseMiB }
  if (isWrkInstalled()) {
    const paths = {
      page: '/api/v0/location-records',
      'page of a chain': '/api/v0/location-records?chain=celo',
      record: `/api/v0/location-records/${sample[0]!.uid}`,
    }
    for (const [name, path] of Object.entries(paths)) {
      const script = writeScript(folder, name.replaceAll(' ', '-'), path)
      const { requestsPerSecond, p50Ms, p99Ms, errors } = await runWrk({
        url,
        script,
        connections: 16,
        seconds: WRK_SECONDS,
      })
      console.log(`${name}: ${requestsPerSecond} requests/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms, ${errors} errors`)
      result[`${name} per second`] = requestsPerSecond
      if (name === 'page')
        add(`≥ ${pagesGoal} page requests/s`, `${requestsPerSecond}/s`, requestsPerSecond >= pagesGoal && errors === 0)
    }
  }
  const loadedMiB = residentMiB(child.pid!)
  add('store adds ≤ 400 MB after a restart', `${Math.round(result['addedMiB']!)} MiB`, result['addedMiB']! <= 381)
  add('whole service ≤ 750 MB', `${Math.round(loadedMiB)} MiB after load`, loadedMiB <= 715)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await exited
  return { ...result, loadedMiB }
}

async function measureTimes(rounds: number, operation: (index: number) => Promise<unknown>): Promise<Percentiles> {
  const times: number[] = []
  for (let index = 0; index < rounds; index++) {
    const started = performance.now()
    await operation(index)
    times.push(performance.now() - started)
  }
  return percentiles(times)
}

function percentiles(times: readonly number[]): Percentiles {
  const sorted = [...times].sort((a, b) => a - b)
  const quantile = (fraction: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))]!
  return { p50: quantile(0.5), p99: quantile(0.99), max: sorted.at(-1)! }
}
