/**
 * Measures the store on both engines with generated records: storing, lists by every combination of filters, lookups by UID, and
 * pages at any offset. Then measures the built service on the same records, under load from wrk.
 *
 * `BENCH_RECORDS=100000` selects one size instead of both, and `BENCH_ENGINE=postgres` one engine. The database alone
 * selects the records if there are more than `RECORDS_IN_MEMORY` (2,000,000).
 */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../src/store/database.ts'
import { createRecordStore } from '../src/store/operations.ts'
import { conditionNames } from '../src/store/records/conditions.ts'
import { choosePlans } from '../src/store/records/list.ts'
import { RecordMemory } from '../src/store/records/memory.ts'
import { estimateWork, SAMPLE_RECORDS } from '../src/store/records/work.ts'
import type { Bounds, LocationRecord, RecordQuery, RecordStore } from '../src/wire/store-messages.ts'
import { BATCH, CHAINS_AT_ONCE, ingest } from './record-ingest.ts'
import { cities, randomFrom } from './record-world.ts'
import { residentMiB, startService } from './service-process.ts'
import { ENGINES, makeStore, type StoreFiles } from './store-engines.ts'
import { type Mark, printCells, printHeader, significant } from './tables.ts'
import { isWrkInstalled, runWrk, writeScript } from './wrk.ts'

const SEED = 7
const SIZES = process.env['BENCH_RECORDS'] ? [Number(process.env['BENCH_RECORDS'])] : [100_000, 1_000_000]
const MAX_IN_MEMORY = Number(process.env['RECORDS_IN_MEMORY'] ?? 2_000_000)
const SELECTED_ENGINES = ENGINES.filter((engine) => engine === (process.env['BENCH_ENGINE'] ?? engine))
const NEWEST = 1_790_000_000
const SPAN_DAYS = 365
const ROUNDS = 4
const LOOKUPS = 2000
const OFFSETS = 300
const WRK_SECONDS = 5
const LOADING_WAIT_MS = 20_000

/** Goal for lists that the database alone selects. */
const DATABASE_LIST_MS = 100
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
    for (const engine of SELECTED_ENGINES) {
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
  const memory = new RecordMemory(database, MAX_IN_MEMORY)
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

  const [size] = await database.reads.query(
    "select pg_database_size(current_database())::text as total, pg_indexes_size('location_record')::text as indexes",
  )
  const mebibytes = (name: string) => Math.round(Number(size![name]) / 1_048_576)
  console.log(`database: ${mebibytes('total')} MiB, of which ${mebibytes('indexes')} MiB are indexes of records\n`)

  const queries = listQueries(sample)
  const lists = await measureLists(store, queries, (query) => planOf(database, memory, query))
  const listMs = count > MAX_IN_MEMORY ? DATABASE_LIST_MS : goal.listMs
  add(`list p99 ≤ ${listMs} ms`, `${significant(lists.p99)} ms (p50 ${significant(lists.p50)})`, lists.p99 <= listMs)
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
  const service = await measureService(files, sample, queries, add, goal.pages)
  return { recordsPerSecond, worstBatchMs: worstMs, lists, byUid, offsets, service }
}

interface NamedQuery {
  readonly cells: readonly [box: string, filter: string, offset: string]
  readonly query: RecordQuery
}

/** Returns every combination of box and filter, at offsets 0 and 1000. */
function listQueries(sample: readonly LocationRecord[]): NamedQuery[] {
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
  return Object.entries(boxes).flatMap(([box, bbox]) =>
    Object.entries(filters).flatMap(([name, filter]) =>
      [0, 1000].map((offset): NamedQuery => {
        const query = { ...filter, ...(bbox === undefined ? {} : { bbox }), limit: 100, offset }
        return { cells: [box, name, String(offset)], query }
      }),
    ),
  )
}

/** Returns the name of the plan that is chosen for a list. */
async function planOf(database: Database, memory: RecordMemory, query: RecordQuery): Promise<string> {
  if (conditionNames(query).every((name) => name === 'chain')) return 'marks'
  return database.readTransaction(async (session) => {
    if ((await memory.select(session, query)) !== undefined) return 'columns'
    return choosePlans(await estimateWork(session, query, SAMPLE_RECORDS))[0] ?? 'scan'
  })
}

