import type { Chain } from '../../attest/chains.ts'
import { ProblemError } from '../../base/problem.ts'
import { readFormatOnly, readItemsQuery } from '../../validation/ogc-query.ts'
import { encodeCursor, readUid } from '../../validation/record-query.ts'
import { featureText, featureTexts, lastKey } from './documents.ts'
import { openApiJson } from './ogc-api.ts'
import type { StoreAccess } from './questions.ts'
import type { OgcDocument, OgcService } from './record-services.ts'

/* The descriptive resources of OGC API Features. Every URL in them is absolute. */

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

function landingJson(baseUrl: string): string {
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

function conformanceJson(): string {
  return JSON.stringify({ conformsTo: ['core', 'oas30', 'geojson'].map((name) => `${CONFORMANCE}/${name}`) })
}

function collectionsJson(baseUrl: string): string {
  return JSON.stringify({
    links: linksJson(baseUrl, [['self', '/collections', 'application/json', 'Collections']]),
    collections: [collection(baseUrl)],
  })
}

function collectionJson(baseUrl: string): string {
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

interface OgcServiceParts {
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: StoreAccess
  /** Version of this program. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Makes OGC API Features over the records: one collection, in WGS 84 longitude and latitude.
 *
 * @see OGC 17-069r4, OGC API - Features - Part 1: Core, version 1.0.1
 */
export function createOgcService({ chains, ask, version, now }: OgcServiceParts): OgcService {
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const documents: Readonly<Record<OgcDocument, (baseUrl: string) => string>> = {
    '': landingJson,
    conformance: conformanceJson,
    api: (baseUrl) => openApiJson(baseUrl, version, [...idsByName.keys()]),
    collections: collectionsJson,
    collection: collectionJson,
  }

  return {
    document(name, search, baseUrl) {
      readFormatOnly(search)
      return { json: documents[name](baseUrl) }
    },

    async items(search, baseUrl, context) {
      const { query, filters } = readItemsQuery(search, idsByName)
      const page = await ask('page', query, context)
      const end = query.offset + page.length
      const address = `${baseUrl}/ogc/collections/${COLLECTION}/items`
      const self = new URLSearchParams(search).toString()
      const links = [link('self', self === '' ? address : `${address}?${self}`), collectionLink(baseUrl)]
      const headers: Record<string, string> = {}
      if (page.length === query.limit && end < page.count) {
        const next = new URLSearchParams(filters as [string, string][])
        next.set('limit', String(query.limit))
        next.set('cursor', encodeCursor(lastKey(page.documents, idsByName), end))
        links.push(link('next', `${address}?${next}`))
        headers['Link'] = `<${address}?${next}>; rel="next"; type="application/geo+json"`
      }
      const matched = page.isCountExact ? `"numberMatched":${page.count},` : ''
      const json =
        `{"type":"FeatureCollection","links":${JSON.stringify(links)},"timeStamp":"${new Date(now()).toISOString()}",` +
        `${matched}"numberReturned":${page.length},"features":[${await featureTexts(page.documents)}]}`
      return { json, headers }
    },

    async item(text, search, baseUrl, context) {
      readFormatOnly(search)
      const uid = readUid(text)
      const document = await ask('record', uid, context)
      if (document === undefined) {
        throw new ProblemError({
          type: 'not-found',
          message: 'Location record not found',
          detail: `No attestation with UID ${uid} was found`,
        })
      }
      const self = link('self', `${baseUrl}/ogc/collections/${COLLECTION}/items/${uid}`)
      return { json: featureText(document, `,"links":${JSON.stringify([self, collectionLink(baseUrl)])}`) }
    },
  }
}

function link(rel: 'self' | 'next', href: string): object {
  return { rel, type: 'application/geo+json', href }
}

function collectionLink(baseUrl: string): object {
  return { rel: 'collection', type: 'application/json', href: `${baseUrl}/ogc/collections/${COLLECTION}` }
}
