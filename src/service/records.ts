import type { Chain } from '../attest/chains.ts'
import { locationSchemas } from '../attest/schema-kinds.ts'
import { LOCATION_STRINGS } from '../attest/schemas.ts'
import type { Config } from '../config.ts'
import { freeBuffer } from '../free-buffer.ts'
import { ProblemError } from '../problem.ts'
import type { EncodedPage } from '../store-messages.ts'
import { cursorText, readRecordQuery, readUid } from '../validation/record-query.ts'
import { WeighedMap } from '../weighed-map.ts'
import { featureText, featureTexts, lastKey } from './record-documents.ts'
import type { RecordQuestion } from './record-questions.ts'
import type { ListAnswer, RecordFormat, RecordRoute, RecordService } from './record-services.ts'
import type { ServiceAnswer } from './services.ts'

export interface RecordServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly ask: RecordQuestion
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** The chains of the interface, in its order; the others stand beside them (decision 52). */
const CONFIG_CHAINS = ['arbitrum', 'celo', 'sepolia', 'base'] as const

/** Of answers that are kept as they went out: twice as many are given in the same time. */
const MAX_KEPT_BYTES = 16 * 1_048_576
/** What stands beside the bytes of one, generously. */
const ENTRY_BYTES = 8192

type ListQuestion = ReturnType<typeof readRecordQuery>

interface KeptList {
  readonly question: ListQuestion
  readonly mark: string
  readonly answer: ListAnswer
}

/** What the record API answers. Records come as finished texts, and go out as they are. */
export function createRecordService({ config, chains, ask, now }: RecordServiceParts): RecordService {
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const isEnabled = (name: string) =>
    [...chains.values()].some((chain) => chain.name === name && chain.rpcUrls.length > 0)
  const [schema, layout] = [...locationSchemas(config)][0]!
  const configJson = JSON.stringify({
    chains: Object.fromEntries(
      CONFIG_CHAINS.map((name) => [name, isEnabled(name) || (name === 'base' && isEnabled('base-sepolia'))]),
    ),
    chains_all: Object.fromEntries([...idsByName.keys()].map((name) => [name, isEnabled(name)])),
    schema,
    schema_fields: LOCATION_STRINGS[layout],
    version: 'v0',
  })

  // The store says whether they are still true.
  const lists = new WeighedMap<KeptList>(
    MAX_KEPT_BYTES,
    ({ answer }, key) => answer.json.length + 2 * key.length + ENTRY_BYTES,
  )

  return {
    config: () => ({ json: configJson }),

    async list(route, search, address, context, format = 'json') {
      const key = `${route} ${format} ${address}?${search}`
      const kept = lists.get(key)
      const question = kept?.question ?? readRecordQuery(search, idsByName)
      const { mark, page } = await ask('newPage', { query: question.query, mark: kept?.mark }, context)
      if (page === undefined) return kept!.answer
      const answer = await listOf(page, question, { route, address, format })
      lists.set(key, { question, mark, answer })
      return answer
    },

    async record(route, text, context, format = 'json'): Promise<ServiceAnswer> {
      const uid = readUid(text)
      const document = await ask('record', uid, context)
      if (document === undefined) {
        throw new ProblemError({
          type: 'not-found',
          message: 'Location record not found',
          detail: `No attestation with UID ${uid} was found`,
        })
      }
      const shown = inFormat(route, document)
      return { json: format === 'geojson' ? featureText(shown) : shown }
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

  async function listOf(
    page: EncodedPage,
    { query: { limit, offset }, filters }: ListQuestion,
    { route, address, format }: { route: RecordRoute; address: string; format: RecordFormat },
  ): Promise<ListAnswer> {
    const documents = Buffer.from(page.documents.buffer, page.documents.byteOffset, page.documents.length)
    const headers: Record<string, string> = {}
    if (!page.isCountExact) headers['X-Count'] = 'estimated'
    if (page.length === limit && offset + limit < page.count) {
      const cursor = cursorText(lastKey(documents, idsByName), offset + limit)
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
    const json = Buffer.concat([Buffer.from(head), await shown(documents), Buffer.from(tail)])
    freeBuffer(page.documents.buffer)
    return { json, headers }

    async function shown(bytes: Buffer): Promise<Buffer> {
      if (format === 'geojson') return Buffer.from(await featureTexts(inFormat(route, bytes.toString())))
      return isLegacy(route) ? Buffer.from(inFormat(route, bytes.toString())) : bytes
    }
  }

  function isLegacy(route: RecordRoute): boolean {
    return config.legacyProofFormat && route === 'location-proofs'
  }

  /** The older generation of the route named formats otherwise; only on the operator's word (decision 51). */
  function inFormat(route: RecordRoute, documents: string): string {
    if (!isLegacy(route)) return documents
    // Quotes within values are escaped, so this can only be the two members.
    return documents.replaceAll(
      '"srs":"EPSG:4326","location_type":"geojson-point"',
      '"srs":"WGS84","location_type":"point"',
    )
  }
}
