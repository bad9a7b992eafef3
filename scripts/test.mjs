// `npm test`: the quick kinds of tests, on the embedded database and the default HTTP adapter, with a twentieth of generated cases.
// `--more`: all generated cases, databases and adapters, and the tests that take long or need optional parts. `--all`: both in one run.
// `--long`: only the tests in LONGEST, with ten times the cases of `--more`. Other arguments are passed to vitest.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

// Tests with generated cases; `TEST_SCALE` sets how many cases they try (test/scale.ts).
const GENERATED = ['property', 'differential']
const QUICK = ['unit', ...GENERATED, 'integration', 'contract']
const LONG = ['store', 'program', 'docs', 'onchain', 'fault', 'fuzz', 'browser', 'flood', 'alone']

// Tests of which ten times as many cases find more: the laws of predicates and distances, predicates on geodesic edges, and the limits of very many clients.
const LONGEST = [
  'test/fuzz/relate-laws.test.ts',
  'test/fuzz/contact-laws.test.ts',
  'test/property/client-limits.test.ts',
  'test/property/geodesic-predicates.test.ts',
]

const QUICK_RUN = { projects: QUICK, scale: '0.05', variants: 'default', filters: [] }
const RUNS = {
  '--more': { projects: [...GENERATED, 'contract', ...LONG], scale: '1', filters: [] },
  '--all': { projects: [...QUICK, ...LONG], scale: '1', filters: [] },
  '--long': { projects: ['fuzz', 'property'], scale: '10', filters: LONGEST },
}

requireNode()
await ensureInstalled()
await ensureBuilt()
const args = process.argv.slice(2)
const flag = Object.keys(RUNS).find((name) => args.includes(name))
// `npm test -- test/store/store-reference.test.ts` runs that file, though its kind is not one of the quick ones.
const named = [...QUICK, ...LONG].filter((name) => args.some((arg) => arg.includes(`test/${name}/`)))
const { projects, scale, variants, filters } =
  RUNS[flag] ?? (named.length > 0 ? { ...QUICK_RUN, projects: named, variants: 'all' } : QUICK_RUN)
if (variants === 'default')
  console.log('npm test: the embedded database and the default HTTP adapter; npm run test:more tests all of them')
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
  { cwd: root, stdio: 'inherit', env: { TEST_SCALE: scale, TEST_VARIANTS: variants ?? 'all', ...process.env } },
)
process.exit(result.status ?? 1)
