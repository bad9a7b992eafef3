// `npm run check`: all checks of the code by tools. Runs all of them, two at a time, and fails if any failed. A check prints one
// line, and its output only if it failed.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { buildWasm } from './build-wasm.mjs'
import { ensureInstalled, requireNode, root } from './prepare.mjs'

requireNode()
await ensureInstalled()
// Tests import this module. No check reads anything else of a build, so none waits for `dist`.
await buildWasm(['checked'])
const bin = (name) => join(root, 'node_modules', '.bin', name)
const script = (name) => join(root, 'scripts', name)
// Longest first, so that no long check runs alone at the end.
const CHECKS = [
  ['WebAssembly fresh', process.execPath, [script('build-wasm.mjs'), '--check']],
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['format and lint of the kernel', process.execPath, [script('check-kernel.mjs')]],
  ['unused code', bin('knip'), []],
  ['compiled contracts fresh', process.execPath, [script('compile-contracts.mjs'), '--check']],
  ['types of the pages', bin('tsc'), ['-p', 'web', '--noEmit']],
  ['generated validators fresh', process.execPath, [script('generate-validators.mjs'), '--check']],
  ['generated types fresh', process.execPath, [script('generate-types.mjs'), '--check']],
]
// As many as a small machine has cores. More at a time would not be faster there, and tsc uses several cores by itself.
const CHECKS_AT_ONCE = 2

const waiting = [...CHECKS]
let failures = 0
await Promise.all(
  Array.from({ length: CHECKS_AT_ONCE }, async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      if (!(await runCheck(...check))) failures++
    }
  }),
)
process.exitCode = failures === 0 ? 0 : 1

/** Runs one check and reports it on standard error. Resolves with true if it passed. */
function runCheck(name, command, args) {
  const startMs = performance.now()
  // The tools colour their output only for a terminal. Theirs is a pipe here, but it may end in a terminal.
  const env = process.stderr.isTTY ? { ...process.env, FORCE_COLOR: '1' } : process.env
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  child.stdout.on('data', (chunk) => output.push(chunk))
  child.stderr.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve) => {
    const report = (passed) => {
      const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
      if (!passed) process.stderr.write(Buffer.concat(output))
      process.stderr.write(`${passed ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)\n`)
      resolve(passed)
    }
    child.on('error', (error) => {
      output.push(Buffer.from(`${error.message}\n`))
      report(false)
    })
    child.on('close', (status) => report(status === 0))
  })
}
