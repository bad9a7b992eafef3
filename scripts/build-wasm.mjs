// src/wasm/assembly → src/wasm/generated/*.ts: the modules' bytes as text, so that every runtime and bundler finds them.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'
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

/** Compiles the kernels and writes them. Throws what the compiler said, and leaves the last good ones in place then. */
export async function buildWasm(names = Object.keys(BUILDS)) {
  const modules = await Promise.all(names.map((name) => compile(name, BUILDS[name])))
  const folder = join(root, 'src', 'wasm', 'generated')
  mkdirSync(folder, { recursive: true })
  for (const { name, bytes } of modules) {
    // Renamed into place: a reader sees the old module or the new one, never half of one.
    const unfinished = join(folder, `${name}.${process.pid}.tmp`)
    writeFileSync(
      unfinished,
      `// DO NOT EDIT: made from src/wasm/assembly by scripts/build-wasm.mjs.\nexport const ${name}Base64 =\n  '${Buffer.from(bytes).toString('base64')}'\n`,
    )
    renameSync(unfinished, join(folder, `${name}.ts`))
  }
}

async function compile(name, flags) {
  let bytes
  const outFile = `${name}.wasm`
  const { error, stderr } = await asc.main(
    [join(root, 'src/wasm/assembly/index.ts'), ...FLAGS, ...flags, '--outFile', outFile],
    {
      writeFile: (file, contents) => {
        if (file === outFile) bytes = contents
      },
    },
  )
  if (error || bytes === undefined) throw new Error(`asc failed (${name}):\n${stderr}`, { cause: error ?? undefined })
  return { name, bytes }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const names = process.argv.slice(2)
  await buildWasm(names.length > 0 ? names : undefined)
}
