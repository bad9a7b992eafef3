// Prints figures about the shape of the code: `node scripts/house.mjs`. `--crumbs` lists the small files with one importer.
// `--trace` also counts the files that one request passes; it builds and starts the service.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { upwardImports } from './layers.mjs'
import { cycles, lineAt, readSourceGraph, walk } from './source-graph.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const LONG_FUNCTION_LINES = 100
const MEDIUM_FUNCTION_LINES = 60
const SMALL_FILE_LINES = 60

const { crumbs: listsCrumbs, trace: traces } = parseArgs({
  options: { crumbs: { type: 'boolean' }, trace: { type: 'boolean' } },
}).values

const graph = readSourceGraph()
const lines = new Map(trackedFiles().map((file) => [file, graph.get(file).text.split('\n').length - 1]))
const files = [...lines.keys()]
const functions = files.flatMap(longFunctions)
const crumbs = findCrumbs()
const circles = cycles(graph)
const upward = upwardImports(graph)
const [flattest, flattestCount] = largestFolder()

const rows = [
  ['files in src and workers', files.length],
  ['lines in them', sum([...lines.values()])],
  ['median lines of a file', median([...lines.values()])],
  ['loose files in src', files.filter((file) => dirname(file) === 'src').length],
  [`files in the largest flat folder (${flattest})`, flattestCount],
  ['import circles, types included', circles.length],
  ['upward imports, URLs included', upward.length],
  [`functions over ${LONG_FUNCTION_LINES} lines`, functions.filter(({ size }) => size > LONG_FUNCTION_LINES).length],
  [`functions over ${MEDIUM_FUNCTION_LINES} lines`, functions.length],
  [`files under ${SMALL_FILE_LINES} lines with one importer`, crumbs.length],
]
const passed = traces ? traceRequest() : []
if (traces) rows.push(['TypeScript files that a coordinate passes, bytes to signature', passed.length])

const width = Math.max(...rows.map(([figure]) => figure.length))
for (const [figure, value] of rows) say(`${figure.padEnd(width)}  ${value.toLocaleString('en').padStart(6)}`)
list(
  `functions over ${LONG_FUNCTION_LINES} lines`,
  functions
    .filter(({ size }) => size > LONG_FUNCTION_LINES)
    .sort((a, b) => b.size - a.size)
    .map(({ size, file, line }) => `${size}  ${file}:${line}`),
)
list(
  'import circles',
  circles.map((circle) => circle.join(' ')),
)
list('upward imports', upward)
if (listsCrumbs) {
  list(
    `files under ${SMALL_FILE_LINES} lines with one importer`,
    crumbs.map(({ file, importer }) => `${String(lines.get(file)).padStart(2)}  ${file} ← ${importer}`),
  )
}
list('files that a coordinate passes', passed)

/** Lists the TypeScript files of src and workers that are in Git and written by hand. */
function trackedFiles() {
  const { stdout, status } = spawnSync('git', ['ls-files', '-z', 'src', 'workers'], { cwd: root, encoding: 'utf8' })
  if (status !== 0) throw new Error('git ls-files failed: the figures need a clone of the repository')
  return stdout.split('\0').filter((file) => graph.has(file) && !/\bgenerated\b/.test(file))
}

/** Lists the functions of a file over 60 lines. The lines of nested functions count for both. A class is no function. */
function longFunctions(file) {
  const { program, text } = graph.get(file)
  const found = []
  walk(program, ({ type, start, body }) => {
    // The nodes that end in `Type` are types of functions, not functions.
    if (!/Function(?:Declaration|Expression)$/.test(type) || !body) return
    const size = lineAt(text, body.end) - lineAt(text, body.start) + 1
    if (size > MEDIUM_FUNCTION_LINES) found.push({ size, file, line: lineAt(text, start) })
  })
  return found
}

/** Lists the small files that exactly one file imports. */
function findCrumbs() {
  const importers = new Map()
  for (const [file, { imports }] of graph) {
    for (const { target } of imports) importers.set(target, (importers.get(target) ?? new Set()).add(file))
  }
  return files
    .filter((file) => lines.get(file) < SMALL_FILE_LINES && importers.get(file)?.size === 1)
    .map((file) => ({ file, importer: [...importers.get(file)][0] }))
}

function largestFolder() {
  const counts = new Map()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]
}

/** Lists the files of which a function runs while one signed distance is answered, in any thread. */
function traceRequest() {
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(root, 'scripts', 'house-trace.mjs')], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the trace failed:\n${stderr}`)
  return JSON.parse(stdout)
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0)
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

function list(title, entries) {
  if (entries.length > 0) say(`\n${title}:\n${entries.map((entry) => `  ${entry}`).join('\n')}`)
}

function say(line) {
  console.log(line)
}
