/**
 * Matches points with a stored set: the countries of Natural Earth at 1:10m, repaired. PostGIS has the same polygons with a GiST
 * index. It gets its points over its own wire in the two usual ways: one prepared statement for each, and all of them copied into a
 * table that is joined. Prints rates, and the memory of the set.
 *
 * `BENCH_POINTS=1000000` is the number of points.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pack } from '../src/base/bytes.ts'
import { createEngine } from '../src/compute/engine.ts'
import { OPERATIONS } from '../src/compute/operations.ts'
import { type Outcome, runOperation } from '../src/compute/run.ts'
import { runSetTask } from '../src/compute/sets.ts'
import type { FeaturesResult, IndexResult } from '../src/wire/set-messages.ts'
import { openPostGis, type PostGis } from './postgis.ts'
import { type BenchService, startService } from './service-process.ts'
import { encodeWkb } from './wkb.ts'

const POINTS = Number(process.env['BENCH_POINTS'] || 1_000_000)
/** PostGIS takes much longer for each. */
const POSTGIS_POINTS = Math.min(POINTS, 5000)
const STATEMENTS = Math.min(POINTS, 2000)
const ROUNDS = 3
const root = fileURLToPath(new URL('../..', import.meta.url))

const limits = {
  maxVertices: 200_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 1e9,
  maxPreparedBytes: 1_048_576,
  chainIds: [],
}
const engine = createEngine(limits)

// biome-ignore lint/suspicious/noExplicitAny: GeoJSON of another library
type Feature = any

export async function run(): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-match-'))
  const service = await startService(folder, {
    RECORDS: '1',
    RATE_LIMIT_PUBLIC: undefined,
    RATE_LIMIT_INTERNAL: '1000000000',
    COST_LIMIT_INTERNAL: 'bytes=0,vertices=0,cpu-ms=0',
  })
  const postGis = await openPostGis()
  try {
    const countries = readCountries()
    const memory = measureMemory(countries)
    const stored = await storeSet(service, countries)
    console.log(`- ${countries.length} countries: ${JSON.stringify(stored)}`)
    const points = Array.from({ length: POINTS }, randomPoint)
    if (postGis !== undefined) loadCountries(postGis, countries)
    const rates: Record<string, number[]> = {}
    const note = (name: string, rate: number) => {
      rates[name] ??= []
      rates[name].push(Math.round(rate))
    }
    let matched = 0
    for (let round = 0; round <= ROUNDS; round++) {
      const begin = performance.now()
      matched = await match(service, points)
      if (round > 0) note('trigpoint', (1000 * POINTS) / (performance.now() - begin)) // the first round loads the set
      if (postGis === undefined || round === 0) continue
      const joined = joinRate(postGis, points.slice(0, POSTGIS_POINTS))
      note('PostGIS, points copied into a table and joined', joined)
      note('PostGIS, a prepared statement for each point', statementRate(postGis, points.slice(0, STATEMENTS)))
    }
    for (const [name, list] of Object.entries(rates)) {
      const ratios = list.map((rate, index) => (rates['trigpoint']![index]! / rate).toFixed(1))
      console.log(`- ${name}: ${list.join(', ')} points/s (trigpoint is ${ratios.join(', ')} times as fast)`)
    }
    return { points: POINTS, matched, memory, rates }
  } finally {
    await postGis?.close()
    service.child.kill('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The countries, with those polygons repaired that the quantisation of the file has made invalid. */
function readCountries(): Feature[] {
  const require = createRequire(import.meta.url)
  const topology = JSON.parse(readFileSync(join(root, 'node_modules/world-atlas/countries-10m.json'), 'utf8'))
  const { features } = require('topojson-client').feature(topology, topology.objects.countries) as Feature
  let repaired = 0
  const countries: Feature[] = []
  for (const { geometry, properties } of features) {
    if (properties.name === 'Antarctica') geometry.coordinates = geometry.coordinates.map(overThePole)
    try {
      const outcome = runOperation(OPERATIONS.repair, [{ geometry, path: [], ref: undefined }], {}, engine)
      const answer = JSON.parse(`{${(outcome as Extract<Outcome, { kind: 'geometry' }>).members}}`)
      if (answer.changes.length > 0) repaired++
      countries.push({ type: 'Feature', geometry: answer.geometry, properties })
    } catch (error) {
      console.log(`- left out: ${properties.name}: ${(error as Error).message}`)
    }
  }
  console.log(`- repaired: ${repaired} of ${countries.length}`)
  return countries
}

/** Leads a ring around the axis over the south pole, as in Natural Earth; the file has joined its ends at the antimeridian. */
function overThePole(rings: [number, number][][]): [number, number][][] {
  const ring = rings[0]!
  const jump = ring.findIndex(([lon], index) => index > 0 && Math.abs(lon - ring[index - 1]![0]) > 180)
  if (jump < 0) return rings
  const open = [...ring.slice(jump, -1), ...ring.slice(0, jump)]
  const [first, last] = [open[0]!, open.at(-1)!]
  const side = Math.sign(first[0])
  const way: [number, number][] = [
    [-180 * side, last[1]],
    [-180 * side, -90],
    [180 * side, -90],
    [180 * side, first[1]],
  ]
  return [[...open, ...way, first], ...rings.slice(1)]
}

/** Compares the size of the index with that of the coordinates. */
function measureMemory(countries: readonly Feature[]): object {
  const points = Array.from({ length: 100_000 }, () => ({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: randomPoint() },
  }))
  const facts: Record<string, number> = {}
  for (const [name, features] of [
    ['countries', countries],
    ['points', points],
  ] as const) {
    const lines = pack(features.map((value: object) => Buffer.from(JSON.stringify(value))))
    const read = runSetTask({ type: 'features', lines, first: 0, isRequest: true }, engine, limits) as FeaturesResult
    if (read.type === 'problem') throw new Error(JSON.stringify(read.problem))
    const { trees } = runSetTask({ type: 'index', features: read.features }, engine, limits) as IndexResult
    const { texts, textStarts, ...arrays } = read.features
    const sum = (parts: object) => Object.values(parts).reduce((total, part: Uint8Array) => total + part.byteLength, 0)
    const bytes = sum(arrays) + sum(trees) + textStarts.byteLength
    const allowed = 1.5 * arrays.vertices.byteLength + 48 * features.length
    console.log(
      `- memory of ${features.length} ${name}: ${bytes} bytes for ${arrays.vertices.byteLength} bytes of coordinates and ${texts.byteLength} of names and properties; 1.5 × the coordinates + 48 bytes a feature is ${allowed}`,
    )
    facts[name] = bytes / allowed
  }
  return facts
}

async function storeSet({ url, internalKey }: BenchService, features: readonly Feature[]): Promise<object> {
  for (;;) {
    const response = await fetch(`${url}/compute/v0/sets/countries`, {
      method: 'PUT',
      headers: { 'content-type': 'application/x-ndjson', 'x-api-key': internalKey },
      body: features.map((value) => `${JSON.stringify(value)}\n`).join(''),
    })
    const text = await response.text()
    if (response.status === 200) return JSON.parse(text)
    if (response.status !== 503) throw new Error(text) // else the store is opening
  }
}

/** Sends all points in one request. @returns the number of matches */
async function match({ url, internalKey }: BenchService, points: readonly (readonly number[])[]): Promise<number> {
  const body = points.map((coordinates) => `{"type":"Point","coordinates":[${coordinates.join()}]}\n`).join('')
  const response = await fetch(`${url}/compute/v0/sets/countries/match?predicate=intersects`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', 'x-api-key': internalKey },
    body,
  })
  let lines = 0
  let matches = 0
  for await (const piece of response.body!) {
    const text = Buffer.from(piece)
    for (let at = text.indexOf(10); at >= 0; at = text.indexOf(10, at + 1)) lines++
    for (let at = text.indexOf('"feature"'); at >= 0; at = text.indexOf('"feature"', at + 1)) matches++
  }
  if (lines !== points.length) throw new Error(`${lines} lines for ${points.length} points, status ${response.status}`)
  return matches
}

