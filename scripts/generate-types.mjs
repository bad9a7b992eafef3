// Generates src/types/generated.ts from schemas/*.schema.json. With `--check` it writes nothing, and exits with 1 when the file
// is stale.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { compile } from 'json-schema-to-typescript'

const schemas = fileURLToPath(new URL('../schemas/', import.meta.url))
const target = fileURLToPath(new URL('../src/types/generated.ts', import.meta.url))
// All schemas are reached from one root, so that each type is declared only once.
const FILES = [
  'input',
  'compute-request',
  'compute-response',
  'batch-request',
  'batch-response',
  'job',
  'stored',
  'problem',
  'verified-proof',
  'resign-request',
  'resign-response',
  'verify-request',
  'verify-response',
  'account',
  'location-record',
  'location-record-list',
  'record-config',
  'record-stats',
  'record-error',
]

/** What the routes of accounts take and return, which no other schema names. */
const ACCOUNT_TYPES = ['SignInNonce', 'SessionTokens', 'AccountKeyRequest']
const KEY_TYPES = ['KeyList', 'NewKey', 'RevokedKey', 'KeyUsage']

const STORED_TYPES = [
  ...['StoredGeometryList', 'DeletedGeometry', 'StoredSet', 'StoredSetList', 'DeletedSet', 'SetFeature', 'MatchLine'],
]

const root = {
  title: 'Contract',
  description: 'Every schema of the contract; this type itself is not used.',
  type: 'object',
  additionalProperties: false,
  properties: {
    ...Object.fromEntries(FILES.map((name) => [name, { $ref: `${name}.schema.json` }])),
    // Answers without a signature, so they are no ComputeResponse.
    relate: { $ref: 'compute-response.schema.json#/$defs/RelateResponse' },
    geometryAnswer: { $ref: 'compute-response.schema.json#/$defs/GeometryResponse' },
    ...Object.fromEntries(ACCOUNT_TYPES.map((name) => [name, { $ref: `account.schema.json#/$defs/${name}` }])),
    ...Object.fromEntries(STORED_TYPES.map((name) => [name, { $ref: `stored.schema.json#/$defs/${name}` }])),
    ...Object.fromEntries(KEY_TYPES.map((name) => [name, { $ref: `key.schema.json#/$defs/${name}` }])),
  },
}
const text = await compile(root, 'Contract', {
  cwd: schemas,
  additionalProperties: true,
  ignoreMinAndMaxItems: true,
  bannerComment:
    '// Made from schemas/ by scripts/generate-types.mjs. Do not edit: change the schema and run it again.',
  style: { semi: false, singleQuote: true, printWidth: 120 },
  $refOptions: { mutateInputSchema: false },
})
if (process.argv.includes('--check')) {
  const present = await readFile(target, 'utf8').catch(() => '')
  if (present !== text) {
    console.error('src/types/generated.ts is stale: run `node scripts/generate-types.mjs`')
    process.exit(1)
  }
} else {
  await writeFile(target, text)
}
