import { encodeAbiParameters, parseAbiParameters } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOCATION_STRINGS, NO_RESOLVER, SCHEMA_STRINGS, schemaUid, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import { javascriptKeccak } from '../../src/crypto/noble.ts'
import type { Hex } from '../../src/wire/values.ts'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const NINE = schemaUids(readConfig({}, 1)).location
const FOUR = schemaUid(LOCATION_STRINGS['four-strings'], NO_RESOLVER, true, javascriptKeccak())
/** The four strings under other names; only the operator knows this layout. */
const RENAMED = 'string version,string crs,string kind,string place'
const OTHER = schemaUid(RENAMED, NO_RESOLVER, true, javascriptKeccak())
const EVENT_SECONDS = 1_700_000_000n

const nineFields = (locationType: string, location: string, srs = 'EPSG:4326'): Hex =>
  encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
    EVENT_SECONDS,
    srs,
    locationType,
    location,
    [],
    [],
    [],
    [],
    'memo',
  ])
const fourStrings = (locationType: string, location: string): Hex =>
  encodeAbiParameters(parseAbiParameters(LOCATION_STRINGS['four-strings']), [
    '0.1',
    'EPSG:4326',
    locationType,
    location,
  ])

const POINT = { type: 'Point', coordinates: [2.2945, 48.8584] }
const POLYGON = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 48],
    ],
  ],
}
const feature = (geometry: object) => ({ type: 'Feature', properties: { name: 'Eiffel Tower' }, geometry })

/** Location types and locations as published clients write them, with their meaning. */
const LOCATIONS: readonly (readonly [type: string, location: string, means: { type: string; coordinates: unknown }])[] =
  [
    ['geojson', JSON.stringify(POINT), POINT],
    ['geojson', JSON.stringify(feature(POLYGON)), POLYGON],
    ['geojson-point', JSON.stringify(feature(POINT)), POINT],
    ['geojson-polygon', JSON.stringify(POLYGON), POLYGON],
    ['GeoJSON', ` \n${JSON.stringify(POINT)}\n`, POINT],
    ['point', JSON.stringify(POINT), POINT],
    ['point', JSON.stringify(feature(POINT)), POINT],
    ['polygon', JSON.stringify(POLYGON), POLYGON],
    ['coordinate-decimal+lon-lat', '[2.2945, 48.8584]', POINT],
    ['coordinate-decimal+lon-lat', '2.2945,48.8584', POINT],
    ['wkt', 'POINT(2.2945 48.8584)', POINT],
    ['wkt', JSON.stringify(POINT), POINT],
    ['geohash', 'ezs42', { type: 'Polygon', coordinates: expect.any(Array) }],
    ['h3-index', '891fb466257ffff', { type: 'Polygon', coordinates: expect.any(Array) }],
  ]

describe.skipIf(skipReason())('a location attestation as a record and an input', () => {
  let local: LocalChain
  let service: TestService

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    await local.registerSchema(LOCATION_STRINGS['four-strings'])
    await local.registerSchema(RENAMED)
    service = await startTestService({
      ...local.environment,
      RECORDS: '1',
      SYNC_POLL_MS: '100',
      RPC_TIMEOUT_MS: '5000',
      LOCATION_SCHEMA_UID: `${NINE}, ${FOUR.toUpperCase().replace('X', 'x')},${OTHER}:four-strings`,
    })
    await untilReadable(service.url)
  })
  afterAll(async () => {
    await service?.stop()
    await local?.stop()
  })

  const fetchRecord = (uid: Hex) =>
    eventually(async () => {
      const response = await fetch(`${service.url}/api/v0/location-records/${uid}`)
      expect(response.status).toBe(200)
      // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
      return (await response.json()) as any
    })
  const distance = (from: unknown) =>
    service.post('/compute/v0/distance', { chainId: local.chain.id, from, to: { type: 'Point', coordinates: [5, 50] } })

  async function expectBoth(uid: Hex, means: object): Promise<void> {
    const record = await fetchRecord(uid)
    const geometry = JSON.parse(record.location)
    expect(geometry).toEqual(means)
    const chained = await distance({ uid })
    expect(chained).toMatchObject({ status: 200 })
    expect(chained.body.result).toBe((await distance(geometry)).body.result)
    expect(chained.body.inputRefs[0]).toBe(uid)
  }

  it.each(LOCATIONS)('is read under the schema of nine fields: %s %s', async (type, location, means) => {
    await expectBoth(await local.attest(NINE, nineFields(type, location)), means)
  })

  it.each(LOCATIONS)('is read under the schema of four strings: %s %s', async (type, location, means) => {
    await expectBoth(await local.attest(FOUR, fourStrings(type, location)), means)
  })

  it('is read under a schema whose layout the operator configures', async () => {
    await expectBoth(await local.attest(OTHER, fourStrings('geojson-point', JSON.stringify(POINT))), POINT)
  })

  it('has empty values for missing members, and the attestation time as its event time', async () => {
    const uid = await local.attest(FOUR, fourStrings('point', JSON.stringify(feature(POINT))))
    const record = await fetchRecord(uid)
    expect(record).toMatchObject({
      uid,
      srs: 'EPSG:4326',
      location_type: 'point',
      location: JSON.stringify(POINT),
      longitude: 2.2945,
      latitude: 48.8584,
      recipe_types: [],
      recipe_payloads: [],
      media_types: [],
      media_data: [],
      memo: null,
      event_timestamp: record.timestamp,
      revoked: false,
    })
    await local.revoke(FOUR, uid)
    await eventually(async () => expect((await fetchRecord(uid)).revoked).toBe(true))
    expect((await distance({ uid })).body.errors[0].code).toBe('uid-revoked')
  })

  it('is neither a record nor an input when it cannot be read', async () => {
    const code = async (uid: Hex) => (await distance({ uid })).body.errors[0].code
    expect(await code(await local.attest(NINE, fourStrings('point', JSON.stringify(POINT))))).toBe('uid-undecodable')
    expect(await code(await local.attest(FOUR, nineFields('point', JSON.stringify(POINT))))).toBe('uid-undecodable')
    expect(await code(await local.attest(NINE, nineFields('point', '2.2945,48.8584')))).toBe(
      'uid-unknown-location-type',
    )
    expect(await code(await local.attest(NINE, nineFields('geojson', 'POINT(1 2)')))).toBe('uid-unreadable')
    expect(await code(await local.attest(FOUR, fourStrings('geojson', '{"type":"Feature","geometry":null}')))).toBe(
      'uid-unreadable',
    )
    expect(
      await code(await local.attest(FOUR, fourStrings('wkt', 'LINESTRING(2.29 48.86 2.35 48.85, 2.4 48.9)'))),
    ).toBe('uid-unreadable')
    // A metre east of the origin of Web Mercator is not a valid position in degrees.
    expect(await code(await local.attest(NINE, nineFields('wkt', 'POINT(1 1)', 'EPSG:3857')))).toBe('uid-srs')
    await eventually(async () => {
      const response = await fetch(`${service.url}/api/sync/status`)
      expect(await response.json()).toMatchObject({ chains: { 'base-sepolia': { quarantined: 6 } } })
    })
  })

  it('reports the first schema of the list as the one of the service', async () => {
    const config = await (await fetch(`${service.url}/api/v0/config`)).json()
    expect(config).toMatchObject({ schema: NINE, schema_fields: SCHEMA_STRINGS.location })
  })
})
