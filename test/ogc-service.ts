/** Records of every geometry type, some with odd texts, and a service that has them as OGC API Features. */
import { expect } from 'vitest'
import { recordWorld } from '../bench/record-world.ts'
import type { LocationRecord } from '../src/wire/store-messages.ts'
import { eventually } from './eventually.ts'
import { type ENGINES_AND_ADAPTERS, type RecordService, startRecordService } from './record-service.ts'
import { addressOf, recordOf, uidOf } from './store-records.ts'

/** Lists with text that looks like the members after them, and with characters that JSON escapes. */
export const LISTS = {
  recipeTypes: ['a","recipe_payloads":[],"b', 'é\n\\'],
  recipePayloads: ['AAAA', ''],
  mediaTypes: ['application/json', 'image/png'],
  mediaData: ['{"media_data":[]}', 'QUJD'],
}
export const LIST_TEXTS = {
  recipe_types: JSON.stringify(LISTS.recipeTypes),
  recipe_payloads: JSON.stringify(LISTS.recipePayloads),
  media_types: JSON.stringify(LISTS.mediaTypes),
  media_data: JSON.stringify(LISTS.mediaData),
}
export const POLYGON =
  '{"type":"Polygon","coordinates":[[[10.5,50.5],[11.5,50.5],[11.5,51.5],[10.5,51.5],[10.5,50.5]]]}'
const LATEST = 1_800_000_000
export const ODD: readonly LocationRecord[] = [
  recordOf(1, { location: POLYGON, locationType: 'geojson-polygon', longitude: null, latitude: null, ...LISTS }),
  // A location that is not GeoJSON, one of a type that is not a geometry, and one with foreign members.
  recordOf(2, { location: 'somewhere', longitude: null, latitude: null }),
  recordOf(3, { location: '{"type":"Point","coordinates":["1","2"]}', longitude: null, latitude: null }),
  recordOf(4, { location: '{"type":"Point","coordinates":[7,8],"crs":{"a":1},"type2":{}}' }),
  recordOf(5, {
    location: '{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[1,2,3]}]}',
    memo: '","location":"{\\"type\\":\\"Point\\"}","longitude":1,{"uid":"0x00',
  }),
].map((record, index) => ({ ...record, timeSeconds: LATEST + index, prover: addressOf(77) }))
/** A record of each type that the generated records lack. */
const OTHER_TYPES: readonly LocationRecord[] = [
  {
    type: 'MultiPoint',
    coordinates: [
      [20, 30],
      [21, 31],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [20, 30],
      [21, 31],
    ],
  },
  {
    type: 'LineString',
    coordinates: [
      [-30, -20],
      [-29.5, -21],
    ],
  },
  {
    type: 'MultiLineString',
    coordinates: [
      [
        [22, 30],
        [23, 31],
      ],
      [
        [24, 30],
        [25, 31],
      ],
    ],
  },
  {
    type: 'MultiPolygon',
    coordinates: [
      [
        [
          [1, 1],
          [2, 1],
          [2, 2],
          [1, 1],
        ],
      ],
      [
        [
          [3, 3],
          [4, 3],
          [4, 4],
          [3, 3],
        ],
      ],
    ],
  },
].map((geometry, index) => {
  const numbers = geometry.coordinates.flat(3) as number[]
  const [longitudes, latitudes] = [0, 1].map((axis) => numbers.filter((_, at) => at % 2 === axis)) as [
    number[],
    number[],
  ]
  return recordOf(100 + index, {
    location: JSON.stringify(geometry),
    longitude: null,
    latitude: null,
    bounds: [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)],
  })
})
export const WORLD = [
  ...recordWorld({ seed: 11, count: 3000, newestSeconds: LATEST - 1, spanDays: 365 }),
  ...OTHER_TYPES,
]
export const FAMILIES = {
  points: ['Point', 'MultiPoint'],
  lines: ['LineString', 'MultiLineString'],
  polygons: ['Polygon', 'MultiPolygon'],
} as const
export const FAMILY_NAMES = Object.keys(FAMILIES) as (keyof typeof FAMILIES)[]
/** UIDs of the records of a family, newest first, found in another way than the service's. */
export const uidsOf = (family: keyof typeof FAMILIES) =>
  ALL.filter(({ location }) => FAMILIES[family].some((type) => location.startsWith(`{"type":"${type}"`)))
    .sort((a, b) => b.timeSeconds - a.timeSeconds || (a.uid < b.uid ? 1 : -1))
    .map(({ uid }) => uid)
export const ALL = [...WORLD, ...ODD]

export interface OgcService extends RecordService {
  /** Requests a resource. @throws if the status or the media type is another */
  // biome-ignore lint/suspicious/noExplicitAny: the tests read any member of the body
  get(path: string, type: string, status?: number): Promise<{ readonly body: any; readonly headers: Headers }>
  /** Requests a page of the collection of all records. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  items(query: string): Promise<any>
}

export const PAGE = '/ogc/collections/location-records/items'

/** Starts the service with all records, one of them revoked. */
export async function startOgcService(
  ...[engine, adapter]: (typeof ENGINES_AND_ADAPTERS)[number]
): Promise<OgcService> {
  const service = await startRecordService(engine, { HTTP_ADAPTER: adapter }, ALL, (store) =>
    store.apply({ chainId: 84532, records: [], revocations: [{ uid: uidOf(4), blockNumber: 5000 }] }),
  )
  const get: OgcService['get'] = async (path, type, status = 200) => {
    const response = await fetch(path.startsWith('http') ? path : service.url + path)
    // biome-ignore lint/suspicious/noExplicitAny: as above
    const body = (await response.json()) as any
    expect([response.status, body.detail]).toEqual([status, body.detail])
    expect(response.headers.get('content-type')).toMatch(new RegExp(`^${type.replace(/[.+/]/g, '\\$&')}(;|$)`))
    return { body, headers: response.headers }
  }
  // The extent is known once the columns in memory are loaded.
  await eventually(async () => {
    const { body } = await get('/ogc/collections/location-lines', 'application/json')
    expect(body.extent.spatial.bbox).not.toEqual([[-180, -90, 180, 90]])
  })
  return { ...service, get, items: async (query) => (await get(`${PAGE}?${query}`, 'application/geo+json')).body }
}
