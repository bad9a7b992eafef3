/** Debian's Chromium, without a window. */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist']

/** The reason why tests with a browser cannot run here; undefined when they can. */
export const WHY_NOT = existsSync(CHROMIUM) ? undefined : `skipped: there is no ${CHROMIUM}`

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
}
