// src/wasm/assembly → src/wasm/generated/*.ts: the modules' bytes as text, so that every runtime and bundler finds them.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './prepare.mjs'

// No relaxed SIMD ever: its results differ between machines.
// --maximumMemory: 1 GiB in pages, the ceiling of the arena (assembly/memory.ts).
const FLAGS = ['--runtime', 'stub', '-O3', '--converge', '--maximumMemory', '16384']

/**
 * The same sources three times. `checked` is for tests: it asserts the contract of every export, which the others leave to
 * the edge of the service, where requests are checked.
 */
const BUILDS = {
  simd: ['--noAssert', '--enable', 'simd'],
  scalar: ['--noAssert'],
  checked: ['--enable', 'simd'],
}

const generated = join(root, 'src', 'wasm', 'generated')
const script = fileURLToPath(import.meta.url)

/**
 * Compiles the kernels whose sources have changed, each in a process of its own, for each keeps a core busy for many seconds.
 * Throws what the compiler said, and leaves the last good ones in place then.
 */
export async function buildWasm(names = Object.keys(BUILDS)) {
  const sources = sourceDigest()
  const stale = names.filter((name) => !isFresh(name, sources))
  await Promise.all(stale.map(compileApart))
}

function compileApart(name) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, '--one', name], { stdio: ['ignore', 2, 2] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the build of ${name}.wasm failed`))))
  })
}

async function compile(name) {
  const { default: asc } = await import('assemblyscript/asc')
  const sources = sourceDigest()
  let bytes
  const outFile = `${name}.wasm`
  const { error, stderr } = await asc.main(
    [join(root, 'src/wasm/assembly/index.ts'), ...FLAGS, ...BUILDS[name], '--outFile', outFile],
    {
      writeFile: (file, contents) => {
        if (file === outFile) bytes = contents
      },
    },
  )
  if (error || bytes === undefined) throw new Error(`asc failed (${name}):\n${stderr}`, { cause: error ?? undefined })
  mkdirSync(generated, { recursive: true })
  // Renamed into place: a reader sees the old module or the new one, never half of one.
  const unfinished = join(generated, `${name}.${process.pid}.tmp`)
  writeFileSync(
    unfinished,
    `// DO NOT EDIT: made from src/wasm/assembly by scripts/build-wasm.mjs.\n// Sources: ${sources}\nexport const ${name}Base64 =\n  '${Buffer.from(bytes).toString('base64')}'\n`,
  )
  renameSync(unfinished, join(generated, `${name}.ts`))
}

function isFresh(name, sources) {
  const file = join(generated, `${name}.ts`)
  return existsSync(file) && readFileSync(file, 'utf8').includes(`// Sources: ${sources}\n`)
}

/** Of everything that decides what the modules are: their sources, the flags in this file, and the compiler. */
function sourceDigest() {
  const folder = join(root, 'src', 'wasm', 'assembly')
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts'))
  const hash = createHash('sha256')
  for (const file of [
    ...files.sort().map((file) => join(folder, file)),
    script,
    join(root, 'node_modules', 'assemblyscript', 'package.json'),
  ]) {
    hash.update(`${file.slice(root.length)}\n`).update(readFileSync(file))
  }
  return hash.digest('hex')
}

if (script === process.argv[1]) {
  const [first, ...names] = process.argv.slice(2)
  if (first === '--one') await compile(names[0])
  else await buildWasm(first === undefined ? undefined : [first, ...names])
}
