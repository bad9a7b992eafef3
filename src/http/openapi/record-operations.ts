import { EXPORT_FORMATS, type ExportFormat } from '../../service/records/record-services.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../validation/record-query.ts'
import { CQL2_FILTER } from './ogc-operations.ts'
import {
  type Content,
  folderIndex,
  header,
  hexParameter,
  json,
  metered,
  type Operation,
  type OperationTable,
  ok,
  type Parameter,
  pathParameter,
  query,
  schemaRef,
} from './operation.ts'

const CHAINS = ['arbitrum', 'celo', 'sepolia', 'base', 'base-sepolia', 'local']

const FILTERS: readonly Parameter[] = [
  query('chain', 'Chain of the attestation.', { type: 'string', enum: CHAINS }, 'celo'),
  query('prover', 'Address of the attester, in upper or lower case.', hexParameter(40)),
  query('subject', 'Address of the recipient, in upper or lower case.', hexParameter(40)),
]

const RANGE: readonly Parameter[] = [
  query('fromTimestamp', 'Earliest time of the event, ISO 8601, inclusive.', { type: 'string' }, '2026-01-01'),
  query('toTimestamp', 'Latest time of the event, ISO 8601, inclusive.', { type: 'string' }),
  query(
    'bbox',
    'minLng,minLat,maxLng,maxLat in degrees. If minLng is greater than maxLng, the box crosses the antimeridian. Selects records whose bounding box intersects it.',
    { type: 'string' },
    '170,-50,-170,-30',
  ),
]

const PAGE: readonly Parameter[] = [
  query('limit', `Records per page; values above ${MAX_LIMIT} give ${MAX_LIMIT}.`, {
    type: 'integer',
    minimum: 1,
    default: DEFAULT_LIMIT,
  }),
  query('offset', 'Records to skip before the page.', {
    type: 'integer',
    minimum: 0,
    maximum: 10_000_000,
    default: 0,
  }),
  query('cursor', 'Start of the page, from a Link header; replaces offset.', { type: 'string' }),
  query('count', 'exact: wait for the exact count, however long it takes within the deadline of a request.', {
    type: 'string',
    enum: ['exact'],
  }),
]

const FORMAT = query('f', 'Format; by default the Accept header decides.', {
  type: 'string',
  enum: ['json', 'geojson'],
})
const UID = pathParameter('uid', 'UID of the attestation.', hexParameter(64))
const ERROR_STATUSES = [400, 500, 503]

/** The schema of an export by its format. In OpenAPI 3.1, binary content has no schema. */
const EXPORT_CONTENT: Readonly<Record<ExportFormat, Content[string]>> = {
  ndjson: { type: 'string' },
  geojsonseq: { type: 'string' },
  geojson: schemaRef('RecordFeatureCollection'),
  csv: { type: 'string' },
  fgb: {},
  fgbz: {},
  parquet: {},
}

function list(operationId: string, summary: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary,
    description: 'Newest block first. Filters are combined with AND. Unknown parameters are ignored.',
    parameters: [...FILTERS, ...RANGE, ...PAGE, FORMAT],
    responses: ok(
      'One page. `count` is the number of all matching records. A page may be shorter than `limit` and still have a next one: follow `Link`.',
      {
        'application/json': schemaRef('LocationRecordList'),
        'application/geo+json': schemaRef('RecordFeatureCollection'),
      },
      ['Link', 'X-Count'],
    ),
    errorStatuses: ERROR_STATUSES,
  }
}

function stats(operationId: string, summary: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary,
    responses: ok('Counts by chain and by block time.', json(schemaRef('RecordStats'))),
    errorStatuses: [500, 503],
  }
}

function single(operationId: string, summary: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary,
    parameters: [UID, FORMAT],
    responses: ok('The record.', {
      'application/json': schemaRef('LocationRecord'),
      'application/geo+json': schemaRef('RecordFeature'),
    }),
    errorStatuses: [400, 404, 500, 503],
  }
}

