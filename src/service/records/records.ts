import type { Chain } from '../../attest/chains.ts'
import { LOCATION_STRINGS, locationSchemas } from '../../attest/schemas.ts'
import { freeBuffer } from '../../base/bytes.ts'
import { LruCache } from '../../base/lru-cache.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { readRecordQuery, readUid } from '../../validation/record-query.ts'
import type { EncodedPage, RecordQuery } from '../../wire/store-messages.ts'
import { Gate } from '../gate.ts'
import type { RequestContext, ServiceResponse } from '../request.ts'
import { featureText, featureTexts } from './documents.ts'
import type { ListResponse, RecordFormat, RecordRoute, RecordService } from './record-services.ts'
import { estimateHeader, findNextCursor, type StoreAccess } from './store-access.ts'

export interface RecordServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: StoreAccess
  /** Like `ask`, for reads that may take as long as a request. */
  readonly askPatiently: StoreAccess
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
  readonly versionTag: string
  readonly response: ListResponse
}

/** Serves records through the record API. They come from the store as finished JSON and are sent unchanged. */
export class RecordApi implements RecordService {
  readonly #parts: RecordServiceParts
  readonly #idsByName: ReadonlyMap<string, number>
  readonly #configJson: string
  /** Each use asks the store whether the cached list is still current. */
  readonly #lists = new LruCache<CachedList>(
    MAX_CACHED_BYTES,
    ({ response }, key) => response.json.length + 2 * key.length + ENTRY_BYTES,
  )

  /** Exact counts run one at a time, because one may occupy a connection to the database for as long as a request may take. */
  readonly #exactCounts = new Gate(1)

  constructor(parts: RecordServiceParts) {
    this.#parts = parts
    this.#idsByName = new Map([...parts.chains.values()].map(({ id, name }) => [name, id]))
    this.#configJson = writeConfig(parts)
  }

  config(): ServiceResponse {
    return { json: this.#configJson }
  }

  async list(
    route: RecordRoute,
    search: string,
    address: string,
    context: RequestContext,
    format: RecordFormat = 'json',
    maxBytes?: number,
  ): Promise<ListResponse> {
    const key = `${route} ${format} ${address}?${search}`
    const cached = this.#lists.get(key)
    const listQuery = cached?.listQuery ?? readRecordQuery(search, this.#idsByName)
    // The contract promises `limit` records from an offset, so only a page in our own format may end early.
    const endBytes = format === 'geojson' ? this.#parts.config.limits.featurePageBytes : undefined
    const size = { ...(endBytes === undefined ? {} : { endBytes }), ...(maxBytes === undefined ? {} : { maxBytes }) }
    const { versionTag, page } = await this.#readPage(listQuery, size, cached?.versionTag, context)
    if (page === undefined) return cached!.response
    const response = await this.#makeList(page, listQuery, { route, address, format }, context)
    this.#lists.set(key, { listQuery, versionTag, response })
    return response
  }

  #readPage(
    { query: listed, wantsExactCount }: ListQuery,
    size: Pick<RecordQuery, 'endBytes' | 'maxBytes'>,
    versionTag: string | undefined,
    context: RequestContext,
  ) {
    const { ask, askPatiently, config } = this.#parts
    const query = { ...listed, ...size }
    if (!wantsExactCount) return ask('newPage', { query, versionTag }, context)
    const exact = { ...query, exactCountMs: config.limits.requestDeadlineMs }
    return this.#exactCounts.run(context.client, () => askPatiently('newPage', { query: exact, versionTag }, context))
  }

  async record(
    route: RecordRoute,
    text: string,
    context: RequestContext,
    format: RecordFormat = 'json',
  ): Promise<ServiceResponse> {
    const uid = readUid(text)
    const document = await this.#parts.ask('record', uid, context)
    if (document === undefined) {
      throw new ProblemError({
        type: 'not-found',
        message: 'Location record not found',
        detail: `No attestation with UID ${uid} was found`,
      })
    }
    const renamed = this.#isLegacy(route) ? renameFormats(document) : document
    return { json: format === 'geojson' ? featureText(renamed) : renamed }
  }

  async stats(context: RequestContext): Promise<ServiceResponse> {
    const { ask, chains, now } = this.#parts
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
  }

  async #makeList(
    page: EncodedPage,
    { query, filters }: ListQuery,
    { route, address, format }: { route: RecordRoute; address: string; format: RecordFormat },
    context: RequestContext,
  ): Promise<ListResponse> {
    const { limit, offset } = query
    const documents = Buffer.from(page.documents.buffer, page.documents.byteOffset, page.documents.length)
    const headers: Record<string, string> = estimateHeader(page)
    const cursor = await findNextCursor(this.#parts.ask, { ...page, documents }, query, this.#idsByName, context)
    if (cursor !== undefined) {
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
    const formatted = await this.#formatDocuments(documents, route, format, context)
    const json = Buffer.concat([Buffer.from(head), formatted, Buffer.from(tail)])
    freeBuffer(page.documents.buffer)
    return { json, headers }
  }

  async #formatDocuments(
    documents: Buffer,
    route: RecordRoute,
    format: RecordFormat,
    { costs }: RequestContext,
  ): Promise<Buffer> {
    const isLegacy = this.#isLegacy(route)
    if (format === 'json' && !isLegacy) return documents
    const text = isLegacy ? renameFormats(documents.toString()) : documents.toString()
    return Buffer.from(format === 'geojson' ? await featureTexts(text, undefined, costs) : text)
  }

  /** Returns true if this route names formats as the previous API generation did, which is the operator's choice (decision 51). */
  #isLegacy(route: RecordRoute): boolean {
    return this.#parts.config.legacyProofFormat && route === 'location-proofs'
  }
}

/** Writes the response that describes this service. It never changes. */
function writeConfig({ config, chains }: RecordServiceParts): string {
  const names = new Set([...chains.values()].map(({ name }) => name))
  const hasRpc = (name: string) => [...chains.values()].some((chain) => chain.name === name && chain.rpcUrls.length > 0)
  const [schema, layout] = [...locationSchemas(config)][0]!
  return JSON.stringify({
    chains: Object.fromEntries(
      CONFIG_CHAINS.map((name) => [name, hasRpc(name) || (name === 'base' && hasRpc('base-sepolia'))]),
    ),
    chains_all: Object.fromEntries([...names].map((name) => [name, hasRpc(name)])),
    schema,
    schema_fields: LOCATION_STRINGS[layout],
    version: 'v0',
  })
}

/** Renames the formats as in the previous API generation. */
function renameFormats(documents: string): string {
  // Quotes inside values are escaped, so this text can only be the two members.
  return documents.replaceAll(
    '"srs":"EPSG:4326","location_type":"geojson-point"',
    '"srs":"WGS84","location_type":"point"',
  )
}
