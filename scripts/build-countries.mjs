// Makes src/verify/countries/outlines.json of Natural Earth's countries at 1:50,000,000 (public domain).
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

/** Signed integers of small size in few bytes: zigzag, then base 128. */
function pack(numbers) {
  const packed = []
  for (const number of numbers) {
    let rest = number < 0 ? -2 * number - 1 : 2 * number
    while (rest > 127) {
      packed.push((rest & 127) | 128)
      rest = Math.floor(rest / 128)
    }
    packed.push(rest)
  }
  return packed
}

/** Arcs of a ring: an index, or its complement when it is passed backwards. */
const ringsOf = ({ type, arcs }) => (type === 'Polygon' ? arcs : arcs.flat())
// Kosovo has no number in ISO 3166-1, but everybody writes it with the user-assigned letters XK.
const codeOf = ({ id, properties }) => (properties.name === 'Kosovo' ? 'XK' : (alpha2.get(id) ?? ''))
const countries = new Map()
for (const geometry of atlas.objects.countries.geometries) {
  const code = codeOf(geometry)
  countries.set(code, [...(countries.get(code) ?? []), ...ringsOf(geometry)])
}
const unnamed = atlas.objects.countries.geometries.filter((geometry) => codeOf(geometry) === '')
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
