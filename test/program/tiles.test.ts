/** The routes of the map tiles. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeTestTiles } from '../pmtiles-file.ts'
import { startTestService } from '../service.ts'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-tiles-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const file = (name: string) => join(folder, name)

describe('map tiles', () => {
  it('are described and served from the file', async () => {
    writeTestTiles(file('city.pmtiles'))
    const service = await startTestService({ MAP_TILES: file('city.pmtiles') })
    const description = await (await fetch(`${service.url}/tiles`)).json()
    expect(description).toMatchObject({
      tilejson: '3.0.0',
      tiles: [`${service.url}/tiles/{z}/{x}/{y}.mvt`],
      minzoom: 0,
      maxzoom: 14,
      bounds: [-180, -85, 180, 85],
      vector_layers: [{ id: 'water' }, { id: 'buildings' }, { id: 'roads' }],
    })
    const tile = await fetch(`${service.url}/tiles/14/8298/5636.mvt`)
    expect(tile.status).toBe(200)
    expect(tile.headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile')
    expect(Buffer.from(await tile.arrayBuffer()).toString('latin1')).toContain('roads')
    const outside = await fetch(`${service.url}/tiles/16/1/1.mvt`)
    expect([outside.status, (await outside.arrayBuffer()).byteLength]).toEqual([200, 0])
    for (const path of ['1/2/0.mvt', '14/8298/5636', '../etc/passwd', '-1/0/0.mvt', '99/0/0.mvt'])
      expect((await fetch(`${service.url}/tiles/${path}`)).status, path).toBe(404)
    await service.stop()
  })

  it('are an empty list without a file', async () => {
    const service = await startTestService()
    expect(await (await fetch(`${service.url}/tiles`)).json()).toEqual({ tilejson: '3.0.0', tiles: [] })
    expect((await fetch(`${service.url}/tiles/0/0/0.mvt`)).status).toBe(404)
    await service.stop()
  })

  it('stop the start if the file is missing, is no PMTiles file, or has pictures', async () => {
    writeFileSync(file('text.pmtiles'), 'not a map')
    writeTestTiles(file('pictures.pmtiles'), 2)
    for (const [name, reason] of [
      ['missing.pmtiles', 'ENOENT'],
      ['text.pmtiles', 'is not a PMTiles file of version 3'],
      ['pictures.pmtiles', 'has no vector tiles'],
    ] as const)
      await expect(startTestService({ MAP_TILES: file(name) }), name).rejects.toThrow(reason)
  })
})
