/** The browser and the services of a test file. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { openBrowser } from './chromium.ts'

interface Stoppable {
  stop(): Promise<unknown>
}

/**
 * Starts a browser and services at the same time, before the tests of the `describe` that calls it, and stops them after these tests.
 *
 * @param starts functions that start the services, by name
 * @returns the browser and the services by name; each is there once it runs
 */
export function runDuringTests<Services extends Readonly<Record<string, Stoppable>>>(
  starts: {
    readonly [Name in keyof Services]: () => Promise<Services[Name]>
  },
): { readonly browser: Browser } & Readonly<Services> {
  const running: { browser?: Browser } = {}
  const services: Record<string, Stoppable> = {}
  beforeAll(async () => {
    await Promise.all([
      openBrowser().then((browser) => Object.assign(running, { browser })),
      ...Object.entries<() => Promise<Stoppable>>(starts).map(async ([name, start]) => {
        services[name] = await start()
        Object.assign(running, { [name]: services[name] })
      }),
    ])
  })
  afterAll(async () => {
    await running.browser?.close()
    await Promise.all(Object.values(services).map((service) => service.stop()))
  })
  return running as { readonly browser: Browser } & Readonly<Services>
}