function loadCountries(postGis: PostGis, countries: readonly Feature[]): void {
  const rows = countries.map(({ geometry }, index) => `${index}\t${encodeWkb(geometry).toString('hex')}`)
  postGis.run(
    `CREATE TABLE countries (a int, b geometry);\nCOPY countries FROM stdin;\n${rows.join('\n')}\n\\.
     CREATE INDEX ON countries USING gist (b); ANALYZE countries;`,
  )
}

function joinRate(postGis: PostGis, points: readonly (readonly number[])[]): number {
  const rows = points.map(([lon, lat], index) => `${index}\tPOINT(${lon} ${lat})`).join('\n')
  const begin = performance.now()
  postGis.run(
    `CREATE TEMP TABLE points (id int, place geometry);\nCOPY points FROM stdin;\n${rows}\n\\.\nANALYZE points;
     COPY (SELECT points.id, countries.a FROM points LEFT JOIN countries ON ST_Intersects(countries.b, points.place) ORDER BY points.id) TO STDOUT;`,
  )
  return (1000 * points.length) / (performance.now() - begin)
}

function statementRate(postGis: PostGis, points: readonly (readonly number[])[]): number {
  const statements = points.map(([lon, lat]) => `EXECUTE find(${lon}, ${lat});`).join('\n')
  const begin = performance.now()
  postGis.run(
    `PREPARE find(float8, float8) AS SELECT a FROM countries WHERE ST_Intersects(b, ST_Point($1, $2));\n${statements}`,
  )
  return (1000 * points.length) / (performance.now() - begin)
}

/** Evenly distributed over the sphere, with seven decimals. */
function randomPoint(): [number, number] {
  const lat = (Math.asin(2 * Math.random() - 1) * 180) / Math.PI
  return [Number((Math.random() * 360 - 180).toFixed(7)), Number(lat.toFixed(7))]
}
