/** Streets from the operator's map tiles. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { writeTestTiles } from '../pmtiles-file.ts'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { mapReady, shoot, signed, THEMES, visit } from './page.ts'
import { runDuringTests } from './running.ts'

describe.skipIf(WHY_NOT !== undefined)('streets', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-tiles-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const running = runDuringTests({
    service() {
      writeTestTiles(join(folder, 'city.pmtiles'))
      return startTestService({ MAP_TILES: join(folder, 'city.pmtiles') })
    },
  })

  it.each(THEMES)('are drawn at the zoom of a city in the %s theme', async (theme, width) => {
    const { page, context, faults, sizes } = await visit(running.browser, running.service.url, '', { width, theme })
    await mapReady(page)
    await signed(page)
    const tiles = () => [...sizes].filter(([url]) => url.includes('/tiles/'))
    expect([...sizes.keys()].filter((url) => url.includes('/tiles'))).toEqual([])
    const input = page.getByRole('combobox', { name: 'Find a city or coordinates' })
    await input.fill('lisbon')
    await page.waitForSelector('#place-list >> text=Lisbon')
    await input.press('Shift+Enter')
    await page.waitForSelector('html[data-streets=ready]')
    for (let click = 0; click < 4; click++) {
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await page.waitForTimeout(400)
    }
    await expect.poll(() => tiles().length, { timeout: 120_000 }).toBeGreaterThan(0)
    expect(tiles().every(([, size]) => size > 0)).toBe(true)
    expect(await page.textContent('.map-foot')).toContain('© Test streets, Natural Earth')
    await page.waitForTimeout(1500)
    await shoot(page, `streets-${theme}`)
    // The road runs through every tile, so its colour is on the map.
    const road = await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--road').trim())
    const picture = await page.locator('.map-canvas').screenshot()
    const hasColor = await page.evaluate(
      async ([base64, color]) => {
        const image = new Image()
        image.src = `data:image/png;base64,${base64}`
        await image.decode()
        const canvas = document.createElement('canvas')
        ;[canvas.width, canvas.height] = [image.width, image.height]
        const context = canvas.getContext('2d')!
        context.drawImage(image, 0, 0)
        const { data } = context.getImageData(0, 0, image.width, image.height)
        const wanted = [1, 3, 5].map((at) => Number.parseInt(color!.slice(at, at + 2), 16))
        let count = 0
        for (let at = 0; at < data.length; at += 4)
          if (wanted.every((value, index) => Math.abs(data[at + index]! - value) <= 2)) count++
        return count
      },
      [picture.toString('base64'), road] as const,
    )
    expect(hasColor).toBeGreaterThan(300)
    await page.locator('#theme').click()
    await page.waitForTimeout(500)
    expect(faults).toEqual([])
    await context.close()
  })
})
