// Builds src/verify/countries/outlines.json from Natural Earth's countries at 1:50,000,000 (public domain).
// usage: node scripts/build-countries.mjs <world-atlas 2.0.2>/countries-50m.json <i18n-iso-countries 7.14.0>/codes.json
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [atlasFile, codesFile] = process.argv.slice(2)
if (codesFile === undefined) {
  console.error('usage: node scripts/build-countries.mjs <countries-50m.json> <codes.json>')
  process.exit(64)
}
const bytes = readFileSync(atlasFile)
const atlas = JSON.parse(bytes.toString('utf8'))
const alpha2 = new Map(JSON.parse(readFileSync(codesFile, 'utf8')).map(([two, , number]) => [number, two]))

/** Packs small signed integers into few bytes: zigzag, then base 128. */
function pack(numbers) {
  const packed = []
  for (const number of numbers) {
    let remaining = number < 0 ? -2 * number - 1 : 2 * number
    while (remaining > 127) {
      packed.push((remaining & 127) | 128)
      remaining = Math.floor(remaining / 128)
    }
    packed.push(remaining)
  }
  return packed
}

/** Lists the rings of a geometry. A ring is a list of arcs: an index, or its complement for an arc in reverse. */
const listRings = ({ type, arcs }) => (type === 'Polygon' ? arcs : arcs.flat())
// Kosovo has no number in ISO 3166-1; its usual code is XK, which is user-assigned.
const countryCode = ({ id, properties }) => (properties.name === 'Kosovo' ? 'XK' : (alpha2.get(id) ?? ''))
const countries = new Map()
for (const geometry of atlas.objects.countries.geometries) {
  const code = countryCode(geometry)
  countries.set(code, [...(countries.get(code) ?? []), ...listRings(geometry)])
}
const unnamed = atlas.objects.countries.geometries.filter((geometry) => countryCode(geometry) === '')
const outlines = {
  source:
    'Natural Earth, Admin 0 countries 1:50m (public domain), from countries-50m.json of the npm package world-atlas 2.0.2',
  sha256: createHash('sha256').update(bytes).digest('hex'),
  unnamed: unnamed.map(({ properties }) => properties.name),
  scale: atlas.transform.scale,
  translate: atlas.transform.translate,
  rings: Object.fromEntries([...countries].sort(([a], [b]) => (a < b ? -1 : 1))),
  arcLengths: atlas.arcs.map((arc) => arc.length),
  arcs: Buffer.from(pack(atlas.arcs.flat(2))).toString('base64'),
}
const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'src', 'verify', 'countries', 'outlines.json')
writeFileSync(file, `${JSON.stringify(outlines)}\n`)
console.log(
  `${countries.size - 1} countries, ${unnamed.length} areas without a code, ${readFileSync(file).length} bytes`,
)
