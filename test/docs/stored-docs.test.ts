import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { eventually } from '../eventually.ts'
import { blocksOf } from '../markdown-pages.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const blocks = blocksOf('docs/stored.md')
const ZONE = '{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,49],[2,48]]]}'

describe('docs/stored.md', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-stored-docs-'))
  let service: TestService
  beforeAll(async () => {
    // With the default limit, requests from this machine own geometries without a key.
    service = await startTestService({ RECORDS: '1', RATE_LIMIT_PUBLIC: '100' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    writeFileSync(join(folder, 'city.geojson'), ZONE)
    const feature = `{"type":"Feature","properties":{"name":"Centre"},"geometry":${ZONE}}`
    writeFileSync(join(folder, 'zones.geojson'), `{"type":"FeatureCollection","features":[${feature}]}`)
    writeFileSync(join(folder, 'stops.csv'), 'id,lon,lat\na,2.3,48.8\n')
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(root, 'scripts/trigpoint.mjs'), join(folder, 'bin/trigpoint'))
  })
  afterAll(async () => {
    await service?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  function run(code: string): string {
    const env = { PATH: `${join(folder, 'bin')}:${process.env['PATH']}`, TRIGPOINT_URL: service.url }
    const here = code.replaceAll('127.0.0.1:3000', new URL(service.url).host)
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', here], { cwd: folder, env, encoding: 'utf8' })
    expect([status, stdout], stderr).toEqual([0, expect.not.stringContaining('"title"')])
    return stdout
  }

  it('has commands that work, with the responses below them', () => {
    let compared = 0
    for (const [index, { language, code }] of blocks.entries()) {
      if (language !== 'sh') continue
      const output = run(code)
      const below = blocks[index + 1]
      if (below?.language !== 'json' || !below.follows) continue
      compared++
      const printed = output.trim().split('\n')
      const promised = below.code.trim().split('\n')
      expect(printed).toHaveLength(promised.length)
      for (const [line, text] of promised.entries()) expect(JSON.parse(printed[line]!)).toMatchObject(JSON.parse(text))
    }
    expect(compared).toBe(2)
  })

  it('has a program that works', async () => {
    const { code } = blocks.find(({ language }) => language === 'ts')!
    const lines: unknown[] = []
    const program = new Function(
      ...['client', 'zone', 'point', 'features', 'points', 'console'],
      `return (async () => {\n${code}\nreturn result })()`,
    )
    const client = createClient({ baseUrl: service.url, chainId: 84532 })
    const point = { type: 'Point', coordinates: [2.3, 48.8] }
    const features = [{ type: 'Feature', id: 'z', properties: {}, geometry: JSON.parse(ZONE) }]
    const log = (...values: unknown[]) => lines.push(values)
    const result = await program(client, JSON.parse(ZONE), point, features, [{ ...point, id: 1 }], { log })
    expect(result).toBe(true)
    expect(lines).toEqual([[1, [{ feature: 'z', distance: 0 }]]])
  })
})
