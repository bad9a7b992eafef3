import { defineConfig } from 'vitest/config'

const project = (name: string, extra: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Half of the tests wait for a process they started: a worker less than cores, as is usual, leaves a core idle.
    maxWorkers: '100%',
    ...extra,
  },
})

// Every answer these tests get from the service is held against its OpenAPI document.
const CHECKED = { setupFiles: ['test/answer-check.ts'] }

// What kills processes, holds thousands of connections or measures memory runs by itself, after everything else; so does a
// browser, which draws maps without a graphics card.
const ALONE = { maxWorkers: 1, sequence: { groupOrder: 1 } }
const LAST = { maxWorkers: 1, sequence: { groupOrder: 2 } }

// Unit, property and differential tests run functions in this process; integration and contract tests start the built
// service, so `npm test` builds first. One project a folder: the folder says what kind of proof a test is.
export default defineConfig({
  test: {
    projects: [
      project('unit'),
      project('property'),
      project('differential', { testTimeout: 180_000 }),
      project('integration'),
      project('contract', CHECKED),
      project('onchain', { ...CHECKED, testTimeout: 120_000 }),
      project('fault', { ...CHECKED, testTimeout: 120_000, ...ALONE }),
      project('fuzz', { ...CHECKED, testTimeout: 300_000 }),
      project('browser', { ...CHECKED, testTimeout: 90_000, ...LAST }),
    ],
  },
})
