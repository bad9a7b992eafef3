import type { Chain } from '../attest/chains.ts'
import { SCHEMA_STRINGS } from '../attest/schemas.ts'
import type { Config } from '../config.ts'
import type { Hex } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import {
  type RecordKey,
  type StoreArgument,
  StoreFault,
  type StoreOperation,
  type StoreResult,
} from '../store-messages.ts'
import type { StoreClient } from '../threads/store-client.ts'
import { cursorText, readRecordQuery, readUid } from '../validation/record-query.ts'
import type { RecordRoute, RecordService, RequestContext, ServiceAnswer } from './services.ts'

export interface RecordServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemaUid: Hex
  /** undefined when no records are kept. */
  readonly store: StoreClient | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Seconds after which a store that is opening, or too busy, is worth another try. */
const RETRY_SECONDS = 1
/** The chains of the interface, in its order; the others stand beside them (decision 52). */
const CONFIG_CHAINS = ['arbitrum', 'celo', 'sepolia', 'base'] as const

/** What the record API answers. Records come as finished texts, and go out as they are. */
export function createRecordService({ config, chains, schemaUid, store, now }: RecordServiceParts): RecordService {
  const idsByName = new Map([...chains.values()].map(({ id, name }) => [name, id]))
  const isEnabled = (name: string) =>
    [...chains.values()].some((chain) => chain.name === name && chain.rpcUrls.length > 0)
  const configJson = JSON.stringify({
    chains: Object.fromEntries(
      CONFIG_CHAINS.map((name) => [name, isEnabled(name) || (name === 'base' && isEnabled('base-sepolia'))]),
    ),
    chains_all: Object.fromEntries([...idsByName.keys()].map((name) => [name, isEnabled(name)])),
    schema: schemaUid,
    schema_fields: SCHEMA_STRINGS.location,
    version: 'v0',
  })

  return {
    config: () => ({ json: configJson }),

    async list(route, search, address, context) {
      const { query, filters } = readRecordQuery(search, idsByName)
      const { limit, offset } = query
      const page = await ask('page', query, context)
      const headers: Record<string, string> = {}
      if (!page.isCountExact) headers['X-Count'] = 'estimated'
      if (page.length === limit && offset + limit < page.count) {
        const cursor = cursorText(lastKey(page.documents), offset + limit)
        const next = new URLSearchParams(filters as [string, string][])
        next.set('limit', String(limit))
        next.set('cursor', cursor)
        headers['Link'] = `<${address}?${next}>; rel="next"`
      }
      const json = `{"data":[${inFormat(route, page.documents)}],"count":${page.count},"limit":${limit},"offset":${offset}}`
      return { json, headers }
    },

    async record(route, text, context): Promise<ServiceAnswer> {
      const uid = readUid(text)
      const document = await ask('record', uid, context)
      if (document === undefined) {
        throw new ProblemError({
          type: 'not-found',
          message: 'Location record not found',
          detail: `No attestation with UID ${uid} was found`,
        })
      }
      return { json: inFormat(route, document) }
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

  async function ask<O extends StoreOperation>(
    operation: O,
    argument: StoreArgument<O>,
    context: RequestContext,
  ): Promise<StoreResult<O>> {
    if (store === undefined) throw unavailable('this deployment keeps no records (RECORDS=0)')
    try {
      return await store.ask(operation, argument, Math.min(context.deadlineMs, now() + config.limits.storeReadMs))
    } catch (error) {
      if (!(error instanceof StoreFault)) throw error
      // Never an empty list in place of records that cannot be read.
      if (error.kind === 'unavailable') throw unavailable('the database is not available; try again', error)
      if (error.kind === 'late')
        throw unavailable('the database did not answer in time; try again, or ask for less', error)
      throw error
    }
  }

  /** The older generation of the route named formats otherwise; only on the operator's word (decision 51). */
  function inFormat(route: RecordRoute, documents: string): string {
    if (!config.legacyProofFormat || route !== 'location-proofs') return documents
    // Quotes within values are escaped, so this can only be the two members.
    return documents.replaceAll(
      '"srs":"EPSG:4326","location_type":"geojson-point"',
      '"srs":"WGS84","location_type":"point"',
    )
  }

  /** Key of the last of several documents: each begins with its uid. */
  function lastKey(documents: string): RecordKey {
    const { uid, chain, timestamp } = JSON.parse(documents.slice(documents.lastIndexOf('{"uid":"')))
    return {
      uid,
      chainId: idsByName.get(chain) ?? Number(chain.replace('chain-', '')),
      timeSeconds: Date.parse(timestamp) / 1000,
    }
  }
}

function unavailable(detail: string, cause?: unknown): ProblemError {
  return new ProblemError(
    { type: 'overloaded', message: 'Records are not available', detail, retryAfterSeconds: RETRY_SECONDS },
    { cause },
  )
}
