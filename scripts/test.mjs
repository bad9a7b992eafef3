// `npm test`: unit, property, differential, integration and contract tests on embedded parts.
// `--all` adds what needs more time or optional parts, `--more` runs those alone, and `--long` runs the generated laws alone with
// 1,000,000 cases; other arguments go to vitest.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

const EVERY = ['unit', 'property', 'differential', 'integration', 'contract']
const MORE = ['onchain', 'fault', 'fuzz', 'browser']
/** Projects by flag. */
const SETS = { '--all': [...EVERY, ...MORE], '--more': MORE, '--long': ['fuzz'] }

requireNode()
ensureInstalled()
ensureBuilt()
const args = process.argv.slice(2)
const flag = Object.keys(SETS).find((name) => args.includes(name))
const isLong = flag === '--long'
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const result = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    ...(SETS[flag] ?? EVERY).flatMap((name) => ['--project', name]),
    ...(isLong ? ['laws.test.ts'] : []),
    ...args.filter((arg) => !(arg in SETS)),
  ],
  { cwd: root, stdio: 'inherit', env: isLong ? { LAW_CASES: '1000000', ...process.env } : process.env },
)
process.exit(result.status ?? 1)
