// src/wasm/assembly → src/wasm/generated/kernel.ts: the module's bytes as text, so that every runtime and bundler finds it.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import asc from 'assemblyscript/asc'
import { root } from './prepare.mjs'

const folder = mkdtempSync(join(tmpdir(), 'trigpoint-wasm-'))
const binary = join(folder, 'kernel.wasm')
// --noAssert: requests are checked at the edge. No relaxed SIMD, ever: its results differ between machines.
const flags = ['--runtime', 'stub', '--noAssert', '-O3', '--converge', '--outFile', binary]
const { error, stderr } = await asc.main([join(root, 'src/wasm/assembly/index.ts'), ...flags])
if (error) {
  console.error(stderr.toString())
  throw error
}
const target = join(root, 'src', 'wasm', 'generated')
mkdirSync(target, { recursive: true })
writeFileSync(
  join(target, 'kernel.ts'),
  `// Made from src/wasm/assembly by scripts/build-wasm.mjs. Do not edit.\nexport const kernelBase64 =\n  '${readFileSync(binary).toString('base64')}'\n`,
)
rmSync(folder, { recursive: true })
