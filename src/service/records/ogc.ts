import type { Chain } from '../../attest/chains.ts'
import { freeBuffer } from '../../base/bytes.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { ProblemError } from '../../base/problem.ts'
import { type ItemsRequest, readFormatOnly, readItemQuery, readItemsQuery } from '../../validation/ogc-query.ts'
import { readUid } from '../../validation/record-query.ts'
import { type Crs, positionConverter } from '../../validation/reference-systems.ts'
import { geometryFamily, type RecordExtent } from '../../wire/store-messages.ts'
import { chargeTime, type RequestContext } from '../request.ts'
import { featureProperties, featureText, featureTexts, readLocation } from './documents.ts'
import {
  type Collection,
  collectionJson,
  collectionsJson,
  conformanceJson,
  findCollection,
  landingJson,
  openApiJson,
  queryablesJson,
  TITLES,
} from './ogc-documents.ts'
import { featureTable, resourcePage } from './ogc-pages.ts'
import { flatProperties } from './ogc-properties.ts'
import type { OgcDocument, OgcRequest, OgcService } from './record-services.ts'
import { estimateHeader, findNextCursor, type StoreAccess } from './store-access.ts'

interface OgcServiceParts {
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: StoreAccess
  /** Version of this program. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Bytes after which a page ends early. */
  readonly pageBytes: number
}

/** Parameters of a list that leave no feature out. */
const SHOWS_ALL: ReadonlySet<string> = new Set(['f', 'crs', 'bbox-crs', 'filter-lang', 'filter-crs'])

/** Size of the cache of pages. A page that it holds costs 0.1 ms of CPU time, any other more than 1 ms. */
const MAX_CACHED_CHARACTERS = 8 * 1_048_576
/** Generous estimate of the size of a cache entry besides its texts. */
const ENTRY_CHARACTERS = 4096

/** The features of one page, as they are served until a record changes. */
interface CachedItems {
  readonly request: ItemsRequest
  readonly versionTag: string
  readonly page: { readonly length: number; readonly count: number; readonly isEstimate: boolean }
  /** GeoJSON features, joined with commas. */
  readonly features: string
  /** Cursor of the next page; undefined on the last page. */
  readonly cursor: string | undefined
}

/**
 * Makes OGC API Features over the records: a collection of all, and one for each family of geometries. They are stored in WGS 84
 * longitude and latitude.
 *
 * @see OGC 17-069r4, OGC API - Features - Part 1: Core, version 1.0.1
 * @see OGC 18-058r1, Part 2: Coordinate Reference Systems by Reference
 * @see OGC 19-079r2, Part 3: Filtering
 */
