/** The interface between the HTTP layer and the records and their sync. */
import type { CostMeter } from '../../base/cost.ts'
import type { RequestContext, ServiceResponse, TextSink } from '../request.ts'

/** The routes of the two generations of the record API. */
export type RecordRoute = 'location-proofs' | 'location-records'

/** Records as JSON objects, or as GeoJSON features. */
export type RecordFormat = 'json' | 'geojson'

/** The response to a list. Lists are long, so they are cached as the bytes that are sent. */
export type ListResponse = Omit<ServiceResponse, 'json'> & { readonly json: Buffer }

/** The record API. Its problems have a `message`. */
export interface RecordService {
  config(): ServiceResponse
  /**
   * Returns one page of records.
   *
   * @param search query parameters as sent
   * @param address URL of the list, for the link to the next page
   * @param maxBytes largest number of bytes of the records, if it is below the limit of all pages
   * @throws {ProblemError} if the page is larger. A page of features ends early instead
   */
  list(
    route: RecordRoute,
    search: string,
    address: string,
    context: RequestContext,
    format?: RecordFormat,
    maxBytes?: number,
  ): Promise<ListResponse>
  record(route: RecordRoute, uid: string, context: RequestContext, format?: RecordFormat): Promise<ServiceResponse>
  stats(context: RequestContext): Promise<ServiceResponse>
}

/** Feeds of all records and of all changes. Problems have a `message`. */
export interface RecordFeeds {
  /**
   * Writes every record that matches, newest first.
   *
   * @param search filters as sent, without limit or offset
   * @throws {ProblemError} before the first piece, if the export cannot start
   */
  export(format: ExportFormat, search: string, context: RequestContext, sink: TextSink): Promise<void>
  /**
   * Writes changes as server-sent events until the client disconnects.
   *
   * @param search filters as sent
   * @param lastEventId ID of the last event that the client has seen
   * @param client key by which streams are counted and limited
   * @param costs is charged for what is read for this client only
   * @throws {ProblemError} before the first event, if the stream cannot start
   */
  stream(
    search: string,
    lastEventId: string | undefined,
    client: number | string,
    sink: EventSink,
    costs?: CostMeter,
  ): Promise<void>
  /** Ends every stream. No new one can start afterwards. */
  close(): void
}

/** The sync API: controls and reports how the chains are read. Problems have a `message`. */
export interface SyncService {
  /**
   * Reads all chains now, or only the chain that the request names.
   *
   * @param search query parameters as sent
   */
  trigger(search: string): Promise<SyncResponse>
  /** Checks the records that are not revoked against their chains. */
  revocations(): Promise<SyncResponse>
  /** Starts or stops the background sync. */
  worker(search: string, context: RequestContext): Promise<SyncResponse>
  status(context: RequestContext): Promise<SyncResponse>
  /** Writes the status as a server-sent event whenever it changes, until the client disconnects. */
  watch(sink: EventSink): Promise<void>
  /** Ends every `watch`. */
  close(): void
}

export interface SyncResponse extends ServiceResponse {
  readonly status: number
}

/** The formats of an export, each with its media type. The first one is the default. */
export const EXPORT_FORMATS = {
  ndjson: 'application/x-ndjson',
  geojsonseq: 'application/geo+json-seq',
  geojson: 'application/geo+json',
  csv: 'text/csv',
  fgb: 'application/flatgeobuf',
  fgbz: 'application/flatgeobuf',
  parquet: 'application/vnd.apache.parquet',
} as const

export type ExportFormat = keyof typeof EXPORT_FORMATS

/** Receives a stream of server-sent events. */
export interface EventSink extends TextSink {
  /** Calls the listener when the client has disconnected. */
  onGone(listener: () => void): void
  /** Writes the text only if the client has taken everything written before; otherwise drops it. */
  tryWrite(text: string): void
}

/** Records by GraphQL. A faulty query gets a response with `errors`; a request that contains no query gets a problem. */
export interface GraphqlService {
  /** The schema in the GraphQL schema definition language. */
  readonly schemaText: string
  /** @param search `query`, `variables` and `operationName` as sent */
  query(search: string, context: RequestContext): Promise<GraphqlResponse>
  post(body: Uint8Array, context: RequestContext): Promise<GraphqlResponse>
}

export interface GraphqlResponse extends ServiceResponse {
  /** 400 if execution did not start. */
  readonly status: 200 | 400
}

/** OGC API Features, Parts 1 to 3, over the records. Its problems have a `message`. */
export interface OgcService {
  /** Returns a resource that describes the service; `''` is the landing page. */
  document(name: OgcDocument, request: OgcRequest): ServiceResponse
  collections(request: OgcRequest): Promise<ServiceResponse>
  /** @throws {ProblemError} `not-found` if there is no collection with this name, like the three methods below */
  collection(id: string, request: OgcRequest): Promise<ServiceResponse>
  /** Returns the properties that a filter may compare. */
  queryables(id: string, request: OgcRequest): ServiceResponse
  /** Returns one page of features. */
  items(id: string, request: OgcRequest): Promise<ServiceResponse>
  /** Returns one feature by its UID. */
  item(id: string, uid: string, request: OgcRequest): Promise<ServiceResponse>
}

export interface OgcRequest {
  /** Query parameters as sent. */
  readonly search: string
  /** URL of the service, without a trailing slash. */
  readonly baseUrl: string
  readonly context: RequestContext
  readonly format: OgcFormat
}

/** JSON with the media type of the resource, or an HTML page for people. */
export type OgcFormat = 'json' | 'html'
export type OgcDocument = '' | 'conformance' | 'api'
