// `npm run bench [-- name …]`: runs bench/*.bench.ts from the build and writes their numbers to bench/results/.
// Without names all of them run; with names those alone, e.g. `npm run bench -- geodesy topology`. With --plots nothing runs:
// docs/plots/*.svg are drawn of the newest results that have each.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
const inDist = (name) => import(pathToFileURL(join(root, 'dist', 'bench', `${name}.js`)).href)
if (process.argv.includes('--plots')) {
  await drawPlots()
  process.exit(0)
}
const [{ machineFacts }, { printMarks }] = await Promise.all([inDist('machine'), inDist('tables')])
const results = { ...machineFacts(), date: new Date().toISOString() }
const { node, cores, cpu, gibibytes, load } = results
console.log(`Node.js ${node}, ${cores} cores, ${cpu}, ${gibibytes} GiB, load average ${load.join(' ')}`)
if (load[0] > 0.5)
  console.log('The machine is not idle: trust the ratios, which are taken inside a round, and not the times.')
for (const name of asked.length > 0 ? asked : names) {
  console.log(`\n## ${name}\n`)
  const { run } = await inDist(`${name}.bench`)
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
  const { plotsOf } = await inDist('plots')
  const folder = join(root, 'bench', 'results')
  const plots = new Map()
  // Names begin with the time, so that the newest comes last and wins.
  for (const file of readdirSync(folder).sort()) {
    for (const [name, svg] of plotsOf(JSON.parse(readFileSync(join(folder, file), 'utf8')))) plots.set(name, svg)
  }
  mkdirSync(join(root, 'docs', 'plots'), { recursive: true })
  for (const [name, svg] of plots) writeFileSync(join(root, 'docs', 'plots', `${name}.svg`), svg)
  console.log(`drawn: ${[...plots.keys()].join(', ')}`)
}
