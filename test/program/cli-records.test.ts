import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCli } from '../cli-runner.ts'
import { type RecordService, startRecordService } from '../record-service.ts'
import { addressOf, recordOf, uidOf } from '../store-records.ts'

const COUNT = 2300
const ODD_TEXT = '=1+1, "quoted"\nnext line, \u001b[31m'
const RECORDS = Array.from({ length: COUNT }, (_, index) =>
  recordOf(index + 1, index === 41 ? { memo: ODD_TEXT, subject: addressOf(77) } : {}),
)
let service: RecordService
beforeAll(async () => {
  service = await startRecordService('embedded', { RPC_URL_84532: 'http://127.0.0.1:1' }, RECORDS)
})
afterAll(() => service.remove())

const cli = (...argv: string[]) =>
  runCli(['records', ...argv], { env: { TRIGPOINT_URL: service.url, DATA_DIR: '/nonexistent' } })
const jsonLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
// biome-ignore lint/suspicious/noExplicitAny: a page, a record or a collection
const api = async (path: string): Promise<any> => (await fetch(`${service.url}/api/v0/location-records${path}`)).json()

describe('trigpoint records', () => {
  it('lists as many records as it was asked for, following the pages', async () => {
    const run = await cli('list', '--limit', '2150')
    expect([run.exitCode, run.err]).toEqual([0, expect.stringContaining('there are more')])
    const listed = jsonLines(run.out)
    const pages = await Promise.all([0, 1000, 2000].map((offset) => api(`?limit=1000&offset=${offset}`)))
    const expected = pages.flatMap(({ data }) => data).slice(0, 2150)
    expect(listed.map(({ uid }) => uid)).toEqual(expected.map(({ uid }: { uid: string }) => uid))
    expect(listed[0]).toEqual(expected[0])
    const all = await cli('list', '--limit', String(COUNT))
    expect([all.err, jsonLines(all.out).length]).toEqual(['', COUNT])
    expect(jsonLines((await cli('list')).out)).toHaveLength(100)
  })

  it('lists features as one collection, across pages', async () => {
    const { out } = await cli('list', '--limit', '1500', '--format', 'geojson')
    const { type, features } = JSON.parse(out)
    expect([type, features.length]).toEqual(['FeatureCollection', 1500])
    expect(features.slice(0, 2)).toEqual((await api('?limit=2&f=geojson')).features)
  })

  it('passes every filter on, and prints empty results in each format', async () => {
    const subject = addressOf(77)
    expect(jsonLines((await cli('list', '--subject', subject)).out).map(({ uid }) => uid)).toEqual([uidOf(42)])
    const bbox = '-180,-90,180,90'
    const filters = ['--chain', 'base-sepolia', '--prover', RECORDS[0]!.prover, '--bbox', bbox]
    const [found, expected] = [
      await cli('list', ...filters, '--from', '2020-01-01', '--to', '2100-01-01', '--limit', '5'),
      await api(`?chain=base-sepolia&prover=${RECORDS[0]!.prover}&bbox=${bbox}&limit=5`),
    ]
    expect(jsonLines(found.out)).toEqual(expected.data)
    const none = ['--to', '1971-01-01']
    expect((await cli('list', ...none)).out).toBe('')
    expect(JSON.parse((await cli('list', ...none, '--format', 'geojson')).out).features).toEqual([])
    expect((await cli('list', ...none, '--format', 'csv')).out).toMatch(/^uid,chain,[a-z_,]+\n$/)
    const wrong = await cli('list', '--chain', 'nowhere')
    expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('chain')])
  })

  it('gets one record in each format', async () => {
    expect(JSON.parse((await cli('get', uidOf(7))).out)).toEqual(await api(`/${uidOf(7)}`))
    expect(JSON.parse((await cli('get', uidOf(7), '--format', 'geojson')).out)).toMatchObject({ type: 'Feature' })
    expect((await cli('get', uidOf(7), '--format', 'csv')).out.split('\n')[1]).toContain(uidOf(7))
    expect((await cli('get', uidOf(99_999))).exitCode).toBe(2)
  })

  it('exports all records in each format', async () => {
    const lines = jsonLines((await cli('export')).out)
    expect(lines).toHaveLength(COUNT)
    const { features } = JSON.parse((await cli('export', '--format', 'geojson')).out)
    expect(features.map(({ id }: { id: string }) => id)).toEqual(lines.map(({ uid }) => uid))
  })

  it('writes a file of each format, which appears when it is complete', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-records-'))
    for (const [format, f] of [
      ['json', 'ndjson'],
      ['geojson', 'geojson'],
      ['fgb', 'fgb'],
      ['fgbz', 'fgbz'],
      ['parquet', 'parquet'],
    ] as const) {
      const file = join(folder, `records.${format}`)
      const run = await cli('export', '--format', format, '--output', file, '--subject', addressOf(100))
      expect([run.exitCode, run.out, run.err]).toEqual([0, '', ''])
      const response = await fetch(`${service.url}/api/v0/location-records/export?f=${f}&subject=${addressOf(100)}`)
      const served = Buffer.from(await response.arrayBuffer())
      if (format === 'geojson') expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(served.toString()))
      else expect(readFileSync(file).equals(served)).toBe(true)
    }
    expect(readdirSync(folder).length).toBe(5)
    rmSync(folder, { recursive: true })
  })

  it('exports the records of a filter in CQL2, which /ogc finds too', async () => {
    const filter = `uid > '${uidOf(200)}' AND NOT subject = '${addressOf(77)}' AND revoked = FALSE`
    const query = new URLSearchParams({ filter, limit: '1' })
    const ogc = await fetch(`${service.url}/ogc/collections/location-records/items?${query}`)
    const { numberMatched } = (await ogc.json()) as { numberMatched: number }
    expect(numberMatched).toBeGreaterThan(100)
    expect(numberMatched).toBeLessThan(COUNT)
    const run = await cli('export', '--filter', filter)
    expect([run.exitCode, run.err]).toEqual([0, ''])
    const found = jsonLines(run.out)
    expect(found).toHaveLength(numberMatched)
    expect(found.every(({ uid, revoked }) => uid > uidOf(200) && revoked === false)).toBe(true)
    const both = await cli('export', '--filter', `uid = '${uidOf(42)}'`, '--subject', addressOf(77))
    expect(jsonLines(both.out).map(({ uid }) => uid)).toEqual([uidOf(42)])
    const wrong = await cli('export', '--filter', "memo LIKE 'a%'")
    expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('filter')])
  })

  // Regression: a misspelt filter was ignored, and the export had all records.
  it.each([
    ['chian=celo', '"chian"; supported parameters: f, chain, prover'],
    ['datetime=2026-01-01/..', '"datetime"; use fromTimestamp and toTimestamp instead; supported parameters: f, chain'],
    ['limt=5&chain=base', '"limt"; supported'],
    ['count=exact', '"count"; supported'],
    ['filter=chain%20=%20%27base%27&filter-lang=sql', 'filter-lang must be one of cql2-text, cql2-json'],
  ])('rejects an export with the parameter %s', async (query, detail) => {
    const response = await fetch(`${service.url}/api/v0/location-records/export?${query}`)
    const body = (await response.json()) as { detail: string }
    expect([response.status, body.detail]).toEqual([400, expect.stringContaining(detail)])
  })

  it('takes every spelling of a box for an export', async () => {
    const box = ['bbox=1,2,3,4', 'bbox[]=1&bbox[]=2&bbox[]=3&bbox[]=4', 'bbox[0]=1&bbox[1]=2&bbox[2]=3&bbox[3]=4']
    for (const query of box)
      expect((await fetch(`${service.url}/api/v0/location-records/export?${query}`)).status, query).toBe(200)
    const items = await fetch(`${service.url}/ogc/collections/location-records/items?bbox[]=1`)
    expect(items.status).toBe(400)
  })

  it('writes bytes only to a file, and no file if the export fails', async () => {
    const printed = await cli('export', '--format', 'parquet')
    expect([printed.exitCode, printed.out, printed.err]).toEqual([2, '', expect.stringContaining('--output')])
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-records-'))
    const failed = await cli('export', '--format', 'fgb', '-o', join(folder, 'a.fgb'), '--chain', 'nowhere')
    expect([failed.exitCode, failed.err]).toEqual([2, expect.stringContaining('chain')])
    const unwritable = await cli('export', '--format', 'fgb', '-o', join(folder, 'missing/a.fgb'))
    expect([unwritable.exitCode, unwritable.err]).toEqual([2, expect.stringContaining('ENOENT')])
    expect(readdirSync(folder)).toEqual([])
    rmSync(folder, { recursive: true })
  })

  it.skipIf(process.platform === 'win32')('keeps a link, and writes to the file or the device behind it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-records-'))
    const [file, link, device] = ['file', 'link', 'device'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ]
    writeFileSync(file, 'old')
    symlinkSync(file, link)
    symlinkSync('/dev/null', device)
    for (const output of [link, device]) {
      const run = await cli('export', '--format', 'fgb', '-o', output, '--subject', addressOf(100))
      expect([run.exitCode, run.err]).toEqual([0, ''])
      expect(lstatSync(output).isSymbolicLink()).toBe(true)
    }
    expect(readFileSync(file).subarray(0, 3).toString()).toBe('fgb')
    expect(readdirSync(folder).sort()).toEqual(['device', 'file', 'link'])
    rmSync(folder, { recursive: true })
  })

  it('writes a table that quotes what it must, and that batch reads', async () => {
    const { out } = await cli('export', '--format', 'csv', '--subject', addressOf(77))
    expect(out).toContain('"=1+1, ""quoted""\nnext line, \u001b[31m"')
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-records-'))
    const file = join(folder, 'records.csv')
    writeFileSync(file, (await cli('list', '--format', 'csv', '--limit', '50')).out)
    const argv = ['batch', 'distance', file, '--with', 'to=2,48', '--local', '--data', folder]
    const computed = await runCli([...argv, '--output-format', 'ndjson'])
    expect([computed.exitCode, jsonLines(computed.out).length]).toEqual([0, 50])
    rmSync(folder, { recursive: true })
  })
})
