/** A file of many rows, dropped on the map. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, mapReady, shoot, signed, visit } from './page.ts'
import { runDuringTests } from './running.ts'

const ROWS = 700
const CSV = `name,lat,lon\nbad,95,0\n${Array.from({ length: ROWS }, (_, at) => `"P, ${at}",${(at % 140) - 70},${at / 2 - 175}`).join('\n')}\n`

function drop(page: Page, name: string, text: string): Promise<void> {
  return page.evaluate(
    ([fileName, content]) => {
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([content!], fileName!))
      const slot = document.querySelector('.compute .map-slot')!
      slot.dispatchEvent(new DragEvent('dragover', { dataTransfer, bubbles: true, cancelable: true }))
      slot.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
    },
    [name, text] as const,
  )
}

async function saved(page: Page, label: string): Promise<{ name: string; text: string }> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: label }).click()])
  return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
}

describe.skipIf(WHY_NOT !== undefined)('a dropped file', () => {
  const running = runDuringTests({ service: startTestService })

  it('is computed row by row as a stream, shown, and saved with its results', async () => {
    const { page, context, faults } = await visit(running.browser, running.service.url, '')
    await mapReady(page)
    await signed(page)
    const streams: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/compute/v0/batch')) streams.push(request.headers()['content-type'] ?? '')
    })
    await drop(page, 'places.csv', CSV)
    await page.waitForSelector(`text=${ROWS + 1} rows`)
    expect(streams).toEqual([])
    await page.getByRole('button', { name: `Compute ${ROWS} rows` }).click()
    await page.waitForSelector('text=Compute again')
    expect(new Set(streams)).toEqual(new Set(['application/x-ndjson']))
    expect(streams.length).toBeGreaterThan(1)
    expect(await page.locator('.batch-table tbody tr').count()).toBe(100)
    expect(await page.textContent('.batch-table tbody tr:first-child')).toContain('latitude 95 is outside')
    await shoot(page, 'batch-light')
    const csv = await saved(page, 'Download CSV')
    expect(csv.name).toBe('places-results.csv')
    const lines = csv.text.trim().split('\r\n')
    expect(lines).toHaveLength(ROWS + 2)
    const json = JSON.parse((await saved(page, 'Download GeoJSON')).text)
    const { geometry, properties } = json.features[5]
    const { body } = await running.service.post('/compute/v0/distance', {
      chainId: 84532,
      from: geometry,
      to: { type: 'Point', coordinates: [139.6917, 35.6895] },
    })
    expect(properties.result).toBe(body.result)
    expect(properties.response.attestation.signature).toMatch(/^0x[0-9a-f]{130}$/)
    expect(lines[6]).toContain(`,${body.result},meters,distance,`)
    expect(await axeFindings(page)).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  it('shows rows that the operation rejects, and why a file cannot be read', async () => {
    const { page, context, faults } = await visit(running.browser, running.service.url, '', {
      width: 390,
      theme: 'dark',
    })
    await mapReady(page)
    await signed(page)
    await page.getByRole('tab', { name: 'Area' }).click()
    await signed(page)
    const square = {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 0],
          [1, 1],
          [0, 1],
          [0, 0],
        ],
      ],
    }
    const features = [square, { type: 'Point', coordinates: [1, 2] }].map((geometry) => ({
      type: 'Feature',
      properties: {},
      geometry,
    }))
    const file = JSON.stringify({ type: 'FeatureCollection', features })
    await page.setInputFiles('#batch-file', { name: 'two.geojson', mimeType: '', buffer: Buffer.from(file) })
    // Regression: the panel named the operation that was current when the file was opened.
    const says = (text: string) => page.getByText(text, { exact: false }).waitFor()
    await says('Area: each row takes the place of A.')
    await page.getByRole('tab', { name: 'Contains' }).click()
    await says('Contains: each row takes the place of A, and B stays.')
    await page.getByRole('tab', { name: 'Area' }).click()
    await says('Area: each row takes the place of A.')
    await signed(page)
    // By keyboard: on a narrow screen, the map may cover the place that Playwright scrolls the button to.
    await page.getByRole('button', { name: 'Compute 2 rows' }).press('Enter')
    await page.waitForSelector('text=Compute again')
    const rows = await page.locator('.batch-table tbody tr').allTextContents()
    expect(rows[0]).toMatch(/^Row 1[\d,]+ m²$/)
    expect(await page.locator('.batch-table .batch-problem').count()).toBe(1)
    await page.locator('.batch').scrollIntoViewIfNeeded()
    await shoot(page, 'batch-dark')
    expect(await axeFindings(page)).toEqual([])
    await drop(page, 'notes.csv', 'a,b\n1,2')
    await page.waitForSelector('text=needs a first row with the columns')
    expect(faults).toEqual([])
    await context.close()
  })
})
