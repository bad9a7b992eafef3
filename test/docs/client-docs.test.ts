import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import type { NumericComputeResponse } from '../../src/types/generated.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { promisesOf, runModule, snippetsOf } from '../page-programs.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(resolve(root, 'docs/client.md'), 'utf8')

describe('the built client', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(async () => {
    await service.stop()
  })

  it('does what docs/client.md says, in order', async () => {
    const code = snippetsOf(page).replaceAll('http://127.0.0.1:3000', service.url)
    const output = (await runModule(code)).split('\n')
    const promised = promisesOf(code)
    expect(promised.length).toBeGreaterThanOrEqual(6)
    for (const text of promised) expect(output).toContain(text)
    expect(output.filter((line) => line.startsWith('fail'))).toEqual([])
  })

  it('does the same without the globals of Node.js, as in a browser', async () => {
    const { body: response } = await service.post('/compute/v0/distance', {
      chainId: 84532,
      from: EIFFEL_TOWER,
      to: TOWN_HALL,
    })
    const { body: batch } = await service.post('/compute/v0/batch', {
      chainId: 84532,
      attest: 'merkle',
      items: [{ op: 'within', geometry: EIFFEL_TOWER, target: TOWN_HALL, radius: 500 }],
    })
    const nowSeconds = (response as NumericComputeResponse).timestamp
    const options = { inputs: [EIFFEL_TOWER, TOWN_HALL], nowSeconds, attester: service.attester }
    const output = await runModule(`
      const { log } = console
      for (const name of ['Buffer', 'process', 'setImmediate', 'require', 'module', 'global']) delete globalThis[name]
      if (typeof Buffer !== 'undefined' || typeof process !== 'undefined') throw new Error('this is still Node.js')
      const { createClient, verifyResult } = await import('trigpoint/client')
      const { createRecompute } = await import('trigpoint/client/recompute')
      const options = { ...${JSON.stringify(options)}, recompute: createRecompute() }
      // Node's own fetch needs the deleted globals.
      const fetch = async (url, { body }) => ({ ok: true, text: async () => '{"result":' + (url + body).length + '}' })
      const client = createClient({ baseUrl: 'http://x', chainId: 84532, fetch })
      const { result } = await client.compute.distance(options.inputs[0], options.inputs[1])
      const verdicts = [await verifyResult(${JSON.stringify(response)}, options), await verifyResult(${JSON.stringify(batch)}, { ...options, inputs: undefined })]
      log(JSON.stringify([result, verdicts]))`)
    const recompute = createRecompute()
    const expected = [
      await verifyResult(response, { ...options, recompute }),
      await verifyResult(batch, { ...options, inputs: undefined, recompute }),
    ]
    expect(expected.map(({ ok }) => ok)).toEqual([true, true])
    expect(JSON.parse(output)).toEqual([expect.any(Number), expected])
  })
})
