// Generates src/validation/generated.ts from schemas/*.schema.json, because compiling the schemas took 0.1 s at each start of a
// program or a compute thread. With `--check` it writes nothing, and exits with 1 when the file is stale.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import standalone from 'ajv/dist/standalone/index.js'

const target = fileURLToPath(new URL('../src/validation/generated.ts', import.meta.url))
const readSchema = (name) =>
  JSON.parse(readFileSync(new URL(`../schemas/${name}.schema.json`, import.meta.url), 'utf8'))
const definitions = (file, names) => names.map((name) => `${file}#/$defs/${name}`)
// The schemas that src/validation checks values against.
const REFERENCES = [
  'batch-request.schema.json',
  ...definitions('batch-request.schema.json', ['BatchOptions', 'BatchItem']),
  ...definitions(
    'compute-request.schema.json',
    [
      ...['Distance', 'Area', 'Length', 'Contains', 'Within', 'Intersects', 'Predicate', 'Relate'],
      ...['Direct', 'Waypoints', 'Nearest', 'Buffer', 'Repair'],
    ].map((name) => `${name}Request`),
  ),
  ...definitions('geometry.schema.json', [
    ...['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon', 'GeometryCollection'],
  ]),
  ...definitions('input-forms', ['OffchainAttestation', 'OnchainInput', 'SignerAddress', 'StoredInput', 'NamedInput']),
  'verified-proof.schema.json',
  'resign-request.schema.json',
  ...definitions('key.schema.json', ['KeyRequest']),
  ...definitions('account.schema.json', ['SignInRequest', 'RefreshRequest', 'AccountKeyRequest']),
  ...definitions('verify-request.schema.json', [
    'VerifyStampRequest',
    'VerifyProofRequest',
    'StampRules',
    'ClaimRules',
  ]),
]
const BANNER = `// @ts-nocheck: generated JavaScript
// Made from schemas/ by scripts/generate-validators.mjs. Do not edit: change the schema and run it again.

/** Counts code points, as JSON Schema does, without an array of them. */
function countCharacters(text) {
  let count = 0
  for (const _ of text) count++
  return count
}
`

// They stop at the first error, because a 10,000-vertex polygon with swapped coordinates would give 10,000 errors and take half a
// second.
const ajv = new Ajv2020({
  allErrors: false,
  strict: true,
  strictTypes: false,
  allowUnionTypes: true,
  strictTuples: false,
  verbose: true,
  validateSchema: false, // `test/unit/openapi.test.ts` does
  code: { source: true, esm: true, lines: true },
})
ajv.addKeyword('tsType')
// `input.schema.json` accepts everything here, because its `anyOf` of all forms gives dozens of errors for one mistake.
// Instead, `input.ts` recognises the form by the member that is present and checks only the schema of that form.
ajv.addSchema({ $id: 'input.schema.json', $defs: { InputOrEmpty: {}, InputName: {}, InputWithName: {} } })
const { OffchainAttestation, OnchainInput, SignerAddress, StoredInput, NamedInput, InputName, Uint64 } =
  readSchema('input').$defs
const forms = { OffchainAttestation, OnchainInput, SignerAddress, StoredInput, NamedInput, InputName, Uint64 }
ajv.addSchema({ $id: 'input-forms', $defs: forms })
for (const name of [
  'geometry',
  'compute-request',
  'verified-proof',
  'resign-request',
  'batch-request',
  'verify-request',
  'key',
  'account',
])
  ajv.addSchema(readSchema(name))

const names = Object.fromEntries(REFERENCES.map((reference, index) => [`check${index}`, reference]))
const code = standalone(ajv, names)
  .replace('"use strict";\n', '')
  .replaceAll(/^export const check/gm, 'const check')
  .replaceAll('require("ajv/dist/runtime/ucs2length").default', 'countCharacters')
if (code.includes('require(')) throw new Error('the validators need a module')
const table = Object.entries(names).map(([name, reference]) => `  ${JSON.stringify(reference)}: ${name},\n`)
const text = `${BANNER}${code}
/** The validators by the reference of their schema. */
export const VALIDATORS = {
${table.join('')}}
`
if (!process.argv.includes('--check')) writeFileSync(target, text)
else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/validation/generated.ts is stale: run `node scripts/generate-validators.mjs`')
  process.exit(1)
}
