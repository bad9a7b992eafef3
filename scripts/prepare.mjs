// Prepares for `npm start`, `npm test` and others: checks the version of Node.js, installs the packages of the lock file, and
// builds. Uses only Node.js itself, because it runs before anything is installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { areDocsFresh } from './build-docs.mjs'
import { isStoreFresh } from './build-store.mjs'
import { buildWasm, isKernelFresh, KERNELS } from './build-wasm.mjs'
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
  'tsconfig.client.json',
  'package.json',
]

/** Interval of the lines that say how long the installation has taken. npm itself prints nothing. */
const PROGRESS_MS = 10_000

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

/**
 * The sets of packages, each with those before it: what `npm start` runs and builds with (scripts/packages/build), the chain of
 * `--chain` (scripts/packages/chain), and the tools of tests, checks and benchmarks. npm can install a workspace and not another.
 */
const INSTALLS = [
  {
    set: 'start',
    flags: ['--omit=dev', '--include-workspace-root', '--workspace=trigpoint-build'],
    what: 'to run and build',
  },
  { set: 'chain', flags: ['--omit=dev'], what: 'to run, to build and for the local chain' },
  { set: 'all', flags: [], what: 'to run, build and test' },
]

/**
 * Installs the packages of the lock file that are missing. Never runs install scripts, and never removes a larger set.
 *
 * @param set `start`, `chain` or `all`
 */
export async function ensureInstalled(set = 'all') {
  const lock = readFileSync(join(root, 'package-lock.json'))
  const expected = createHash('sha256').update(lock).digest('hex')
  const stamp = join(root, 'node_modules', '.trigpoint-lock')
  const isCurrent = readOrEmpty(stamp) === expected || matchesLock(lock)
  if (!isCurrent || packagesOf(set).some((name) => !isInstalled(name))) {
    const present = isInstalled('vitest') ? 'all' : isInstalled('@foundry-rs') ? 'chain' : 'start'
    const { flags, what } = INSTALLS.findLast((row) => row.set === set || row.set === present)
    say(`installing the packages ${what} (once) …`)
    const startMs = performance.now()
    const progress = setInterval(() => say(`still installing, ${secondsSince(startMs)} s`), PROGRESS_MS)
    await run(
      'npm',
      [
        ...(isCurrent ? ['install', '--no-save'] : ['ci']),
        ...flags,
        '--ignore-scripts',
        '--prefer-offline',
        '--no-audit',
        '--no-fund',
        '--loglevel=error',
      ],
      'npm (see above; it needs access to the npm registry once; then try again)',
    )
    clearInterval(progress)
    say(`installed the packages in ${secondsSince(startMs)} s`)
  }
  if (readOrEmpty(stamp) !== expected) writeFileSync(stamp, expected)
}

const isInstalled = (name) => existsSync(join(root, 'node_modules', name))

/** Returns the names of the packages that a set requires on this machine. */
function packagesOf(set) {
  const read = (folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const { dependencies, devDependencies } = read('.')
  const names = Object.keys({ ...dependencies, ...read('scripts/packages/build').dependencies })
  if (set === 'all') names.push(...Object.keys(devDependencies))
  // npm has anvil for the platform in its name only.
  if (set === 'chain' && process.platform === 'linux' && process.arch === 'x64') {
    names.push(...Object.keys(read('scripts/packages/chain').optionalDependencies))
  }
  return names
}

/** Returns true when all installed packages have the versions of the lock file. */
function matchesLock(lock) {
  const text = readOrEmpty(join(root, 'node_modules', '.package-lock.json'))
  if (text === '') return false
  const locked = JSON.parse(lock).packages
  return Object.entries(JSON.parse(text).packages).every(([path, { version }]) => locked[path]?.version === version)
}

/**
 * Builds into dist/ what is missing or has changed sources: the code, the pages and the empty database. For the set `all` also the
 * kernel for tests and the types of the client.
 */
export async function ensureBuilt(set = 'all') {
  const kernels = KERNELS.filter((name) => (set === 'all' || name !== 'checked') && !isKernelFresh(name))
  if (kernels.length > 0) {
    await ensureInstalled('all') // for the compiler
    await timed('WebAssembly', () => buildWasm(kernels)).catch((error) => {
      say(error.message)
      process.exit(1)
    })
  }
  await Promise.all([
    buildCode(set),
    isWebFresh() || runTimed('the explorer', 'build-web.mjs'),
    isStoreFresh() || runTimed('the empty database', 'build-store.mjs'),
  ])
}

/** Builds the code, and then what is made from it. */
async function buildCode(set) {
  const digest = digestSources()
  const stamp = join(root, 'dist', '.stamp')
  const typesStamp = join(root, 'dist', '.types-stamp')
  if (readOrEmpty(stamp) !== digest) {
    // What has its own stamp stays.
    const kept = ['web', 'empty-store.tar.gz', '.empty-store-stamp']
    for (const name of existsSync(join(root, 'dist')) ? readdirSync(join(root, 'dist')) : []) {
      if (!kept.includes(name)) rmSync(join(root, 'dist', name), { recursive: true })
    }
    await runTimed('the code', 'compile.mjs')
    writeFileSync(stamp, digest)
  }
  await Promise.all([
    areDocsFresh() || runTimed('the pages of /docs', 'build-docs.mjs'),
    // The client is a library, so it needs declarations for its users' compilers. The remaining code needs none.
    set === 'all' &&
      readOrEmpty(typesStamp) !== digest &&
      runTimed('the types of the client', '../node_modules/typescript/bin/tsc', '-p', 'tsconfig.client.json').then(() =>
        writeFileSync(typesStamp, digest),
      ),
  ])
}

/** Runs a script of this folder in its own process, and exits when it fails. */
function runTimed(what, script, ...args) {
  return timed(
    what,
    () =>
      new Promise((resolve) => {
        const child = spawn(process.execPath, [join(root, 'scripts', script), ...args], {
          cwd: root,
          stdio: ['ignore', 2, 2],
        })
        child.on('exit', (status) => {
          if (status === 0) return resolve()
          say(`the build of ${what} failed`)
          process.exit(status ?? 1)
        })
      }),
  )
}

async function timed(what, build) {
  const startMs = performance.now()
  await build()
  say(`built ${what} in ${secondsSince(startMs)} s`)
}

const secondsSince = (startMs) => ((performance.now() - startMs) / 1000).toFixed(1)

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
function run(command, args, name) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 2, 2] })
    const fail = (text, status) => {
      say(`${name} ${text}`)
      process.exit(status ?? 1)
    }
    child.on('error', (error) => fail(`could not start: ${error.message}`))
    child.on('exit', (status) => (status === 0 ? resolve() : fail('failed', status)))
  })
}

function readOrEmpty(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