/** Reads each list, and then asks for it again as the service does, which has the page and compares its version tag. */
async function measureLists(
  store: RecordStore,
  queries: readonly NamedQuery[],
  nameOfPlan: (query: RecordQuery) => Promise<string>,
): Promise<Percentiles> {
  printHeader(['box', 'filter', 'offset', 'plan', 'matching', 'first', 'again', 'unchanged'])
  const [first, again]: [number[], number[]] = [[], []]
  const plans = new Map<string, number>()
  const rows: { readonly ms: number; readonly cells: readonly string[] }[] = []
  for (const { cells, query } of queries) {
    const times: number[] = []
    let page = await timed(times, () => store.page(query))
    for (let round = 1; round < ROUNDS; round++) page = await timed(times, () => store.page(query))
    const { versionTag } = await store.newPage({ query, versionTag: undefined })
    const unchanged: number[] = []
    await timed(unchanged, () => store.newPage({ query, versionTag }))
    const [ms] = times as [number, ...number[]]
    const rest = times.slice(1)
    first.push(ms)
    again.push(...rest)
    const count = `${page.isEstimate === true ? 'about ' : ''}${page.count}`
    const figures = [ms, percentiles(rest).p50, unchanged[0]!].map(significant)
    const plan = await nameOfPlan(query)
    plans.set(plan, (plans.get(plan) ?? 0) + 1)
    rows.push({ ms, cells: [...cells, plan, count, ...figures] })
  }
  for (const { cells } of rows.sort((a, b) => b.ms - a.ms).slice(0, 20)) printCells(cells)
  console.log(
    `\n${rows.length} queries, the 20 slowest shown; plans: ${[...plans].map(([plan, times]) => `${plan} ${times}`).join(', ')}`,
  )
  for (const [name, times] of Object.entries({ first, again })) {
    const { p50, p99, max } = percentiles(times)
    console.log(`${name}: p50 ${significant(p50)}, p99 ${significant(p99)}, max ${significant(max)} ms`)
  }
  console.log()
  return percentiles(first)
}

async function timed<T>(times: number[], operation: () => Promise<T>): Promise<T> {
  const started = performance.now()
  const result = await operation()
  times.push(performance.now() - started)
  return result
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
  queries: readonly NamedQuery[],
  add: (what: string, measured: string, isReached: boolean) => void,
  pagesGoal: number,
) {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-bench-'))
  const withoutRecords = await startService(folder)
  const baseMiB = residentMiB(withoutRecords.child.pid!)
  withoutRecords.child.kill('SIGTERM')
  const { url, child } = await startService(folder, {
    ...files.environment,
    RECORDS: '1',
    RECORDS_IN_MEMORY: String(MAX_IN_MEMORY),
  })
  while ((await fetch(`${url}/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  // The service answers lists from now on. Their full speed needs the columns to be loaded.
  await new Promise((resolve) => setTimeout(resolve, LOADING_WAIT_MS))
  const openMiB = residentMiB(child.pid!)
  const result: Record<string, number> = { openMiB, addedMiB: openMiB - baseMiB }
  const chainNames = new Map(sample.map(({ chainId, chain }) => [chainId, chain]))
  const failed: string[] = []
  const listTimes: number[] = []
  for (const { cells, query } of queries) {
    const address = `${url}/api/v0/location-records?${searchOf(query, chainNames)}`
    const response = await timed(listTimes, () => fetch(address))
    await response.arrayBuffer()
    if (response.status !== 200) failed.push(`${cells.join(', ')}: ${response.status}`)
  }
  const { p50, p99, max } = percentiles(listTimes)
  console.log(
    `lists over HTTP: p50 ${significant(p50)}, p99 ${significant(p99)}, max ${significant(max)} ms, ${failed.length} of ${queries.length} failed ${failed.join('; ')}`,
  )
  add('every list gets 200', `${failed.length} failed`, failed.length === 0)
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

/** Returns a query as the search of an address. */
function searchOf(
  { chainId, prover, subject, fromSeconds, toSeconds, bbox, limit, offset }: RecordQuery,
  chains: Map<number, string>,
): string {
  const isoTime = (seconds: number) => new Date(seconds * 1000).toISOString()
  return new URLSearchParams({
    ...(chainId === undefined ? {} : { chain: chains.get(chainId)! }),
    ...(prover === undefined ? {} : { prover }),
    ...(subject === undefined ? {} : { subject }),
    ...(fromSeconds === undefined ? {} : { fromTimestamp: isoTime(fromSeconds) }),
    ...(toSeconds === undefined ? {} : { toTimestamp: isoTime(toSeconds) }),
    ...(bbox === undefined ? {} : { bbox: bbox.join(',') }),
    limit: String(limit),
    offset: String(offset),
  }).toString()
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
