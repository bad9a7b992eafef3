/** Opens pages of the built service, with helpers for the explorer tests. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Browser, BrowserContext, Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * Colors depend on the theme and the layout on the width, so each is tried once, and not every pair of them: a check of a large page
 * takes many seconds.
 */
export const THEMES = [
  ['light', 1440],
  ['dark', 390],
] as const

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Console errors and warnings, exceptions and requests to other origins, in order. */
  readonly faults: readonly string[]
  /** The response body size of each request by URL. */
  readonly sizes: ReadonlyMap<string, number>
}

export interface VisitOptions {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/**
 * Opens a page in a new context without stored data.
 *
 * @param path what follows `/explore`, such as `/records?chain=celo`
 */
export async function visit(browser: Browser, url: string, path: string, options: VisitOptions = {}): Promise<Visit> {
  const { width = 1440, theme = 'light' } = options
  const context = await browser.newContext({
    viewport: { width, height: width < 500 ? 844 : 900 },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  const page = await context.newPage()
  const faults: string[] = []
  const sizes = new Map<string, number>()
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith('blob:')) faults.push(`external: ${request.url()}`)
  })
  page.on('requestfinished', async (request) => {
    const { responseBodySize } = await request.sizes().catch(() => ({ responseBodySize: 0 }))
    sizes.set(request.url(), responseBodySize)
  })
  await page.goto(`${url}/explore${path}`)
  return { page, context, faults, sizes }
}

/** Waits until the map is drawn. */
export async function mapReady(page: Page): Promise<void> {
  await page.waitForSelector('html[data-map=ready]')
}

/** Waits for a signed and verified response, and returns the text of its figure. */
export async function signed(page: Page, verdict: 'good' | 'bad' = 'good'): Promise<string> {
  await page.waitForSelector(`.readout[data-verdict=${verdict}]`)
  return (await page.textContent('#figure')) ?? ''
}

/** `1,234.50 m` → 1234.5 */
export function numberOf(figure: string): number {
  return Number(figure.replace(/[^\d.-]/g, ''))
}

/** Returns the box of an element once it stops moving; a busy machine draws late. */
export async function boxOf(page: Page, selector: string) {
  let lastBox: string | undefined
  for (let left = 200; left > 0; left--) {
    const box = await page.locator(selector).boundingBox()
    if (box !== null && JSON.stringify(box) === lastBox) return box
    lastBox = box === null ? undefined : JSON.stringify(box)
    await page.waitForTimeout(50)
  }
  throw new Error(`${selector} does not come to rest`)
}

/** Returns the texts of all matching elements, once there are at least `least` of them. */
export async function allTexts(page: Page, selector: string, minCount: number): Promise<string[]> {
  await page.waitForFunction(([matching, count]) => document.querySelectorAll(matching).length >= count, [
    selector,
    minCount,
  ] as const)
  return page.locator(selector).allTextContents()
}

/** Writes a picture of the page into the folder that `SCREENSHOTS` names, if it is set. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder !== undefined) await page.screenshot({ path: `${folder}/${name}.png` })
}

/** Returns by how many pixels the page is wider than the window, and by how many its document is higher than its content. */
export function overflowOf(page: Page): Promise<{ wider: number; higher: number }> {
  return page.evaluate(() => {
    const { scrollWidth, scrollHeight } = document.documentElement
    const { bottom } = document.body.getBoundingClientRect()
    return {
      wider: Math.max(0, scrollWidth - innerWidth),
      higher: Math.max(0, scrollHeight - Math.max(innerHeight, Math.ceil(bottom + scrollY))),
    }
  })
}

/** Returns the accessibility violations of the page as it is now, with the elements that cause them. */
export async function axeFindings(page: Page): Promise<string[]> {
  // A button that was just enabled changes its colors for a moment, in which its contrast is that of neither state.
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    await Promise.allSettled(ending.map(({ finished }) => finished))
  })
  await page.evaluate(AXE)
  // Without the details of elements that pass, which take long on a page of thousands of elements.
  const { violations } = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResults
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes
        .slice(0, 3)
        .map(({ html }) => html.slice(0, 160))
        .join(' | ')}`,
  )
}
