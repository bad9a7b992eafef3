import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { latLngToCell } from 'h3-js'
import { describe, expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { readH3 } from '../../src/geometry/h3.ts'
import { readLocationText } from '../../src/geometry/location-text.ts'
import type { OperationName, ResolvedInput } from '../../src/messages.ts'
import { ProblemError } from '../../src/problem.ts'
import type { Polygon } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { runComputeTask } from '../../workers/compute-task.ts'
import { EIFFEL, type Loose, proofOf, stampOf } from '../evidence.ts'
import { LIMITS } from '../format-limits.ts'
import { createVerifier } from '../verify-runner.ts'

const [longitude, latitude] = EIFFEL
const CELL = latLngToCell(latitude, longitude, 9)
const point = (notation: string) => ({ locationType: notation, location: `POINT(${longitude} ${latitude})` })

describe('a claim whose location is text', () => {
  it.each([
    ['wkt', `POINT(${longitude} ${latitude})`],
    ['ewkt', `SRID=4326;POINT Z (${longitude} ${latitude} 330)`],
    ['wkb', `0101000000${doubles(longitude, latitude)}`],
    ['coordinate-decimal+lon-lat', `${longitude}, ${latitude}`],
    ['coordinate-decimal+lat-lon', `${latitude}, ${longitude}`],
  ])('is judged like the same place as GeoJSON: %s', async (locationType, location) => {
    const verifier = await createVerifier()
    const stamps = [stampOf('gpsd', { location: { type: 'Point', coordinates: [2.2951, 48.8586] } })]
    const asText = await verifier.proof(proofOf(stamps, { locationType, location }))
    const asGeoJson = await verifier.proof(proofOf(stamps))
    expect(asText['credibility']).toEqual(asGeoJson['credibility'])
    expect(asText['credibility'].dimensions.spatial.maxDistanceMeters).toBeGreaterThan(40)
    // What was claimed is echoed and hashed as it came.
    expect(asText['proof'].claim.location).toBe(location)
  })

  it('is the whole cell where it names one', async () => {
    const verifier = await createVerifier()
    const near = stampOf('gpsd')
    const far = stampOf('gpsd', { location: { type: 'Point', coordinates: [2.4, 48.9] } })
    const claim = { locationType: 'h3-index', location: CELL }
    const asText = await verifier.proof(proofOf([near, far], claim))
    const asGeoJson = await verifier.proof(proofOf([near, far], { locationType: 'h3', location: readH3(CELL, []) }))
    expect(asText['credibility']).toEqual(asGeoJson['credibility'])
    const [inside, outside] = asText['credibility'].stampResults
    expect(inside.distanceMeters).toBe(0)
    expect(outside.distanceMeters).toBeGreaterThan(8000)
  })

  it.each([
    ['wkt', 'POINT(1)', 'not-wkt', 'proof.claim.location: at character 8 a number is expected, found ")"'],
    ['h3-index', 'POINT(1 2)', 'not-h3', 'proof.claim.location: is no cell of H3'],
    [
      'geojson-point',
      '{"type":"Point","coordinates":[1,2]}',
      'unknown-location-type',
      'proof.claim.location: is text of the type "geojson-point", which is not understood',
    ],
    ['wkt', '', 'not-wkt', /^proof\.claim\.location: at character 1 /],
    ['wkt', 'POLYGON((0 0,1 1,1 0,0 1,0 0))', undefined, /^proof\.claim\.location\.coordinates.*self-intersection/],
    ['geohash', 'u'.repeat(13), 'not-geohash', 'proof.claim.location: has 13 characters; a geohash has 1 to 12'],
  ])('is refused with its place: %s %j', async (locationType, location, code, detail) => {
    const verifier = await createVerifier()
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location }))
    expect(problem.type).toBe('invalid-input')
    if (detail instanceof RegExp) expect(problem.detail).toMatch(detail)
    else expect(problem.detail).toBe(detail)
    if (code !== undefined) expect(problem.places[0]).toMatchObject({ code, pointer: '#/proof/claim/location' })
  })

  it('has a limit of vertices', async () => {
    const verifier = await createVerifier()
    const location = `LINESTRING(${Array.from({ length: 50_001 }, (_, index) => `${index / 1000} 1`).join(',')})`
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType: 'wkt', location }))
    expect(problem.places[0].code).toBe('too-many-vertices')
  })
})

