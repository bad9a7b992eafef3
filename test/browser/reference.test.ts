import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, THEMES } from './page.ts'
import { runDuringTests } from './running.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)
const PATHS = [
  '/docs',
  '/docs/compute',
  '/docs/schemas',
  '/docs/guide',
  '/docs/guide/start',
  '/errors',
  '/errors/invalid-input',
]

describe.skipIf(WHY_NOT !== undefined)('the reference and the guide in a browser', () => {
  const running = runDuringTests({ service: startTestService })

  /** Opens a page in a new context, and collects its errors, warnings and requests to other origins. */
  async function open(path: string, width = 1440, theme: 'light' | 'dark' = 'light') {
    const context = await running.browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(running.service.url)) faults.push(`external: ${request.url()}`)
    })
    await page.goto(running.service.url + path)
    return { page, faults, close: () => context.close() }
  }

  const settled = (page: Page) => page.waitForFunction(() => !document.getElementById('theme')?.hidden)

  it.each(PATHS.flatMap((path) => THEMES.map(([theme, width]) => [path, theme, width] as const)))(
    'load nothing from other origins, fit, and have no accessibility violation: %s, %s, %d px',
    async (path, theme, width) => {
      const { page, faults, close } = await open(path, width, theme)
      await settled(page)
      expect(faults).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
      expect(await axeFindings(page)).toEqual([])
      await close()
    },
  )

  it.each(THEMES)('have no accessibility violation on any page of the guide: %s, %d px', async (theme, width) => {
    const { page, close } = await open('/docs/guide', width, theme)
    const paths = await page
      .locator('main a[href^="/docs/guide/"]')
      .evaluateAll((links) => links.map((link) => (link as unknown as { pathname: string }).pathname))
    expect(new Set(paths).size).toBeGreaterThan(40)
    const found: string[] = []
    for (const path of new Set(paths)) {
      await page.goto(running.service.url + path)
      await settled(page)
      found.push(...(await axeFindings(page)).map((finding) => `${path}: ${finding}`))
    }
    expect(found).toEqual([])
    await close()
  })

  it('sends a request from the page and shows the response of the API', async () => {
    const { page, faults, close } = await open('/docs/compute')
    const panel = page.locator('#within .panel')
    await panel.locator('select').selectOption('far')
    expect(await panel.locator('.example:not([hidden])').innerText()).toContain('"radius": 500')
    await panel.locator('.try > summary').click()
    const body = await panel.locator('textarea').inputValue()
    expect(JSON.parse(body)).toMatchObject({ radius: 500 })
    await panel.locator('button[type=submit]').click()
    await panel.locator('.reply .status').waitFor()
    const shownResponse = JSON.parse(await panel.locator('.reply pre').innerText())
    const { body: response } = await running.service.post('/compute/v0/within', body)
    expect(shownResponse).toMatchObject({
      result: response.result,
      operation: response.operation,
      inputRefs: response.inputRefs,
    })
    await panel.locator('textarea').fill('{"chainId": 84532}')
    await panel.locator('button[type=submit]').click()
    await panel.locator('.reply .status.bad').waitFor()
    expect(await panel.locator('.reply pre').innerText()).toContain('"code": "missing-member"')
    // The browser itself logs a response with status 400.
    expect(faults.filter((fault) => !fault.includes('status of 400'))).toEqual([])
    await close()
  })

  it('finds a route with only the keyboard', async () => {
    const { page, faults, close } = await open('/docs/guide')
    await settled(page)
    await page.keyboard.press('/')
    await page.keyboard.type('intersects post')
    await page.locator('.hits a').first().waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/compute#intersects')
    expect(faults).toEqual([])
    await close()
  })

  it('keeps the chosen theme', async () => {
    const { page, close } = await open('/docs')
    await settled(page)
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    const light = await ground()
    await page.locator('#theme').click()
    const dark = await ground()
    expect(dark).not.toBe(light)
    await page.goto(`${running.service.url}/docs/guide`)
    expect(await ground()).toBe(dark)
    await close()
  })

  it('copies a request with the URL of the service', async () => {
    const { page, close } = await open('/docs')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.locator('.code-holder').first().hover()
    await page.locator('.copy').first().click()
    const copied = await page.evaluate(() => navigator.clipboard.readText())
    expect(copied).toContain(`curl -s ${running.service.url}/compute/v0/distance`)
    await close()
  })
})
