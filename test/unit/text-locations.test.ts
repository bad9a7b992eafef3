import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { latLngToCell } from 'h3-js'
import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { readH3 } from '../../src/geometry/h3.ts'
import { readLocationText } from '../../src/geometry/location-text.ts'
import type { Polygon } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import type { ResolvedInput } from '../../src/wire/compute-messages.ts'
import type { OperationName } from '../../src/wire/values.ts'
import { EIFFEL, type Loose, proofOf, stampOf } from '../evidence.ts'
import { LIMITS } from '../format-limits.ts'
import { createVerifier } from '../verify-runner.ts'

const [longitude, latitude] = EIFFEL
const CELL = latLngToCell(latitude, longitude, 9)
const point = (notation: string) => ({ locationType: notation, location: `POINT(${longitude} ${latitude})` })

describe('a claim with a text location', () => {
  it.each([
    ['wkt', `POINT(${longitude} ${latitude})`],
    ['ewkt', `SRID=4326;POINT Z (${longitude} ${latitude} 330)`],
    ['wkb', `0101000000${doubles(longitude, latitude)}`],
    ['coordinate-decimal+lon-lat', `${longitude}, ${latitude}`],
    ['coordinate-decimal+lat-lon', `${latitude}, ${longitude}`],
  ])('gives the same result as GeoJSON: %s', async (locationType, location) => {
    const verifier = await createVerifier()
    const stamps = [stampOf('gpsd', { location: { type: 'Point', coordinates: [2.2951, 48.8586] } })]
    const asText = await verifier.proof(proofOf(stamps, { locationType, location }))
    const asGeoJson = await verifier.proof(proofOf(stamps))
    expect(asText['credibility']).toEqual(asGeoJson['credibility'])
    expect(asText['credibility'].dimensions.spatial.maxDistanceMeters).toBeGreaterThan(40)
    // The claimed location is echoed and hashed as it was sent.
    expect(asText['proof'].claim.location).toBe(location)
  })

  it('covers the whole cell for a cell id', async () => {
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
    ['wkt', 'POINT(1)', 'not-wkt', 'proof.claim.location: at character 8: expected a number, found ")"'],
    ['h3-index', 'POINT(1 2)', 'not-h3', 'proof.claim.location: is not an H3 cell'],
    [
      'geojson-point',
      '{"type":"Point","coordinates":[1,2]}',
      'unknown-location-type',
      'proof.claim.location: is text of type "geojson-point", which is not supported',
    ],
    ['wkt', '', 'not-wkt', /^proof\.claim\.location: at character 1: /],
    ['wkt', 'POLYGON((0 0,1 1,1 0,0 1,0 0))', undefined, /^proof\.claim\.location\.coordinates.*self-intersection/],
    ['geohash', 'u'.repeat(13), 'not-geohash', 'proof.claim.location: has 13 characters; a geohash has 1 to 12'],
  ])('is rejected with its pointer: %s %j', async (locationType, location, code, detail) => {
    const verifier = await createVerifier()
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location }))
    expect(problem.type).toBe('invalid-input')
    if (detail instanceof RegExp) expect(problem.detail).toMatch(detail)
    else expect(problem.detail).toBe(detail)
    if (code !== undefined) expect(problem.invalidParts[0]).toMatchObject({ code, pointer: '#/proof/claim/location' })
  })

  it('has a limit of vertices', async () => {
    const verifier = await createVerifier()
    const location = `LINESTRING(${Array.from({ length: 50_001 }, (_, index) => `${index / 1000} 1`).join(',')})`
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType: 'wkt', location }))
    expect(problem.invalidParts[0].code).toBe('too-many-vertices')
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
  const repeatPiece = (length: number) => piece.repeat(length / piece.length)

  it('is rejected when it is a megabyte long', async () => {
    const verifier = await createVerifier()
    const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location: repeatPiece(1_000_000) }))
    expect(problem.invalidParts[0].pointer).toBe('#/proof/claim/location')
    expect(problem.detail.length).toBeLessThan(200)
  })

  // A megabyte takes 15 ms. A reader that searches the remaining text at each word takes seconds for one megabyte, minutes for
  // eight.
  it('is rejected in time proportional to its length', { timeout: 60_000 }, () => {
    const limits = { ...LIMITS, maxBodyBytes: 2 ** 30 }
    expect(() => readLocationText(locationType, repeatPiece(8_000_000), [], limits)).toThrow(ProblemError)
  })
})

