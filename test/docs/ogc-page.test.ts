import { exec, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { GDAL, gdal } from '../gdal.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const run = promisify(exec)
const docs = join(import.meta.dirname, '../../docs')
const HAS_CURL = spawnSync('curl', ['--version']).status === 0
if (!HAS_CURL) console.warn('skipped with curl: no curl on this machine')

/** Returns the commands of a page, one per line. */
function readCommands(page: string): string[] {
  const text = readFileSync(join(docs, page), 'utf8')
  return [...text.matchAll(/^```sh\n([^`]*)^```/gm)]
    .flatMap(([, block]) => block!.trim().split('\n'))
    .filter((line) => /^(curl|ogrinfo|ogr2ogr) /.test(line))
}

const COMMANDS = ['ogc.md', 'records.md'].flatMap((page) =>
  readCommands(page).map((command) => [page, command] as const),
)

describe('the commands of the record pages, with sample records', () => {
  let service: TestService
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-page-'))
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    await untilReadable(service.url)
    await eventually(async () => {
      const stats = (await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { total: number }
      expect(stats.total).toBe(5000)
    })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('exist', () => {
    expect(COMMANDS.filter(([page]) => page === 'ogc.md').length).toBeGreaterThanOrEqual(9)
    expect(COMMANDS.filter(([page]) => page === 'records.md').length).toBeGreaterThanOrEqual(5)
  })

  for (const [page, command] of COMMANDS) {
    const isPossible = command.startsWith('curl') ? HAS_CURL : GDAL !== undefined
    it.skipIf(!isPossible)(`${page}: ${command}`, async () => {
      const here = command.replace(/127\.0\.0\.1:3000/g, new URL(service.url).host)
      const { stdout, stderr } = await run(here, { cwd: folder, timeout: 600_000, maxBuffer: 64 * 1_048_576 })
      expect(stderr).not.toContain('ERROR')
      const file = /(?:-o |GPKG .*? |FlatGeobuf )(\S+\.(?:gpkg|fgb|parquet|ndjson|csv|geojsonl?))/.exec(command)?.[1]
      if (file === undefined) expect(stdout.length).toBeGreaterThan(20)
      else expect(statSync(join(folder, file)).size).toBeGreaterThan(1000)
    })
  }

  it.skipIf(GDAL === undefined || !HAS_CURL)('create files with every record', async () => {
    const text = await gdal('ogrinfo', ['-so', join(folder, 'indexed.fgb'), 'location-records'])
    expect(text).toContain('Feature Count: 5000')
    const response = await fetch(`${service.url}/api/v0/location-records?bbox=-20,-40,60,70&limit=1`)
    const { count } = (await response.json()) as { count: number }
    const region = await gdal('ogrinfo', ['-so', join(folder, 'region.gpkg'), 'location-records'])
    expect(Number(/Feature Count: (\d+)/.exec(region)![1])).toBe(count)
  })

  it('find records across the antimeridian, and revoked ones', async () => {
    const response = await fetch(`${service.url}/api/v0/location-records?bbox=179.9,-20,-179.9,-10`)
    expect(((await response.json()) as { count: number }).count).toBeGreaterThan(5)
    const stats = (await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { revoked: number }
    expect(stats.revoked).toBeGreaterThan(50)
  })

  it('have sample records only on request', async () => {
    expect(service.lines.some((line) => line.includes('"event":"sample records stored","records":5000'))).toBe(true)
    const other = await startTestService({ RECORDS: '1' })
    await untilReadable(other.url)
    const stats = (await (await fetch(`${other.url}/api/v0/location-records/stats`)).json()) as { total: number }
    expect(stats.total).toBe(0)
    expect(await other.stop()).toBe(0)
  })
})
