import { DEFAULT_LIMIT, MAX_LIMIT } from '../../validation/record-query.ts'
import { CRS84, REFERENCE_SYSTEMS } from '../../validation/reference-systems.ts'
import {
  type Content,
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

const FORMAT = query('f', 'Format: JSON under either name, or a page for people.', {
  type: 'string',
  enum: ['json', 'geojson', 'html'],
})
const PAGE = { 'text/html': { type: 'string' } }
const CRS_SCHEMA = { type: 'string', enum: REFERENCE_SYSTEMS, default: CRS84 }
const CRS = query('crs', 'Reference system of the coordinates in the response.', CRS_SCHEMA)

/** A condition in CQL2, and how to read it. */
export const CQL2_FILTER: readonly Parameter[] = [
  query('filter', 'Condition in CQL2 on the queryables.', { type: 'string' }, "revoked = FALSE AND chain = 'celo'"),
  query('filter-lang', 'Form of `filter`.', {
    type: 'string',
    enum: ['cql2-text', 'cql2-json'],
    default: 'cql2-text',
  }),
  query('filter-crs', 'Reference system of the boxes in `filter`.', CRS_SCHEMA),
]

const COLLECTION = pathParameter(
  'collection',
  'All records, or those of one family of geometries.',
  { type: 'string', enum: ['location-records', 'location-points', 'location-lines', 'location-polygons'] },
  'location-records',
)

function document(operationId: string, summary: string, content: Content): Operation {
  return {
    tag: 'Features',
    operationId,
    summary,
    parameters: [FORMAT],
    responses: { 200: { description: summary, content: { ...content, ...PAGE } } },
    errorStatuses: [400],
  }
}

function ofCollection({ parameters = [], errorStatuses = [], ...operation }: Operation): Operation {
  return { ...operation, parameters: [COLLECTION, ...parameters], errorStatuses: [...new Set([...errorStatuses, 404])] }
}

/** OGC API Features for the records; `GET /ogc/api` describes the same in OpenAPI 3.0, which OGC clients expect. */
export const OGC_OPERATIONS: OperationTable = metered({
  'GET /ogc': document('ogcLanding', 'Landing page', json(schemaRef('OgcLandingPage'))),
  'GET /ogc/conformance': document('ogcConformance', 'Conformance classes', json(schemaRef('OgcConformance'))),
  'GET /ogc/api': document('ogcApi', 'These routes in OpenAPI 3.0', {
    'application/vnd.oai.openapi+json': { type: 'object' },
  }),
  'GET /ogc/collections': document('ogcCollections', 'Collections', json(schemaRef('OgcCollections'))),
  'GET /ogc/collections/:collection': ofCollection(
    document('ogcCollection', 'The collection', json(schemaRef('OgcCollection'))),
  ),
  'GET /ogc/collections/:collection/queryables': ofCollection(
    document('ogcQueryables', 'Properties that a filter may compare', {
      'application/schema+json': { type: 'object', required: ['$schema', '$id', 'properties'] },
    }),
  ),
  'GET /ogc/collections/:collection/items': ofCollection({
    tag: 'Features',
    operationId: 'ogcItems',
    summary: 'Records as features',
    description: 'Newest first. Unknown parameters are rejected.',
    parameters: [
      query(
        'bbox',
        'west,south,east,north in degrees; or six numbers that include heights, which are ignored.',
        { type: 'string' },
        '-20,30,40,60',
      ),
      query('bbox-crs', 'Reference system of `bbox`.', CRS_SCHEMA),
      query(
        'datetime',
        'Time of the event: one time, or an interval of two separated by a slash, of which one may be `..`.',
        { type: 'string' },
        '2026-01-01/..',
      ),
      query('limit', `Features per page; values above ${MAX_LIMIT} give ${MAX_LIMIT}.`, {
        type: 'integer',
        minimum: 1,
        default: DEFAULT_LIMIT,
      }),
      query('chain', 'Chain of the attestation.', { type: 'string' }),
      query('prover', 'Address of the attester.', hexParameter(40)),
      query('subject', 'Address of the recipient.', hexParameter(40)),
      ...CQL2_FILTER,
      CRS,
      query('cursor', 'Start of the page: part of the URL of a next link.', { type: 'string' }),
      FORMAT,
    ],
    responses: ok('One page.', { 'application/geo+json': schemaRef('OgcFeatureCollection'), ...PAGE }, [
      'Link',
      'X-Count',
      'Content-Crs',
    ]),
    errorStatuses: [400, 500, 503],
  }),
  'GET /ogc/collections/:collection/items/:uid': ofCollection({
    tag: 'Features',
    operationId: 'ogcItem',
    summary: 'One record as a feature',
    parameters: [pathParameter('uid', 'UID of the attestation.', hexParameter(64)), CRS, FORMAT],
    responses: ok('The feature.', { 'application/geo+json': schemaRef('OgcFeature'), ...PAGE }, ['Content-Crs']),
    errorStatuses: [400, 404, 500, 503],
  }),
})
