/** What `http` asks of the records and their sync. */
import type { RequestContext, ServiceAnswer, TextSink } from './services.ts'

/** The two generations of the record API. */
export type RecordRoute = 'location-proofs' | 'location-records'

/** As the interface shows records, or as GeoJSON features. */
export type RecordFormat = 'json' | 'geojson'

/** A list is long, and kept as the bytes that go out. */
export type ListAnswer = Omit<ServiceAnswer, 'json'> & { readonly json: Buffer }

/** The record API. Its refusals have a `message`. */
export interface RecordService {
  config(): ServiceAnswer
  /**
   * @param search parameters as sent
   * @param address of the list, for the link to the next page
   */
  list(
    route: RecordRoute,
    search: string,
    address: string,
    context: RequestContext,
    format?: RecordFormat,
  ): Promise<ListAnswer>
  record(route: RecordRoute, uid: string, context: RequestContext, format?: RecordFormat): Promise<ServiceAnswer>
  stats(context: RequestContext): Promise<ServiceAnswer>
}

/** Records and changes as they come, for those who want all of them. Refusals have a `message`. */
export interface RecordFeeds {
  /**
   * Writes every record that matches, newest first.
   *
   * @param search filters as sent; no limit and no offset
   * @throws {ProblemError} before the first piece: it cannot be begun
   */
  export(format: ExportFormat, search: string, context: RequestContext, sink: TextSink): Promise<void>
  /**
   * Writes changes as server-sent events until the client leaves.
   *
   * @param search filters as sent
   * @param lastEventId where the client was, in the words of its last event
   * @param client who counts as one
   * @throws {ProblemError} before the first event: it cannot be begun
   */
  stream(search: string, lastEventId: string | undefined, client: number | string, sink: EventSink): Promise<void>
  /** Ends every stream; none begins any more. */
  close(): void
}

/** How the records are kept up with the chains. Refusals have a `message`. */
export interface SyncService {
  /**
   * Reads the chains now: all of them, or the one that is named.
   *
   * @param search parameters as sent
   */
  trigger(search: string): Promise<SyncAnswer>
  /** Compares the records that are valid with the chains. */
  revocations(): Promise<SyncAnswer>
  /** Starts or stops the reading in the background. */
  worker(search: string, context: RequestContext): Promise<SyncAnswer>
  status(context: RequestContext): Promise<SyncAnswer>
  /** Writes the status as server-sent events, whenever it changes, until the client leaves. */
  watch(sink: EventSink): Promise<void>
  /** Ends every `watch`. */
  close(): void
}

export interface SyncAnswer extends ServiceAnswer {
  readonly status: number
}

/** As records line by line, or as features in a GeoJSON text sequence (RFC 8142). */
export type ExportFormat = 'ndjson' | 'geojsonseq'

/** Where a stream of events goes. */
export interface EventSink extends TextSink {
  /** Calls back when the client is gone. */
  onGone(listener: () => void): void
  /** Writes only when the client has taken everything before. */
  tryWrite(text: string): void
}

/** Records by GraphQL. Mistakes in a question are an answer with `errors`; what is no question is a refusal. */
export interface GraphqlService {
  /** In the schema definition language. */
  readonly schemaText: string
  /** @param search `query`, `variables` and `operationName` as sent */
  query(search: string, context: RequestContext): Promise<GraphqlAnswer>
  post(body: Uint8Array, context: RequestContext): Promise<GraphqlAnswer>
}

export interface GraphqlAnswer extends ServiceAnswer {
  /** 400 when nothing was begun. */
  readonly status: 200 | 400
}

/** OGC API Features, Part 1, over the records. Its refusals have a `message`. */
export interface OgcService {
  /**
   * A resource that says what there is: `''` is the landing page.
   *
   * @param search parameters as sent
   * @param baseUrl of the service, without a slash at the end
   */
  document(name: OgcDocument, search: string, baseUrl: string): ServiceAnswer
  /** One page of features. */
  items(search: string, baseUrl: string, context: RequestContext): Promise<ServiceAnswer>
  /** One feature, by its uid. */
  item(uid: string, search: string, baseUrl: string, context: RequestContext): Promise<ServiceAnswer>
}

export type OgcDocument = '' | 'conformance' | 'api' | 'collections' | 'collection'
