import { readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'
import { openBrowser, WHY_NOT } from './page.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)
const root = resolve(import.meta.dirname, '../..')
const blocks = [...readFileSync(resolve(root, 'docs/client.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)]
/** The page of somebody's application: what the package exports, under the names that the documentation uses. */
const PAGE = `<!doctype html><title>an application</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"trigpoint/client": "/client.js", "trigpoint/client/recompute": "/recompute.js"}}</script>
<script type="module" src="/code.js"></script>`

/** The built client as one file a module, as an application's bundler makes it. */
async function bundled(): Promise<Map<string, string>> {
  const { build } = await import('vite')
  const made = await build({
    root,
    configFile: false,
    logLevel: 'error',
    build: {
      write: false,
      lib: {
        entry: { client: 'dist/src/client/client.js', recompute: 'dist/src/client/recompute.js' },
        formats: ['es'],
      },
    },
  })
  const files = [made].flat().flatMap((one) => ('output' in one ? one.output : []))
  return new Map(files.flatMap((file) => (file.type === 'chunk' ? [[`/${file.fileName}`, file.code] as const] : [])))
}

describe.skipIf(WHY_NOT !== undefined)('the client in a browser, on a page from elsewhere', () => {
  let service: TestService
  let browser: Browser
  let application: Server
  let files: Map<string, string>

  beforeAll(async () => {
    ;[service, browser, files] = await Promise.all([startTestService({ RECORDS: '1' }), openBrowser(), bundled()])
    application = createServer(({ url }, response) => {
      const file = url === '/' ? PAGE : files.get(url!)
      response.setHeader('content-type', url === '/' ? 'text/html; charset=utf-8' : 'text/javascript; charset=utf-8')
      response.writeHead(file === undefined ? 404 : 200).end(file)
    })
    await new Promise<void>((listening) => application.listen(0, '127.0.0.1', listening))
    await eventually(async () => expect((await fetch(`${service.url}/ready`)).status).toBe(200), { timeout: 50_000 })
  })
  afterAll(async () => {
    application?.close()
    await browser?.close()
    await service?.stop()
  })

  /** What a module prints when it runs as the page's script. */
  async function run(code: string): Promise<string[]> {
    files.set('/code.js', `${code}\nconsole.log('the end')`)
    const page = await browser.newPage()
    const said: string[] = []
    const ended = new Promise<void>((done, fail) => {
      page.on('console', (message) => {
        said.push(message.text())
        if (message.text() === 'the end') done()
      })
      page.on('pageerror', fail)
    })
    await page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`)
    await ended
    await page.close()
    return said
  }

  it('does what docs/client.md says, in its order', async () => {
    const code = blocks.map(([, block]) => block!).join('\n')
    const said = await run(code.replace('http://127.0.0.1:3000', service.url))
    const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
    expect(promised.length).toBeGreaterThanOrEqual(6)
    for (const text of promised) expect(said).toContain(text)
    expect(said.filter((line) => line.startsWith('fail'))).toEqual([])
  })

  it('reads what the service says beside its bodies, and its records', async () => {
    const said = await run(`
      import { ApiError, createClient } from 'trigpoint/client'
      const client = createClient({ baseUrl: '${service.url}', chainId: 84532, apiKey: 'tp_wrong' })
      const anybody = createClient({ baseUrl: '${service.url}', chainId: 84532 })
      console.log(await client.health().then(({ status }) => status))
      console.log(await client.compute.length({ type: 'LineString', coordinates: [[0, 0], [1, 0]] }).catch((error) => error instanceof ApiError && error.status))
      console.log('count', (await anybody.records.list({ limit: 5 })).count)
      const items = Array.from({ length: 700 }, (_, id) => ({ op: 'length', id, geometry: { type: 'LineString', coordinates: [[0, 0], [id / 10, 0]] } }))
      const ids = []
      for await (const { id } of anybody.batch.stream(items, { attest: 'none' })) ids.push(id)
      console.log('in order', ids.length === 700 && ids.every((id, index) => id === index))`)
    expect(said).toEqual(expect.arrayContaining(['ok', '401', 'count 0', 'in order true', 'the end']))
  })
})
