// `npm run bench [-- name …]`: runs bench/*.bench.ts from the build and writes the results to bench/results/.
// Runs the named ones, e.g. `npm run bench -- geodesy topology`, or all. With --plots it runs nothing, but draws each of
// docs/plots/*.svg from the newest results that contain its data.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureBuilt, ensureInstalled, requireNode, root } from './prepare.mjs'

requireNode()
await ensureInstalled()
await ensureBuilt()
const selected = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const against = process.argv.find((argument) => argument.startsWith('--against='))
// Another implementation of the same API, measured alternately: `npm run bench -- load --against=http://127.0.0.1:4000`.
if (against !== undefined) process.env.BENCH_AGAINST = against.slice('--against='.length).replace(/\/+$/, '')
const names = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -'.bench.ts'.length))
const unknown = selected.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  console.error(`unknown bench: ${unknown.join(', ')}; known: ${names.join(', ')}`)
  process.exit(2)
}
const importBuilt = (name) => import(pathToFileURL(join(root, 'dist', 'bench', `${name}.js`)).href)
if (process.argv.includes('--plots')) {
  await drawPlots()
  process.exit(0)
}
const [{ machineFacts }, { printMarks }] = await Promise.all([importBuilt('machine'), importBuilt('tables')])
const results = { ...machineFacts(), date: new Date().toISOString() }
const { node, cores, cpu, gibibytes, load } = results
console.log(`Node.js ${node}, ${cores} cores, ${cpu}, ${gibibytes} GiB, load average ${load.join(' ')}`)
if (load[0] > 0.5)
  console.log('The machine is not idle: do not trust the times, only the ratios, which are measured within one round.')
for (const name of selected.length > 0 ? selected : names) {
  console.log(`\n## ${name}\n`)
  const { run } = await importBuilt(`${name}.bench`)
  results[name] = await run()
}
const marks = Object.values(results).flatMap((result) => result?.marks ?? [])
if (marks.length > 0) {
  console.log('\n## marks\n')
  printMarks(marks)
  console.log(`\nload average at the end ${machineFacts().load.join(' ')}`)
}
mkdirSync(join(root, 'bench', 'results'), { recursive: true })
const target = join(root, 'bench', 'results', `${results.date.replaceAll(':', '-')}.json`)
writeFileSync(target, `${JSON.stringify(results, null, 2)}\n`)
console.log(`\nwritten to ${target.slice(root.length)}`)

async function drawPlots() {
  const { plotsOf } = await importBuilt('plots')
  const folder = join(root, 'bench', 'results')
  const plots = new Map()
  // File names begin with the time, so the newest comes last and overwrites older plots.
  for (const file of readdirSync(folder).sort()) {
    for (const [name, svg] of plotsOf(JSON.parse(readFileSync(join(folder, file), 'utf8')))) plots.set(name, svg)
  }
  mkdirSync(join(root, 'docs', 'plots'), { recursive: true })
  for (const [name, svg] of plots) writeFileSync(join(root, 'docs', 'plots', `${name}.svg`), svg)
  console.log(`drawn: ${[...plots.keys()].join(', ')}`)
}
