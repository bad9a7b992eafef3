// The layers of docs/architecture.md as data, for the architecture test and for `house.mjs`. A module is a folder of src/, a file
// directly in src/ (named without its suffix), workers/ or web/. Each module may import itself, the modules listed for it, and
// the packages it owns.
const BELOW = ['base', 'types', 'wire']

/** @type {Record<string, readonly string[]>} `*` stands for all modules */
export const MAY_IMPORT = {
  base: [],
  types: [],
  wasm: [],
  wire: ['base', 'types'],
  config: ['base', 'wire'],
  crypto: BELOW,
  validation: BELOW,
  store: BELOW,
  geometry: ['crypto', 'wasm', ...BELOW],
  geodesy: ['geometry', 'wasm', ...BELOW],
  topology: ['geometry', 'wasm', ...BELOW],
  attest: ['config', 'crypto', ...BELOW],
  // Shares no code with what it judges.
  'cross-check': BELOW,
  compute: ['attest', 'crypto', 'geodesy', 'geometry', 'topology', 'validation', 'wasm', ...BELOW],
  verify: ['attest', 'compute', 'crypto', 'geodesy', 'geometry', 'topology', 'validation', ...BELOW],
  sync: ['attest', 'config', 'crypto', 'geometry', 'store', ...BELOW],
  relay: ['attest', 'config', 'crypto', 'store', 'sync', ...BELOW],
  workers: [
    'attest',
    'compute',
    'config',
    'cross-check',
    'crypto',
    'relay',
    'store',
    'sync',
    'verify',
    'wasm',
    ...BELOW,
  ],
  threads: ['config', ...BELOW],
  service: [...['attest', 'compute', 'config', 'crypto', 'geometry', 'threads', 'validation', 'verify'], ...BELOW],
  http: ['config', 'service', 'validation', ...BELOW],
  'local-chain': ['attest', 'config', 'crypto', 'service', 'store', 'sync', ...BELOW],
  client: ['attest', 'compute', 'config', 'crypto', 'geometry', 'verify', 'wasm', ...BELOW],
  // What programs import to compute without a service.
  library: ['compute', 'crypto', 'geodesy', 'geometry', 'wasm', ...BELOW],
  mcp: ['client', 'compute', 'geometry', ...BELOW],
  // The pages call the service over HTTP. They share only the code with which they check and preview.
  web: ['client', 'compute', 'crypto', 'geometry', 'wasm', ...BELOW],
  cli: ['*'],
  processes: ['*'],
  start: ['*'],
  main: ['*'],
  trigpoint: ['*'],
}
/** @type {Record<string, readonly string[]>} modules that may import a package */
export const OWNERS = {
  secp256k1: ['crypto'],
  koffi: ['crypto'],
  '@bitauth/libauth': ['crypto'],
  'hash-wasm': ['crypto'],
  '@noble/curves': ['crypto'],
  '@noble/hashes': ['crypto'],
  ajv: ['validation'],
  graphql: ['service'],
  flatbuffers: ['service'],
  'hyparquet-writer': ['service'],
  commander: ['cli'],
  'geographiclib-geodesic': ['cross-check'],
  jsts: ['cross-check'],
  saxes: ['cli'],
  tar: ['store'],
  'robust-predicates': ['topology'],
  wkx: ['geometry'],
  'h3-js': ['geometry'],
  '@modelcontextprotocol/sdk': ['mcp'],
  viem: ['attest', 'sync', 'relay', 'local-chain'],
  piscina: ['threads', 'workers'],
  pg: ['store'],
  '@electric-sql/pglite': ['store'],
  'uWebSockets.js': ['http'],
  'maplibre-gl': ['web'],
  qr: ['web'],
  pmtiles: ['http'],
}

/**
 * Modules that may name a file of another module by URL, to start it as a thread. A thread has modules of its own, so a thread's
 * entry does not run in the layer that starts it: workers stay a layer above `threads`. The same URL in `import()` would load the
 * entry, and all layers below it, into the calling thread. That is an import, and it has to obey MAY_IMPORT.
 *
 * @type {Record<string, readonly string[]>}
 */
const MAY_START = { threads: ['workers'] }

/**
 * Returns the module of a source file.
 *
 * @param {string} file path from the root
 */
export function moduleOf(file) {
  const [top = '', second = ''] = file.split('/')
  return top === 'src' ? second.replace(/\.ts$/, '') : top
}

/**
 * Lists the imports of files that the layers do not allow, each as one line of text.
 *
 * @param {import('./source-graph.mjs').Graph} graph
 * @returns {string[]}
 */
export function upwardImports(graph) {
  const namesSources = (file) => graph.get(file)?.imports.some(({ kind }) => kind === 'url') ?? false
  return [...graph].flatMap(([file, { imports }]) => {
    const own = moduleOf(file)
    // A path that is computed may be the URL of a thread's entry if this file makes such URLs or imports a file that does.
    const hasUrls = namesSources(file) || imports.some(({ target }) => namesSources(target))
    const isUpward = ({ target, kind, isFile }) => {
      if (target === undefined) return hasUrls
      if (!isFile || target.endsWith('.json')) return false
      const other = moduleOf(target)
      const allowed = [...(MAY_IMPORT[own] ?? []), ...(kind === 'url' ? (MAY_START[own] ?? []) : [])]
      return other !== own && !allowed.includes(other) && !allowed.includes('*')
    }
    return imports
      .filter(isUpward)
      .map(({ target, line }) => `${file}:${line} → ${target ?? 'import() of the URL of a source file'}`)
  })
}
