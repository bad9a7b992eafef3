import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Assets, MAP_POLICY, openAssets } from '../../src/http/pages/assets.ts'
import type { RouteResult } from '../../src/http/routes/route.ts'

const { compressAssets } = await import(new URL('../../scripts/compress-assets.mjs', import.meta.url).href)
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-assets-'))
const longStyle = `body { color: red }\n`.repeat(100)
let assets: Assets

const request = (name: string, acceptEncoding?: string, ifNoneMatch?: string): Promise<RouteResult> =>
  assets.answer(name, { acceptEncoding, ifNoneMatch })
const bodyText = ({ json }: RouteResult) => Buffer.from(json).toString()
const problemType = (name: string) =>
  request(name).then(
    () => 200,
    (error) => error.data.type,
  )

beforeAll(async () => {
  mkdirSync(join(folder, 'guide/assets'), { recursive: true })
  writeFileSync(join(folder, 'index.html'), '<p>ü</p>')
  writeFileSync(join(folder, 'guide/index.html'), '<p>guide</p>')
  writeFileSync(join(folder, 'guide/units.html'), '<p>units</p>')
  writeFileSync(join(folder, 'guide/assets/style-1a2b.css'), longStyle)
  writeFileSync(join(folder, 'kernel.wasm'), Uint8Array.of(0, 97, 115, 109))
  await compressAssets(folder)
  assets = openAssets(folder, MAP_POLICY)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('files of the build', () => {
  it('are not found after another build has removed them', async () => {
    writeFileSync(join(folder, 'old.js'), 'old')
    const before = openAssets(folder)
    rmSync(join(folder, 'old.js'))
    await expect(before.answer('old.js', { acceptEncoding: undefined, ifNoneMatch: undefined })).rejects.toMatchObject({
      data: { type: 'not-found', detail: expect.stringContaining('restart the service') },
    })
  })

  it.each([
    ['', '<p>ü</p>'],
    ['index.html', '<p>ü</p>'],
    ['guide', '<p>guide</p>'],
    ['guide/units', '<p>units</p>'],
    ['guide/units.html', '<p>units</p>'],
  ])('serve the page for %j', async (name, expected) => {
    const response = await request(name)
    expect(bodyText(response)).toBe(expected)
    expect(response.headers).toMatchObject({
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
  ])('answer not-found for %j', async (name) => {
    expect(await problemType(name)).toBe('not-found')
  })

  it('may be cached for a year when the name has a digest, and have their media type and charset', async () => {
    const { headers } = await request('guide/assets/style-1a2b.css')
    expect(headers).toMatchObject({
      'Content-Type': 'text/css; charset=utf-8',
      'Cache-Control': 'public, max-age=31536000, immutable',
    })
    expect(headers).not.toHaveProperty('Content-Security-Policy')
    expect((await request('kernel.wasm')).headers).toMatchObject({ 'Content-Type': 'application/wasm' })
  })

  it('are sent in the smallest encoding that the client accepts', async () => {
    const name = 'guide/assets/style-1a2b.css'
    const brotli = await request(name, 'gzip, deflate, BR;q=0.9')
    expect(brotli.headers).toMatchObject({ 'Content-Encoding': 'br', Vary: 'Accept-Encoding' })
    expect(brotliDecompressSync(brotli.json).toString()).toBe(longStyle)
    const gzip = await request(name, 'gzip;q=0.5, br;q=0')
    expect(gzip.headers).toMatchObject({ 'Content-Encoding': 'gzip' })
    expect(gunzipSync(gzip.json).toString()).toBe(longStyle)
    for (const header of [undefined, 'identity', 'br;q=0.000', 'brotli']) {
      const plain = await request(name, header)
      expect(plain.headers).not.toHaveProperty('Content-Encoding')
      expect(bodyText(plain)).toBe(longStyle)
    }
  })

  it('are not sent again when the ETag matches, and have a different ETag in each encoding', async () => {
    const name = 'guide/assets/style-1a2b.css'
    const tags = await Promise.all(
      ['', 'gzip', 'br'].map(async (coding) => (await request(name, coding)).headers!['ETag']!),
    )
    expect(new Set(tags).size).toBe(3)
    for (const header of [tags[0]!, `"x", W/${tags[0]}`, '*']) {
      const response = await request(name, undefined, header)
      expect(response).toMatchObject({ status: 304, json: '' })
      expect(response.headers!['ETag']).toBe(tags[0])
    }
    expect((await request(name, undefined, tags[1])).status).toBeUndefined()
  })

  it('are reported as not built when the folder is missing', async () => {
    const unbuilt = openAssets(join(folder, 'nowhere'))
    await expect(unbuilt.answer('', { acceptEncoding: undefined, ifNoneMatch: undefined })).rejects.toMatchObject({
      data: { type: 'not-found', detail: expect.stringContaining('npm run build') },
    })
  })
})
