// `npm run check`: all checks of the code by tools. Runs all of them, and fails if any failed.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

requireNode()
ensureInstalled()
ensureBuilt() // tsc needs the generated kernel modules
const bin = (name) => join(root, 'node_modules', '.bin', name)
const CHECKS = [
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['types of the pages', bin('tsc'), ['-p', 'web', '--noEmit']],
  ['unused code', bin('knip'), []],
  ['compiled contracts fresh', process.execPath, [join(root, 'scripts', 'compile-contracts.mjs'), '--check']],
  ['generated types fresh', process.execPath, [join(root, 'scripts', 'generate-types.mjs'), '--check']],
]
const failed = CHECKS.filter(([name, command, args]) => {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  process.stderr.write(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}\n`)
  return status !== 0
})
process.exit(failed.length === 0 ? 0 : 1)
