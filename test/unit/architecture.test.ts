import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readPage } from '../markdown-pages.ts'

const root = resolve(import.meta.dirname, '../..')

// The scripts are plain JavaScript, so their types are stated here.
interface Import {
  readonly target: string | undefined
  readonly isFile: boolean
  readonly kind: 'import' | 'dynamic' | 'url'
  readonly isType: boolean
}
/** A node of a syntax tree (ESTree). */
interface Node {
  readonly type: string
  readonly name?: string
  readonly id?: Node | null
  readonly key?: Node
  readonly body?: unknown
}
type Graph = ReadonlyMap<
  string,
  { readonly text: string; readonly program: unknown; readonly imports: readonly Import[] }
>
const script = (name: string) => import(new URL(`../../scripts/${name}`, import.meta.url).href)
const { cycles, readSourceGraph, walk } = (await script('source-graph.mjs')) as {
  cycles(graph: Graph): string[][]
  readSourceGraph(): Graph
  walk(node: unknown, visit: (node: Node) => void): void
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

describe('docs/architecture.md', () => {
  const page = readPage('docs/architecture.md')
  const isModule = (name: string) => name in MAY_IMPORT
  const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)

  it('has the table of the modules, with what each may import and the packages that it owns', () => {
    const GROUND = ['base', 'types', 'wire']
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)]
    const table = rows.map(([, module, imports, packages]) => ({
      module,
      imports:
        imports === 'everything' ? ['*'] : [...names(imports!), ...(imports!.includes('*ground*') ? GROUND : [])],
      packages: names(packages!),
    }))
    const expected = Object.entries(MAY_IMPORT).map(([module, imports]) => ({
      module,
      imports,
      packages: Object.keys(OWNERS).filter((name) => OWNERS[name]!.includes(module)),
    }))
    const sorted = (list: typeof expected | typeof table) =>
      list.map(({ module, imports, packages }) => [module, imports.toSorted(), packages.toSorted()])
    expect(sorted(table)).toEqual(sorted(expected))
  })

  it('draws every module once, above all modules that it may import', () => {
    const [, drawing = ''] = /^```\n([^`]*│[^`]*)^```$/m.exec(page) ?? []
    const lines = drawing.split('\n').map((line) => line.split('│')[0]!.split(/\s+/).filter(Boolean))
    const lineOf = new Map(lines.flatMap((modules, line) => modules.map((module) => [module, line] as const)))
    expect(lines.flat().sort()).toEqual(Object.keys(MAY_IMPORT).sort())
    const upward = Object.entries(MAY_IMPORT).flatMap(([module, imports]) =>
      imports
        .filter((other) => isModule(other) && lineOf.get(other)! <= lineOf.get(module)!)
        .map((other) => [module, other]),
    )
    expect(upward).toEqual([])
  })

  it('names only files and functions that exist in its walks', () => {
    const steps = [...page.matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step!)
    expect(steps.length).toBeGreaterThan(50)
    expect(steps.filter((step) => !/^`(?:src|workers)\/[^`]+\.ts` `[^`]+`: \S/.test(step))).toEqual([])
    const mentions = [...page.matchAll(/`((?:src|workers)\/[^`\s]+\.ts)`\s+`([\w.]+)`/g)]
    expect(mentions.length).toBeGreaterThan(steps.length)
    const missing = mentions.filter(([, file, name]) => !definedNames(file!).has(name!))
    expect(missing.map(([text]) => text)).toEqual([])
  })

  it('names only source files that exist', () => {
    const paths = names(page).filter((name) => /^(?:src|workers)\/[\w/-]+\.ts$/.test(name))
    expect(paths.filter((path) => !graph.has(path))).toEqual([])
  })
})

/** Returns the names of the functions and classes of a file, methods as `name` and as `Class.name`; empty without such a file. */
function definedNames(file: string): ReadonlySet<string> {
  const defined = new Set<string>()
  const isFunction = (node: unknown) => /^(?:Arrow)?Function/.test((node as Node | null)?.type ?? '')
  walk(graph.get(file)?.program, (node) => {
    const { type, id, key, value, init, body } = node as Node & { readonly value?: Node; readonly init?: Node }
    if (/^(?:Function|Class)Declaration$/.test(type) && id?.name !== undefined) defined.add(id.name)
    if (type === 'VariableDeclarator' && isFunction(init)) defined.add(id!.name!)
    if (/^(?:Property|MethodDefinition)$/.test(type) && isFunction(value) && key?.name !== undefined)
      defined.add(key.name)
    if (type !== 'ClassDeclaration') return
    for (const member of (body as { readonly body: readonly Node[] }).body) {
      if (member.type === 'MethodDefinition') defined.add(`${id!.name}.${member.key?.name}`)
    }
  })
  return defined
}
