// `npm run bench [-- name …]`: runs bench/*.bench.ts from the build and writes their numbers to bench/results/.
// Without names all of them run; with names those alone, e.g. `npm run bench -- kernel load`.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

requireNode()
ensureInstalled()
ensureBuilt()
const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const against = process.argv.find((argument) => argument.startsWith('--against='))
// Another implementation of the interface, measured in turn: `npm run bench -- load --against=http://127.0.0.1:4000`.
if (against !== undefined) process.env.BENCH_AGAINST = against.slice('--against='.length).replace(/\/+$/, '')
const names = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
const unknown = asked.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`no bench ${unknown.join(', ')}; there are ${names.join(', ')}`)
  process.exit(2)
}
const results = {
  node: process.version,
  cores: availableParallelism(),
  cpu: cpus()[0]?.model ?? 'unknown',
  date: new Date().toISOString(),
}
console.log(`Node.js ${results.node}, ${results.cores} cores, ${results.cpu}`)
for (const name of asked.length > 0 ? asked : names) {
  console.log(`\n── ${name} ${'─'.repeat(Math.max(0, 70 - name.length))}`)
  const { run } = await import(pathToFileURL(join(root, 'dist', 'bench', `${name}.bench.js`)).href)
  results[name] = await run()
}
mkdirSync(join(root, 'bench', 'results'), { recursive: true })
const target = join(root, 'bench', 'results', `${results.date.replaceAll(':', '-')}.json`)
writeFileSync(target, `${JSON.stringify(results, null, 2)}\n`)
console.log(`\nwritten to ${target.slice(root.length)}`)
