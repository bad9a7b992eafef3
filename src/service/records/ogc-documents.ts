/** The descriptive resources of OGC API Features. Every URL in them is absolute. */

/** Name of the only collection. */
export const COLLECTION = 'location-records'

const CONFORMANCE = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
/** Longitude and latitude on WGS 84, the coordinate reference system of GeoJSON. */
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

const TITLE = 'Location records'
const DESCRIPTION = 'Location attestations read from their chains, newest first; revoked ones are marked'

type Link = readonly [rel: string, path: string, type: string, title: string]

function linksJson(baseUrl: string, links: readonly Link[]): object[] {
  return links.map(([rel, path, type, title]) => ({ rel, type, title, href: `${baseUrl}/ogc${path}` }))
}

export function landingJson(baseUrl: string): string {
  return JSON.stringify({
    title: TITLE,
    description: DESCRIPTION,
    links: linksJson(baseUrl, [
      ['self', '', 'application/json', 'This page'],
      ['service-desc', '/api', 'application/vnd.oai.openapi+json;version=3.0', 'The API as OpenAPI 3.0'],
      ['conformance', '/conformance', 'application/json', 'Conformance classes'],
      ['data', '/collections', 'application/json', 'Collections'],
    ]),
  })
}

export function conformanceJson(): string {
  return JSON.stringify({ conformsTo: ['core', 'oas30', 'geojson'].map((name) => `${CONFORMANCE}/${name}`) })
}

export function collectionsJson(baseUrl: string): string {
  return JSON.stringify({
    links: linksJson(baseUrl, [['self', '/collections', 'application/json', 'Collections']]),
    collections: [collection(baseUrl)],
  })
}

export function collectionJson(baseUrl: string): string {
  return JSON.stringify(collection(baseUrl))
}

function collection(baseUrl: string): object {
  const path = `/collections/${COLLECTION}`
  return {
    id: COLLECTION,
    title: TITLE,
    description: DESCRIPTION,
    links: linksJson(baseUrl, [
      ['self', path, 'application/json', TITLE],
      ['items', `${path}/items`, 'application/geo+json', 'Features'],
    ]),
    // The extent that records may cover. The extent that they do cover changes with each block.
    extent: {
      spatial: { bbox: [[-180, -90, 180, 90]], crs: CRS84 },
      temporal: { interval: [[null, null]], trs: GREGORIAN },
    },
    itemType: 'feature',
    crs: [CRS84],
  }
}
