import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

// The scripts are plain JavaScript, so their types are stated here.
interface Import {
  readonly target: string | undefined
  readonly isFile: boolean
  readonly kind: 'import' | 'dynamic' | 'url'
  readonly isType: boolean
}
type Graph = ReadonlyMap<string, { readonly text: string; readonly imports: readonly Import[] }>
const script = (name: string) => import(new URL(`../../scripts/${name}`, import.meta.url).href)
const { cycles, readSourceGraph } = (await script('source-graph.mjs')) as {
  cycles(graph: Graph): string[][]
  readSourceGraph(): Graph
}
const { MAY_IMPORT, moduleOf, OWNERS, upwardImports } = (await script('layers.mjs')) as {
  readonly MAY_IMPORT: Readonly<Record<string, readonly string[]>>
  readonly OWNERS: Readonly<Record<string, readonly string[]>>
  moduleOf(file: string): string
  upwardImports(graph: Graph): string[]
}

const graph = readSourceGraph()
const files = [...graph.keys()]
/** The names of packages that are imported, with the files that import them. */
const packages = [...graph].flatMap(([file, { imports }]) =>
  imports.flatMap(({ target, isFile }) => (isFile || target === undefined ? [] : [{ file, target }])),
)

describe('the source modules', () => {
  it('all have a row in the table', () => {
    expect([...new Set(files.map(moduleOf))].filter((module) => !(module in MAY_IMPORT))).toEqual([])
  })

  it('import only the modules listed for them', () => {
    expect(upwardImports(graph)).toEqual([])
  })

  it('import no file that imports them, types included', () => {
    expect(cycles(graph)).toEqual([])
  })

  it('use a package only if they own it', () => {
    const violations = packages.filter(({ file, target }) => {
      if (target.startsWith('node:')) return false
      const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0]!
      return !OWNERS[name]?.includes(moduleOf(file))
    })
    expect(violations.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('import Node.js modules with the node: prefix', () => {
    const unprefixed = packages.filter(({ target }) => builtinModules.includes(target))
    expect(unprefixed.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('read the environment only in config/signing-key.ts, the signer and the two programs', () => {
    const readers = [...graph].filter(([, { text }]) => /process\.env\b/.test(text)).map(([file]) => file)
    const allowed = ['src/main.ts', 'src/trigpoint.ts', 'src/config/signing-key.ts', 'workers/signer.ts']
    expect(readers.filter((file) => !allowed.includes(file))).toEqual([])
  })

  it('give the client nothing that a browser lacks', () => {
    const seen = new Set(['src/client/client.ts', 'src/client/recompute.ts'])
    const packages = new Set<string>()
    for (const file of seen) {
      // Only imports that exist at run time: imports of types are erased.
      for (const { target, isFile, isType } of graph.get(file)?.imports ?? []) {
        if (isType || target === undefined) continue
        if (isFile) seen.add(target)
        else packages.add(target)
      }
    }
    expect([...seen]).toContain('src/topology/exact/exact.ts')
    expect([...packages].sort()).toEqual([
      '@noble/curves/ed25519.js',
      '@noble/curves/secp256k1.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/sha3.js',
      'robust-predicates',
    ])
    // These two use Buffer where it exists.
    const mayNameBuffer = ['src/crypto/hex.ts', 'src/wasm/loader.ts']
    const withoutComments = (file: string) =>
      readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const filesWithNodeNames = [...seen].filter((file) =>
      /\b(?:Buffer|process|setImmediate|require)\b/.test(withoutComments(file)),
    )
    expect(filesWithNodeNames.filter((file) => !mayNameBuffer.includes(file))).toEqual([])
  })

  it('are tested without child processes that inherit the output of the test runner, which could not exit before them', () => {
    const tests = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    const filesThatInherit = tests
      .filter((file) => file.endsWith('.ts'))
      .filter((file) => /stdio: \[.*'inherit'/.test(readFileSync(join(root, 'test', file), 'utf8')))
    expect(filesThatInherit).toEqual([])
  })
})
