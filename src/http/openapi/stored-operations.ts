import {
  hexParameter,
  json,
  type Operation,
  type OperationTable,
  ok,
  pathParameter,
  query,
  schemaRef,
} from './operation.ts'

const REF = pathParameter('ref', 'The hash of the geometry.', hexParameter(64))
const NAME = pathParameter('name', 'The name of the set.', schemaRef('SetName'), 'countries')
const ERROR_STATUSES = [401, 404, 429, 500, 501, 503]

function manage(
  operationId: string,
  summary: string,
  responses: Operation['responses'],
  more: Partial<Operation> = {},
): Operation {
  const common = { tag: 'Compute', needsKey: true, errorStatuses: ERROR_STATUSES } as const
  return { ...common, operationId, summary, responses, ...more }
}

/** Geometries that the store keeps. */
export const STORED_OPERATIONS: OperationTable = {
  'PUT /compute/v0/geometries': manage(
    'storeGeometry',
    'Store a geometry',
    ok('The reference of the geometry.', json(schemaRef('StoredGeometry'))),
    {
      description:
        'Stores a geometry for the API key under its hash: the entry of `inputRefs` that the geometry gets in any request. ' +
        '`{"ref": "0x…"}` is then an input wherever the geometry is. Storing it again changes nothing but its expiry, which each ' +
        'use also postpones. 413: the geometries of the key would exceed its quota.',
      body: { content: json(schemaRef('StoreGeometryRequest')) },
      errorStatuses: [400, 401, 408, 413, 415, 429, 500, 501, 503],
      counts: true,
    },
  ),
  'GET /compute/v0/geometries': manage(
    'listGeometries',
    'Your stored geometries',
    ok('The geometries of the API key, without their coordinates.', json(schemaRef('StoredGeometryList'))),
    { errorStatuses: ERROR_STATUSES.filter((status) => status !== 404) },
  ),
  'GET /compute/v0/geometries/:ref': manage(
    'getGeometry',
    'A stored geometry',
    ok('The geometry.', json(schemaRef('StoredGeometry'))),
    { parameters: [REF] },
  ),
  'DELETE /compute/v0/geometries/:ref': manage(
    'deleteGeometry',
    'Delete a stored geometry',
    ok('Its reference.', json(schemaRef('DeletedGeometry'))),
    {
      description: 'Other processes of the deployment stop to use it within a second.',
      parameters: [REF],
      errorStatuses: ERROR_STATUSES.filter((status) => status !== 429),
    },
  ),
  'PUT /compute/v0/sets/:name': manage(
    'storeSet',
    'Store a set of features',
    ok('The set.', json(schemaRef('StoredSet'))),
    {
      description:
        'Stores up to 1,000,000 features for the API key: a FeatureCollection, or one Feature per line of `application/x-ndjson`. ' +
        'It replaces the set of this name in one step, when all of it is stored; until then the old set answers. Polygons must be ' +
        'valid. The first wrong feature makes the request 400, as does an upload without features, and the old set stays.',
      parameters: [NAME],
      body: {
        content: {
          'application/json': schemaRef('FeatureCollection'),
          'application/x-ndjson': { type: 'string', description: 'One Feature per line.' },
        },
      },
      errorStatuses: [400, 401, 408, 413, 415, 422, 429, 500, 501, 503],
      counts: true,
    },
  ),
  'GET /compute/v0/sets': manage(
    'listSets',
    'Your sets',
    ok('The sets of the API key.', json(schemaRef('StoredSetList'))),
    {
      errorStatuses: ERROR_STATUSES.filter((status) => status !== 404),
    },
  ),
  'GET /compute/v0/sets/:name': manage('getSet', 'A set', ok('Its size and age.', json(schemaRef('StoredSet'))), {
    parameters: [NAME],
  }),
  'GET /compute/v0/sets/:name/features': manage(
    'getSetFeatures',
    'The features of a set',
    ok('The features in the order in which they were stored.', {
      'application/x-ndjson': { type: 'string', description: 'One SetFeature per line.' },
    }),
    { parameters: [NAME] },
  ),
  'DELETE /compute/v0/sets/:name': manage('deleteSet', 'Delete a set', ok('Its name.', json(schemaRef('DeletedSet'))), {
    parameters: [NAME],
    errorStatuses: ERROR_STATUSES.filter((status) => status !== 429),
  }),
  'POST /compute/v0/sets/:name/match': manage(
    'matchSet',
    'Match points with a set',
    ok(
      'The matches, in the order of the points.',
      {
        'application/x-ndjson': { type: 'string', description: 'One MatchLine per line.' },
      },
      ['X-Attester-Nonce-Source'],
    ),
    {
      description:
        'The body has one Point, or Feature of a Point, per line, whatever its content type. Each line gets one line of the response. ' +
        'Without options a feature matches if it `intersects` the point. With `within` or `nearest` features match by their geodesic ' +
        'distance. With `attest=each` every match is signed: the predicate, or the distance, of the feature and the point. Each line ' +
        'counts towards the hourly limit.',
      parameters: [
        NAME,
        query('predicate', 'contains or intersects (the default).', { enum: ['contains', 'intersects'] }),
        query(
          'within',
          'Features within this distance in metres, the nearest first.',
          { type: 'number', minimum: 0.005 },
          500,
        ),
        query('nearest', 'The nearest features, at most this many.', { type: 'integer', minimum: 1, maximum: 1000 }, 1),
        query(
          'limit',
          'The most matches of a point.',
          { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
          10,
        ),
        query(
          'properties',
          'true, or names with commas: adds these properties of the features.',
          { type: 'string' },
          'name',
        ),
        query('attest', 'each: signs every match.', { enum: ['none', 'each'], default: 'none' }, 'none'),
        query('chainId', 'The chain that matches are signed for.', schemaRef('ChainId'), 84532),
        query('recipient', 'The recipient of the attestations.', schemaRef('Recipient')),
      ],
      body: { content: { 'application/x-ndjson': { type: 'string', description: 'One Point per line.' } } },
      errorStatuses: [...ERROR_STATUSES, 400, 408, 413],
      counts: true,
    },
  ),
}
