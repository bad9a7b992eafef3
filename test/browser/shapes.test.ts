/** Geometries that the compute page makes from its inputs. */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { openBrowser, WHY_NOT } from './chromium.ts'
import { axeFindings, mapReady, shoot, signed, visit } from './page.ts'

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
  let service: TestService
  let browser: Browser
  beforeAll(async () => {
    ;[service, browser] = await Promise.all([startTestService(), openBrowser()])
  })
  afterAll(async () => {
    await browser?.close()
    await service?.stop()
  })

  it('makes each of them from A and B, and makes it an input', async () => {
    const { page, context, faults } = await visit(browser, service.url, '')
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

  it('says what the service rejects', async () => {
    const { page, context } = await visit(browser, service.url, '', { width: 390, theme: 'dark' })
    await mapReady(page)
    await signed(page)
    expect((await made(page, 'buffer', { radius: '20000000' })).status).toBe(400)
    expect(await page.textContent('#shape-result')).toContain('radius: must be at most 19900000')
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })
})
