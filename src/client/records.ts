import type { LocationRecord, LocationRecordList, RecordConfig, RecordStats } from '../types/generated.ts'
import { eventsOf, valuesOf } from './lines.ts'
import type { CallOptions, Transport } from './transport.ts'

export interface RecordFilter {
  readonly chain?: string | undefined
  /** Who attested. */
  readonly prover?: string | undefined
  /** About whom. */
  readonly subject?: string | undefined
  /** ISO 8601. */
  readonly fromTimestamp?: string | undefined
  readonly toTimestamp?: string | undefined
  /** West, south, east, north in degrees; west > east goes across the antimeridian. */
  readonly bbox?: readonly [number, number, number, number] | undefined
}

export interface RecordQuery extends RecordFilter {
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

/** A change of the records. */
export interface RecordChange {
  /** Give the last one back as `lastEventId` to go on after a break. */
  readonly id: string
  /** `reset`: the place is not known any more, read the list anew. */
  readonly event: 'new' | 'revoked' | 'restored' | 'rolled-back' | 'reset'
  /** The record; of `rolled-back` its uid, chain, prover and subject alone. */
  readonly record: Partial<LocationRecord>
}

export interface Records {
  list(query?: RecordQuery, options?: CallOptions): Promise<LocationRecordList>
  get(uid: string, options?: CallOptions): Promise<LocationRecord>
  stats(options?: CallOptions): Promise<RecordStats>
  config(options?: CallOptions): Promise<RecordConfig>
  /** Every record that matches, newest first, one after the other. */
  export(filter?: RecordFilter, options?: CallOptions): AsyncGenerator<LocationRecord, void, undefined>
  /** Changes as they come, until the connection breaks ({ConnectionError}) or the signal ends it. */
  changes(
    filter?: Pick<RecordFilter, 'chain' | 'prover' | 'subject'> & { readonly lastEventId?: string | undefined },
    options?: CallOptions,
  ): AsyncGenerator<RecordChange, void, undefined>
  /** @throws {ApiError} on a question that is refused; what is wrong with an argument stands in `errors` */
  graphql<T>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<{ readonly data?: T; readonly errors?: readonly { readonly message: string }[] }>
}

const PATH = '/api/v0/location-records'

export function createRecords(transport: Transport): Records {
  const get = <T>(path: string, options?: CallOptions) => transport.json<T>({ method: 'GET', path }, options)
  return {
    list: async (query = {}, options) => get(`${PATH}${queryOf(query)}`, options),
    get: async (uid, options) => get(`${PATH}/${encodeURIComponent(uid)}`, options),
    stats: async (options) => get(`${PATH}/stats`, options),
    config: async (options) => get('/api/v0/config', options),
    async *export(filter = {}, options) {
      const answer = await transport.open({ method: 'GET', path: `${PATH}/export${queryOf(filter)}` }, options)
      yield* valuesOf<LocationRecord>(answer.pieces())
    },
    async *changes(filter = {}, options) {
      const answer = await transport.open({ method: 'GET', path: `${PATH}/stream${queryOf(filter)}` }, options)
      for await (const { id, event, data } of eventsOf(answer.pieces())) {
        if (event === 'message') continue // a heartbeat
        yield { id, event: event as RecordChange['event'], record: data === '' ? {} : JSON.parse(data) }
      }
    },
    graphql: async (query, variables, options) => {
      const body = JSON.stringify({ query, variables })
      return transport.json({ method: 'POST', path: '/graphql', body }, options)
    },
  }
}

function queryOf(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
