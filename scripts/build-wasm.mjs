// src/wasm/assembly → src/wasm/generated/kernel.ts: the module's bytes as text, so that every runtime and bundler finds it.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'
import { root } from './prepare.mjs'

// --noAssert: requests are checked at the edge. No SIMD yet, and no relaxed SIMD ever: its results differ between machines.
// --maximumMemory: 1 GiB in pages, the ceiling of the arena (assembly/memory.ts).
const FLAGS = [
  '--runtime',
  'stub',
  '--noAssert',
  '-O3',
  '--converge',
  '--maximumMemory',
  '16384',
  '--outFile',
  'kernel.wasm',
]

/** Compiles the kernel and writes it. Throws what the compiler said, and leaves the last good kernel in place then. */
export async function buildWasm() {
  let bytes
  const { error, stderr } = await asc.main([join(root, 'src/wasm/assembly/index.ts'), ...FLAGS], {
    writeFile: (name, contents) => {
      if (name === 'kernel.wasm') bytes = contents
    },
  })
  if (error || bytes === undefined) throw new Error(`asc failed:\n${stderr}`, { cause: error ?? undefined })
  const folder = join(root, 'src', 'wasm', 'generated')
  mkdirSync(folder, { recursive: true })
  // Renamed into place: a reader sees the old kernel or the new one, never half of one.
  const unfinished = join(folder, `kernel.${process.pid}.tmp`)
  writeFileSync(
    unfinished,
    `// DO NOT EDIT: made from src/wasm/assembly by scripts/build-wasm.mjs.\nexport const kernelBase64 =\n  '${Buffer.from(bytes).toString('base64')}'\n`,
  )
  renameSync(unfinished, join(folder, 'kernel.ts'))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await buildWasm()
