import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService } from '../service.ts'
import { type Application, bundleForBrowser, startApplication } from './application.ts'
import { WHY_NOT } from './chromium.ts'
import { runDuringTests } from './running.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)
const root = resolve(import.meta.dirname, '../..')
const blocks = [...readFileSync(resolve(root, 'docs/client.md'), 'utf8').matchAll(/```js\n([\s\S]*?)```/g)]

describe.skipIf(WHY_NOT !== undefined)('the client in a browser, on a page of another origin', () => {
  const running = runDuringTests({ service: () => startTestService({ RECORDS: '1' }) })
  let application: Application

  beforeAll(async () => {
    const entries = { client: 'dist/src/client/client.js', recompute: 'dist/src/client/recompute.js' }
    application = await startApplication(running.browser, await bundleForBrowser(root, entries))
    await eventually(async () => expect((await fetch(`${running.service.url}/ready`)).status).toBe(200))
  })
  afterAll(() => application?.close())

  it('does what docs/client.md says, in order', async () => {
    const code = blocks.map(([, block]) => block!).join('\n')
    const printed = await application.run(code.replaceAll('http://127.0.0.1:3000', running.service.url))
    const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
    expect(promised.length).toBeGreaterThanOrEqual(6)
    for (const text of promised) expect(printed).toContain(text)
    expect(printed.filter((line) => line.startsWith('fail'))).toEqual([])
  })

  it('reads errors, streams and records of the service', async () => {
    const printed = await application.run(`
      import { ApiError, createClient } from 'trigpoint/client'
      const client = createClient({ baseUrl: '${running.service.url}', chainId: 84532, apiKey: 'tp_wrong' })
      const anybody = createClient({ baseUrl: '${running.service.url}', chainId: 84532 })
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
