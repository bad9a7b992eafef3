/** The descriptive resources of OGC API Features, its OpenAPI document among them. Every URL in them is absolute. */
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../validation/record-query.ts'

/** Name of the only collection. */
export const COLLECTION = 'location-records'

const CONFORMANCE = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
/** Longitude and latitude on WGS 84, the coordinate reference system of GeoJSON. */
const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

const TITLE = 'Location records'
const DESCRIPTION = 'Location attestations read from their chains, newest first; revoked ones are marked'

type Link = readonly [rel: string, path: string, type: string, title: string]

function linksJson(baseUrl: string, links: readonly Link[]): object[] {
  return links.map(([rel, path, type, title]) => ({ rel, type, title, href: `${baseUrl}/ogc${path}` }))
}

export function landingJson(baseUrl: string): string {
  return JSON.stringify({
    title: TITLE,
    description: DESCRIPTION,
    links: linksJson(baseUrl, [
      ['self', '', 'application/json', 'This page'],
      ['service-desc', '/api', 'application/vnd.oai.openapi+json;version=3.0', 'The API as OpenAPI 3.0'],
      ['conformance', '/conformance', 'application/json', 'Conformance classes'],
      ['data', '/collections', 'application/json', 'Collections'],
    ]),
  })
}

export function conformanceJson(): string {
  return JSON.stringify({ conformsTo: ['core', 'oas30', 'geojson'].map((name) => `${CONFORMANCE}/${name}`) })
}

export function collectionsJson(baseUrl: string): string {
  return JSON.stringify({
    links: linksJson(baseUrl, [['self', '/collections', 'application/json', 'Collections']]),
    collections: [collection(baseUrl)],
  })
}

export function collectionJson(baseUrl: string): string {
  return JSON.stringify(collection(baseUrl))
}

function collection(baseUrl: string): object {
  const path = `/collections/${COLLECTION}`
  return {
    id: COLLECTION,
    title: TITLE,
    description: DESCRIPTION,
    links: linksJson(baseUrl, [
      ['self', path, 'application/json', TITLE],
      ['items', `${path}/items`, 'application/geo+json', 'Features'],
    ]),
    // The extent that records may cover. The extent that they do cover changes with each block.
    extent: {
      spatial: { bbox: [[-180, -90, 180, 90]], crs: CRS84 },
      temporal: { interval: [[null, null]], trs: GREGORIAN },
    },
    itemType: 'feature',
    crs: [CRS84],
  }
}

/**
 * Returns the OpenAPI 3.0 description of everything below `/ogc`, as the conformance class `oas30` requires.
 *
 * @param chains names of the chains that requests may filter by
 */
export function openApiJson(baseUrl: string, version: string, chains: readonly string[]): string {
  const collection = `/collections/${COLLECTION}`
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Location records as OGC API Features', version },
    servers: [{ url: `${baseUrl}/ogc` }],
    paths: {
      '/': get('landingPage', 'Landing page', 'The landing page'),
      '/conformance': get('conformance', 'Conformance classes', 'URIs of the conformance classes'),
      '/api': get('api', 'This document', 'OpenAPI 3.0', { type: 'application/vnd.oai.openapi+json;version=3.0' }),
      '/collections': get('collections', 'Collections', 'The only collection'),
      [collection]: get('collection', 'The collection', 'Its title, extent and links'),
      [`${collection}/items`]: get('features', 'Features, newest first', 'One page of features', {
        type: 'application/geo+json',
        schema: FEATURE_COLLECTION,
        parameters: itemParameters(chains),
        errorStatuses: ['400', '503'],
      }),
      [`${collection}/items/{featureId}`]: get('feature', 'One feature', 'The feature', {
        type: 'application/geo+json',
        schema: FEATURE,
        parameters: [
          { name: 'featureId', in: 'path', required: true, description: 'UID of the record', schema: hexSchema(64) },
          FORMAT_PARAMETER,
        ],
        errorStatuses: ['400', '404', '503'],
      }),
    },
    components: { schemas: { exception: EXCEPTION } },
  })
}

