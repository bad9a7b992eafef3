// Compiles src/wasm/assembly to src/wasm/generated/*.ts: the modules as base64 text, which every runtime and bundler can load. The
// modules of the service are in git, so that `npm start` needs no compiler. With `--check` it writes nothing, and exits with 1 when
// one of them is not what the compiler makes from the sources.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

// Never enable relaxed SIMD: its results differ between machines.
// --maximumMemory: 1 GiB in pages, the limit of the arena (assembly/math/memory.ts).
const FLAGS = ['--runtime', 'stub', '-O3', '--maximumMemory', '16384']

/**
 * The sources are compiled three times. `checked` is for tests and asserts the contract of every export. The others rely on the
 * service, which validates requests.
 */
const BUILDS = {
  simd: ['--noAssert', '--enable', 'simd'],
  scalar: ['--noAssert'],
  checked: ['--enable', 'simd'],
}

export const KERNELS = Object.keys(BUILDS)
/** The modules of the service, which are in git. */
const COMMITTED = ['simd', 'scalar']

const generated = join(root, 'src', 'wasm', 'generated')
const script = fileURLToPath(import.meta.url)
const fileOf = (name) => join(generated, `${name}.ts`)

/**
 * Compiles the kernels whose sources have changed, each in its own process, because each keeps a core busy for many seconds. If
 * one fails, throws an error and keeps the previous module; the compiler's message goes to standard error.
 */
export async function buildWasm(names = KERNELS) {
  const stale = names.filter((name) => !isKernelFresh(name))
  for (const name of stale) if (process.env.CI && COMMITTED.includes(name)) throw new Error(staleText(name))
  await Promise.all(stale.map((name) => compileInProcess(name)))
}

function compileInProcess(name, ...flags) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, '--one', name, ...flags], { stdio: ['ignore', 2, 2] })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`the build of ${name}.wasm failed`))))
  })
}

const staleText = (name) =>
  `src/wasm/generated/${name}.ts was not made from these sources: run \`npm run build\` and commit the file`

/** Returns the TypeScript file of a module. */
async function compile(name) {
  const { default: asc } = await import('assemblyscript/asc')
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
  return `// DO NOT EDIT: made from src/wasm/assembly by scripts/build-wasm.mjs.\n${sourcesLine(name)}export const ${name}Base64 =\n  '${Buffer.from(bytes).toString('base64')}'\n`
}

/** Writes to a temporary file and renames it, so that readers never see an incomplete module. */
function writeModule(name, text) {
  mkdirSync(generated, { recursive: true })
  const temporary = join(generated, `${name}.${process.pid}.tmp`)
  writeFileSync(temporary, text)
  renameSync(temporary, fileOf(name))
}

/** Returns true when a module was made from the present sources. Reads only files of the repository. */
export function isKernelFresh(name) {
  return existsSync(fileOf(name)) && readFileSync(fileOf(name), 'utf8').includes(sourcesLine(name))
}

/** The line with the digest of everything that determines a module: its sources, the flags, and the compiler's versions. */
function sourcesLine(name) {
  const folder = join(root, 'src', 'wasm', 'assembly')
  const files = readdirSync(folder, { recursive: true }).filter((file) => file.endsWith('.ts'))
  const hash = createHash('sha256').update(JSON.stringify([FLAGS, BUILDS[name]]))
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const tool of ['assemblyscript', 'binaryen'])
    hash.update(`${tool} ${packages[`node_modules/${tool}`].version}\n`)
  for (const file of files.sort()) {
    hash.update(`${file.replaceAll('\\', '/')}\n`).update(readFileSync(join(folder, file)))
  }
  return `// Sources: ${hash.digest('hex')}\n`
}

if (script === process.argv[1]) {
  const [first, name, flag] = process.argv.slice(2)
  if (first === '--check') {
    await Promise.all(COMMITTED.map((name) => compileInProcess(name, '--check'))).catch(() => {
      process.exitCode = 1
    })
  } else if (first !== '--one') {
    await buildWasm(first === undefined ? undefined : process.argv.slice(2))
  } else if (flag !== '--check') {
    writeModule(name, await compile(name))
  } else if (readFileSync(fileOf(name), 'utf8') !== (await compile(name))) {
    process.stderr.write(`${staleText(name)}\n`)
    process.exitCode = 1
  }
}
