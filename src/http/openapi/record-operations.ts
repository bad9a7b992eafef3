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
  query('chain', 'Where it was attested.', { type: 'string', enum: CHAINS }, 'celo'),
  query('prover', 'Address that attested, in any case.', hexParameter(40)),
  query('subject', 'Address of the recipient, in any case.', hexParameter(40)),
]

const RANGE: readonly Parameter[] = [
  query('fromTimestamp', 'Time of the event, ISO 8601, this one included.', { type: 'string' }, '2026-01-01'),
  query('toTimestamp', 'Time of the event, ISO 8601, this one included.', { type: 'string' }),
  query(
    'bbox',
    'minLng,minLat,maxLng,maxLat in degrees; minLng above maxLng crosses the antimeridian. Records whose bounding box meets it.',
    { type: 'string' },
    '170,-50,-170,-30',
  ),
]

const PAGE: readonly Parameter[] = [
  query('limit', `Records of a page; more than ${MAX_LIMIT} gives ${MAX_LIMIT}.`, {
    type: 'integer',
    minimum: 1,
    default: DEFAULT_LIMIT,
  }),
  query('offset', 'Records left out before the page.', {
    type: 'integer',
    minimum: 0,
    maximum: 10_000_000,
    default: 0,
  }),
  query('cursor', 'Where the page begins, as a Link header says it; in place of offset.', { type: 'string' }),
]

const FORMAT = query('f', 'Format; else by Accept.', { type: 'string', enum: ['json', 'geojson'] })
const UID = pathParameter('uid', 'UID of the attestation.', hexParameter(64))
const REFUSALS = [400, 500, 503]

function list(operationId: string, summary: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary,
    description:
      'Newest block first. Whatever narrows the list narrows it together. Names that are not listed here are ignored.',
    parameters: [...FILTERS, ...RANGE, ...PAGE, FORMAT],
    answers: {
      200: {
        description: 'One page. `count` is the number of all that match.',
        content: {
          'application/json': schemaRef('LocationRecordList'),
          'application/geo+json': schemaRef('RecordFeatureCollection'),
        },
        headers: ['Link', 'X-Count'],
      },
    },
    refusals: REFUSALS,
    family: 'record',
  }
}

function stats(operationId: string): Operation {
  return {
    tag: 'Records',
    operationId,
    summary: 'How many records there are',
    answers: { 200: { description: 'By chain and by time of the block.', content: json(schemaRef('RecordStats')) } },
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

/** Records in both generations, whole and as they change, and by GraphQL. */
export const RECORD_OPERATIONS: OperationTable = {
  'GET /api/v0/location-records': list('records', 'List records'),
  'GET /api/v0/location-records/stats': stats('recordStats'),
  'GET /api/v0/location-records/:uid': single('record'),
  'GET /api/v0/location-records/export': {
    tag: 'Records',
    operationId: 'exportRecords',
    summary: 'Every record that matches',
    description:
      'Newest first, one a line, for lists of any length. An answer that breaks off before its last chunk was not whole.',
    parameters: [
      ...FILTERS,
      ...RANGE,
      query('f', 'Format; else by Accept.', { type: 'string', enum: ['ndjson', 'geojsonseq'] }),
    ],
    answers: {
      200: {
        description: 'One LocationRecord a line, or a GeoJSON text sequence (RFC 8142).',
        content: { 'application/x-ndjson': { type: 'string' }, 'application/geo+json-seq': { type: 'string' } },
      },
    },
    refusals: REFUSALS,
    family: 'record',
  },
  'GET /api/v0/location-records/stream': {
    tag: 'Records',
    operationId: 'streamRecords',
    summary: 'Changes as they come',
    description:
      'Server-sent events `new`, `revoked`, `restored`, `rolled-back` and `reset`, in the order in which they were stored. ' +
      'A client that comes back says where it was and goes on there.',
    parameters: [
      ...FILTERS,
      query('lastEventId', 'Where the client was, when no header can be set.', { type: 'string' }),
      header('Last-Event-ID', 'Where the client was: the id of its last event.'),
    ],
    answers: { 200: { description: 'The stream.', content: { 'text/event-stream': { type: 'string' } } } },
    refusals: REFUSALS,
    family: 'record',
  },
  'GET /api/v0/location-proofs': list('olderRecords', 'List records, older name'),
  'GET /api/v0/location-proofs/stats': stats('olderRecordStats'),
  'GET /api/v0/location-proofs/:uid': single('olderRecord'),
  'GET /proofs': list('proofs', 'List records, as /api/v0/location-proofs'),
  'GET /proofs/:uid': single('proof'),
  'GET /api/v0/config': {
    tag: 'Records',
    operationId: 'recordConfig',
    summary: 'Chains and schema',
    answers: {
      200: { description: 'Which chains are read, and what is read.', content: json(schemaRef('RecordConfig')) },
    },
    family: 'record',
  },
  'GET /api/v0': {
    tag: 'Records',
    operationId: 'recordIndex',
    summary: 'Routes of the record API',
    answers: { 200: { description: 'The list.', content: json(schemaRef('FolderIndex')) } },
    family: 'record',
  },
  'GET /graphql': {
    tag: 'GraphQL',
    operationId: 'graphqlGet',
    summary: 'Ask by GraphQL',
    parameters: [
      query('query', 'The question.', { type: 'string' }, '{ locationRecords(limit: 1) { count } }'),
      query('variables', 'JSON object.', { type: 'string' }),
      query('operationName', 'Which operation of the document.', { type: 'string' }),
    ],
    ...graphqlAnswers(),
  },
  'POST /graphql': {
    tag: 'GraphQL',
    operationId: 'graphql',
    summary: 'Ask by GraphQL',
    body: { content: json(schemaRef('GraphqlRequest')) },
    ...graphqlAnswers(),
    refusals: [404, 408, 413, 415, 500, 503],
  },
  'GET /graphql/schema': {
    tag: 'GraphQL',
    operationId: 'graphqlSchema',
    summary: 'What can be asked',
    answers: { 200: { description: 'Schema definition language.', content: { 'text/plain': { type: 'string' } } } },
    refusals: [404],
    family: 'graphql',
  },
}

function graphqlAnswers(): Pick<Operation, 'answers' | 'refusals' | 'family'> {
  const both = (schema: string) => ({
    'application/json': schemaRef(schema),
    'application/graphql-response+json': schemaRef(schema),
  })
  return {
    answers: {
      200: { description: 'Data, with errors of single fields beside it.', content: both('GraphqlResponse') },
      400: {
        description: 'No question, or one that is refused before anything is asked for.',
        content: both('GraphqlRefusal'),
      },
    },
    refusals: [404, 500, 503],
    family: 'graphql',
  }
}
