/** Pages that show what strangers wrote: nothing of it runs, loads, or changes how the page around it looks. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocationRecord } from '../../src/wire/store-messages.ts'
import { eventually } from '../eventually.ts'
import { startRecordService } from '../record-service.ts'
import { recordOf, uidOf } from '../store-records.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, boxOf, mapReady, shoot, THEMES } from './page.ts'
import { runDuringTests } from './running.ts'

const RUN = "alert('ran');globalThis.ran=1;fetch('https://outside.invalid/')"
const MARKUP =
  `"'><img src="https://outside.invalid/a.png" onerror="${RUN}"><script>${RUN}</script></script></style></textarea></title>` +
  `</pre></td></table><svg onload="${RUN}"><iframe src="javascript:${RUN}"></iframe><base href="https://outside.invalid/">` +
  `<meta http-equiv="refresh" content="0;url=https://outside.invalid/">{{constructor.constructor("${RUN}")()}}\${${RUN}}<!--`
const MEGABYTE = 1_048_576
const MEDIA = [
  ['text/html', `javascript:${RUN}`],
  ['image/png"><script>alert(1)</script>', `data:text/html,<script>${RUN}</script>`],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`],
] as const

/** Changes of records by what is hostile about them. */
const HOSTILE: Readonly<Record<string, Partial<LocationRecord>>> = {
  markup: { memo: MARKUP, locationType: MARKUP, srs: MARKUP },
  'a fake file name': { memo: 'invoice \u202egnp.exe \u2066\u2069\u2069\u202c and the words after it' },
  'no width': { memo: 'tr\u200big\ufeffpo\u2060int \u00ad\u{e0041}\u{e0042}' },
  'from right to left': { memo: 'سجل الموقع 7 (اختبار) שלום, (1) – end', locationType: 'موقع' },
  'a megabyte of words': { memo: 'many words '.repeat(MEGABYTE / 11) },
  'a megabyte in one word': { memo: 'W'.repeat(MEGABYTE - 1000) },
  'long words': { memo: 'M'.repeat(500), locationType: 'L'.repeat(500), srs: 'S'.repeat(5000) },
  media: { memo: 'media', mediaTypes: MEDIA.map(([type]) => type), mediaData: MEDIA.map(([, data]) => data) },
  recipes: { memo: 'recipe', recipeTypes: [MARKUP, 'R'.repeat(3000)], recipePayloads: ['AAAA', 'no base64 <script>'] },
  'line ends': { memo: 'a\r\nSet-Cookie: a=b\r\n\r\n<script>alert(1)</script>\n\n\nevent: new\ndata: {}\n\n' },
  'stacked marks': { memo: `Z${'\u0351\u0489\u033f'.repeat(300)}algo` },
  'no geometry': { memo: null, location: MARKUP, longitude: null, latitude: null },
  'members of geometry': {
    memo: null,
    location: JSON.stringify({ type: 'Point', coordinates: [2, 3], [MARKUP]: MARKUP }),
  },
}
const NAMES = Object.keys(HOSTILE)
const RECORDS = Object.values(HOSTILE).map((changes, index) => recordOf(1000 + index, changes))
const uidOfName = (name: string) => uidOf(1000 + NAMES.indexOf(name))

