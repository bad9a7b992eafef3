import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

// The house plan of docs/architecture.md as data. A room is a folder of src/ (or workers); files directly in src/ are
// rooms of their own name. Each room may import itself, the rooms listed, and the packages it owns.
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
  // The pages speak to the service over HTTP; what they share with it is what they check and preview with.
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
  readonly room: string
  readonly target: string
}

function sourceFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !file.includes('/wasm/assembly/') && !file.includes('/wasm/generated/'))
}

function roomOf(file: string): string {
  const [top, second = ''] = relative(root, file).split('/')
  return top === 'src' ? second.replace(/\.ts$/, '') : (top ?? '')
}

const ROOMS = ['src', 'workers', 'web/explorer']

const imports: Import[] = ROOMS.flatMap(sourceFiles).flatMap((file) => {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(?:^(?:import|export)\b[^']*?\bfrom|^import|\bimport\(|require\()\s*'([^']+)'/gm)].map(
    (match) => ({
      file: relative(root, file),
      room: roomOf(file),
      target: match[1]!,
    }),
  )
})

describe('the house', () => {
  it('has a row in the table for every room', () => {
    const rooms = new Set(ROOMS.flatMap(sourceFiles).map(roomOf))
    expect([...rooms].filter((room) => !(room in MAY_IMPORT))).toEqual([])
  })

  it('imports downward only', () => {
    const wrong = imports.filter(({ file, room, target }) => {
      if (!target.startsWith('.') || target.endsWith('.json')) return false
      const other = roomOf(resolve(root, file, '..', target))
      const allowed = MAY_IMPORT[room] ?? []
      return other !== room && !allowed.includes(other) && !allowed.includes('*')
    })
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('uses each package in the rooms that own it', () => {
    const wrong = imports.filter(({ room, target }) => {
      if (target.startsWith('.') || target.startsWith('node:')) return false
      const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0]!
      return !OWNERS[name]?.includes(room)
    })
    expect(wrong.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('names Node.js modules with their prefix', () => {
    const bare = imports.filter(({ target }) => builtinModules.includes(target))
    expect(bare.map(({ file, target }) => `${file} → ${target}`)).toEqual([])
  })

  it('reads the environment in config-key.ts, the signer and the two programs alone', () => {
    const readers = ['src', 'workers']
      .flatMap(sourceFiles)
      .filter((file) => /process\.env\b/.test(readFileSync(file, 'utf8')))
      .map((file) => relative(root, file))
    const allowed = ['src/main.ts', 'src/trigpoint.ts', 'src/config-key.ts', 'workers/signer.ts']
    expect(readers.filter((file) => !allowed.includes(file))).toEqual([])
  })

  it('gives the client nothing that a browser lacks', () => {
    // Only what is there at run time: types are gone by then.
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
    expect([...seen]).toContain('src/topology/exact.ts')
    expect([...packages].sort()).toEqual([
      '@noble/curves/ed25519.js',
      '@noble/curves/secp256k1.js',
      '@noble/hashes/sha2.js',
      '@noble/hashes/sha3.js',
      'robust-predicates',
    ])
    // These two take it where there is one.
    const mayNameBuffer = ['src/crypto/hex.ts', 'src/wasm/loader.ts']
    const withoutComments = (file: string) =>
      readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
    const users = [...seen].filter((file) => /\b(?:Buffer|process|setImmediate|require)\b/.test(withoutComments(file)))
    expect(users.filter((file) => !mayNameBuffer.includes(file))).toEqual([])
  })

  it('starts no process in a test that holds the output of the test runner, which could not exit before it', () => {
    const inheriting = sourceFiles('test').filter((file) => /stdio: \[.*'inherit'/.test(readFileSync(file, 'utf8')))
    expect(inheriting.map((file) => relative(root, file))).toEqual([])
  })

  it('has no file over 250 lines but the giants named here', () => {
    const giants = ['src/types/generated.ts', 'src/config.ts']
    const long = ROOMS.flatMap(sourceFiles)
      .filter((file) => readFileSync(file, 'utf8').split('\n').length > 251)
      .map((file) => relative(root, file))
    expect(long.filter((file) => !giants.includes(file))).toEqual([])
  })
})
