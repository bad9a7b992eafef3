// `npm test`: the quick kinds of tests, on embedded parts, with a tenth of the generated cases; three minutes on two cores.
// `--more`: all generated cases, and the tests that take long or need optional parts. `--all`: both in one run.
// `--long`: only the generated laws, with ten times the cases of `--more`. Other arguments are passed to vitest.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

// Tests with generated cases; `TEST_SCALE` sets how many cases they try (test/scale.ts).
const GENERATED = ['property', 'differential']
const QUICK = ['unit', ...GENERATED, 'integration', 'contract']
const LONG = ['store', 'program', 'docs', 'onchain', 'fault', 'fuzz', 'browser', 'flood', 'alone']

const QUICK_RUN = { projects: QUICK, scale: '0.1', filters: [] }
const RUNS = {
  '--more': { projects: [...GENERATED, ...LONG], scale: '1', filters: [] },
  '--all': { projects: [...QUICK, ...LONG], scale: '1', filters: [] },
  '--long': { projects: ['fuzz'], scale: '10', filters: ['laws.test.ts'] },
}

requireNode()
ensureInstalled()
await ensureBuilt()
const args = process.argv.slice(2)
const flag = Object.keys(RUNS).find((name) => args.includes(name))
// `npm test -- test/store/store-reference.test.ts` runs that file, though its kind is not one of the quick ones.
const named = [...QUICK, ...LONG].filter((name) => args.some((arg) => arg.includes(`test/${name}/`)))
const { projects, scale, filters } = RUNS[flag] ?? (named.length > 0 ? { ...QUICK_RUN, projects: named } : QUICK_RUN)
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const result = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...filters,
    ...args.filter((arg) => !(arg in RUNS)),
  ],
  { cwd: root, stdio: 'inherit', env: { TEST_SCALE: scale, ...process.env } },
)
process.exit(result.status ?? 1)
