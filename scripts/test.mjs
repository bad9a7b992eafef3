// `npm test`: unit, property, differential, integration and contract tests on embedded parts.
// `--all` adds what needs more time or optional parts, `--more` runs those alone; other arguments go to vitest.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

const EVERY = ['unit', 'property', 'differential', 'integration', 'contract']
const MORE = ['onchain', 'fault', 'fuzz', 'browser']

requireNode()
ensureInstalled()
ensureBuilt()
const args = process.argv.slice(2)
const projects = args.includes('--more') ? MORE : args.includes('--all') ? [...EVERY, ...MORE] : EVERY
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const result = spawnSync(
  process.execPath,
  [
    vitest,
    'run',
    ...projects.flatMap((name) => ['--project', name]),
    ...args.filter((arg) => arg !== '--all' && arg !== '--more'),
  ],
  { cwd: root, stdio: 'inherit' },
)
process.exit(result.status ?? 1)
