// Prepares for `npm start`, `npm test` and others: checks the version of Node.js, installs the packages of the lock file, and
// builds. Uses only Node.js itself, because it runs before anything is installed.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { areDocsFresh } from './build-docs.mjs'
import { isWebFresh } from './build-web.mjs'

export const root = fileURLToPath(new URL('..', import.meta.url))
const MINIMUM_NODE = [20, 19]
// The build's sources. The build is stale when the size or time of any file in them has changed.
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

/** Exits with 78 when Node.js is too old. */
export function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major < MINIMUM_NODE[0] || (major === MINIMUM_NODE[0] && minor < MINIMUM_NODE[1])) {
    say(
      `trigpoint needs Node.js ${MINIMUM_NODE.join('.')} or newer; this is ${process.versions.node}. See https://nodejs.org`,
    )
    process.exit(78)
  }
}

/** Installs the packages of the lock file when node_modules does not match it. Never runs install scripts. */
export function ensureInstalled() {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const expected = createHash('sha256').update(lock).digest('hex')
  const stamp = join(root, 'node_modules', '.trigpoint-lock')
  if (readOrEmpty(stamp) === expected) return
  if (existsSync(join(root, 'node_modules', '.package-lock.json')) && matchesLock(lock)) {
    // The user installed the packages, perhaps with `npm ci --omit=dev`: keep them.
    writeFileSync(stamp, expected)
    return
  }
  say('installing packages from package-lock.json (once) …')
  run(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
    'npm ci (see above; it needs access to the npm registry once; then try again)',
  )
  writeFileSync(stamp, expected)
}

/** Returns true when all installed packages have the versions of the lock file and no run-time package is missing. */
function matchesLock(lock) {
  const locked = JSON.parse(lock).packages
  const installed = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages
  for (const [path, entry] of Object.entries(installed)) {
    if (locked[path]?.version !== entry.version) return false
  }
  return Object.entries(locked).every(
    ([path, entry]) => path === '' || entry.dev || entry.optional || entry.devOptional || path in installed,
  )
}

/** Builds WebAssembly, TypeScript and pages into dist/ when a source has changed since the last build. */
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
  const expected = digestSources()
  const stamp = join(root, 'dist', '.stamp')
  if (readOrEmpty(stamp) === expected) return
  if (!existsSync(join(root, 'node_modules', 'typescript'))) {
    if (existsSync(join(root, 'dist', 'src', 'main.js'))) return // built elsewhere, installed without development packages
    say(
      'dist/ is missing and the compiler is not installed: run `npm ci` (without --omit=dev) and `npm run build` first',
    )
    process.exit(78)
  }
  say('building WebAssembly and TypeScript (a minute or more) …')
  // Keep the pages: they have their own stamp, and building them takes seconds.
  for (const name of existsSync(join(root, 'dist')) ? readdirSync(join(root, 'dist')) : []) {
    if (name !== 'web') rmSync(join(root, 'dist', name), { recursive: true, force: true })
  }
  run(process.execPath, [join(root, 'scripts', 'build-wasm.mjs')], 'the WebAssembly build')
  // The client is a library, so it needs declarations for its users' compilers. The remaining code needs none.
  for (const project of ['tsconfig.build.json', 'tsconfig.client.json']) {
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project], 'tsc')
  }
  mkdirSync(join(root, 'dist'), { recursive: true })
  run(process.execPath, [join(root, 'scripts', 'build-store.mjs')], 'the build of the empty database')
  writeFileSync(stamp, digestSources())
}

/** Computes a digest of the names, sizes and times of all sources. This takes milliseconds; reading them would take seconds. */
function digestSources() {
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

/** Runs a command, and exits with its status when it fails. @param name names the step in messages */
export function run(command, args, name) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (result.error) say(`${name} could not start: ${result.error.message}`)
  if (result.status !== 0) {
    say(`${name} failed`)
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
