/** Operations of the service itself: its status, its pages, and the internal control of the chains. */
import { json, type Operation, type OperationTable, ok, pathParameter, query, schemaRef } from './operation.ts'

function service(operationId: string, summary: string, description: string, schema: string): Operation {
  return {
    tag: 'Service',
    operationId,
    summary,
    responses: ok(description, json(schemaRef(schema))),
  }
}

const PAGE: Operation['responses'] = {
  200: { description: 'The page.', content: { 'text/html': { type: 'string' } }, headers: ['ETag'] },
  304: { description: 'The client has the current version.' },
}

const NO_PAGE: Operation['responses'][number] = {
  description: 'Nothing was found under this path. Clients that prefer text/html get a page.',
  content: { 'application/problem+json': schemaRef('ProblemDetails'), 'text/html': { type: 'string' } },
}

function page(operationId: string, summary: string, responses: Operation['responses'] = PAGE): Operation {
  return { tag: 'Pages', operationId, summary, responses: { ...responses, 404: NO_PAGE } }
}

const FILE = pathParameter('file', 'Path of the file below this folder.', { type: 'string' })
const ANY_FILE: Operation['responses'] = {
  200: { description: 'The file, with its own media type.', content: { '*/*': {} }, headers: ['ETag'] },
  304: { description: 'The client has the current version.' },
}

