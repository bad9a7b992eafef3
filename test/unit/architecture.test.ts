import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

// The layers of docs/architecture.md as data. A module is a folder of src/, a file directly in src/ (named without its
// suffix), workers/ or web/. Each module may import itself, the modules listed for it, and the packages it owns.
const BASE = [
  'types',
  'problem',
  'packed-bytes',
  'free-buffer',
  'weighed-map',
  'make-folder',
  'messages',
  'signing-records',
  'batch-messages',
  'evidence-messages',
  'store-messages',
  'relay-messages',
  'sync-messages',
]
const MAY_IMPORT: Record<string, readonly string[]> = {
  types: [],
  problem: [],
  'packed-bytes': [],
  'free-buffer': [],
  'weighed-map': [],
  'make-folder': [],
  config: [],
  'config-key': ['config'],
  log: ['config'],
  metrics: [],
  units: [],
  messages: ['problem', 'packed-bytes', 'types', 'relay-messages', 'evidence-messages'],
  'signing-records': ['messages', 'problem'],
  'relay-messages': ['messages'],
  'batch-messages': ['messages', 'packed-bytes', 'problem'],
  'evidence-messages': ['messages', 'problem', 'packed-bytes'],
  'store-messages': ['messages', 'relay-messages', 'sync-messages'],
  'sync-messages': ['messages'],
  wasm: [],
  crypto: BASE,
  validation: BASE,
  geometry: ['wasm', ...BASE],
  geodesy: ['wasm', 'geometry', 'units', ...BASE],
  topology: ['wasm', 'geometry', 'geodesy', ...BASE],
  compute: ['geometry', 'geodesy', 'topology', 'crypto', 'wasm', 'units', ...BASE],
  attest: ['crypto', 'units', 'config', ...BASE],
  store: BASE,
  sync: ['attest', 'store', 'geometry', 'crypto', 'log', 'config', ...BASE],
  verify: ['geometry', 'topology', 'crypto', ...BASE],
  workers: [
    'validation',
    'geodesy',
    'verify',
    'geometry',
    'crypto',
    'compute',
    'attest',
    'sync',
    'store',
    'wasm',
    'units',
    'config',
    'config-key',
    'log',
    ...BASE,
  ],
  threads: ['config', 'log', ...BASE],
  service: ['threads', 'geometry', 'validation', 'compute', 'verify', 'attest', 'crypto', 'config', 'units', ...BASE],
  http: ['service', 'validation', 'compute', 'config', 'log', 'metrics', ...BASE],
  client: ['attest', 'compute', 'config', 'crypto', 'geometry', 'units', 'verify', 'wasm', ...BASE],
  mcp: ['client', 'compute', 'geometry', 'units', 'version', ...BASE],
  // The pages call the service over HTTP. They share only the code with which they check and preview.
  web: ['client', 'compute', 'crypto', 'geometry', 'units', 'wasm', ...BASE],
  'local-chain': ['config', 'log', 'attest', 'store', 'sync', 'service', ...BASE],
  cli: ['*'],
  version: [],
  start: ['*'],
  main: ['*'],
  trigpoint: ['*'],
}
const OWNERS: Record<string, readonly string[]> = {
  secp256k1: ['crypto'],
  koffi: ['crypto'],
  '@bitauth/libauth': ['crypto'],
  'hash-wasm': ['crypto'],
  '@noble/curves': ['crypto'],
  '@noble/hashes': ['crypto'],
  ajv: ['validation'],
  graphql: ['service'],
  commander: ['cli'],
  saxes: ['cli'],
  'robust-predicates': ['topology'],
  wkx: ['geometry'],
  'h3-js': ['geometry'],
  '@modelcontextprotocol/sdk': ['mcp'],
  viem: ['attest', 'sync', 'local-chain'],
  piscina: ['threads', 'workers'],
  pg: ['store'],
  '@electric-sql/pglite': ['store'],
  'uWebSockets.js': ['http'],
  'maplibre-gl': ['web'],
}

interface Import {
  readonly file: string
  readonly module: string
  readonly target: string
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/wasm/assembly/') && !file.includes('/wasm/generated/'))
}

function moduleOf(file: string): string {
  const [top, second = ''] = relative(root, file).split('/')
  return top === 'src' ? second.replace(/\.ts$/, '') : (top ?? '')
}

const SOURCE_FOLDERS = ['src', 'workers', 'web/explorer']

const imports: Import[] = SOURCE_FOLDERS.flatMap(sourceFiles).flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:^(?:import|export)\b[^']*?\bfrom|^import|\bimport\(|require\()\s*'([^']+)'/gm)].map(
    (match) => ({
      file: relative(root, file),
      module: moduleOf(file),
      target: match[1]!,
    }),
  )
})

describe('the source modules', () => {
  it('all have a row in the table', () => {
    const modules = new Set(SOURCE_FOLDERS.flatMap(sourceFiles).map(moduleOf))
    expect([...modules].filter((module) => !(module in MAY_IMPORT))).toEqual([])
  })

  it('import only the modules listed for them', () => {
    const violations = imports.filter(({ file, module, target }) => {
      if (!target.startsWith('.') || target.endsWith('.json')) return false
      const targetModule = moduleOf(resolve(root, file, '..', target))
      const allowed = MAY_IMPORT[module] ?? []
      return targetModule !== module && !allowed.includes(targetModule) && !allowed.includes('*')
    })
    expect(violations.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('use a package only if they own it', () => {
    const violations = imports.filter(({ module, target }) => {
      if (target.startsWith('.') || target.startsWith('node:')) return false
      const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0]!
      return !OWNERS[name]?.includes(module)
    })
    expect(violations.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('import Node.js modules with the node: prefix', () => {
    const unprefixed = imports.filter(({ target }) => builtinModules.includes(target))
    expect(unprefixed.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('read the environment only in config/signing-key.ts, the signer and the two programs', () => {
    const readers = ['src', 'workers']
      .flatMap(sourceFiles)
      .filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')))
      .map((file) => relative(root, file))
    const allowed = ['src/main.ts', 'src/trigpoint.ts', 'src/config/signing-key.ts', 'workers/signer.ts']
    expect(readers.filter((file) => !allowed.includes(file))).toEqual([])
  })

  it('give the client nothing that a browser lacks', () => {
    // Only imports that exist at run time: imports of types are erased.
    const valueImports = (file: string) =>
      [
        ...readFileSync(join(root, file), 'utf8').matchAll(
          /^(?:import|export) (?!type )[^']*?from '([^']+)'|import\('([^']+)'\)/gm,
        ),
      ]
        .filter(([statement]) => !/^\w+ \{(?:\s*type \w+,?)+\s*\} from/.test(statement))
        .map((match) => match[1] ?? match[2]!)
    const seen = new Set(['src/client/client.ts', 'src/client/recompute.ts'])
    const packages = new Set<string>()
    for (const file of seen) {
      for (const target of valueImports(file)) {
        if (target.startsWith('.')) seen.add(relative(root, resolve(root, file, '..', target)))
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
    const filesThatInherit = sourceFiles('test').filter((file) =>
      /stdio: \[.*'inherit'/.test(readFileSync(file, 'utf8')),
    )
    expect(filesThatInherit.map((file) => relative(root, file))).toEqual([])
  })
})
