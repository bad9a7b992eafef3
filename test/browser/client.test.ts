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
/** The page of an application that imports the package under the names that the documentation uses. */
const PAGE = `<!doctype html><title>an application</title><link rel="icon" href="data:,">
<script type="importmap">{"imports": {"trigpoint/client": "/client.js", "trigpoint/client/recompute": "/recompute.js"}}</script>
<script type="module" src="/code.js"></script>`

/** Bundles the built client into one file per module, like the bundler of an application. */
async function bundled(): Promise<Map<string, string>> {
  const { build } = await import('vite')
  const outputs = await build({
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
  const files = [outputs].flat().flatMap((one) => ('output' in one ? one.output : []))
  return new Map(files.flatMap((file) => (file.type === 'chunk' ? [[`/${file.fileName}`, file.code] as const] : [])))
}

describe.skipIf(WHY_NOT !== undefined)('the client in a browser, on a page of another origin', () => {
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

  /** Runs a module as the page's script, and returns what it prints. */
  async function run(code: string): Promise<string[]> {
    files.set('/code.js', `${code}\nconsole.log('the end')`)
    const page = await browser.newPage()
    const printed: string[] = []
    const ended = new Promise<void>((done, fail) => {
      page.on('console', (message) => {
        printed.push(message.text())
        if (message.text() === 'the end') done()
      })
      page.on('pageerror', fail)
    })
    await page.goto(`http://127.0.0.1:${(application.address() as AddressInfo).port}/`)
    await ended
    await page.close()
    return printed
  }

  it('does what docs/client.md says, in order', async () => {
    const code = blocks.map(([, block]) => block!).join('\n')
    const printed = await run(code.replaceAll('http://127.0.0.1:3000', service.url))
    const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
    expect(promised.length).toBeGreaterThanOrEqual(6)
    for (const text of promised) expect(printed).toContain(text)
    expect(printed.filter((line) => line.startsWith('fail'))).toEqual([])
  })

  it('reads errors, streams and records of the service', async () => {
    const printed = await run(`
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
    expect(printed).toEqual(expect.arrayContaining(['ok', '401', 'count 0', 'in order true', 'the end']))
  })
})