export function createOgcService({ chains, ask, version, now, pageBytes }: OgcServiceParts): OgcService {
  const readsChains = [...chains.values()].some(({ rpcUrls }) => rpcUrls.length > 0)
  const noFeatures = readsChains ? 'waiting' : 'no-chain'
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const documents: Readonly<Record<OgcDocument, (baseUrl: string) => string>> = {
    '': landingJson,
    conformance: conformanceJson,
    api: (baseUrl) => openApiJson(baseUrl, version, [...idsByName.keys()]),
  }
  const itemsByKey = new LruCache<CachedItems>(
    MAX_CACHED_CHARACTERS,
    ({ features }, key) => features.length + key.length + ENTRY_CHARACTERS,
  )

  /** Returns the extent of a collection; undefined if it is unknown, or if the store cannot be read now. */
  async function findExtent({ family }: Collection, context: RequestContext): Promise<RecordExtent | undefined> {
    try {
      return await ask('extent', { family }, context)
    } catch (error) {
      if (error instanceof ProblemError) return undefined
      throw error
    }
  }

  /** Returns the features of a page, from the cache if no record has changed since they were read. */
  async function readItems(collection: Collection, search: string, context: RequestContext): Promise<CachedItems> {
    const key = `${collection.id}?${search}`
    const cached = itemsByKey.get(key)
    const request = cached?.request ?? restrict(readItemsQuery(search, idsByName), collection)
    const { query, crs } = request
    const { versionTag, page } = await ask(
      'newPage',
      { query: { ...query, endBytes: pageBytes }, versionTag: cached?.versionTag },
      context,
    )
    if (page === undefined) return cached!
    const documents = Buffer.from(page.documents.buffer, page.documents.byteOffset, page.documents.length).toString()
    freeBuffer(page.documents.buffer)
    const items = {
      request,
      versionTag,
      page: { length: page.length, count: page.count, isEstimate: page.isEstimate === true },
      features: await featureTexts(documents, positionConverter(crs), context.costs, flatProperties),
      cursor: await findNextCursor(ask, { ...page, documents }, query, idsByName, context),
    }
    itemsByKey.set(key, items)
    return items
  }

  return {
    document(name, request) {
      readFormatOnly(request.search)
      return { json: inFormat(request, TITLES[name], documents[name](request.baseUrl)) }
    },

    async collections(request) {
      readFormatOnly(request.search)
      const json = await collectionsJson(request.baseUrl, (collection) => findExtent(collection, request.context))
      return { json: inFormat(request, 'Collections', json) }
    },

    async collection(id, request) {
      const collection = findCollection(id)
      readFormatOnly(request.search)
      const extent = await findExtent(collection, request.context)
      return { json: inFormat(request, collection.title, collectionJson(request.baseUrl, collection, extent)) }
    },

    queryables(id, request) {
      const collection = findCollection(id)
      readFormatOnly(request.search)
      const json = queryablesJson(request.baseUrl, collection, [...idsByName.keys()])
      return { json: inFormat(request, 'Queryables', json) }
    },

    async items(id, ogcRequest) {
      const { search, baseUrl, context } = ogcRequest
      const collection = findCollection(id)
      const { request, page, features, cursor } = await readItems(collection, search, context)
      const { query, filters, crs } = request
      const address = itemsUrl(baseUrl, collection)
      const self = new URLSearchParams(search).toString()
      const links = [link('self', self === '' ? address : `${address}?${self}`), collectionLink(baseUrl, collection)]
      const headers: Record<string, string> = { ...crsHeader(crs), ...estimateHeader(page) }
      if (cursor !== undefined) {
        const next = new URLSearchParams(filters as [string, string][])
        next.set('limit', String(query.limit))
        next.set('cursor', cursor)
        links.push(link('next', `${address}?${next}`))
        headers['Link'] = `<${address}?${next}>; rel="next"; type="application/geo+json"`
      }
      const members =
        `"type":"FeatureCollection","links":${JSON.stringify(links)},"timeStamp":"${new Date(now()).toISOString()}",` +
        `"numberMatched":${page.count},"numberReturned":${page.length}`
      if (ogcRequest.format !== 'html') return { json: `{${members},"features":[${features}]}`, headers }
      // A page shows no geometries, and parsing megabytes of them would hold up all other requests.
      const whyEmpty = page.count > 0 ? 'end' : filters.some(([name]) => !SHOWS_ALL.has(name)) ? 'filter' : noFeatures
      const rows = await featureProperties(features, context.costs)
      const table = () => resourcePage(collection.title, `{${members}}`, baseUrl, featureTable(rows, address, whyEmpty))
      return { json: chargeTime(context, table), headers }
    },

    async item(id, text, request) {
      const { search, baseUrl, context } = request
      const collection = findCollection(id)
      const crs = readItemQuery(search)
      const uid = readUid(text)
      const document = await ask('record', uid, context)
      if (document === undefined || !isIn(collection, document)) {
        throw new ProblemError({
          type: 'not-found',
          message: 'Location record not found',
          detail: `No attestation with UID ${uid} was found${document === undefined ? '' : ` in ${collection.id}`}`,
        })
      }
      const self = link('self', `${itemsUrl(baseUrl, collection)}/${uid}`)
      const links = `,"links":${JSON.stringify([self, collectionLink(baseUrl, collection)])}`
      const json = chargeTime(context, () =>
        inFormat(request, uid, featureText(document, links, positionConverter(crs), flatProperties)),
      )
      return { json, headers: crsHeader(crs) }
    },
  }
}

/** Returns a resource as JSON, or as a page. */
function inFormat({ format, baseUrl }: OgcRequest, title: string, json: string): string {
  return format === 'html' ? resourcePage(title, json, baseUrl) : json
}

function restrict(request: ItemsRequest, { family }: Collection): ItemsRequest {
  return family === undefined ? request : { ...request, query: { ...request.query, family } }
}

function isIn({ family }: Collection, document: string): boolean {
  return family === undefined || geometryFamily(readLocation(document)) === family
}

function crsHeader(crs: Crs): Record<string, string> {
  return { 'Content-Crs': `<${crs}>` }
}

function link(rel: 'self' | 'next', href: string): object {
  return { rel, type: 'application/geo+json', href }
}

function collectionLink(baseUrl: string, { id }: Collection): object {
  return { rel: 'collection', type: 'application/json', href: `${baseUrl}/ogc/collections/${id}` }
}

function itemsUrl(baseUrl: string, { id }: Collection): string {
  return `${baseUrl}/ogc/collections/${id}/items`
}
