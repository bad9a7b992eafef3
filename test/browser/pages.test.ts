/** What holds for every page of the service; test/browser/reference.test.ts has the pages of the guide and the reference. */
import { beforeAll, describe, expect, it } from 'vitest'
import { createReceipt } from '../../src/client/client.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, overflowOf, shoot, THEMES, visit } from './page.ts'
import { runDuringTests } from './running.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)
const ITEMS = '/ogc/collections/location-records/items'
/** Each path with an element that is there once the page is complete. The receipt and the feature are made before the tests. */
const PAGES = {
  '/explore/compute': '.readout[data-verdict=good]',
  '/explore/jobs': 'text=Your jobs',
  '/explore/proof': '.lab[data-busy=false]',
  '/explore/records': '.table tbody tr',
  '/explore/records?bbox=0,0,0.001,0.001': 'text=No records on the map',
  '/explore/status': '.parts li',
  '/explore/gate': '.readout .figure',
  '/explore/account': '.sign-in',
  '/verify': 'text=No receipt.',
  receipt: '.receipt[data-verdict=good] .check.pass >> text=recomputed',
  '/ogc': 'h1',
  '/ogc/conformance': 'h1',
  '/ogc/collections': 'h1',
  '/ogc/collections/location-records': 'h1',
  '/ogc/collections/location-records/queryables': 'h1',
  [ITEMS]: '#features',
  feature: 'h1',
  [`${ITEMS}?limit=x`]: 'h1',
  '/graphql': '#schema details',
  '/no/such/page': 'h1',
}

describe.skipIf(WHY_NOT !== undefined)('every page', { timeout: 600_000 }, () => {
  const running = runDuringTests({ service: () => startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' }) })
  const addresses = new Map<string, string>()
  beforeAll(async () => {
    const { url } = running.service
    const answer = await running.service.post('/compute/v0/distance', {
      chainId: 84532,
      from: EIFFEL_TOWER,
      to: TOWN_HALL,
    })
    const receipt = await createReceipt(answer.body, { baseUrl: url, inputs: [EIFFEL_TOWER, TOWN_HALL] })
    addresses.set('receipt', receipt)
    await eventually(async () => {
      const stats = await fetch(`${url}/api/v0/location-records/stats`)
      expect(await stats.json()).toMatchObject({ total: 5000 })
    })
    const list = (await (await fetch(`${url}/api/v0/location-records?limit=1`)).json()) as { data: { uid: string }[] }
    addresses.set('feature', `${url}${ITEMS}/${list.data[0]!.uid}`)
  })

  const addressOf = (path: string) => addresses.get(path) ?? running.service.url + path

  it.each(THEMES)(
    'fits, ends where its content ends, and has no accessibility violation: %s, %d px',
    async (theme, width) => {
      const found: object[] = []
      const { page, context } = await visit(running.browser, running.service.url, '/status', { width, theme })
      for (const [path, element] of Object.entries(PAGES)) {
        await page.goto(addressOf(path))
        await page.waitForSelector(element)
        await page.evaluate(() => {
          for (const details of document.querySelectorAll('details')) details.open = true
        })
        await shoot(page, `${path.replaceAll(/\W+/g, '-')}-${width}-${theme}`)
        const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
        const onRoot = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
        expect([background, onRoot]).toContain(theme === 'light' ? 'rgb(246, 245, 240)' : 'rgb(14, 18, 21)')
        const { wider, higher } = await overflowOf(page)
        const violations = await axeFindings(page)
        if (wider > 0 || higher > 0 || violations.length > 0) found.push({ path, wider, higher, violations })
      }
      expect(found).toEqual([])
      await context.close()
    },
  )

  // Regression: the bar at the bottom and the map, which stay in their place, hid controls that had the focus.
  it.each(['/explore/compute', '/explore/proof', '/explore/gate'])(
    'shows each control of %s that gets the focus on a narrow screen',
    async (path) => {
      const { page, context } = await visit(running.browser, running.service.url, '/status', { width: 390 })
      await page.goto(running.service.url + path)
      await page.waitForSelector(PAGES[path as keyof typeof PAGES])
      const names: string[] = []
      const hidden: string[] = []
      for (;;) {
        await page.keyboard.press('Tab')
        const focused = await page.evaluate(async () => {
          await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))
          const focus = document.activeElement!
          // A visually hidden input is shown by the button beside it.
          const shown = focus.matches('.sr-only') ? focus.parentElement! : focus
          // A link may have two lines, of which the first is enough.
          const { left, right, top, bottom } = shown.getClientRects()[0]!
          const points = [
            [(left + right) / 2, (top + bottom) / 2],
            [left + 4, top + 4],
            [right - 4, bottom - 4],
          ] as const
          const isVisible = points.some(([x, y]) => shown.contains(document.elementFromPoint(x, y)))
          return { isEnd: focus === document.body, name: focus.outerHTML.slice(0, 120), isVisible }
        })
        if (focused.isEnd) break
        names.push(focused.name)
        if (!focused.isVisible) hidden.push(focused.name)
      }
      expect(names.length).toBeGreaterThan(20)
      expect(hidden).toEqual([])
      await context.close()
    },
  )
})
