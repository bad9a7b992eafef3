// Formats and lints the AssemblyScript kernel with Biome, whose parser knows no decorators of functions: each `@inline` is a comment
// while Biome reads a copy of the files. `npm run check` runs it; `node scripts/check-kernel.mjs --write` formats the files.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root } from './prepare.mjs'

const DECORATOR = /^@inline$/gm
const COMMENT = /^\/\/@inline$/gm

const kernel = join(root, 'src', 'wasm', 'assembly')
const files = readdirSync(kernel, { recursive: true }).filter((file) => file.endsWith('.ts'))
const copy = mkdtempSync(join(tmpdir(), 'kernel-'))
try {
  const { $schema, vcs, files: _, ...config } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8'))
  // Functions of many numbers: one parameter per line would hide the formulae.
  config.formatter.lineWidth = 130
  // In AssemblyScript `==` compares numbers, x == x is false for NaN only, `unchecked` takes an assignment, integers have 64 bits,
  // and imports need no `type`. A limit near √½ is meant as it is written.
  const off = ['noDoubleEquals', 'noSelfCompare', 'noAssignInExpressions', 'noApproximativeNumericConstant']
  config.linter.rules.suspicious = Object.fromEntries(off.map((rule) => [rule, 'off']))
  config.linter.rules.correctness = { noPrecisionLoss: 'off' }
  config.linter.rules.performance = { noBarrelFile: 'off' } // index.ts is the list of the module's exports
  config.linter.rules.style = { ...config.linter.rules.style, useImportType: 'off' }
  writeFileSync(join(copy, 'biome.json'), JSON.stringify(config))
  for (const file of files) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), readFileSync(join(kernel, file), 'utf8').replace(DECORATOR, '//@inline'))
  }
  const writes = process.argv.includes('--write')
  const biome = join(root, 'node_modules', '.bin', 'biome')
  const options = ['check', '--error-on-warnings', ...(writes ? ['--write'] : []), ...files]
  const { status } = spawnSync(biome, options, { cwd: copy, stdio: 'inherit' })
  if (writes) {
    for (const file of files) {
      writeFileSync(join(kernel, file), readFileSync(join(copy, file), 'utf8').replace(COMMENT, '@inline'))
    }
  }
  process.exitCode = status ?? 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
