import type { LocationRecord, LocationRecordList, RecordConfig, RecordStats } from '../types/generated.ts'
import { readJsonLines, readServerEvents } from './lines.ts'
import type { CallOptions, Transport } from './transport.ts'

/** Conditions on records; they are combined with AND. */
export interface RecordFilter {
  /** Name of the chain, e.g. `base`. */
  readonly chain?: string | undefined
  /** Address of the attester. */
  readonly prover?: string | undefined
  /** Address of the recipient. */
  readonly subject?: string | undefined
  /** Earliest event, ISO 8601. */
  readonly fromTimestamp?: string | undefined
  /** Latest event, ISO 8601. */
  readonly toTimestamp?: string | undefined
  /** West, south, east, north in degrees; a box with west > east crosses the antimeridian. */
  readonly bbox?: readonly [number, number, number, number] | undefined
}

/** Conditions on the records of an export. */
export interface ExportFilter extends RecordFilter {
  /** A further condition in CQL2, such as `revoked = FALSE AND event_timestamp >= DATE('2026-01-01')`. */
  readonly filter?: string | undefined
}

export interface RecordQuery extends RecordFilter {
  /** Records per page. */
  readonly limit?: number | undefined
  /** Number of matching records to skip. */
  readonly offset?: number | undefined
}

/** A change to the records. */
export interface RecordChange {
  /** Pass the last one as `lastEventId` to continue after a break. */
  readonly id: string
  /** `reset`: the service no longer knows `lastEventId`, so read the list again. */
  readonly event: 'new' | 'revoked' | 'restored' | 'rolled-back' | 'reset'
  /** The record; for `rolled-back` only its uid, chain, prover and subject; empty for an event without data. */
  readonly record: Partial<LocationRecord>
}

export interface Records {
  /** Reads one page of the records that match, newest block first. */
  list(query?: RecordQuery, options?: CallOptions): Promise<LocationRecordList>
  /** Reads one record. @throws {ApiError} with status 404 when there is no record with this UID */
  get(uid: string, options?: CallOptions): Promise<LocationRecord>
  /** Reads the number of records, by chain and by time. */
  stats(options?: CallOptions): Promise<RecordStats>
  /** Reads the chains that the service reads records from, and the schema of location attestations. */
  config(options?: CallOptions): Promise<RecordConfig>
  /** Yields every record that matches, newest first. */
  export(filter?: ExportFilter, options?: CallOptions): AsyncGenerator<LocationRecord, void, undefined>
  /** Yields changes as they happen, until the connection breaks ({ConnectionError}) or the signal aborts. */
  changes(
    filter?: Pick<RecordFilter, 'chain' | 'prover' | 'subject'> & { readonly lastEventId?: string | undefined },
    options?: CallOptions,
  ): AsyncGenerator<RecordChange, void, undefined>
  /** Runs a GraphQL query. Errors in arguments are returned in `errors`. @throws {ApiError} on a query that is rejected */
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
    list: async (query = {}, options) => get(`${PATH}${queryString(query)}`, options),
    get: async (uid, options) => get(`${PATH}/${encodeURIComponent(uid)}`, options),
    stats: async (options) => get(`${PATH}/stats`, options),
    config: async (options) => get('/api/v0/config', options),
    async *export(filter = {}, options) {
      const response = await transport.open({ method: 'GET', path: `${PATH}/export${queryString(filter)}` }, options)
      yield* readJsonLines<LocationRecord>(response.pieces())
    },
    async *changes(filter = {}, options) {
      const response = await transport.open({ method: 'GET', path: `${PATH}/stream${queryString(filter)}` }, options)
      for await (const { id, event, data } of readServerEvents(response.pieces())) {
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

function queryString(members: object): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, String(value))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
