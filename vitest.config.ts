import { defineConfig } from 'vitest/config'

// Nothing here is a measure of speed: a limit ends a test that hangs, also on a machine that is busy with fifteen other things.
const HANGS_AFTER_MS = 600_000

const project = (name: string, extra: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node',
    testTimeout: HANGS_AFTER_MS,
    hookTimeout: HANGS_AFTER_MS,
    // Half of the tests wait for a process they started: a worker less than cores, as is usual, leaves a core idle.
    maxWorkers: '100%',
    ...extra,
  },
})

// Every answer these tests get from the service is held against its OpenAPI document.
const CHECKED = { setupFiles: ['test/answer-check.ts'] }

// The service answers late on a busy machine, and is not refused for it (test/service.ts).
const PATIENT = { env: { TEST_LIMITS: 'patient' } }

// What kills processes, holds thousands of connections or measures memory runs by itself, after everything else; so does a
// browser, which draws maps without a graphics card.
const ALONE = { maxWorkers: 1, sequence: { groupOrder: 1 } }
const LAST = { maxWorkers: 1, sequence: { groupOrder: 2 } }

// One project a folder: the folder says what kind of proof a test is, and scripts/test.mjs which folders `npm test` runs. Unit,
// property and differential tests run functions in this process; the others start the built service, its threads or its command
// line, so scripts/test.mjs builds first.
export default defineConfig({
  test: {
    // Vitest reports "something prevents the main process from exiting" after it; on a busy machine its workers take seconds to end.
    teardownTimeout: 120_000,
    projects: [
      // A hundred files that load the same modules: a quarter of their time, were it done for each anew.
      project('unit', { isolate: false }),
      project('property'),
      project('differential'),
      project('integration'),
      project('contract', { ...CHECKED, ...PATIENT }),
      project('store', { ...CHECKED, ...PATIENT }),
      project('program', { ...CHECKED, ...PATIENT }),
      project('docs', { ...CHECKED, ...PATIENT }),
      project('onchain', CHECKED),
      project('fault', { ...CHECKED, ...ALONE }),
      project('fuzz', CHECKED),
      project('browser', { ...CHECKED, ...LAST }),
    ],
  },
})
