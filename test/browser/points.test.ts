/** Points without a drawing tool: by a click on the map, as text, and by the name of a place. */
import type { Page } from 'playwright-core'
import { afterEach, describe, expect, it } from 'vitest'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, boxOf, mapReady, shoot, signed, type Visit, visit } from './page.ts'
import { runDuringTests } from './running.ts'

describe.skipIf(WHY_NOT !== undefined)('points on the compute page', () => {
  const running = runDuringTests({ service: startTestService })
  let opened: Visit
  afterEach(async () => {
    expect(opened.faults).toEqual([])
    await opened.context.close()
  })

  async function open(width = 1440, theme: 'light' | 'dark' = 'light'): Promise<Page> {
    opened = await visit(running.browser, running.service.url, '', { width, theme })
    await mapReady(opened.page)
    await signed(opened.page)
    return opened.page
  }
  const summary = (page: Page, slot: 'a' | 'b') => page.textContent(`.shape-${slot} .input-summary`)
  const changed = (page: Page, slot: 'a' | 'b', before: string | null) =>
    page.waitForFunction(([selector, old]) => document.querySelector(selector!)?.textContent !== old, [
      `.shape-${slot} .input-summary`,
      before,
    ] as const)

  it('sets A with the first click on the map, B with the second, and takes a click back', async () => {
    const page = await open()
    await shoot(page, 'compute') // docs/pictures/explorer.png
    const [a, b] = [await summary(page, 'a'), await summary(page, 'b')]
    const map = await boxOf(page, '.map-canvas')
    expect(await page.textContent('.point-hint')).toContain('Click the map to set A')
    await page.mouse.click(map.x + 0.55 * map.width, map.y + 0.5 * map.height)
    await changed(page, 'a', a)
    expect(await summary(page, 'b')).toBe(b)
    expect(await page.textContent('.point-hint')).toContain('A is set. Click the map to set B')
    await shoot(page, 'points-click')
    await page.mouse.click(map.x + 0.3 * map.width, map.y + 0.6 * map.height)
    await changed(page, 'b', b)
    await signed(page)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.waitForFunction((old) => document.querySelector('.shape-b .input-summary')?.textContent === old, b)
    await signed(page)
  })

  it('does not set a point with a click on a handle, and keeps a polygon', async () => {
    const page = await open()
    const a = await summary(page, 'a')
    await page.locator('[data-handle="a-"]').click()
    expect(await summary(page, 'a')).toBe(a)
    await page.getByRole('tab', { name: 'Contains' }).click()
    await page.selectOption('#examples', { label: 'Planar edge or geodesic' })
    const polygon = await summary(page, 'a')
    const b = await summary(page, 'b')
    expect(await page.textContent('.point-hint')).toContain('Click the map to set B')
    const map = await boxOf(page, '.map-canvas')
    await page.mouse.click(map.x + 0.5 * map.width, map.y + 0.35 * map.height)
    await changed(page, 'b', b)
    expect(await summary(page, 'a')).toBe(polygon)
    await signed(page)
  })

  it('asks for the reading of edges that the user chooses, and draws it as the main one', async () => {
    const page = await open()
    await page.selectOption('#examples', { label: 'Planar edge or geodesic' })
    expect(await signed(page)).toContain('False')
    expect(await page.textContent('.legend')).toContain('Planar edges: used for the result')
    await page.selectOption('#edges', 'geodesic')
    await page.waitForSelector('text=A contains B with geodesic edges.')
    expect(await signed(page)).toContain('True')
    expect(await page.textContent('.legend')).toContain('Geodesics: used for the result')
    expect(await page.textContent('#code')).toContain('"edges": "geodesic"')
    await shoot(page, 'edges-geodesic')
    // The reading is part of neither other operations nor other examples.
    await page.selectOption('#examples', { label: 'Planar edge or geodesic' })
    expect(await signed(page)).toContain('False')
    await page.getByRole('tab', { name: 'Distance' }).click()
    expect(await page.locator('#edges').isVisible()).toBe(false)
  })

  // Regression: B was the polygon of A, and the service was asked for the distance of a polygon from itself.
  it('has no B after an operation of one input, until the user sets it', async () => {
    const page = await open()
    await page.getByRole('tab', { name: 'Area' }).click()
    await signed(page)
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(new URL(request.url()).pathname))
    await page.getByRole('tab', { name: 'Distance' }).click()
    await page.waitForSelector('text=B is not set: click the map, draw it or type it.')
    expect(await summary(page, 'b')).toBe('Not set')
    expect(await page.textContent('#code')).toBe('B is not set.')
    expect(await page.locator('.shape-b .letter').isVisible()).toBe(true)
    expect(await page.getByRole('button', { name: 'Swap A and B' }).isDisabled()).toBe(true)
    expect(await page.textContent('.point-hint')).toContain('Click the map to set B')
    expect(await axeFindings(page)).toEqual([])
    await shoot(page, 'points-unset')
    const map = await boxOf(page, '.map-canvas')
    await page.mouse.click(map.x + 0.5 * map.width, map.y + 0.2 * map.height)
    await changed(page, 'b', 'Not set')
    await signed(page)
    // Nothing was sent while B was not set.
    expect(sent).toEqual(['/compute/v0/distance'])
  })

  it('asks which of two numbers is the latitude, and reads degrees, minutes and seconds', async () => {
    const page = await open()
    await page.getByRole('button', { name: 'Edit A as text' }).click()
    const area = page.locator('#text-a')
    await area.fill('48.8584, 2.2945')
    await page.waitForSelector('text=Which number is the latitude?')
    expect(await page.locator('.shape-a .choices button').allTextContents()).toEqual([
      '48.8584° N, 2.2945° E',
      '2.2945° N, 48.8584° E',
    ])
    await shoot(page, 'points-question')
    expect(await axeFindings(page)).toEqual([])
    await page.getByRole('button', { name: '48.8584° N, 2.2945° E' }).click()
    expect(await summary(page, 'a')).toBe('48.8584° N, 2.2945° E')
    expect(await page.locator('.shape-a .choices button').count()).toBe(0)
    await area.fill(`38°43'20"N 9°8'21.5"W`)
    expect(await summary(page, 'a')).toBe('38.7222° N, 9.1393° W')
    await area.fill('38.7223° N, 9.1393° W')
    expect(await summary(page, 'a')).toBe('38.7223° N, 9.1393° W')
    await signed(page)
  })

  it.each([1440, 390])('finds a city with the keyboard at a width of %d', async (width) => {
    const page = await open(width, width === 390 ? 'dark' : 'light')
    const input = page.getByRole('combobox', { name: 'Find a city or coordinates' })
    await input.fill('new')
    await page.waitForSelector('#place-list [role=option] >> nth=1')
    expect(await input.getAttribute('aria-activedescendant')).toBe('place-0')
    await shoot(page, `points-search-${width}`)
    expect(await axeFindings(page)).toEqual([])
    await input.focus()
    await input.press('ArrowDown')
    expect(await input.getAttribute('aria-activedescendant')).toBe('place-1')
    await input.press('ArrowUp')
    expect(await page.textContent('#place-list [aria-selected=true]')).toContain('New York')
    await input.press('Enter')
    expect(await summary(page, 'a')).toBe('40.7140° N, 74.0060° W')
    await input.fill('paris')
    await page.waitForSelector('#place-list >> text=Paris')
    await input.press('Enter')
    expect(await summary(page, 'b')).toMatch(/^48\.8\d+° N, 2\.3\d+° E$/)
    await signed(page)
    await input.fill('Atlantis')
    await page.waitForSelector('text=You can type coordinates')
  })
})