/** Records in both generations: pages, export, stream of changes, and GraphQL. */
const METERED_OPERATIONS: OperationTable = {
  'GET /api/v0/location-records': list('records', 'List records'),
  'GET /api/v0/location-records/stats': stats('recordStats', 'Number of records'),
  'GET /api/v0/location-records/:uid': single('record', 'One record'),
  'GET /api/v0/location-records/export': {
    tag: 'Records',
    operationId: 'exportRecords',
    summary: 'Export all matching records',
    description:
      'Newest first, for lists of any length. Unknown parameters are rejected. If the response breaks off before its last chunk, it is incomplete.',
    parameters: [
      ...FILTERS,
      ...RANGE,
      ...CQL2_FILTER,
      query('f', 'Format; by default the Accept header decides.', {
        type: 'string',
        enum: Object.keys(EXPORT_CONTENT),
      }),
    ],
    responses: ok(
      'One LocationRecord per line, a GeoJSON text sequence (RFC 8142), one GeoJSON object, CSV (RFC 4180), FlatGeobuf, or GeoParquet 1.1.',
      Object.fromEntries(
        Object.entries(EXPORT_FORMATS).map(([name, mediaType]) => [mediaType, EXPORT_CONTENT[name as ExportFormat]]),
      ),
    ),
    errorStatuses: ERROR_STATUSES,
  },
  'GET /api/v0/location-records/stream': {
    tag: 'Records',
    operationId: 'streamRecords',
    summary: 'Stream of changes',
    description:
      'Server-sent events `new`, `revoked`, `restored`, `rolled-back` and `reset`, in the order in which they were stored. ' +
      'A client that reconnects sends the id of its last event and continues there.',
    parameters: [
      ...FILTERS,
      query('lastEventId', 'Id of the last event received, for clients that cannot set the header.', {
        type: 'string',
      }),
      header('Last-Event-ID', 'Id of the last event received.'),
    ],
    responses: ok('The stream.', { 'text/event-stream': { type: 'string' } }),
    errorStatuses: ERROR_STATUSES,
  },
  'GET /api/v0/location-proofs': list('olderRecords', 'List records, older name'),
  'GET /api/v0/location-proofs/stats': stats('olderRecordStats', 'Number of records, older name'),
  'GET /api/v0/location-proofs/:uid': single('olderRecord', 'One record, older name'),
  'GET /proofs': list('proofs', 'List records, same as /api/v0/location-proofs'),
  'GET /proofs/:uid': single('proof', 'One record, same as /api/v0/location-proofs'),
  'GET /api/v0/config': {
    tag: 'Records',
    operationId: 'recordConfig',
    summary: 'Chains and schema',
    responses: ok('The chains and the attestation schema that are read.', json(schemaRef('RecordConfig'))),
  },
  'GET /graphql': {
    tag: 'GraphQL',
    operationId: 'graphqlGet',
    summary: 'Query with GraphQL, in the address',
    parameters: [
      query('query', 'The GraphQL document.', { type: 'string' }, '{ locationRecords(limit: 1) { count } }'),
      query('variables', 'Variables, as a JSON object.', { type: 'string' }),
      query('operationName', 'Name of the operation in the document.', { type: 'string' }),
    ],
    ...graphqlResponses({ 'text/html': { type: 'string' } }),
  },
  'GET /graphql/page.css': pageFile('graphqlStyle', 'Style of the page for browsers', 'text/css'),
  'GET /graphql/page.js': pageFile('graphqlScript', 'Script of the page for browsers', 'text/javascript'),
  'POST /graphql': {
    tag: 'GraphQL',
    operationId: 'graphql',
    summary: 'Query with GraphQL',
    body: { content: json(schemaRef('GraphqlRequest')) },
    ...graphqlResponses(),
    errorStatuses: [404, 408, 413, 415, 500, 503],
  },
  'GET /graphql/schema': {
    tag: 'GraphQL',
    operationId: 'graphqlSchema',
    summary: 'GraphQL schema',
    responses: ok('The schema in schema definition language.', { 'text/plain': { type: 'string' } }),
    errorStatuses: [404],
  },
}

/** The routes of records and their index. */
export const RECORD_OPERATIONS: OperationTable = {
  ...metered(METERED_OPERATIONS),
  'GET /api/v0': folderIndex('Records', 'recordIndex', 'Routes of the record API'),
}

/** A file of the page that browsers get at /graphql. */
function pageFile(operationId: string, summary: string, mediaType: string): Operation {
  return {
    tag: 'GraphQL',
    operationId,
    summary,
    responses: {
      ...ok('The file.', { [mediaType]: { type: 'string' } }, ['ETag']),
      304: { description: 'Unchanged.' },
    },
    errorStatuses: [404],
  }
}

/** @param page content of the page that browsers get instead */
function graphqlResponses(page: Content = {}): Pick<Operation, 'responses' | 'errorStatuses'> {
  const bothTypes = (schema: string) => ({
    'application/json': schemaRef(schema),
    'application/graphql-response+json': schemaRef(schema),
  })
  return {
    responses: {
      200: {
        description: 'Data, and the errors of single fields.',
        content: { ...bothTypes('GraphqlResponse'), ...page },
      },
      400: {
        description: 'The query is missing, or was rejected before it ran.',
        content: bothTypes('GraphqlRefusal'),
      },
    },
    errorStatuses: [404, 500, 503],
  }
}
