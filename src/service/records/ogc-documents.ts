/** The descriptive resources of OGC API Features, its OpenAPI document among them. Every URL in them is absolute. */
import { ProblemError } from '../../base/problem.ts'
import { QUERYABLES } from '../../validation/cql2.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../validation/record-query.ts'
import { CRS84, REFERENCE_SYSTEMS } from '../../validation/reference-systems.ts'
import type { GeometryFamily, RecordExtent } from '../../wire/store-messages.ts'
import { PROPERTY_SCHEMAS } from './ogc-properties.ts'
import type { OgcDocument } from './record-services.ts'

/** All records, or those of one family: most programs show one type of geometry per layer. */
export interface Collection {
  readonly id: string
  readonly title: string
  /** Undefined if it has all records. */
  readonly family: GeometryFamily | undefined
  readonly description: string
  /** Format of its geometries in a schema (Part 5, 19-079r2 Annex). */
  readonly geometryFormat: string
}

const SPECIFICATIONS = 'http://www.opengis.net/spec'
const CONFORMANCE = [
  ...['core', 'oas30', 'html', 'geojson'].map((name) => `ogcapi-features-1/1.0/conf/${name}`),
  'ogcapi-features-2/1.0/conf/crs',
  ...['queryables', 'filter', 'features-filter'].map((name) => `ogcapi-features-3/1.0/conf/${name}`),
  ...['cql2-text', 'cql2-json', 'basic-cql2'].map((name) => `cql2/1.0/conf/${name}`),
]
const QUERYABLES_REL = 'http://www.opengis.net/def/rel/ogc/1.0/queryables'
const GREGORIAN = 'http://www.opengis.net/def/uom/ISO-8601/0/Gregorian'

const TITLE = 'Location records'
const DESCRIPTION = 'Location attestations read from their chains, newest first; revoked ones are marked'

const COLLECTIONS: readonly Collection[] = [
  {
    id: 'location-records',
    title: TITLE,
    family: undefined,
    description: DESCRIPTION,
    geometryFormat: 'geometry-any',
  },
  ...(
    [
      ['points', 'point'],
      ['lines', 'linestring'],
      ['polygons', 'polygon'],
    ] as const
  ).map(([family, type]) => ({
    id: `location-${family}`,
    title: `${TITLE}: ${family}`,
    family,
    description: `${DESCRIPTION}. Only ${family}, of one or more parts`,
    geometryFormat: `geometry-${type}-or-multi${type}`,
  })),
]

/** @throws {ProblemError} `not-found` if there is no collection with this name */
export function findCollection(id: string): Collection {
  const collection = COLLECTIONS.find((known) => known.id === id)
  if (collection !== undefined) return collection
  throw new ProblemError({
    type: 'not-found',
    message: 'Collection not found',
    detail: `The collections are ${COLLECTIONS.map((known) => known.id).join(', ')}`,
  })
}

/** Titles of the pages that describe the service. */
export const TITLES: Readonly<Record<OgcDocument, string>> = {
  '': TITLE,
  conformance: 'Conformance classes',
  api: 'The API as OpenAPI 3.0',
}

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
      ['data', '/collections', 'application/json', 'Collections'],
      ['service-desc', '/api', 'application/vnd.oai.openapi+json;version=3.0', 'The API as OpenAPI 3.0'],
      ['conformance', '/conformance', 'application/json', 'Conformance classes'],
    ]),
  })
}

export function conformanceJson(): string {
  return JSON.stringify({ conformsTo: CONFORMANCE.map((name) => `${SPECIFICATIONS}/${name}`) })
}

/** Returns the extent of a collection; undefined if it is unknown. */
type FindExtent = (collection: Collection) => Promise<RecordExtent | undefined>

export async function collectionsJson(baseUrl: string, findExtent: FindExtent): Promise<string> {
  return JSON.stringify({
    links: linksJson(baseUrl, [['self', '/collections', 'application/json', 'Collections']]),
    collections: await Promise.all(
      COLLECTIONS.map(async (collection) => describeCollection(baseUrl, collection, await findExtent(collection))),
    ),
  })
}

/** @param extent undefined if it is unknown */
export function collectionJson(baseUrl: string, collection: Collection, extent: RecordExtent | undefined): string {
  return JSON.stringify(describeCollection(baseUrl, collection, extent))
}

const WORLD = [-180, -90, 180, 90]

function describeCollection(
  baseUrl: string,
  { id, title, description }: Collection,
  extent: RecordExtent | undefined,
): object {
  const path = `/collections/${id}`
  const time = (seconds: number | undefined) => (seconds === undefined ? null : new Date(seconds * 1000).toISOString())
  return {
    id,
    title,
    description,
    links: linksJson(baseUrl, [
      ['self', path, 'application/json', title],
      ['items', `${path}/items`, 'application/geo+json', 'Features'],
      [QUERYABLES_REL, `${path}/queryables`, 'application/schema+json', 'Queryables'],
    ]),
    extent: {
      spatial: { bbox: [extent?.bounds ?? WORLD], crs: CRS84 },
      temporal: { interval: [[time(extent?.firstEventSeconds), time(extent?.lastEventSeconds)]], trs: GREGORIAN },
    },
    itemType: 'feature',
    crs: REFERENCE_SYSTEMS,
    storageCrs: CRS84,
  }
}

