/** Debian's Chromium on the built service, and what every test of the explorer needs of it. */
import { existsSync } from 'node:fs'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']

/** Why these tests cannot run here; undefined when they can. */
export const WHY_NOT = existsSync(CHROMIUM) ? undefined : `skipped: there is no ${CHROMIUM}`

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}

export interface Visit {
  readonly page: Page
  readonly context: BrowserContext
  /** Console errors, exceptions and requests that failed or went elsewhere, as they came. */
  readonly faults: readonly string[]
  /** Bytes over the wire by address. */
  readonly sizes: ReadonlyMap<string, number>
}

export interface VisitOptions {
  readonly width?: number
  readonly theme?: 'light' | 'dark'
}

/** A page of its own with nothing remembered. */
export async function visit(browser: Browser, url: string, hash: string, options: VisitOptions = {}): Promise<Visit> {
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
  await page.goto(`${url}/explore${hash}`)
  return { page, context, faults, sizes }
}

/** Waits until the map has drawn itself. */
export async function mapReady(page: Page): Promise<void> {
  await page.waitForSelector('html[data-map=ready]', { timeout: 30_000 })
}

/** Waits for a signed answer that was checked. */
export async function signed(page: Page, verdict: 'good' | 'bad' = 'good'): Promise<string> {
  await page.waitForSelector(`.readout[data-verdict=${verdict}]`, { timeout: 20_000 })
  return (await page.textContent('#figure')) ?? ''
}

/** `1,234.50 m` → 1234.5 */
export function numberOf(figure: string): number {
  return Number(figure.replace(/[^\d.-]/g, ''))
}

/** Where an element stands, once it stands still: a busy machine draws late. */
export async function boxOf(page: Page, selector: string) {
  let last: string | undefined
  for (let left = 200; left > 0; left--) {
    const box = await page.locator(selector).boundingBox()
    if (box !== null && JSON.stringify(box) === last) return box
    last = box === null ? undefined : JSON.stringify(box)
    await page.waitForTimeout(50)
  }
  throw new Error(`${selector} does not come to rest`)
}

/** Texts of all elements that match, once there are at least so many. */
export async function allTexts(page: Page, selector: string, least: number): Promise<string[]> {
  await page.waitForFunction(([found, count]) => document.querySelectorAll(found).length >= count, [
    selector,
    least,
  ] as const)
  return page.locator(selector).allTextContents()
}