describe('docs/formats.md', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/formats.md'), 'utf8')
  const readRows = (head: string) => {
    const [, table] = page.split(`${head}\n`)
    const lines = table!.split('\n').slice(1)
    return lines.slice(0, lines.indexOf('')).map((line) => [...line.matchAll(/`(.*?)`/g)].map(([, code]) => code!))
  }

  it('shows the geometry for each type', () => {
    const rows = readRows('| `locationType` | location | is |')
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

  it('shows the response to invalid locations', async () => {
    const verifier = await createVerifier()
    const rows = readRows('| sent | answer |')
    expect(rows.length).toBeGreaterThan(5)
    for (const [location, locationType, detail] of rows) {
      const { problem } = await verifier.proof(proofOf([stampOf()], { locationType, location }))
      expect(problem).toMatchObject({ type: 'invalid-input', detail })
    }
  })
})

describe('a stamp with a text location', () => {
  it('is signed as it was sent and evaluated at the geometry that it names', async () => {
    const verifier = await createVerifier()
    expect(await verifier.stamp(stampOf('gpsd', point('wkt')))).toMatchObject({ valid: true })
    const other = { ...stampOf('gpsd', point('wkt')), location: `POINT(${longitude} ${latitude} 1)` }
    expect(await verifier.stamp(other)).toMatchObject({ signaturesValid: false, structureValid: true })
  })

  it('is not accepted as an observation of a receiver if it is a cell', async () => {
    const verifier = await createVerifier()
    const result = await verifier.stamp(stampOf('gpsd', { locationType: 'h3', location: CELL }))
    expect(result).toMatchObject({ signaturesValid: true, structureValid: false })
    const failed = result['details'].structure.filter(({ ok }: Loose) => !ok)
    expect(failed).toMatchObject([{ id: 'point-location', measured: 'Polygon' }])
  })

  it('is rejected with its pointer when it is invalid', async () => {
    const verifier = await createVerifier()
    const invalid = stampOf('gpsd', { locationType: 'wkt', location: 'POINT(500 1)' })
    const { problem } = await verifier.proof(proofOf([stampOf(), invalid]))
    expect(problem.detail).toBe('proof.stamps[1].location: at character 7: longitude 500 is outside -180..180')
  })
})

describe('an input that refers to a text location', async () => {
  const limits = {
    maxVertices: 1000,
    maxParts: 100,
    maxCollectionDepth: 8,
    maxJsonDepth: 32,
    maxWork: 100_000,
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

  it('gives the same result as the same geometry in GeoJSON', () => {
    const asGeoJson = area(JSON.stringify(readH3(CELL, [])))
    expect(asGeoJson).toMatchObject({ type: 'computed' })
    expect(area(CELL, 'h3')).toEqual(asGeoJson)
  })

  it('is rejected with the fault of the text on the chain', () => {
    expect(area('POLYGON((0 0,1 0,1 1))', 'wkt')).toMatchObject({
      type: 'problem',
      problem: {
        type: 'invalid-input',
        detail: expect.stringMatching(
          /^geometry: its location is not valid wkt: at character 9: a ring has 3 positions and is open/,
        ),
        invalidParts: [{ code: 'uid-unreadable', pointer: '#/geometry' }],
      },
    })
  })

  it('is named by its pointer when it is part of a verified proof', () => {
    const resolved = [{ field: 'geometry', ref: uid, geometry: 'POINT(1)', locationType: 'wkt' }]
    const proof = proofOf([stampOf()], { locationType: 'wkt', location: 'POINT(1)' })
    expect(run('area', { geometry: { verifiedProof: { proof } } }, resolved)).toMatchObject({
      type: 'problem',
      problem: {
        invalidParts: [{ code: 'not-wkt', pointer: '#/geometry/verifiedProof/proof/claim/location' }],
      },
    })
  })
})

/** Encodes two numbers as in WKB, little-endian. */
function doubles(...values: number[]): string {
  return Buffer.from(new Float64Array(values).buffer).toString('hex')
}

describe('a text in another notation', () => {
  it.each([
    ['geohash', 'ezs42\u00a0', 'has "\u00a0", which is not a geohash character'],
    // The Kelvin sign in lower case is the letter k.
    ['geohash', 'ezs\u212a2', 'has "\u212a", which is not a geohash character'],
    ['geohash', 'ezs42 ezs43', 'has " ", which is not a geohash character'],
    ['h3', '8928308280fffff\u00a0', 'is not an H3 cell'],
    ['h3', '8928308280fffff 8928308280bffff', 'is not an H3 cell'],
    ['wkb', `0101000000${doubles(1, 2)}\u00a0`, 'is not well-known binary: expected an even number of hex digits'],
    ['lon-lat', '2.2945,\u00a048.8584', 'is not two decimal numbers'],
    ['lon-lat', '\ufeff2.2945, 48.8584', 'is not two decimal numbers'],
    ['lon-lat', '[2.2945, 48.8584', 'is not two decimal numbers'],
    ['lon-lat', '2.2945, 48.8584]', 'is not two decimal numbers'],
    ['lon-lat', '2.2945, 48.8584, 35', 'is not two decimal numbers'],
    ['lat-lon', '48.8584 2.2945 2.3', 'is not two decimal numbers'],
  ])('is rejected for a character that must not be dropped: %s %j', (type, text, detail) => {
    expect(() => readLocationText(type, text, [], LIMITS)).toThrow(detail)
  })

  it('may be surrounded by spaces, tabs and line ends', () => {
    expect(readLocationText('geohash', ' \tezs42\r\n', [], LIMITS)).toEqual(
      readLocationText('geohash', 'EZS42', [], LIMITS),
    )
    expect(readLocationText('lon-lat', '\n[ 2.5 ,\t48 ] ', [], LIMITS)).toEqual({
      type: 'Point',
      coordinates: [2.5, 48],
    })
  })
})
