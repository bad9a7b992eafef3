import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAP_POLICY, openAssets, serveAssets } from '../../src/http/pages/assets.ts'
import { ADAPTERS, type RunningServer, startServer } from '../running-http-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-pages-'))
const bytes = Uint8Array.from({ length: 600_000 }, (_, index) => (index * 7919) % 251)

beforeAll(() => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<p>ü</p>')
  writeFileSync(join(folder, 'assets/map-0a1b.js'), bytes)
  writeFileSync(join(folder, 'assets/map-0a1b.js.br'), bytes.subarray(0, 1000))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe.each(ADAPTERS)('files of the build on %s', (adapter) => {
  let server: RunningServer
  beforeAll(async () => {
    server = await startServer(adapter, { moreRoutes: serveAssets('/pages', openAssets(folder, MAP_POLICY), 'pages') })
  })
  afterAll(() => server.stop())

  it('are served unchanged, with the headers of every response', async () => {
    const page = await fetch(`${server.url}/pages`)
    expect(await page.text()).toBe('<p>ü</p>')
    expect(page.headers.get('content-security-policy')).toBe(MAP_POLICY)
    expect(page.headers.get('x-content-type-options')).toBe('nosniff')
    expect(page.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/)
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const file = await fetch(`${server.url}/pages/assets/map-0a1b.js`, { headers: { 'Accept-Encoding': 'identity' } })
    expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(Buffer.compare(new Uint8Array(await file.arrayBuffer()), bytes)).toBe(0)
  })

  it('are not sent again when the ETag matches, nor for HEAD', async () => {
    const { headers } = await fetch(`${server.url}/pages`)
    const again = await fetch(`${server.url}/pages`, { headers: { 'If-None-Match': headers.get('etag')! } })
    expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' })
    expect(again.headers.get('etag')).toBe(headers.get('etag'))
    expect(again.headers.get('content-length')).toBeNull()
    const head = await fetch(`${server.url}/pages/assets/map-0a1b.js`, {
      method: 'HEAD',
      headers: { 'Accept-Encoding': 'identity' },
    })
    expect(head.headers.get('content-length')).toBe(String(bytes.length))
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
  })

  it('are sent compressed to a client that accepts it', async () => {
    const { length, coding } = await raw(server.port, '/pages/assets/map-0a1b.js', { 'Accept-Encoding': 'br, gzip' })
    expect({ length, coding }).toEqual({ length: 1000, coding: 'br' })
  })

  it.each([
    '/pages/../package.json',
    '/pages/%2e%2e/package.json',
    '/pages/assets/',
    '/pages//index.html',
    '/pages/no.js',
  ])('answer 404 for %s', async (path) => {
    expect((await raw(server.port, path, {})).status).toBe(404)
  })
})

/** Sends a request without `fetch`, which normalises paths and decompresses bodies. */
function raw(port: number, path: string, headers: Record<string, string>) {
  return new Promise<{ status: number; length: number; coding: string | undefined }>((resolve, reject) => {
    request({ port, host: '127.0.0.1', path, headers }, async (response) => {
      let length = 0
      for await (const chunk of response) length += chunk.length
      resolve({ status: response.statusCode!, length, coding: response.headers['content-encoding'] })
    })
      .on('error', reject)
      .end()
  })
}
