/**
 * Measures how soon the built service is back after `kill -9` while it stores records: until `/health` answers, until the embedded
 * store is open, and until a list is read.
 *
 * `BENCH_RECORDS=100000` is the number of records before the kills.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median } from './rounds.ts'
import { startService } from './service-process.ts'
import { type Mark, printCells, printHeader } from './tables.ts'

const RECORDS = Number(process.env['BENCH_RECORDS'] || 100_000)
/** Records that are stored before each further kill. */
const MORE_RECORDS = 5000
const ROUNDS = 7
const GOALS = { healthMs: 1500, openMs: 3000 } as const
const POLL_MS = 5

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A process that stores records and ends itself as `kill -9` does. */
const WRITER = `
const { openPglite } = await import('./dist/src/store/pglite.js')
const { migrate } = await import('./dist/src/store/migrations.js')
const { createRecordStore } = await import('./dist/src/store/operations.js')
const { ingest } = await import('./dist/bench/record-ingest.js')
const [folder, count, seed] = process.argv.slice(1)
const database = await openPglite(folder)
await migrate(database)
const store = createRecordStore(database, () => new Date().toISOString())
await ingest(store, { seed: Number(seed), count: Number(count), newestSeconds: 1_790_000_000, spanDays: 365 })
process.kill(process.pid, 'SIGKILL')`

interface Restart {
  readonly healthMs: number
  readonly openMs: number
  readonly listMs: number
}

export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-recovery-'))
  const rounds: Restart[] = []
  try {
    console.log(`### ${RECORDS} records, killed while more are stored\n`)
    printHeader(['round', '/health, ms', 'store open, ms', 'list read, ms'])
    for (let round = 1; round <= ROUNDS; round++) {
      await storeAndKill(folder, round === 1 ? RECORDS : MORE_RECORDS, round)
      const restart = await measureRestart(folder)
      rounds.push(restart)
      printCells([
        String(round),
        ...[restart.healthMs, restart.openMs, restart.listMs].map((ms) => String(Math.round(ms))),
      ])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const result = {
    healthMs: median(rounds.map(({ healthMs }) => healthMs)),
    openMs: median(rounds.map(({ openMs }) => openMs)),
    listMs: median(rounds.map(({ listMs }) => listMs)),
  }
  const mark = (what: string, measuredMs: number, goalMs: number): Mark => ({
    mark: `after kill -9, ${RECORDS} records: ${what} within ${goalMs} ms`,
    measured: `${Math.round(measuredMs)} ms`,
    reached: measuredMs <= goalMs ? 'yes' : 'no',
  })
  const marks = [
    mark('/health', result.healthMs, GOALS.healthMs),
    mark('the store is open', result.openMs, GOALS.openMs),
  ]
  return { recovery: { records: RECORDS, ...result, rounds }, marks }
}

async function storeAndKill(folder: string, count: number, seed: number): Promise<void> {
  const args = ['--input-type=module', '-e', WRITER, folder, String(count), String(seed)]
  const writer = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code, signal] = await once(writer, 'exit')
  if (signal !== 'SIGKILL') throw new Error(`the writer ended with ${code ?? signal}`)
}

/** Starts the service, and kills it when it has read a list. Times are from the start of the process. */
async function measureRestart(folder: string): Promise<Restart> {
  const startedMs = performance.now()
  const { url, child } = await startService(folder, { RECORDS: '1', STORE_WAIT_MS: '60000' })
  const until = async (path: string, isDone: (body: { database?: string }) => boolean = () => true) => {
    for (;;) {
      const response = await fetch(url + path)
      const body = (await response.json()) as { database?: string }
      if (response.ok && isDone(body)) return performance.now() - startedMs
      await pause(POLL_MS)
    }
  }
  const healthMs = await until('/health')
  const openMs = await until('/health', ({ database }) => database === 'connected')
  const listMs = await until('/api/v0/location-records?limit=1')
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
  return { healthMs, openMs, listMs }
}