describe.each([
  ['wkt', '('],
  ['wkt', 'GEOMETRYCOLLECTION('],
  ['wkt', 'POINTZ'],
  ['wkt', 'POINT(1 '],
  ['wkt', '1'],
  ['wkt', ' '],
  ['wkb', '0107000000ffffffff'],
  ['h3', '8'],
  ['geohash', 'u'],
  ['lon-lat', '1 '],
])('text of %s made of %j', (locationType, piece) => {
  const repeated = (length: number) => piece.repeat(length / piece.length)

  it('is refused where a body has a megabyte of it', async () => {
    const verifier = await createVerifier()
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location: repeated(1_000_000) }))
    expect(problem.places[0].pointer).toBe('#/proof/claim/location')
    expect(problem.detail.length).toBeLessThan(200)
  })

  // A megabyte takes 15 ms. A reader that looks through the rest of the text at each word takes seconds for one, minutes for eight.
  it('is refused in time that grows with its length alone', { timeout: 60_000 }, () => {
    const limits = { ...LIMITS, maxBodyBytes: 2 ** 30 }
    expect(() => readLocationText(locationType, repeated(8_000_000), [], limits)).toThrow(ProblemError)
  })
})

describe('docs/formats.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/formats.md'), 'utf8')
  const rowsAfter = (head: string) => {
    const [, table] = page.split(`${head}\n`)
    const lines = table!.split('\n').slice(1)
    return lines.slice(0, lines.indexOf('')).map((line) => [...line.matchAll(/`(.*?)`/g)].map(([, code]) => code!))
  }

  it('shows what each type becomes', () => {
    const rows = rowsAfter('| `locationType` | location | is |')
    expect(rows.length).toBe(6)
    for (const cells of rows) {
      const types = cells.slice(0, -2)
      const [text, geometry] = cells.slice(-2)
      const h3 = JSON.stringify((readH3('8928308280fffff', []) as Polygon).coordinates[0])
      for (const type of types) {
        expect(JSON.stringify(readLocationText(type, text!, [], LIMITS))).toBe(geometry!.replace('H3', h3))
      }
    }
  })

  it('shows what is answered to what is none', async () => {
    const verifier = await createVerifier()
    const rows = rowsAfter('| sent | answer |')
    expect(rows.length).toBeGreaterThan(5)
    for (const [location, locationType, detail] of rows) {
      const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location }))
      expect(problem).toMatchObject({ type: 'invalid-input', detail })
    }
  })
})

describe('a stamp whose location is text', () => {
  it('is signed as it came and judged by the place that it names', async () => {
    const verifier = await createVerifier()
    expect(await verifier.stamp(stampOf('gpsd', point('wkt')))).toMatchObject({ valid: true })
    const other = { ...stampOf('gpsd', point('wkt')), location: `POINT(${longitude} ${latitude} 1)` }
    expect(await verifier.stamp(other)).toMatchObject({ signaturesValid: false, structureValid: true })
  })

  it('is no observation of a receiver where it is a cell', async () => {
    const verifier = await createVerifier()
    const answer = await verifier.stamp(stampOf('gpsd', { locationType: 'h3', location: CELL }))
    expect(answer).toMatchObject({ signaturesValid: true, structureValid: false })
    const failed = answer['details'].structure.filter(({ ok }: Loose) => !ok)
    expect(failed).toMatchObject([{ id: 'point-location', measured: 'Polygon' }])
  })

  it('is refused with its place when it is wrong', async () => {
    const verifier = await createVerifier()
    const wrong = stampOf('gpsd', { locationType: 'wkt', location: 'POINT(500 1)' })
    const { problem } = await verifier.proof(proofOf([stampOf(), wrong]))
    expect(problem.detail).toBe('proof.stamps[1].location: at character 7 longitude 500 is outside -180..180')
  })
})