describe.skipIf(WHY_NOT !== undefined)('pages with hostile text', () => {
  let rpc: Server
  beforeAll(async () => {
    rpc = createServer((_, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: `\u202e${MARKUP}` } }))
    })
    await new Promise<void>((listening) => rpc.listen(0, '127.0.0.1', listening))
  })
  afterAll(() => rpc?.close())
  const running = runDuringTests({
    async service() {
      const environment = { RPC_URL_84532: `http://127.0.0.1:${(rpc.address() as AddressInfo).port}` }
      const { remove, ...service } = await startRecordService('embedded', environment, RECORDS)
      return { ...service, stop: remove }
    },
  })

  interface Opened {
    readonly page: Page
    readonly context: BrowserContext
    readonly faults: string[]
  }

  /** Opens a page, and collects whatever shows that text was taken for more than text. */
  async function open(
    path: string,
    width = 1440,
    theme: 'light' | 'dark' = 'light',
    url = running.service.url,
  ): Promise<Opened> {
    const viewport = { width, height: width < 500 ? 844 : 900 }
    const context = await running.browser.newContext({ viewport, colorScheme: theme })
    const page = await context.newPage()
    const faults: string[] = []
    page.on('dialog', (dialog) => {
      faults.push(`dialog: ${dialog.message()}`)
      void dialog.dismiss()
    })
    page.on('pageerror', (error) => faults.push(error.message))
    page.on('console', (message) => {
      // Chromium itself logs responses that are errors; what a policy blocked is among the other messages.
      const isStatus = /status of (400|404|503)/.test(message.text())
      if (['error', 'warning'].includes(message.type()) && !isStatus) faults.push(message.text())
    })
    context.on('request', (request) => {
      if (!/^(?:blob:)?http:\/\/127\.0\.0\.1:/.test(request.url())) faults.push(`external: ${request.url()}`)
    })
    const response = await page.goto(url + path, { waitUntil: 'domcontentloaded' })
    expectStrictPolicy(response?.headers()['content-security-policy'])
    return { page, context, faults }
  }

  function expectStrictPolicy(policy: string | undefined): void {
    const directives = new Map(
      (policy ?? '').split(';').map((text) => {
        const [name, ...sources] = text.trim().split(' ')
        return [name!, sources] as const
      }),
    )
    for (const name of ['default-src', 'base-uri', 'form-action', 'frame-ancestors'])
      expect(directives.get(name), `${name} of ${policy}`).toEqual(["'none'"])
    for (const source of [...directives.values()].flat())
      expect(source).toMatch(/^(?:'(?:none|self|wasm-unsafe-eval|sha256-[\w+/=]+)'|data:|blob:)$/)
    for (const source of directives.get('script-src') ?? []) expect(source).toMatch(/^'(?:self|wasm-unsafe-eval)'$/)
  }

  /** Checks the page as it is now. */
  async function expectHarmless({ page, faults }: Opened, what: string): Promise<void> {
    const found = await page.evaluate(() => {
      const foreign = /invoice|onerror|outside\.invalid|[\u0590-\u06ff]/
      const isolating = 'bdi,[dir],textarea,svg,code,title,script,style'
      const texts = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_TEXT)
      const open: string[] = []
      const isWide = document.documentElement.scrollWidth > innerWidth
      let all = [...document.querySelectorAll('textarea')].map(({ value }) => value).join('')
      while (texts.nextNode()) {
        const { data, parentElement } = texts.currentNode as Text
        if (parentElement?.closest('script,style') === null) all += data
        if (foreign.test(data) && parentElement?.closest(isolating) === null) open.push(data.slice(0, 80))
      }
      return {
        ran: 'ran' in globalThis,
        wide: [...document.querySelectorAll('*')]
          .filter((element) => isWide && element.getBoundingClientRect().right > innerWidth + 1)
          .map((element) => `${element.tagName}.${element.getAttribute('class')}`)
          .slice(0, 10),
        hidden: [...new Set(all.match(/[\u200b\u202a-\u202e\u2060-\u2069\ufeff]/g))].map((one) => one.charCodeAt(0)),
        open,
        // Elements and attributes that only the hostile text contains.
        elements: document.querySelectorAll('iframe,base,meta[http-equiv],[onerror],[onload],img[src*=invalid]').length,
        links: [...document.querySelectorAll('a[href]')]
          .map((link) => (link as HTMLAnchorElement).href)
          .filter((href) => !href.startsWith(`${location.origin}/`) && !/^https?:\/\/[\w.-]+\//.test(href)),
      }
    })
    const harmless = { ran: false, wide: [], hidden: [], open: [], elements: 0, links: [] }
    expect(found, what).toEqual(harmless)
    expect(faults, what).toEqual([])
  }

  it.each(THEMES)('lists records as text at %s, %d px', async (theme, width) => {
    const opened = await open('/explore/records', width, theme)
    const { page, context } = opened
    await page.waitForSelector('.table tbody tr >> nth=12')
    await mapReady(page)
    await expectHarmless(opened, 'the list')
    // Each row has at most two lines of a memo, and one of its place.
    const heights = await page.locator('.row-button').evaluateAll((rows) => rows.map((row) => row.clientHeight))
    expect(Math.max(...heights)).toBeLessThan(80)
    expect(await page.textContent('.table')).toContain('invoice \\u202egnp.exe')
    await shoot(page, `hostile-list-${width}`)
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })

  it('shows fewer records at a time where a page of them would be too long', async () => {
    const count = 40
    const records = Array.from({ length: count }, (_, index) => recordOf(index, { memo: 'long '.repeat(200_000) }))
    const other = await startRecordService('embedded', {}, records)
    const opened = await open('/explore/records', 1440, 'light', other.url)
    const { page, context } = opened
    await page.waitForSelector('.table tbody tr')
    expect(await page.textContent('.map-note')).toMatch(new RegExp(`^The newest 1[0-9] of ${count}$`))
    const seen = new Set<string>()
    for (let first = 1; ; ) {
      await page.waitForFunction(
        (start) => document.querySelector('.list-head')?.textContent?.startsWith(`${start}–`),
        first,
      )
      const uids = await page
        .locator('.row-button')
        .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key')!))
      for (const uid of uids) seen.add(uid)
      first += uids.length
      if (first > count) break
      await page.getByRole('button', { name: 'Older' }).click()
    }
    expect(seen.size).toBe(count)
    expect(opened.faults).toEqual([])
    await context.close()
    await other.remove()
  })

  it.each(THEMES)('shows each record with a way to see all of it at %s, %d px', async (theme, width) => {
    const opened = await open('/explore/records?limit=13', width, theme)
    const { page, context } = opened
    for (const name of NAMES) {
      await page.locator(`[data-key="${uidOfName(name)}"]`).click()
      await page.waitForSelector('.detail-title')
      await expectHarmless(opened, name)
      await shoot(page, `hostile-${name.replaceAll(' ', '-')}-${width}`)
      const unfold = page.getByRole('button', { name: /^Show all [\d,]+ characters$/ })
      while ((await unfold.count()) > 0) await unfold.first().click()
      await expectHarmless(opened, `${name}, unfolded`)
      const { memo = null } = HOSTILE[name]!
      if (memo !== null && memo.length > 300) {
        const shown = await page.locator('.code-block.whole >> nth=0').textContent()
        expect(shown?.length).toBeGreaterThanOrEqual(memo.length)
      }
      await page.getByRole('button', { name: 'Back to the list' }).click()
    }
    await context.close()
  })

  it('shows media as text, never as links or pictures', async () => {
    const opened = await open(`/explore/records?uid=${uidOfName('media')}`)
    const { page, context } = opened
    const media = page.locator('dt:has-text("Media") + dd')
    await media.getByRole('button').click()
    for (const [type, data] of MEDIA) expect(await media.textContent()).toContain(`${type}: ${data}`)
    expect(await page.locator('.detail :is(img,object,embed,video,audio)').count()).toBe(0)
    const links = await page.locator('.detail a').evaluateAll((list) => list.map((link) => link.getAttribute('href')))
    expect(links).toEqual([
      expect.stringMatching(/^https:\/\/base-sepolia\.easscan\.org\/attestation\/view\/0x[0-9a-f]{64}$/),
      `/api/v0/location-records/${uidOfName('media')}`,
    ])
    await context.close()
  })

  it('shows the record of a point on the map that is clicked', async () => {
    const opened = await open('/explore/records?bbox=99.5,9.5,100.5,10.5')
    const { page, context } = opened
    await mapReady(page)
    await page.waitForSelector('.map-note:has-text("All 1 on the map")')
    const map = await boxOf(page, '.map-canvas')
    // The point is drawn some time after the list is shown.
    await eventually(async () => {
      await page.mouse.click(map.x + map.width / 2, map.y + map.height / 2)
      expect(await page.locator('.detail-title').isVisible()).toBe(true)
    })
    expect(new URL(page.url()).searchParams.get('uid')).toBe(uidOfName('markup'))
    await expectHarmless(opened, 'the map')
    await context.close()
  })

  it.each(THEMES)('takes the filter in the address as text at %s, %d px', async (theme, width) => {
    const hostile = encodeURIComponent(`\u202e${MARKUP}`)
    for (const query of [
      `chain=${hostile}`,
      `prover=${hostile}`,
      `bbox=${hostile}`,
      `uid=${hostile}`,
      `limit=${hostile}`,
    ]) {
      const opened = await open(`/explore/records?${query}`, width, theme)
      const shown = query.startsWith('limit') ? '.table tbody tr' : '.note.bad'
      await opened.page.waitForSelector(shown)
      await expectHarmless(opened, query.slice(0, 10))
      // The names of the service's chains replace the list when they arrive.
      if (query.startsWith('chain')) {
        await opened.page.waitForLoadState('networkidle')
        expect(await opened.page.textContent('#filter-chain option:checked')).toMatch(/^\\u202e"'><img /)
        await expectHarmless(opened, 'chain, with the names of chains')
      }
      await opened.context.close()
    }
  })

  it.each(THEMES)('shows stamps from a file as text at %s, %d px', async (theme, width) => {
    const opened = await open('/explore/proof', width, theme)
    const { page, context } = opened
    await page.waitForSelector('.lab[data-busy=false]')
    const stamp = {
      lpVersion: '0.2',
      locationType: 'geojson-point',
      location: { type: 'Point', coordinates: [2, 48] },
      srs: 'EPSG:4326',
      temporalFootprint: { start: 1_790_000_000, end: 1_790_000_100 },
      plugin: 'proofmode',
      pluginVersion: '0.1.0',
      signals: { [MARKUP]: MARKUP, hash: MARKUP, source: `\u202e${MARKUP}` },
      signatures: [{ signer: { scheme: 'eth-address', value: MARKUP }, algorithm: MARKUP, value: MARKUP }],
    }
    for (const changes of [
      {},
      { plugin: `\u202e${MARKUP}` },
      { location: { type: 'Point', coordinates: [MARKUP, 2] } },
      { location: MARKUP },
    ]) {
      await page.setInputFiles('#evidence-file', {
        name: '<img src=x onerror=alert(1)>.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify({ ...stamp, ...changes })),
      })
      await page.waitForSelector('.toast')
      await page.waitForTimeout(600)
      await expectHarmless(opened, `a stamp with ${Object.keys(changes)}`)
    }
    await shoot(page, `hostile-proof-${width}`)
    await context.close()
  })

  it.each(THEMES)('shows what an RPC says as text at %s, %d px', async (theme, width) => {
    const opened = await open('/explore/status', width, theme)
    await opened.page.waitForSelector('.errors li')
    await expectHarmless(opened, 'the status')
    await shoot(opened.page, `hostile-status-${width}`)
    expect(await axeFindings(opened.page)).toEqual([])
    await opened.context.close()
  })

  it.each(THEMES)('shows OGC pages without script at %s, %d px', async (theme, width) => {
    const items = '/ogc/collections/location-records/items'
    const search = encodeURIComponent(`"><script>${RUN}</script>`)
    for (const path of [`${items}?limit=13`, ...NAMES.map((name) => `${items}/${uidOfName(name)}`)]) {
      const opened = await open(path, width, theme)
      await expectHarmless(opened, path)
      await shoot(opened.page, `hostile-ogc-${path.slice(-6).replace(/\W/g, '-')}-${width}`)
      expect(await axeFindings(opened.page), path).toEqual([])
      expect((await opened.page.content()).length).toBeLessThan(60_000)
      await opened.context.close()
    }
    const rejected = await fetch(`${running.service.url}${items}?${search}=1`, { headers: { accept: 'text/html' } })
    expect([rejected.status, rejected.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(rejected.headers.get('x-content-type-options')).toBe('nosniff')
    const error = await open(`${items}?${search}=1`, width, theme)
    expect(await error.page.textContent('h1')).toBe('Unknown parameter')
    await expectHarmless(error, 'the page of an error')
    expect(await axeFindings(error.page)).toEqual([])
    await error.context.close()
  })

  it('has the whole memo in the JSON that an OGC page links to', async () => {
    const name = 'a megabyte of words'
    const { page, context } = await open(`/ogc/collections/location-records/items/${uidOfName(name)}`)
    const address = await page
      .getByRole('link', { name: 'The JSON has them in full.' })
      .evaluate((link) => (link as HTMLAnchorElement).href)
    const feature = (await (await fetch(address)).json()) as { properties: { memo: string } }
    expect(feature.properties.memo).toBe(HOSTILE[name]!.memo)
    await context.close()
  })

  it.each(THEMES)('shows the result of a GraphQL query as text at %s, %d px', async (theme, width) => {
    const opened = await open('/graphql', width, theme)
    const { page, context } = opened
    const queryOfUid = (name: string) =>
      `{ locationRecord(uid: "${uidOfName(name)}") { uid memo locationType: location_type media_types media_data srs } }`
    for (const name of NAMES.filter((one) => !one.startsWith('a megabyte'))) {
      await page.fill('#query', queryOfUid(name))
      await page.fill('#variables', '')
      await page.getByRole('button', { name: /^Run/ }).click()
      await eventually(async () => expect(await page.textContent('#status')).toBe('(200)'))
      const result = JSON.parse(await page.inputValue('#result'))
      expect(result.data.locationRecord.memo).toBe(HOSTILE[name]!.memo)
      await expectHarmless(opened, name)
    }
    await page.fill('#query', `{ ${MARKUP} }`)
    await page.getByRole('button', { name: /^Run/ }).click()
    await eventually(async () => expect(await page.textContent('#status')).toBe('(400)'))
    await expectHarmless(opened, 'an invalid query')
    await shoot(page, `hostile-graphql-${width}`)
    expect(await axeFindings(page)).toEqual([])
    await context.close()
  })

  it('fills the query, variables and operation of a link to GraphQL into the page', async () => {
    const text = 'query A($n: Int) { locationRecords(limit: $n) { limit } } query B { locationRecords { count } }'
    const link = new URLSearchParams({ query: text, variables: '{"n": 3}', operationName: 'A' })
    const { page, context } = await open(`/graphql?${link}`)
    expect([await page.inputValue('#query'), await page.inputValue('#variables')]).toEqual([text, '{"n": 3}'])
    expect(await page.inputValue('#result')).toBe('') // a link runs nothing by itself
    await page.getByRole('button', { name: /^Run/ }).click()
    await eventually(async () => expect(await page.textContent('#status')).toBe('(200)'))
    expect(JSON.parse(await page.inputValue('#result'))).toEqual({ data: { locationRecords: { limit: 3 } } })
    await context.close()
  })

  it.each(THEMES)('shows records in the reference as text at %s, %d px', async (theme, width) => {
    const opened = await open('/docs/records', width, theme)
    const { page, context } = opened
    const form = page.locator('form[data-method=GET][data-path="/api/v0/location-records"]')
    await form.evaluate((element) => element.closest('details')!.setAttribute('open', ''))
    await form.locator('input[name=limit]').fill('13')
    await form.locator('button[type=submit]').click()
    await form.locator('.reply .status').waitFor()
    await page.getByRole('link', { name: 'Show all' }).waitFor()
    await expectHarmless(opened, 'the reference')
    await page.keyboard.press('Control+k')
    await page.locator('dialog.search input').fill(MARKUP)
    await page.locator('.hits .quiet').waitFor()
    await expectHarmless(opened, 'the search')
    await context.close()
  })

  it.each(THEMES)('names hostile paths as text at %s, %d px', async (theme, width) => {
    for (const path of [
      `/${encodeURIComponent(MARKUP)}`,
      `/${'%E2%80%AE'.repeat(8)}abc`,
      `/${'W'.repeat(3000)}`,
      '/<b>x{path}$&',
      `/docs/${MARKUP.slice(0, 60)}`,
    ]) {
      const opened = await open(path, width, theme)
      expect(await opened.page.textContent('h1')).toContain('Page not found')
      await expectHarmless(opened, path.slice(0, 20))
      await shoot(opened.page, `hostile-404-${width}`)
      expect(await axeFindings(opened.page)).toEqual([])
      await opened.context.close()
    }
  })
})
