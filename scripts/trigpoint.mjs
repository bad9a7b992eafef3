#!/usr/bin/env -S node --max-semi-space-size=8 --no-parallel-scavenge
// The program `trigpoint`. It runs the existing build and never builds; only developers need to build.
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// While the service loads, SIGHUP must not end this process. There is nothing to replace yet.
if (process.argv[2] === 'serve') process.on('SIGHUP', () => {})
const built = new URL('../dist/src/trigpoint.js', import.meta.url)
if (existsSync(built)) {
  const { trigpoint } = await import(built.href)
  await trigpoint(process.argv.slice(2))
} else {
  const root = fileURLToPath(new URL('..', import.meta.url))
  process.stderr.write(`trigpoint is not built: run \`npm ci && npm run build\` in ${root}, then try again\n`)
  process.exitCode = 78
}
