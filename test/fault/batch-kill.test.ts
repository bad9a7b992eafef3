import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-batch-'))
/** Enough for a fast machine to pass several checkpoints, which are a second apart. `BATCH_LINES=1000000` is the large run. */
const LINES = Number(process.env['BATCH_LINES'] ?? 100_000)
const KILLS = 5
/** One line in this many is not JSON, and one is rejected by the service. */
const [BROKEN, REFUSED] = [997, 1009]
const files = {
  input: join(folder, 'in.ndjson'),
  output: join(folder, 'out.ndjson'),
  errors: join(folder, 'out.errors.ndjson'),
}
const seen = { peakRssKb: 0, ms: 0 }

const lineKind = (number: number) => (number % BROKEN === 0 ? 'broken' : number % REFUSED === 0 ? 'refused' : 'fine')

async function writeInput(): Promise<void> {
  const file = createWriteStream(files.input)
  for (let number = 1; number <= LINES; number++) {
    const point = `{"type":"Point","coordinates":[${(number * 0.618) % 180},${(number * 0.382) % 90}]}`
    const line = {
      broken: '{"from":\n',
      refused: `{"from":${point},"to":{"type":"Point","coordinates":[0,95]}}\n`,
      fine: `{"from":${point},"to":{"type":"Point","coordinates":[2.35,48.85]}}\n`,
    }[lineKind(number)]
    if (!file.write(line)) await once(file, 'drain')
  }
  file.end()
  await finished(file)
}

function startBatch(url: string): { child: ChildProcess; ended: Promise<number | null>; output: () => string } {
  const program = join(root, 'scripts/trigpoint.mjs')
  const attest = process.env['BATCH_ATTEST'] ?? 'each'
  const argv = [
    program,
    'batch',
    'distance',
    files.input,
    '-o',
    files.output,
    '--attest',
    attest,
    '--url',
    url,
    '--json',
  ]
  const child = spawn(process.execPath, argv, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  endsWithFile(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => (text += piece.toString()))
  return { child, ended: new Promise((done) => child.on('close', done)), output: () => text }
}

/** The checkpoint in the journal. */
function checkpoint(): { readonly items: number; readonly outputBytes: number } {
  try {
    return JSON.parse(readFileSync(`${files.output}.part`, 'utf8')).checkpoint
  } catch {
    return { items: 0, outputBytes: 0 }
  }
}

const fileSize = (file: string) => (existsSync(file) ? statSync(file).size : 0)

/** Notes the peak memory of a process, where the system reports it. */
function noteMemory(pid: number): void {
  try {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
    seen.peakRssKb = Math.max(seen.peakRssKb, Number(peak?.[1] ?? 0))
  } catch {
    // The process has ended, or this is not Linux.
  }
}

describe('a batch that is killed', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
    await writeInput()
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('resumes where it was, with nothing lost or duplicated, in little memory', async () => {
    const startedMs = performance.now()
    let kills = 0
    for (let round = 0; ; round++) {
      expect(round).toBeLessThan(KILLS + 2)
      const { child, ended, output } = startBatch(service.url)
      let isOver = false
      void ended.then(() => {
        isOver = true
      })
      // Killed at some point after a checkpoint that lies a fraction of the whole beyond the last one.
      const expected = Math.floor((LINES * (kills + 1)) / (KILLS + 2))
      while (!isOver) {
        noteMemory(child.pid!)
        const progress = checkpoint()
        if (kills < KILLS && progress.items >= expected && fileSize(files.output) > progress.outputBytes) {
          child.kill('SIGKILL')
          kills++
          break
        }
        await wait(10)
      }
      const code = await ended
      // Killed before it printed anything, when the previous checkpoint was already far enough.
      if (round > 0 && output() !== '') expect(output()).toMatch(/^resuming after item \d/)
      if (code === null) continue
      expect({ code, output: output() }).toMatchObject({ code: 1 }) // some items were rejected
      expect(JSON.parse(output().trim().split('\n').at(-1)!)).toMatchObject({ items: LINES })
      break
    }
    seen.ms = performance.now() - startedMs
    expect(kills).toBeGreaterThanOrEqual(3)
    process.stderr.write(
      `${LINES} lines, ${kills} × kill -9: ${(seen.ms / 1000).toFixed(1)} s, ` +
        `${Math.round(LINES / (seen.ms / 1000))} lines/s, peak ${Math.round(seen.peakRssKb / 1024)} MiB\n`,
    )
    await expectEveryLineOnce()
    expect(seen.peakRssKb).toBeLessThan(400 * 1024)
  }, 3_600_000)
})

/** Expects results and rejections each in the order of the items, and every item exactly once. */
async function expectEveryLineOnce(): Promise<void> {
  const expected = { fine: 0, bad: 0 }
  const next = (kinds: readonly string[], after: number) => {
    let number = after + 1
    while (number <= LINES && !kinds.includes(lineKind(number))) number++
    return number
  }
  let last = 0
  for await (const line of createInterface({ input: createReadStream(files.output) })) {
    const { id, result } = JSON.parse(line)
    last = next(['fine'], last)
    if (id !== last || typeof result !== 'number')
      throw new Error(`result ${line.slice(0, 60)} stands where ${last} belongs`)
    expected.fine++
  }
  expect(next(['fine'], last)).toBe(LINES + 1)
  last = 0
  for await (const line of createInterface({ input: createReadStream(files.errors) })) {
    const { id, problem } = JSON.parse(line)
    last = next(['broken', 'refused'], last)
    const isRight = id === last && problem.title === (lineKind(last) === 'broken' ? 'Not sent' : 'Invalid Input')
    if (!isRight) throw new Error(`refusal ${line.slice(0, 90)} stands where ${last} belongs`)
    expected.bad++
  }
  expect(next(['broken', 'refused'], last)).toBe(LINES + 1)
  expect(expected.fine + expected.bad).toBe(LINES)
}
