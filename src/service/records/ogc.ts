import type { Chain } from '../../attest/chains.ts'
import { freeBuffer } from '../../base/bytes.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { ProblemError } from '../../base/problem.ts'
import { readFormatOnly, readItemQuery, readItemsQuery } from '../../validation/ogc-query.ts'
import { readUid } from '../../validation/record-query.ts'
import { type Crs, positionConverter } from '../../validation/reference-systems.ts'
import { chargeTime, type RequestContext } from '../request.ts'
import { featureText, featureTexts } from './documents.ts'
import {
  COLLECTION,
  collectionJson,
  collectionsJson,
  conformanceJson,
  landingJson,
  openApiJson,
  queryablesJson,
  TITLES,
} from './ogc-documents.ts'
import { resourcePage } from './ogc-pages.ts'
import type { OgcDocument, OgcFormat, OgcService } from './record-services.ts'
import { estimateHeader, findNextCursor, type StoreAccess } from './store-access.ts'

interface OgcServiceParts {
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: StoreAccess
  /** Version of this program. */
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Size of the cache of pages. A page that it holds costs 0.1 ms of CPU time, any other more than 1 ms. */
const MAX_CACHED_CHARACTERS = 8 * 1_048_576
/** Generous estimate of the size of a cache entry besides its texts. */
const ENTRY_CHARACTERS = 4096

/** The features of one page, as they are served until a record changes. */
interface CachedItems {
  readonly request: ReturnType<typeof readItemsQuery>
  readonly versionTag: string
  readonly page: { readonly length: number; readonly count: number; readonly isEstimate: boolean }
  /** GeoJSON features, joined with commas. */
  readonly features: string
  /** Cursor of the next page; undefined on the last page. */
  readonly cursor: string | undefined
}

/**
 * Makes OGC API Features over the records: one collection, stored in WGS 84 longitude and latitude.
 *
 * @see OGC 17-069r4, OGC API - Features - Part 1: Core, version 1.0.1
 * @see OGC 18-058r1, Part 2: Coordinate Reference Systems by Reference
 * @see OGC 19-079r2, Part 3: Filtering
 */
export function createOgcService({ chains, ask, version, now }: OgcServiceParts): OgcService {
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const documents: Readonly<Record<OgcDocument, (baseUrl: string) => string>> = {
    '': landingJson,
    conformance: conformanceJson,
    api: (baseUrl) => openApiJson(baseUrl, version, [...idsByName.keys()]),
    collections: collectionsJson,
    collection: collectionJson,
    queryables: (baseUrl) => queryablesJson(baseUrl, [...idsByName.keys()]),
  }
  const itemsBySearch = new LruCache<CachedItems>(
    MAX_CACHED_CHARACTERS,
    ({ features }, search) => features.length + search.length + ENTRY_CHARACTERS,
  )
  const inFormat = (format: OgcFormat, title: string, json: string, baseUrl: string) =>
    format === 'html' ? resourcePage(title, json, `${baseUrl}/ogc`) : json

  /** Returns the features of a page, from the cache if no record has changed since they were read. */
  async function readItems(search: string, context: RequestContext): Promise<CachedItems> {
    const cached = itemsBySearch.get(search)
    const request = cached?.request ?? readItemsQuery(search, idsByName)
    const { query, crs } = request
    const { versionTag, page } = await ask('newPage', { query, versionTag: cached?.versionTag }, context)
    if (page === undefined) return cached!
    const documents = Buffer.from(page.documents.buffer, page.documents.byteOffset, page.documents.length).toString()
    freeBuffer(page.documents.buffer)
    const items = {
      request,
      versionTag,
      page: { length: page.length, count: page.count, isEstimate: page.isEstimate === true },
      features: await featureTexts(documents, positionConverter(crs), context.costs),
      cursor: await findNextCursor(ask, { ...page, documents }, query, idsByName, context),
    }
    itemsBySearch.set(search, items)
    return items
  }

  return {
    document(name, search, baseUrl, format) {
      readFormatOnly(search)
      return { json: inFormat(format, TITLES[name], documents[name](baseUrl), baseUrl) }
    },

    async items(search, baseUrl, context, format) {
      const { request, page, features, cursor } = await readItems(search, context)
      const { query, filters, crs } = request
      const address = `${baseUrl}/ogc/collections/${COLLECTION}/items`
      const self = new URLSearchParams(search).toString()
      const links = [link('self', self === '' ? address : `${address}?${self}`), collectionLink(baseUrl)]
      const headers: Record<string, string> = { ...crsHeader(crs), ...estimateHeader(page) }
      if (cursor !== undefined) {
        const next = new URLSearchParams(filters as [string, string][])
        next.set('limit', String(query.limit))
        next.set('cursor', cursor)
        links.push(link('next', `${address}?${next}`))
        headers['Link'] = `<${address}?${next}>; rel="next"; type="application/geo+json"`
      }
      const json =
        `{"type":"FeatureCollection","links":${JSON.stringify(links)},"timeStamp":"${new Date(now()).toISOString()}",` +
        `"numberMatched":${page.count},"numberReturned":${page.length},"features":[${features}]}`
      return { json: chargeTime(context, () => inFormat(format, TITLES.collection, json, baseUrl)), headers }
    },

    async item(text, search, baseUrl, context, format) {
      const crs = readItemQuery(search)
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
      const links = `,"links":${JSON.stringify([self, collectionLink(baseUrl)])}`
      const json = chargeTime(context, () =>
        inFormat(format, uid, featureText(document, links, positionConverter(crs)), baseUrl),
      )
      return { json, headers: crsHeader(crs) }
    },
  }
}

function crsHeader(crs: Crs): Record<string, string> {
  return { 'Content-Crs': `<${crs}>` }
}

function link(rel: 'self' | 'next', href: string): object {
  return { rel, type: 'application/geo+json', href }
}

function collectionLink(baseUrl: string): object {
  return { rel: 'collection', type: 'application/json', href: `${baseUrl}/ogc/collections/${COLLECTION}` }
}