const FORMAT_PARAMETER = {
  name: 'f',
  in: 'query',
  description: 'response format; both names mean GeoJSON',
  schema: { type: 'string', enum: ['json', 'geojson'] },
}

const FEATURE = {
  type: 'object',
  required: ['type', 'id', 'geometry', 'properties'],
  properties: {
    type: { type: 'string', enum: ['Feature'] },
    id: { type: 'string' },
    geometry: {
      type: 'object',
      nullable: true,
      description: 'GeoJSON geometry; null if the attested location is not a GeoJSON geometry',
    },
    properties: { type: 'object', description: 'the record without its location' },
    links: { type: 'array', items: { type: 'object' } },
  },
}

const FEATURE_COLLECTION = {
  type: 'object',
  required: ['type', 'features'],
  properties: {
    type: { type: 'string', enum: ['FeatureCollection'] },
    features: { type: 'array', items: FEATURE },
    links: { type: 'array', items: { type: 'object' } },
    timeStamp: { type: 'string', format: 'date-time' },
    numberMatched: { type: 'integer', minimum: 0 },
    numberReturned: { type: 'integer', minimum: 0 },
  },
}

const EXCEPTION = {
  type: 'object',
  required: ['code', 'description', 'status', 'message', 'detail'],
  properties: Object.fromEntries(
    ['code', 'description', 'status', 'message', 'detail'].map((name) => [name, { type: 'string' }]),
  ),
}

const ERRORS: Readonly<Record<string, string>> = {
  '400': 'A parameter is unknown or malformed; the description names it',
  '404': 'There is no such feature',
  '503': 'The records cannot be read now; Retry-After says when to try again',
}

interface Operation {
  readonly type?: string
  readonly schema?: object
  readonly parameters?: readonly object[]
  readonly errorStatuses?: readonly string[]
}

function get(operationId: string, summary: string, description: string, operation: Operation = {}): object {
  const { type = 'application/json', schema = { type: 'object' }, parameters = [FORMAT_PARAMETER] } = operation
  const errors = (operation.errorStatuses ?? ['400']).map((status) => [
    status,
    {
      description: ERRORS[status],
      content: { 'application/json': { schema: { $ref: '#/components/schemas/exception' } } },
    },
  ])
  const responses = { '200': { description, content: { [type]: { schema } } }, ...Object.fromEntries(errors) }
  return { get: { operationId, summary, parameters, responses } }
}

function itemParameters(chains: readonly string[]): readonly object[] {
  const query = (name: string, description: string, schema: object, more: object = {}) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
    style: 'form',
    explode: false,
    ...more,
  })
  return [
    query('bbox', 'west, south, east, north in degrees; west > east crosses the antimeridian; heights are ignored', {
      type: 'array',
      oneOf: [
        { minItems: 4, maxItems: 4 },
        { minItems: 6, maxItems: 6 },
      ],
      items: { type: 'number' },
    }),
    query(
      'datetime',
      'time of the event: a time, or an interval of two times with a slash between them; one of the two may be ..',
      {
        type: 'string',
      },
    ),
    query('limit', 'number of features per page; a larger number than the maximum gives the maximum', {
      type: 'integer',
      minimum: 1,
      maximum: MAX_LIMIT,
      default: DEFAULT_LIMIT,
    }),
    query('chain', 'chain of the attestation', { type: 'string', enum: chains }),
    query('prover', 'address of the attester', hexSchema(40)),
    query('subject', 'address of the recipient', hexSchema(40)),
    query('cursor', 'start of the page; taken from the URL of a next link', { type: 'string' }),
    FORMAT_PARAMETER,
  ]
}

function hexSchema(digits: number): object {
  return { type: 'string', pattern: `^0x[0-9a-fA-F]{${digits}}$` }
}
