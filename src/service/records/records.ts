import type { Chain } from '../../attest/chains.ts'
import { LOCATION_STRINGS, locationSchemas } from '../../attest/schemas.ts'
import { freeBuffer } from '../../base/bytes.ts'
import { ProblemError } from '../../base/problem.ts'
import { LruCache } from '../../base/weighed-map.ts'
import type { Config } from '../../config/config.ts'
import { encodeCursor, readRecordQuery, readUid } from '../../validation/record-query.ts'
import type { EncodedPage } from '../../wire/store-messages.ts'
import type { ServiceResponse } from '../request.ts'
import { featureText, featureTexts, lastKey } from './documents.ts'
import type { StoreAccess } from './questions.ts'
import type { ListResponse, RecordFormat, RecordRoute, RecordService } from './record-services.ts'

export interface RecordServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: StoreAccess
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The chains that the wire contract lists, in its order. Other chains appear only in `chains_all` (decision 52). */
const CONFIG_CHAINS = ['arbitrum', 'celo', 'sepolia', 'base'] as const

/** Size of the cache of list responses. With it the service answers twice as many list requests in the same time. */
const MAX_CACHED_BYTES = 16 * 1_048_576
/** Generous estimate of the memory of a cache entry besides its bytes. */
const ENTRY_BYTES = 8192

type ListQuery = ReturnType<typeof readRecordQuery>

interface CachedList {
  readonly listQuery: ListQuery
  readonly mark: string
  readonly response: ListResponse
}

/** Makes the record API. Records come from the store as finished JSON and are sent unchanged. */
export function createRecordService({ config, chains, ask, now }: RecordServiceParts): RecordService {
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const hasRpc = (name: string) => [...chains.values()].some((chain) => chain.name === name && chain.rpcUrls.length > 0)
  const [schema, layout] = [...locationSchemas(config)][0]!
  const configJson = JSON.stringify({
    chains: Object.fromEntries(
      CONFIG_CHAINS.map((name) => [name, hasRpc(name) || (name === 'base' && hasRpc('base-sepolia'))]),
    ),
    chains_all: Object.fromEntries([...idsByName.keys()].map((name) => [name, hasRpc(name)])),
    schema,
    schema_fields: LOCATION_STRINGS[layout],
    version: 'v0',
  })

  // Each use asks the store whether the cached list is still current.
  const lists = new LruCache<CachedList>(
    MAX_CACHED_BYTES,
    ({ response }, key) => response.json.length + 2 * key.length + ENTRY_BYTES,
  )

  return {
    config: () => ({ json: configJson }),

    async list(route, search, address, context, format = 'json') {
      const key = `${route} ${format} ${address}?${search}`
      const cached = lists.get(key)
      const listQuery = cached?.listQuery ?? readRecordQuery(search, idsByName)
      const { mark, page } = await ask('newPage', { query: listQuery.query, mark: cached?.mark }, context)
      if (page === undefined) return cached!.response
      const response = await makeList(page, listQuery, { route, address, format })
      lists.set(key, { listQuery, mark, response })
      return response
    },

    async record(route, text, context, format = 'json'): Promise<ServiceResponse> {
      const uid = readUid(text)
      const document = await ask('record', uid, context)
      if (document === undefined) {
        throw new ProblemError({
          type: 'not-found',
          message: 'Location record not found',
          detail: `No attestation with UID ${uid} was found`,
        })
      }
      const formatted = inRouteFormat(route, document)
      return { json: format === 'geojson' ? featureText(formatted) : formatted }
    },

    async stats(context) {
      const { byChain, recent } = await ask('stats', { nowSeconds: Math.floor(now() / 1000) }, context)
      const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
      const [last_24_hours, last_7_days, last_30_days] = recent
      return {
        json: JSON.stringify({
          total: sum(byChain.map(({ records }) => records)),
          by_chain: Object.fromEntries(
            byChain.map(({ chainId, records }) => [chains.get(chainId)?.name ?? `chain-${chainId}`, records]),
          ),
          by_time: { last_24_hours, last_7_days, last_30_days },
          revoked: sum(byChain.map(({ revoked }) => revoked)),
        }),
      }
    },
  }

  async function makeList(
    page: EncodedPage,
    { query: { limit, offset }, filters }: ListQuery,
    { route, address, format }: { route: RecordRoute; address: string; format: RecordFormat },
  ): Promise<ListResponse> {
    const documents = Buffer.from(page.documents.buffer, page.documents.byteOffset, page.documents.length)
    const headers: Record<string, string> = {}
    if (!page.isCountExact) headers['X-Count'] = 'estimated'
    if (page.length === limit && offset + limit < page.count) {
      const cursor = encodeCursor(lastKey(documents, idsByName), offset + limit)
      const next = new URLSearchParams(filters as [string, string][])
      if (format !== 'json') next.set('f', format)
      next.set('limit', String(limit))
      next.set('cursor', cursor)
      headers['Link'] = `<${address}?${next}>; rel="next"`
    }
    const [head, tail] =
      format === 'geojson'
        ? [
            `{"type":"FeatureCollection","numberMatched":${page.count},"numberReturned":${page.length},"features":[`,
            ']}',
          ]
        : ['{"data":[', `],"count":${page.count},"limit":${limit},"offset":${offset}}`]
    const json = Buffer.concat([Buffer.from(head), await formatDocuments(documents), Buffer.from(tail)])
    freeBuffer(page.documents.buffer)
    return { json, headers }

    async function formatDocuments(bytes: Buffer): Promise<Buffer> {
      if (format === 'geojson') return Buffer.from(await featureTexts(inRouteFormat(route, bytes.toString())))
      return isLegacy(route) ? Buffer.from(inRouteFormat(route, bytes.toString())) : bytes
    }
  }

  function isLegacy(route: RecordRoute): boolean {
    return config.legacyProofFormat && route === 'location-proofs'
  }

  /** Renames the formats as in the previous API generation, if the operator has enabled this (decision 51). */
  function inRouteFormat(route: RecordRoute, documents: string): string {
    if (!isLegacy(route)) return documents
    // Quotes inside values are escaped, so this text can only be the two members.
    return documents.replaceAll(
      '"srs":"EPSG:4326","location_type":"geojson-point"',
      '"srs":"WGS84","location_type":"point"',
    )
  }
}
