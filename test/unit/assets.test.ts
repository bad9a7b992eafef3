import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Assets, MAP_POLICY, openAssets } from '../../src/http/assets.ts'
import type { RouteAnswer } from '../../src/http/routes.ts'

const { compressAssets } = await import(new URL('../../scripts/compress-assets.mjs', import.meta.url).href)
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-assets-'))
const long = `body { color: red }\n`.repeat(100)
let assets: Assets

const ask = (name: string, acceptEncoding?: string, ifNoneMatch?: string): Promise<RouteAnswer> =>
  assets.answer(name, { acceptEncoding, ifNoneMatch })
const text = ({ json }: RouteAnswer) => Buffer.from(json).toString()
const status = (name: string) =>
  ask(name).then(
    () => 200,
    (error) => error.data.type,
  )

beforeAll(async () => {
  mkdirSync(join(folder, 'guide/assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<p>ü</p>')
  writeFileSync(join(folder, 'guide/index.html'), '<p>guide</p>')
  writeFileSync(join(folder, 'guide/units.html'), '<p>units</p>')
  writeFileSync(join(folder, 'guide/assets/style-1a2b.css'), long)
  writeFileSync(join(folder, 'kernel.wasm'), Uint8Array.of(0, 97, 115, 109))
  await compressAssets(folder)
  assets = openAssets(folder, MAP_POLICY)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('files of the build', () => {
  it('are not found when another build took them away', async () => {
    writeFileSync(join(folder, 'old.js'), 'old')
    const before = openAssets(folder)
    rmSync(join(folder, 'old.js'))
    await expect(before.answer('old.js', { acceptEncoding: undefined, ifNoneMatch: undefined })).rejects.toMatchObject({
      data: { type: 'not-found', detail: expect.stringContaining('start it again') },
    })
  })

  it.each([
    ['', '<p>ü</p>'],
    ['index.html', '<p>ü</p>'],
    ['guide', '<p>guide</p>'],
    ['guide/units', '<p>units</p>'],
    ['guide/units.html', '<p>units</p>'],
  ])('answers %j with the page of that name', async (name, expected) => {
    const answer = await ask(name)
    expect(text(answer)).toBe(expected)
    expect(answer.headers).toMatchObject({
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': MAP_POLICY,
      'Cache-Control': 'no-cache',
    })
  })

  it.each([
    '../package.json',
    'guide/../index.html',
    '/etc/passwd',
    'guide/',
    'nothing',
    'guide/assets',
    'index.html.br',
    '%2e%2e/package.json',
  ])('has nothing under %j', async (name) => {
    expect(await status(name)).toBe('not-found')
  })

  it('lets names with a digest be kept for a year, and says what they are in UTF-8', async () => {
    const { headers } = await ask('guide/assets/style-1a2b.css')
    expect(headers).toMatchObject({
      'Content-Type': 'text/css; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
    })
    expect(headers).not.toHaveProperty('Content-Security-Policy')
    expect((await ask('kernel.wasm')).headers).toMatchObject({ 'Content-Type': 'application/wasm' })
  })

  it('sends the smallest form that the client takes', async () => {
    const name = 'guide/assets/style-1a2b.css'
    const brotli = await ask(name, 'gzip, deflate, BR;q=0.9')
    expect(brotli.headers).toMatchObject({ 'Content-Encoding': 'br', Vary: 'Accept-Encoding' })
    expect(brotliDecompressSync(brotli.json).toString()).toBe(long)
    const gzip = await ask(name, 'gzip;q=0.5, br;q=0')
    expect(gzip.headers).toMatchObject({ 'Content-Encoding': 'gzip' })
    expect(gunzipSync(gzip.json).toString()).toBe(long)
    for (const header of [undefined, 'identity', 'br;q=0.000', 'brotli']) {
      const plain = await ask(name, header)
      expect(plain.headers).not.toHaveProperty('Content-Encoding')
      expect(text(plain)).toBe(long)
    }
  })

  it('sends nothing to who has the same bytes, and names each form by a tag of its own', async () => {
    const name = 'guide/assets/style-1a2b.css'
    const tags = await Promise.all(
      ['', 'gzip', 'br'].map(async (coding) => (await ask(name, coding)).headers!['ETag']!),
    )
    expect(new Set(tags).size).toBe(3)
    for (const header of [tags[0]!, `"x", W/${tags[0]}`, '*']) {
      const answer = await ask(name, undefined, header)
      expect(answer).toMatchObject({ status: 304, json: '' })
      expect(answer.headers!['ETag']).toBe(tags[0])
    }
    expect((await ask(name, undefined, tags[1])).status).toBeUndefined()
  })

  it('says that the pages were not built where they were not', async () => {
    const none = openAssets(join(folder, 'nowhere'))
    await expect(none.answer('', { acceptEncoding: undefined, ifNoneMatch: undefined })).rejects.toMatchObject({
      data: { type: 'not-found', detail: expect.stringContaining('npm run build') },
    })
  })
})