/**
 * Returns the properties that `filter` may compare, as a JSON Schema.
 *
 * @param chains names of the chains
 */
export function queryablesJson(
  baseUrl: string,
  { id, title, geometryFormat }: Collection,
  chains: readonly string[],
): string {
  return JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: `${baseUrl}/ogc/collections/${id}/queryables`,
    type: 'object',
    title,
    properties: {
      geometry: { title: 'Location; matches by its bounding box', format: geometryFormat },
      ...QUERYABLES,
      chain: { ...QUERYABLES.chain, enum: chains },
    },
    additionalProperties: false,
  })
}

/**
 * Returns the OpenAPI 3.0 description of everything below `/ogc`, as the conformance class `oas30` requires.
 *
 * @param chains names of the chains that requests may filter by
 */
export function openApiJson(baseUrl: string, version: string, chains: readonly string[]): string {
  return JSON.stringify({
    openapi: '3.0.3',
    info: { title: 'Location records as OGC API Features', version },
    servers: [{ url: `${baseUrl}/ogc` }],
    paths: {
      '/': get('landingPage', 'Landing page', 'The landing page'),
      '/conformance': get('conformance', 'Conformance classes', 'URIs of the conformance classes'),
      '/api': get('api', 'This document', 'OpenAPI 3.0', { type: 'application/vnd.oai.openapi+json;version=3.0' }),
      '/collections': get('collections', 'Collections', 'All records, and one collection per family of geometries'),
      ...Object.assign({}, ...COLLECTIONS.map((collection) => collectionPaths(collection, chains))),
    },
    components: { schemas: { exception: EXCEPTION } },
  })
}

/** Each collection has paths of its own, because GDAL looks for the parameters of a layer under the path with its name. */
function collectionPaths({ id, family }: Collection, chains: readonly string[]): object {
  const path = `/collections/${id}`
  const name = (operation: string) => (family === undefined ? operation : `${operation}-${family}`)
  return {
    [path]: get(name('collection'), 'The collection', 'Its title, extent and links'),
    [`${path}/queryables`]: get(name('queryables'), 'Properties that a filter may compare', 'A JSON Schema', {
      type: 'application/schema+json',
    }),
    [`${path}/items`]: get(name('features'), 'Features, newest first', 'One page of features', {
      type: 'application/geo+json',
      schema: FEATURE_COLLECTION,
      parameters: itemParameters(chains),
      errorStatuses: ['400', '429', '503'],
    }),
    [`${path}/items/{featureId}`]: get(name('feature'), 'One feature', 'The feature', {
      type: 'application/geo+json',
      schema: FEATURE,
      parameters: [
        { name: 'featureId', in: 'path', required: true, description: 'UID of the record', schema: hexSchema(64) },
        CRS_PARAMETER,
        FORMAT_PARAMETER,
      ],
      errorStatuses: ['400', '404', '429', '503'],
    }),
  }
}

const FORMAT_PARAMETER = {
  name: 'f',
  in: 'query',
  description: 'response format; json and geojson mean the same, html is a page',
  schema: { type: 'string', enum: ['json', 'geojson', 'html'] },
}

const CRS_PARAMETER = {
  name: 'crs',
  in: 'query',
  description: 'reference system of the coordinates in the response',
  schema: { type: 'string', format: 'uri', enum: REFERENCE_SYSTEMS, default: CRS84 },
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
    properties: {
      type: 'object',
      description: 'the record without its location; only points have longitude and latitude',
      properties: PROPERTY_SCHEMAS,
    },
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
  '429': 'The client has used up its hourly budget; Retry-After has the seconds to wait',
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
      content: {
        'application/json': { schema: { $ref: '#/components/schemas/exception' } },
        'text/html': { schema: { type: 'string' } },
      },
    },
  ])
  const responses = {
    '200': { description, content: { [type]: { schema }, 'text/html': { schema: { type: 'string' } } } },
    ...Object.fromEntries(errors),
  }
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
    query('bbox-crs', 'reference system of bbox', CRS_PARAMETER.schema),
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
    query('filter', 'condition in CQL2 on the queryables', { type: 'string' }),
    query('filter-lang', 'form of filter', {
      type: 'string',
      enum: ['cql2-text', 'cql2-json'],
      default: 'cql2-text',
    }),
    query('filter-crs', 'reference system of the boxes in filter', CRS_PARAMETER.schema),
    CRS_PARAMETER,
    query('cursor', 'start of the page; taken from the URL of a next link', { type: 'string' }),
    FORMAT_PARAMETER,
  ]
}

function hexSchema(digits: number): object {
  return { type: 'string', pattern: `^0x[0-9a-fA-F]{${digits}}$` }
}
