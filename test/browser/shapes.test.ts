/** Geometries that the compute page makes from its inputs. */
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, mapReady, shoot, signed, visit } from './page.ts'
import { runDuringTests } from './running.ts'

const LISBON = { type: 'Point', coordinates: [-9.1393, 38.7223] }
const TOKYO = { type: 'Point', coordinates: [139.6917, 35.6895] }

/** Makes a geometry and returns the body of the service's answer, once the page shows it. */
async function made(page: Page, operation: string, members: Readonly<Record<string, string>> = {}) {
  await page.selectOption('#shape-operation', operation)
  for (const [name, value] of Object.entries(members)) await page.fill(`#shape-${name}`, value)
  const [response] = await Promise.all([
    page.waitForResponse((each) => each.url().endsWith(`/compute/v0/${operation}`)),
    // The map covers a part of a narrow page, and may cover the button.
    page.getByRole('button', { name: 'Make it' }).press('Enter'),
  ])
  await page.waitForSelector('#shape-result > *')
  return response.json()
}

describe.skipIf(WHY_NOT !== undefined)('the panel that makes geometries', () => {
  const running = runDuringTests({ service: startTestService })

  it('makes each of them from A and B, and makes it an input', async () => {
    const { page, context, faults } = await visit(running.browser, running.service.url, '')
    await mapReady(page)
    await signed(page)
    const text = () => page.textContent('#shape-result')
    const nearest = await made(page, 'nearest')
    expect([nearest.from.geometry, nearest.to.geometry]).toEqual([LISBON, TOKYO])
    expect(await text()).toContain('between two places. Not signed.')
    const line = await made(page, 'waypoints', { everyMeters: '1000000' })
    expect(await text()).toContain(`a LineString of ${line.geometry.coordinates.length} vertices`)
    const end = await made(page, 'direct', { azimuthDegrees: '45', distanceMeters: '5000' })
    expect(end.geometry.type).toBe('Point')
    expect(await text()).toContain('a place')
    const around = await made(page, 'buffer', { radius: '1000000', toleranceMeters: '5000' })
    expect(around.inputRefs).toEqual([nearest.from.ref])
    expect(await text()).toContain(`error ${(around.errorMeters / 1000).toFixed(3)} km. Not signed.`)
    await shoot(page, 'shape-light')
    expect(await axeFindings(page)).toEqual([])
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.url().endsWith('/compute/v0/distance')),
      page.getByRole('button', { name: 'Use it as A' }).click(),
    ])
    expect(request.postDataJSON()).toMatchObject({ from: around.geometry, to: TOKYO })
    await signed(page)
    expect(await page.textContent('#shape-result')).toBe('')
    expect(faults).toEqual([])
    await context.close()
  })

  it('repairs a polygon whose edges cross, and lists what was changed', async () => {
    const { page, context, faults } = await visit(running.browser, running.service.url, '')
    await mapReady(page)
    await signed(page)
    await page.getByRole('button', { name: 'Edit A as text' }).click()
    await page.fill('#text-a', 'POLYGON ((0 0, 2 2, 2 0, 0 2, 0 0))')
    const { geometry } = await made(page, 'repair')
    expect(geometry.type).toBe('MultiPolygon')
    const text = await page.textContent('#shape-result')
    expect(text).toContain('a MultiPolygon of 8 vertices, 1 change, 0 m² moved. Not signed.')
    expect(text).toContain('[1, 1]: the ring crosses itself here and was divided')
    await shoot(page, 'shape-repair-light')
    expect(await axeFindings(page)).toEqual([])
    // The request of the page rejects A, so the browser reports a 400.
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
    await context.close()
  })

  it('says what the service rejects', async () => {
    const { page, context } = await visit(running.browser, running.service.url, '', { width: 390, theme: 'dark' })
    await mapReady(page)
    await signed(page)
    expect((await made(page, 'buffer', { radius: '20000000' })).status).toBe(400)
    expect(await page.textContent('#shape-result')).toContain('radius: must be at most 19900000')
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })
})
