// What `npm start` and `npm test` need before anything else: the right Node.js, the packages of the lock file, a fresh
// build. Uses nothing but Node.js itself, for it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { areDocsFresh } from './build-docs.mjs'
import { isWebFresh } from './build-web.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const MINIMUM_NODE = [20, 19]
// What the build reads. A change of size or time of any file in them makes the build stale.
const SOURCES = [
  'src',
  'workers',
  'bench',
  'schemas',
  'contracts/vendor/eas-1.2.0',
  'scripts',
  'tsconfig.json',
  'tsconfig.build.json',
  'tsconfig.client.json',
  'package.json',
]

const say = (line) => process.stderr.write(`${line}\n`)

/** Exits with 78 on a Node.js that is too old: everything after this line may rely on it. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
    say(
      `trigpoint needs Node.js ${MINIMUM_NODE.join('.')} or newer; this is ${process.versions.node}. See https://nodejs.org`,
    )
    process.exit(78)
  }
}

/** Installs from the lock file when node_modules does not match it. Never runs install scripts. */
export function ensureInstalled() {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const wanted = createHash('sha256').update(lock).digest('hex')
  const stamp = join(root, 'node_modules', '.trigpoint-lock')
  if (readOrEmpty(stamp) === wanted) return
  if (existsSync(join(root, 'node_modules', '.package-lock.json')) && installedMatches(lock)) {
    // Installed by hand, `npm ci --omit=dev` included: keep what is there.
    writeFileSync(stamp, wanted)
    return
  }
  say('installing packages from package-lock.json (once) …')
  run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    'npm ci (see above: it needs the npm registry once; then try again)',
  )
  writeFileSync(stamp, wanted)
}

/** True when every package that is installed has the version of the lock file, and all run-time packages are there. */
function installedMatches(lock) {
  const wanted = JSON.parse(lock).packages
  const present = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages
  for (const [path, entry] of Object.entries(present)) {
    if (wanted[path]?.version !== entry.version) return false
  }
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.dev || entry.optional || entry.devOptional || path in present,
  )
}

/** Builds WebAssembly, TypeScript and pages into dist/ when a source is newer than the last build. */
export function ensureBuilt() {
  ensureCompiled()
  const pages = [
    ['build-web.mjs', 'vite', isWebFresh],
    ['build-docs.mjs', 'marked', areDocsFresh],
  ]
  for (const [script, tool, isFresh] of pages) {
    if (!existsSync(join(root, 'node_modules', tool)) || isFresh()) continue
    say('building the pages …')
    run(process.execPath, [join(root, 'scripts', script)], 'the build of the pages')
  }
}

function ensureCompiled() {
  const wanted = sourceStamp()
  const stamp = join(root, 'dist', '.stamp')
  if (readOrEmpty(stamp) === wanted) return
  if (!existsSync(join(root, 'node_modules', 'typescript'))) {
    if (existsSync(join(root, 'dist', 'src', 'main.js'))) return // installed without development packages, built elsewhere
    say(
      'dist/ is missing and the compiler is not installed: run `npm ci` (without --omit=dev) and `npm run build` first',
    )
    process.exit(78)
  }
  say('building WebAssembly and TypeScript (a minute or more) …')
  // The pages have a stamp of their own and take seconds.
  for (const name of existsSync(join(root, 'dist')) ? readdirSync(join(root, 'dist')) : []) {
    if (name !== 'web') rmSync(join(root, 'dist', name), { recursive: true, force: true })
  }
  run(process.execPath, [join(root, 'scripts', 'build-wasm.mjs')], 'the WebAssembly build')
  // The client is a library: its users' compilers want declarations. The rest of the house needs none.
  for (const project of ['tsconfig.build.json', 'tsconfig.client.json']) {
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project], 'tsc')
  }
  mkdirSync(join(root, 'dist'), { recursive: true })
  run(process.execPath, [join(root, 'scripts', 'build-store.mjs')], 'making the empty database')
  writeFileSync(stamp, sourceStamp())
}

/** A digest of names, sizes and times of all sources: milliseconds, against seconds for reading them all. */
function sourceStamp() {
  const hash = createHash('sha256')
  const visit = (path) => {
    const info = statSync(path)
    if (info.isDirectory()) {
      if (path.endsWith(join('wasm', 'generated'))) return
      for (const name of readdirSync(path).sort()) visit(join(path, name))
    } else {
      hash.update(`${path.slice(root.length)} ${info.size} ${info.mtimeMs}\n`)
    }
  }
  for (const source of SOURCES) visit(join(root, source))
  return hash.digest('hex')
}

export function run(command, args, what) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.error) say(`${what} could not start: ${result.error.message}`)
  if (result.status !== 0) {
    say(`${what} failed`)
    process.exit(result.status ?? 1)
  }
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
