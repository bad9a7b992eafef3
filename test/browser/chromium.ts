/** Debian's Chromium, without a window. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']

/** The reason why tests with a browser cannot run here; undefined when they can. */
export const WHY_NOT = existsSync(CHROMIUM) ? undefined : `skipped: there is no ${CHROMIUM}`

/** How long a busy machine may take to draw a page or to compute a result, which usually takes a second. */
const WAIT_MS = 120_000

/** Starts a browser whose pages wait so long for what a test expects. */
export async function openBrowser(): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => {
    const context = await newContext(options)
    context.setDefaultTimeout(WAIT_MS)
    return context
  }
  return browser
}
