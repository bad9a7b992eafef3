// Builds web/explorer/map/places.json from Natural Earth's populated places at 1:110,000,000 (public domain).
// usage: node scripts/build-places.mjs <globe.gl 2.46.2>/example/datasets/ne_110m_populated_places_simple.geojson
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/build-places.mjs <ne_110m_populated_places_simple.geojson>')
  process.exit(64)
}
const { features } = JSON.parse(readFileSync(file, 'utf8'))
const rounded = (degrees) => Number(degrees.toFixed(4))
// The most populous places first, because a search shows the first matches.
const places = features
  .sort((a, b) => b.properties.pop_max - a.properties.pop_max)
  .map(({ properties, geometry }) => [properties.name, properties.adm0name, ...geometry.coordinates.map(rounded)])
const source = 'Natural Earth, populated places at 1:110,000,000, public domain, as in the npm package globe.gl 2.46.2'
const lines = places.map((place) => JSON.stringify(place)).join(',\n')
const target = fileURLToPath(new URL('../web/explorer/map/places.json', import.meta.url))
writeFileSync(target, `{"source":${JSON.stringify(source)},\n"places":[\n${lines}\n]}\n`)
process.stderr.write(`${target}: ${places.length} places\n`)
