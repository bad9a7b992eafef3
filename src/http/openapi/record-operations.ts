import { DEFAULT_LIMIT, MAX_LIMIT } from '../../validation/record-query.ts'
import {
  header,
  hexParameter,
  json,
  type Operation,
  type OperationTable,
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
]

const FORMAT = query('f', 'Format; by default the Accept header decides.', {
  type: 'string',
  enum: ['json', 'geojson'],
})
const UID = pathParameter('uid', 'UID of the attestation.', hexParameter(64))
const ERROR_STATUSES = [400, 500, 503]

function list(operationId: string, summary: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary,
    description: 'Newest block first. Filters are combined with AND. Unknown parameters are ignored.',
    parameters: [...FILTERS, ...RANGE, ...PAGE, FORMAT],
    answers: {
      200: {
        description: 'One page. `count` is the number of all matching records.',
        content: {
          'application/json': schemaRef('LocationRecordList'),
          'application/geo+json': schemaRef('RecordFeatureCollection'),
        },
        headers: ['Link'],
      },
    },
    refusals: ERROR_STATUSES,
    family: 'record',
  }
}

function stats(operationId: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary: 'Number of records',
    answers: { 200: { description: 'Counts by chain and by block time.', content: json(schemaRef('RecordStats')) } },
    refusals: [500, 503],
    family: 'record',
  }
}

function single(operationId: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary: 'One record',
    parameters: [UID, FORMAT],
    answers: {
      200: {
        description: 'The record.',
        content: {
          'application/json': schemaRef('LocationRecord'),
          'application/geo+json': schemaRef('RecordFeature'),
        },
      },
    },
    refusals: [400, 404, 500, 503],
    family: 'record',
  }
}

/** Records in both generations: pages, export, stream of changes, and GraphQL. */
export const RECORD_OPERATIONS: OperationTable = {
  'GET /api/v0/location-records': list('records', 'List records'),
  'GET /api/v0/location-records/stats': stats('recordStats'),
  'GET /api/v0/location-records/:uid': single('record'),
  'GET /api/v0/location-records/export': {
    tag: 'Records',
    operationId: 'exportRecords',
    summary: 'Export all matching records',
    description:
      'Newest first, one per line, for lists of any length. If the response breaks off before its last chunk, it is incomplete.',
    parameters: [
      ...FILTERS,
      ...RANGE,
      query('f', 'Format; by default the Accept header decides.', { type: 'string', enum: ['ndjson', 'geojsonseq'] }),
    ],
    answers: {
      200: {
        description: 'One LocationRecord per line, or a GeoJSON text sequence (RFC 8142).',
        content: { 'application/x-ndjson': { type: 'string' }, 'application/geo+json-seq': { type: 'string' } },
      },
    },
    refusals: ERROR_STATUSES,
    family: 'record',
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
    answers: { 200: { description: 'The stream.', content: { 'text/event-stream': { type: 'string' } } } },
    refusals: ERROR_STATUSES,
    family: 'record',
  },
  'GET /api/v0/location-proofs': list('olderRecords', 'List records, older name'),
  'GET /api/v0/location-proofs/stats': stats('olderRecordStats'),
  'GET /api/v0/location-proofs/:uid': single('olderRecord'),
  'GET /proofs': list('proofs', 'List records, same as /api/v0/location-proofs'),
  'GET /proofs/:uid': single('proof'),
  'GET /api/v0/config': {
    tag: 'Records',
    operationId: 'recordConfig',
    summary: 'Chains and schema',
    answers: {
      200: {
        description: 'The chains and the attestation schema that are read.',
        content: json(schemaRef('RecordConfig')),
      },
    },
    family: 'record',
  },
  'GET /api/v0': {
    tag: 'Records',
    operationId: 'recordIndex',
    summary: 'Routes of the record API',
    answers: { 200: { description: 'The routes.', content: json(schemaRef('FolderIndex')) } },
    family: 'record',
  },
  'GET /graphql': {
    tag: 'GraphQL',
    operationId: 'graphqlGet',
    summary: 'Query with GraphQL',
    parameters: [
      query('query', 'The GraphQL document.', { type: 'string' }, '{ locationRecords(limit: 1) { count } }'),
      query('variables', 'Variables, as a JSON object.', { type: 'string' }),
      query('operationName', 'Name of the operation in the document.', { type: 'string' }),
    ],
    ...graphqlResponses(),
  },
  'POST /graphql': {
    tag: 'GraphQL',
    operationId: 'graphql',
    summary: 'Query with GraphQL',
    body: { content: json(schemaRef('GraphqlRequest')) },
    ...graphqlResponses(),
    refusals: [404, 408, 413, 415, 500, 503],
  },
  'GET /graphql/schema': {
    tag: 'GraphQL',
    operationId: 'graphqlSchema',
    summary: 'GraphQL schema',
    answers: {
      200: { description: 'The schema in schema definition language.', content: { 'text/plain': { type: 'string' } } },
    },
    refusals: [404],
    family: 'graphql',
  },
}

function graphqlResponses(): Pick<Operation, 'answers' | 'refusals' | 'family'> {
  const bothTypes = (schema: string) => ({
    'application/json': schemaRef(schema),
    'application/graphql-response+json': schemaRef(schema),
  })
  return {
    answers: {
      200: { description: 'Data, and the errors of single fields.', content: bothTypes('GraphqlResponse') },
      400: {
        description: 'The query is missing, or was rejected before it ran.',
        content: bothTypes('GraphqlRefusal'),
      },
    },
    refusals: [404, 500, 503],
    family: 'graphql',
  }
}