describe('an input of a computation that is text elsewhere', async () => {
  const limits = {
    maxVertices: 1000,
    maxParts: 100,
    maxCollectionDepth: 8,
    maxJsonDepth: 32,
    maxDistanceSolves: 100_000,
    maxPreparedBytes: 1_000_000,
    chainIds: [84532],
  }
  const engine = { kernel: loadKernel(), keccak: await createKeccak(), limits }
  const uid = `0x${'ab'.repeat(32)}` as const
  const run = (operation: OperationName, members: Loose, resolved: ResolvedInput[]) => {
    const body = Buffer.from(JSON.stringify({ chainId: 84532, ...members }))
    return runComputeTask({ operation, body, resolved, timestampSeconds: 1 }, engine, limits)
  }
  const area = (geometry: string, locationType?: string) =>
    run('area', { geometry: { uid } }, [{ field: 'geometry', ref: uid, geometry, locationType }])

  it('gives what the same place gives as GeoJSON', () => {
    const asGeoJson = area(JSON.stringify(readH3(CELL, [])))
    expect(asGeoJson).toMatchObject({ ok: true })
    expect(area(CELL, 'h3')).toEqual(asGeoJson)
  })

  it('is refused by what is wrong with it, which stands on the chain', () => {
    expect(area('POLYGON((0 0,1 0,1 1))', 'wkt')).toMatchObject({
      ok: false,
      problem: {
        type: 'invalid-input',
        detail: expect.stringMatching(
          /^geometry: its location is no wkt: at character 9 a ring has 3 positions and is open/,
        ),
        places: [{ code: 'uid-unreadable', pointer: '#/geometry' }],
      },
    })
  })

  it('is named where it stands when it came in a verified proof', () => {
    const resolved = [{ field: 'geometry', ref: uid, geometry: 'POINT(1)', locationType: 'wkt' }]
    const proof = proofOf([stampOf()], { locationType: 'wkt', location: 'POINT(1)' })
    expect(run('area', { geometry: { verifiedProof: { proof } } }, resolved)).toMatchObject({
      ok: false,
      problem: {
        places: [{ code: 'not-wkt', pointer: '#/geometry/verifiedProof/proof/claim/location' }],
      },
    })
  })
})

/** Two numbers as WKB has them, little end first. */
function doubles(...values: number[]): string {
  return Buffer.from(new Float64Array(values).buffer).toString('hex')
}

describe('a text in another notation', () => {
  it.each([
    ['geohash', 'ezs42\u00a0', 'has "\u00a0", which no geohash has'],
    // Lower case of the Kelvin sign is the letter k.
    ['geohash', 'ezs\u212a2', 'has "\u212a", which no geohash has'],
    ['geohash', 'ezs42 ezs43', 'has " ", which no geohash has'],
    ['h3', '8928308280fffff\u00a0', 'is no cell of H3'],
    ['h3', '8928308280fffff 8928308280bffff', 'is no cell of H3'],
    ['wkb', `0101000000${doubles(1, 2)}\u00a0`, 'is no well-known binary: an even number of hex digits is expected'],
    ['lon-lat', '2.2945,\u00a048.8584', 'is not two decimal numbers'],
    ['lon-lat', '\ufeff2.2945, 48.8584', 'is not two decimal numbers'],
    ['lon-lat', '[2.2945, 48.8584', 'is not two decimal numbers'],
    ['lon-lat', '2.2945, 48.8584]', 'is not two decimal numbers'],
    ['lon-lat', '2.2945, 48.8584, 35', 'is not two decimal numbers'],
    ['lat-lon', '48.8584 2.2945 2.3', 'is not two decimal numbers'],
  ])('loses nothing that stands in it: %s %j', (type, text, detail) => {
    expect(() => readLocationText(type, text, [], LIMITS)).toThrow(detail)
  })

  it('may stand between spaces, tabs and line ends', () => {
    expect(readLocationText('geohash', ' \tezs42\r\n', [], LIMITS)).toEqual(
      readLocationText('geohash', 'EZS42', [], LIMITS),
    )
    expect(readLocationText('lon-lat', '\n[ 2.5 ,\t48 ] ', [], LIMITS)).toEqual({
      type: 'Point',
      coordinates: [2.5, 48],
    })
  })
})