/** Status and description of the service, and the pages. */
export const SERVICE_OPERATIONS: OperationTable = {
  'GET /': {
    ...service('root', 'List of routes', 'Links and every route.', 'ServiceRoot'),
    responses: {
      200: {
        description: 'Links and every route. Clients that name text/html get a page.',
        content: { 'application/json': schemaRef('ServiceRoot'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has the current page.' },
    },
  },
  'GET /health': service('health', 'Liveness', 'The process is alive.', 'Health'),
  'GET /ready': {
    ...service('ready', 'Readiness', 'Every part works.', 'ReadinessReport'),
    responses: {
      200: { description: 'Every part works.', content: json(schemaRef('ReadinessReport')) },
      503: {
        description: 'A part does not work; `checks` names it.',
        content: json(schemaRef('ReadinessReport')),
        headers: ['Retry-After'],
      },
    },
  },
  'GET /.well-known/attester.json': service(
    'issuer',
    'The attester',
    'Address, chains and schemas.',
    'AttesterDocument',
  ),
  'GET /.well-known/oauth-protected-resource': {
    tag: 'Service',
    operationId: 'tokenMetadata',
    summary: 'Whose bearer tokens are accepted',
    description: 'OAuth 2.0 protected resource metadata (RFC 9728). 404 if the operator has set no JWT_ISSUER.',
    responses: ok(
      'The issuer of tokens, and their scopes.',
      json({
        type: 'object',
        required: ['resource', 'authorization_servers', 'scopes_supported', 'bearer_methods_supported'],
        properties: {
          resource: { type: 'string', description: 'URL of this service.' },
          authorization_servers: { type: 'array', items: { type: 'string' }, description: 'Issuers of tokens.' },
          scopes_supported: { type: 'array', items: { type: 'string' } },
          bearer_methods_supported: { type: 'array', items: { type: 'string' } },
          resource_name: { type: 'string' },
          resource_documentation: { type: 'string' },
        },
      }),
    ),
    errorStatuses: [404],
  },
  'GET /metrics': {
    tag: 'Service',
    operationId: 'metrics',
    summary: 'Counters and histograms',
    description: 'Only for requests from the same machine; METRICS_PUBLIC=1 opens it to everyone.',
    responses: ok('Prometheus text.', { 'text/plain': { type: 'string' } }),
    errorStatuses: [404],
  },
  'GET /openapi.json': {
    tag: 'Service',
    operationId: 'openapi',
    summary: 'This document',
    responses: ok('OpenAPI 3.1.', json({ type: 'object', required: ['openapi', 'paths'] })),
  },
  'GET /errors': {
    ...page('problems', 'Every kind of error', {
      200: {
        description: 'The list. Clients that name text/html get a page.',
        content: { 'application/json': schemaRef('ProblemPageList'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has the current version.' },
    }),
    tag: 'Service',
    errorStatuses: [],
  },
  'GET /errors/:type': {
    ...page('problem', 'Cause and remedy of one kind of error', {
      200: {
        description: 'Cause, remedy and an example. Clients that name text/html get a page.',
        content: { 'application/json': schemaRef('ProblemPage'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has the current version.' },
    }),
    tag: 'Service',
    parameters: [
      pathParameter(
        'type',
        'The last segment of `type`, or the message of the record API in lower case with hyphens.',
        { type: 'string' },
        'invalid-input',
      ),
    ],
  },
  'GET /docs': page('reference', 'Reference of every route'),
  'GET /docs/*': { ...page('referenceFile', 'Guide and files of the reference', ANY_FILE), parameters: [FILE] },
  'GET /explore': page('explorer', 'The explorer'),
  'GET /explore/*': { ...page('explorerFile', 'Files of the explorer', ANY_FILE), parameters: [FILE] },
  'GET /verify': page('receiptPage', 'The page that checks a receipt'),
  'GET /tiles': {
    tag: 'Pages',
    operationId: 'tiles',
    summary: 'Map tiles of the explorer',
    description: 'The PMTiles file that MAP_TILES names. Without one, `tiles` is empty.',
    responses: {
      200: { description: 'TileJSON 3.0.', content: json({ type: 'object', required: ['tilejson', 'tiles'] }) },
    },
  },
  'GET /tiles/*': {
    ...page('tile', 'One map tile', {
      200: {
        description: 'A vector tile; no bytes where the map is empty.',
        content: { 'application/vnd.mapbox-vector-tile': {} },
      },
    }),
    parameters: [pathParameter('file', '`{z}/{x}/{y}.mvt`', { type: 'string' }, '14/8298/5636.mvt')],
  },
  'GET /llms.txt': page('llms', 'Description of the service for language models', {
    ...PAGE,
    200: { description: 'The text.', content: { 'text/plain': { type: 'string' } }, headers: ['ETag'] },
  }),
  'GET /favicon.ico': page('favicon', 'The icon of the service', {
    ...PAGE,
    200: { description: 'The icon.', content: { 'image/x-icon': {} }, headers: ['ETag'] },
  }),
}

const SUCCESS = json(schemaRef('SyncOutcome'))

function internal(
  operation: Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters' | 'responses'>,
  errorStatuses: readonly number[],
): Operation {
  return { tag: 'Sync', ...operation, errorStatuses: [403, ...errorStatuses], isInternal: true }
}

/** Operations that control the reading of chains; internal to the deployment. */
export const SYNC_OPERATIONS: OperationTable = {
  'POST /api/sync': internal(
    {
      operationId: 'sync',
      summary: 'Read the chains now',
      parameters: [query('chain', 'Reads only this chain.', { type: 'string' }, 'celo')],
      responses: {
        200: { description: 'One chain was read and its attestations are stored.', content: SUCCESS },
        202: { description: 'Reading has started: of all chains, or of one that takes longer.', content: SUCCESS },
      },
    },
    [400, 409, 500, 503],
  ),
  'GET /api/sync/status': internal(
    {
      operationId: 'syncStatus',
      summary: 'How far each chain has been read',
      responses: {
        200: { description: 'The status.', content: json(schemaRef('SyncStatus')) },
        500: { description: 'The status could not be read.', content: json(schemaRef('SyncStatusError')) },
      },
    },
    [],
  ),
  'GET /api/sync/events': internal(
    {
      operationId: 'syncEvents',
      summary: 'The status after each change',
      responses: ok('Server-sent events `status`.', { 'text/event-stream': { type: 'string' } }),
    },
    [500, 503],
  ),
  'POST /api/sync/revocations': internal(
    {
      operationId: 'syncRevocations',
      summary: 'Check all valid records for revocation',
      responses: { 202: { description: 'The check has started.', content: SUCCESS } },
    },
    [400, 409, 500, 503],
  ),
  'POST /api/sync/worker': internal(
    {
      operationId: 'syncWorker',
      summary: 'Start or stop the background worker',
      parameters: [
        {
          ...query('action', 'What the worker should do.', { type: 'string', enum: ['start', 'stop'] }, 'start'),
          required: true,
        },
      ],
      responses: ok('Done, even if nothing changed.', SUCCESS),
    },
    [400, 500, 503],
  ),
}
