// Compiles src/wasm/assembly to src/wasm/generated/*.ts: the modules as base64 text, which every runtime and bundler can load.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './prepare.mjs'

// Never enable relaxed SIMD: its results differ between machines.
// --maximumMemory: 1 GiB in pages, the limit of the arena (assembly/math/memory.ts).
const FLAGS = ['--runtime', 'stub', '-O3', '--converge', '--maximumMemory', '16384']

/**
 * The sources are compiled three times. `checked` is for tests and asserts the contract of every export. The others rely on the
 * service, which validates requests.
 */
const BUILDS = {
  simd: ['--noAssert', '--enable', 'simd'],
  scalar: ['--noAssert'],
  checked: ['--enable', 'simd'],
}

const generated = join(root, 'src', 'wasm', 'generated')
const script = fileURLToPath(import.meta.url)

/**
 * Compiles the kernels whose sources have changed, each in its own process, because each keeps a core busy for many seconds. If
 * one fails, throws an error and keeps the previous module; the compiler's message goes to standard error.
 */
export async function buildWasm(names = Object.keys(BUILDS)) {
  const sources = digestSources()
  const stale = names.filter((name) => !isFresh(name, sources))
  await Promise.all(stale.map(compileInProcess))
}

function compileInProcess(name) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, '--one', name], { stdio: ['ignore', 2, 2] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the build of ${name}.wasm failed`))))
  })
}

async function compile(name) {
  const { default: asc } = await import('assemblyscript/asc')
  const sources = digestSources()
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
  // Written to a temporary file and renamed, so that readers never see an incomplete module.
  const temporary = join(generated, `${name}.${process.pid}.tmp`)
  writeFileSync(
    temporary,
    `// DO NOT EDIT: made from src/wasm/assembly by scripts/build-wasm.mjs.\n// Sources: ${sources}\nexport const ${name}Base64 =\n  '${Buffer.from(bytes).toString('base64')}'\n`,
  )
  renameSync(temporary, join(generated, `${name}.ts`))
}

function isFresh(name, sources) {
  const file = join(generated, `${name}.ts`)
  return existsSync(file) && readFileSync(file, 'utf8').includes(`// Sources: ${sources}\n`)
}

/** Computes a digest of everything that determines the modules: their sources, this file with its flags, and the compiler. */
function digestSources() {
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
