/** Addresses of the pages, the limit of requests, and what is shown while something loads. */
import { describe, expect, it } from 'vitest'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'
import { WHY_NOT } from './chromium.ts'
import { axeFindings, boxOf, mapReady, shoot, signed, THEMES, visit } from './page.ts'
import { runDuringTests } from './running.ts'

describe.skipIf(WHY_NOT !== undefined)('the explorer', () => {
  const running = runDuringTests({
    service: startTestService,
    limited: () => startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '2' }),
  })

  it('has an address for each page, which the back button and a reload restore', async () => {
    const { page, context, faults } = await visit(running.browser, running.service.url, '')
    await signed(page)
    await page.getByRole('tab', { name: 'Area' }).click()
    await page.waitForFunction(() => location.pathname === '/explore/compute' && location.hash.startsWith('#s='))
    const figure = await signed(page)
    await page.getByRole('link', { name: 'Proof lab' }).click()
    await page.waitForFunction(() => location.pathname === '/explore/proof')
    await page.selectOption('#template', '2')
    await page.waitForFunction(() => location.search === '?template=2')
    await page.getByRole('link', { name: 'Status' }).click()
    await page.waitForFunction(() => document.title.startsWith('Status'))
    await page.waitForSelector('text=p99 latency')
    await page.waitForSelector('text=/^peak [0-9]/')
    await page.goBack()
    await page.waitForFunction(() => document.title.startsWith('Proof lab'))
    await page.reload()
    await page.waitForSelector('.lab[data-busy=false]')
    expect(await page.inputValue('#template')).toBe('2')
    await page.goBack()
    await page.waitForFunction(() => document.title.startsWith('Compute'))
    expect(await signed(page)).toBe(figure)
    expect(await page.getByRole('tab', { name: 'Area' }).getAttribute('aria-selected')).toBe('true')
    // This service has no records, and the status page says so.
    expect(faults.filter((fault) => !/status of 50[03]/.test(fault))).toEqual([])
    await context.close()
  })

  it('still understands the links of an older version', async () => {
    const { page, context } = await visit(running.browser, running.service.url, '#/status?x=1')
    await page.waitForFunction(() => location.pathname === '/explore/status' && location.hash === '')
    await page.waitForSelector('text=Ready')
    await context.close()
  })

  it.each(THEMES)(
    'names the path and offers three links where there is no page, in the %s theme',
    async (theme, width) => {
      const { page, context } = await visit(running.browser, running.service.url, '/<b>recrods', { theme, width })
      expect(await page.textContent('h1')).toContain('Page not found')
      expect(await page.textContent('main code')).toBe('/explore/%3Cb%3Erecrods')
      const links = await page.locator('main ul a').evaluateAll((list) => list.map((link) => link.getAttribute('href')))
      expect(links).toEqual(['/explore', '/docs', '/docs/guide'])
      for (const link of links) expect((await fetch(`${running.service.url}${link}`)).status).toBe(200)
      expect(await axeFindings(page)).toEqual([])
      await shoot(page, `not-found-${theme}`)
      await context.close()
    },
  )

  it.each(THEMES)(
    'says at the limit when it resets, keeps computing previews, and takes a key (%s)',
    async (theme, width) => {
      const { page, context } = await visit(running.browser, running.limited.url, '', { theme, width })
      await mapReady(page)
      if (theme === 'light') await signed(page)
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      for (const name of ['Length', 'Area']) {
        await page.getByRole('tab', { name }).click()
        await page.waitForTimeout(600)
      }
      const note = page.locator('.note.limit')
      await note.waitFor()
      expect(await note.textContent()).toMatch(/The limit resets at \d{1,2}:\d{2}( [AP]M)?\. Previews still work/)
      expect(await page.locator('.note.bad').count()).toBe(0)
      const before = sent.length
      const figure = await page.textContent('#figure')
      await page.selectOption('#examples', { label: 'Over the antimeridian' })
      await page.waitForFunction((old) => document.querySelector('#figure')?.textContent !== old, figure)
      expect(await page.textContent('.readout .status')).toContain('Preview, unsigned')
      await page.waitForTimeout(600)
      expect(sent.length).toBe(before)
      // In one step, because a preview that arrives late draws the note again.
      await page.evaluate(() => document.querySelector('.note.limit')?.scrollIntoView())
      await shoot(page, `limit-${theme}`)
      expect(await axeFindings(page)).toEqual([])
      await note.getByRole('button', { name: 'Enter an API key' }).press('Enter')
      await page.fill('#api-key', running.limited.developerKey)
      expect(await axeFindings(page)).toEqual([])
      await page.getByRole('button', { name: 'Use this key' }).click()
      await signed(page)
      expect(await note.count()).toBe(0)
      await context.close()
    },
  )

  it('sends nothing while a vertex is dragged, so previews do not count', async () => {
    const { page, context } = await visit(running.browser, running.service.url, '')
    await mapReady(page)
    await signed(page)
    const sent: string[] = []
    page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
    const handle = await boxOf(page, '[data-handle="a-"]')
    await page.mouse.move(handle.x + 12, handle.y + 12)
    await page.mouse.down()
    await page.mouse.move(handle.x + 60, handle.y + 40, { steps: 20 })
    await page.waitForTimeout(600)
    expect(await page.textContent('.readout .status')).toContain('Preview, unsigned')
    expect(sent).toEqual([])
    await page.mouse.up()
    await signed(page)
    expect(sent).toHaveLength(1)
    await context.close()
  })

  it.each(THEMES)('says what is loading (%s)', async (theme, width) => {
    const { page, context } = await visit(running.browser, running.service.url, '/status', { theme, width })
    // The files and responses below never arrive.
    await context.route(/simd|maplibre|base-map|\/compute\/v0\//, () => {})
    await page.goto(`${running.service.url}/explore`)
    await page.waitForSelector('text=The map is loading')
    await page.waitForSelector('.readout[aria-busy=true] >> text=is loading')
    await shoot(page, `loading-${theme}`)
    expect(await axeFindings(page)).toEqual([])
    await context.unrouteAll()
    await context.route(/location-records|\/ready|\/metrics/, () => {})
    await page.goto(`${running.service.url}/explore/records`)
    await page.waitForSelector('text=The records are loading')
    await page.goto(`${running.service.url}/explore/status`)
    await page.waitForSelector('text=The status is loading')
    await context.close()
  })
})
