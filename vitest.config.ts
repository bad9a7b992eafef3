import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

// These tests do not measure speed. The limit only ends a test that hangs, so it is long enough for a very busy machine.
const HANGS_AFTER_MS = 600_000

// More than half of the tests wait for a process that they started, for a block or for a time limit. With one worker for each
// core, the cores would be idle for much of the time.
const WORKERS = 2 * availableParallelism()

// Tests that start processes get a second attempt in CI, whose machines may stand still for many seconds. CI names those that needed
// it. A test that only calls functions gets none: it must give the same result every time.
const STARTING = { retry: process.env['CI'] === 'true' ? 1 : 0 }

const project = (name: string, extra: object = {}) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    environment: 'node',
    testTimeout: HANGS_AFTER_MS,
    hookTimeout: HANGS_AFTER_MS,
    maxWorkers: WORKERS,
    ...extra,
  },
})

// Every response of the service in these tests is checked against its OpenAPI document.
const CHECKED = { setupFiles: ['test/answer-check.ts', 'test/end-children.ts'] }

// Longer limits (test/service.ts), because the service is slow on a busy machine.
const PATIENT = { env: { TEST_LIMITS: 'patient' } }

// V8 would spend a third of the time of a short-lived embedded store on optimising its 9 MB of WebAssembly. Projects of longer tests
// run the optimised code.
const NO_OPTIMISING = '--liftoff-only'

// The contract does not depend on the number of compute threads or on the compiler of V8. A service with few threads starts fastest,
// on a machine of many cores too.
const QUICK_START = {
  execArgv: [NO_OPTIMISING],
  env: { ...PATIENT.env, TEST_COMPUTE_THREADS: '1', TEST_NODE_FLAGS: NO_OPTIMISING },
}

// These run after the tests above. Browser tests draw maps without a graphics card, each with many threads; the others flood the
// service or measure memory, and wait for much of their time. So one file more than there are cores keeps the cores busy.
const HEAVY = { maxWorkers: availableParallelism() + 1, sequence: { groupOrder: 1 } }
// Tests that measure times or need the default port run last, one file at a time.
const ALONE = { maxWorkers: 1, sequence: { groupOrder: 2 } }

/**
 * Files that take more than a minute on two cores. They start first in this order, so that none of them runs by itself at the end.
 * Tests that compute alternate with tests that wait for processes, so that the cores are busy from the start.
 */
const LONGEST = [
  'fuzz/relate-laws',
  'fault/store-kill',
  'fault/submission-kill',
  'fault/result-nodes',
  'fuzz/contact-laws',
  'fault/store-damage',
  'store/served-feeds',
  'fuzz/sync-simulator',
  'onchain/submission',
  'fault/job-nodes',
  'fuzz/natural-earth-work',
  'store/records',
  'fault/processes',
  'onchain/local-chain',
  'browser/hostile-records',
  'browser/reference',
  'flood/attacks',
  'browser/explorer',
].map((name) => `test/${name}.test.ts`)

/** Starts the longest files of each group first. Vitest itself knows how long a file takes only from an earlier run. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.indexOf(relative(this.ctx.config.root, moduleId))
      return index < 0 ? LONGEST.length : index
    }
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    return (await super.sort(files)).sort((a, b) => group(a) - group(b) || rank(a) - rank(b))
  }
}

// There is one project per folder. The folder gives the kind of test, and scripts/test.mjs selects those of `npm test`. Unit,
// property and differential tests run functions in this process. The others start the built service, its threads or its command
// line, so scripts/test.mjs builds first.
export default defineConfig({
  test: {
    // After this time Vitest reports "something prevents the main process from exiting". On a busy machine its workers take
    // seconds to exit.
    teardownTimeout: 120_000,
    sequence: { sequencer: LongestFirst },
    projects: [
      // These files load the same modules. Loading them for every file would take a quarter of the time.
      project('unit', { isolate: false }),
      project('property', { isolate: false }),
      project('differential', { isolate: false }),
      project('integration', STARTING),
      // As with the unit tests, and these load the OpenAPI document and its checker.
      project('contract', { ...STARTING, ...CHECKED, ...QUICK_START, isolate: false }),
      project('store', { ...STARTING, ...CHECKED, ...PATIENT }),
      project('program', { ...STARTING, ...CHECKED, ...PATIENT }),
      project('docs', { ...STARTING, ...CHECKED, ...PATIENT }),
      project('onchain', { ...STARTING, ...CHECKED }),
      project('fault', { ...STARTING, ...CHECKED }),
      project('fuzz', { ...CHECKED, ...PATIENT }),
      project('browser', { ...STARTING, ...CHECKED, ...PATIENT, ...HEAVY }),
      project('flood', { ...STARTING, ...CHECKED, ...HEAVY }),
      project('alone', { ...STARTING, ...CHECKED, ...ALONE }),
    ],
  },
})
