/** The texts of the pages below `/errors`, as data: cause, remedy and one example of every kind of error. */
import type { ProblemData, ProblemType } from '../../base/problem.ts'

/**
 * Cause and remedy of one kind of error as data, with one example. Texts may have placeholders, such as `{smallBodyBytes}`, for
 * the default limits (`problem-pages.ts`).
 */
export interface ExplanationRow {
  readonly cause: string
  readonly remedy: string
  /** Path and query of the request that causes the error. */
  readonly path: string
  /** `GET` if it is absent. */
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Describes a situation that is hard to reproduce. It replaces the method, the headers and the body. */
  readonly situation?: string
  /** Problem type of a message of the record API; `invalid-input` if it is absent. */
  readonly type?: ProblemType
  readonly message?: string
  /** Absent if the service computes the whole problem: `rate-limited`. */
  readonly detail?: string
  /** Path of the invalid part in the body. */
  readonly pointer?: readonly (string | number)[]
  readonly code?: string
  readonly hint?: string
  readonly retryAfterSeconds?: number
}

/** An error with the request that causes it, or with a description of a situation that is hard to reproduce. */
export interface ExampleError {
  readonly request: ExampleRequest | { readonly path: string; readonly situation: string }
  readonly problem: ProblemData
}

/** A request that causes the error. */
export interface ExampleRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The explanation of each problem type. */
export const PROBLEM_EXPLANATIONS: Readonly<Record<ProblemType, ExplanationRow>> = {
  'bad-request': {
    cause: 'The body is empty, is not UTF-8 or is not one JSON object, or the request is not well-formed HTTP/1.1.',
    remedy:
      'Send one JSON object as UTF-8, with one Content-Length or chunked. Use each key once, and at most 32 levels.',
    method: 'POST',
    path: '/compute/v0/area',
    body: '{"chainId": 84532, "chainId": 1}',
    detail: 'the key "chainId" appears twice in one object (byte 19)',
    pointer: [],
    code: 'duplicate-key',
  },
  'invalid-input': {
    cause: 'A member is missing, has the wrong type or is out of range, or a geometry is not valid.',
    remedy:
      'Each entry of errors has a pointer to the member and may have a hint. Positions are [longitude, latitude].',
    method: 'POST',
    path: '/compute/v0/area',
    body: '{"chainId":84532,"geometry":{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,95],[2,48]]]}}',
    detail: 'latitude 95 is outside -90..90',
    pointer: ['geometry', 'coordinates', 0, 2, 1],
    code: 'latitude-range',
    hint: 'GeoJSON order is [longitude, latitude]',
  },
  validation: {
    cause: 'The claim or a stamp breaks a rule, for example the claim has no radius.',
    remedy: 'Correct the member that errors names.',
    method: 'POST',
    path: '/verify/v0/proof',
    body: '{"proof":{"claim":{"lpVersion":"0.2","locationType":"geojson-point","location":{"type":"Point","coordinates":[2.2945,48.8584]},"srs":"EPSG:4326","subject":{"scheme":"eth-address","value":"0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"},"time":{"start":1759998200,"end":1760001800}},"stamps":[{}]}}',
    detail: 'is missing',
    pointer: ['proof', 'claim', 'radius'],
    code: 'missing-member',
    hint: 'send the largest distance from the location in metres, for example "radius": 100',
  },
  unauthorized: {
    cause: 'The API key is unknown, the two key headers differ, or this deployment requires a key.',
    remedy: 'Send one valid key as X-API-Key or Authorization: Bearer, or none for the public tier.',
    method: 'POST',
    path: '/compute/v0/area',
    headers: { 'X-API-Key': 'no-such-key' },
    body: '{}',
    detail: 'Invalid API key',
  },
  forbidden: {
    cause: 'This route is internal to the deployment.',
    remedy:
      'Call it with CRON_SECRET as a bearer token, from an address in SYNC_ALLOW, or, outside production, from the machine of the service.',
    path: '/api/sync/status',
    headers: { 'X-Forwarded-For': '203.0.113.9' },
    message: 'Forbidden',
    detail:
      'this route is internal: call it with CRON_SECRET as a bearer token, from an address in SYNC_ALLOW, or, outside production, from the same machine without a proxy',
  },
  'not-found': {
    cause: 'There is nothing under this path.',
    remedy: 'GET / lists every route.',
    path: '/compute/v1/area',
    detail: 'no route matches this path; GET / lists every route',
  },
  'method-not-allowed': {
    cause: 'The path does not support this method.',
    remedy: 'Use a method that the Allow header lists.',
    path: '/compute/v0/area',
    detail: 'this path does not support GET; use POST, OPTIONS',
  },
  'request-timeout': {
    cause: 'The request did not arrive completely in time.',
    remedy: 'Send the body without pauses, and send smaller bodies over a slow connection.',
    path: '/compute/v0/area',
    situation: 'A body that pauses in the middle for 10 seconds.',
    detail: 'the body did not arrive in time',
  },
  conflict: {
    cause: 'The same job is already running, or the Idempotency-Key was used for another request.',
    remedy: 'Wait until the job has ended; use a new key for each attestation to submit.',
    path: '/verify/v0/proof',
    situation: 'Two different proofs with submitOnchain and the same Idempotency-Key.',
    detail: 'Idempotency-Key: already used for another attestation; use a new key for this one',
  },
  'payload-too-large': {
    cause: 'The body is larger than this deployment accepts.',
    remedy: 'Simplify the geometry, or split the request.',
    method: 'POST',
    path: '/compute/v0/resign',
    body: '{"padding":"{padding}"}',
    detail: 'a request to sign again has at most {smallBodyBytes} bytes, found {sentBytes}',
  },
  'unsupported-media-type': {
    cause: 'The body is compressed (Content-Encoding).',
    remedy: 'Send the body as plain JSON.',
    method: 'POST',
    path: '/compute/v0/area',
    headers: { 'Content-Encoding': 'gzip' },
    body: '{}',
    detail: 'Content-Encoding is not accepted; send the body uncompressed',
  },
  'too-complex': {
    cause: 'The geometries are valid, but their shape would take more computing time than one request may have.',
    remedy:
      'Simplify the geometries, or split them into parts and send these as the items of a batch. The detail has the work that was counted.',
    path: '/compute/v0/distance',
    situation: 'The distance of two rings of 20,000 vertices that lie on opposite sides of the Earth.',
    detail: 'distance needs too much work: {countedWork} units of work were counted, and the limit is {maxWork}',
    pointer: [],
    code: 'too-much-work',
    hint: 'simplify the geometries, or split them into parts and send these as the items of a batch',
  },
  'not-repairable': {
    cause: 'A polygon sent to repair encloses no area, or rounding its crossings prevents a valid result.',
    remedy: 'Draw the polygon again. The detail names the reason, and the pointer the geometry.',
    method: 'POST',
    path: '/compute/v0/repair',
    body: '{"chainId":84532,"geometry":{"type":"Polygon","coordinates":[[[2,48],[3,48],[4,48],[2,48]]]}}',
    detail: 'none of its rings encloses an area',
    pointer: ['geometry'],
    code: 'no-area',
    hint: 'draw the polygon again; simplify it where vertices are closer than 1 mm',
  },
  undecided: {
    cause: 'The request asks for geodesic edges, and the geometries touch within the error of the computation.',
    remedy: 'Give both geometries a vertex where they touch, or leave out edges to ask about straight lines.',
    method: 'POST',
    path: '/compute/v0/contains',
    body: '{"chainId":84532,"edges":"geodesic","container":{"type":"Polygon","coordinates":[[[2,48],[3,48],[3,49],[2,49],[2,48]]]},"containee":{"type":"Point","coordinates":[2.5,48.00108814025104]}}',
    detail:
      'contains with geodesic edges is not certain: the geometries touch within the margin of 0.000001 m, or an edge is longer than 19000 km',
    pointer: [],
    code: 'within-margin',
    hint: 'move the vertices that lie on an edge of the other geometry, give both geometries a vertex there, or divide long edges; without edges the answer is that of straight lines in longitude and latitude',
  },
  'rate-limited': {
    cause:
      'This address or key has used up its requests for this hour, or its bytes, vertices or processor time; detail says which.',
    remedy: 'Wait for the seconds in Retry-After; an API key (X-API-Key or Authorization: Bearer) raises the limit.',
    path: '/compute/v0/area',
    situation: 'The {nextRequest}st request of an hour without an API key.',
  },
  internal: {
    cause: 'Something failed on our side, or a chain could not be reached.',
    remedy: 'Try again after the seconds in Retry-After if the response has it; otherwise report the requestId.',
    path: '/compute/v0/area',
    situation: 'A fault of the service, or an input {"uid": …} whose chain does not respond.',
    detail: 'something failed on our side; report the requestId',
  },
  database: {
    cause: 'A database operation failed.',
    remedy: 'Try again later; report the requestId if the error persists.',
    path: '/verify/v0/proof',
    situation: 'A proof with submitOnchain while the database is unavailable.',
    detail: 'submissions cannot be stored or read now',
    retryAfterSeconds: 1,
  },
  'not-implemented': {
    cause: 'The operation, plugin or form of input is not supported yet, for example an input with a uri.',
    remedy:
      'Use another form of input; {"uid": …} reads an attestation from its chain, and {"attestation": …} holds one.',
    method: 'POST',
    path: '/compute/v0/area',
    body: '{"chainId":84532,"geometry":{"uid":"0x1111111111111111111111111111111111111111111111111111111111111111","uri":"ipfs://bafy"}}',
    detail: 'references to off-chain attestations (uid and uri) are not supported yet',
    pointer: ['geometry'],
    code: 'offchain-input',
    hint: 'send the attestation itself as {"attestation": {…}}, or {"uid": "0x…"} of an on-chain attestation',
  },
  overloaded: {
    cause: 'More work is waiting than can be done in time.',
    remedy: 'Try again after the seconds in Retry-After, with fewer requests at the same time.',
    path: '/compute/v0/area',
    situation: 'Requests arrive faster than they are computed, or the service is stopping.',
    detail: 'the service is stopping',
    retryAfterSeconds: 1,
  },
}

/** The explanation of each `message` of the record and sync API that is not the title of a problem type. */
export const RECORD_EXPLANATIONS: Readonly<Record<string, ExplanationRow>> = {
  'Invalid chain parameter': {
    cause:
      'This deployment does not know a chain with this name, or a sync was requested for a chain that it does not read.',
    remedy: 'Use a name that the detail lists; base is Base mainnet.',
    path: '/api/v0/location-records?chain=moon',
    detail: 'Supported chains: arbitrum, celo, sepolia, base, base-sepolia, local',
  },
  'Invalid filter': {
    cause: 'filter is not CQL2, names an unknown property, or compares values of different types.',
    remedy:
      'Use the properties of /ogc/collections/location-records/queryables. The detail says where the text stops being CQL2.',
    path: '/ogc/collections/location-records/items?filter=chain',
    detail: 'expected a comparison instead of the end',
  },
  'Invalid filter-lang parameter': {
    cause: 'filter-lang names a form of filter that the service does not read.',
    remedy: 'Send cql2-text, cql2-json, or omit it for cql2-text.',
    path: '/ogc/collections/location-records/items?filter=chain&filter-lang=sql',
    detail: 'filter-lang must be one of cql2-text, cql2-json',
  },
  'Invalid bbox format': {
    cause: 'bbox must be four numbers in degrees, in the order west, south, east, north.',
    remedy: 'Send minLng,minLat,maxLng,maxLat. If minLng is greater than maxLng, the box crosses the antimeridian.',
    path: '/api/v0/location-records?bbox=1,2,3',
    detail: 'Expected format: minLng,minLat,maxLng,maxLat; 3 numbers instead of 4',
  },
  'Invalid limit parameter': {
    cause: 'limit is not a whole number above 0, or the route does not take a limit.',
    remedy: 'Send 1 to 1000, or omit limit for 100.',
    path: '/api/v0/location-records?limit=0',
    detail: 'limit must be a whole number of at least 1',
  },
  'Invalid offset parameter': {
    cause: 'offset is not a whole number from 0 to 10,000,000.',
    remedy: 'Follow the Link header instead of using offset: its pages do not shift when records are added.',
    path: '/api/v0/location-records?offset=-1',
    detail: 'offset must be a whole number from 0 to 10000000',
  },
  'Invalid count parameter': {
    cause: 'count has a value other than exact.',
    remedy: 'Send count=exact to wait for an exact count, or leave it out.',
    path: '/api/v0/location-records?count=yes',
    detail: 'count must be exact, or be left out',
  },
  'Invalid cursor parameter': {
    cause: 'An export has no pages, so it takes no cursor.',
    remedy: 'Remove the cursor.',
    path: '/api/v0/location-records/export?cursor=x',
    detail: 'an export contains every matching record; remove cursor',
  },
  'Invalid cursor': {
    cause: 'The cursor does not come from a Link header.',
    remedy: 'Use the unchanged URL of the Link header, or offset.',
    path: '/api/v0/location-records?cursor=zz',
    detail: 'use the unchanged cursor of a Link header, or use offset',
  },
  'Invalid address format': {
    cause: 'prover or subject is not an address.',
    remedy: 'Send 0x and 40 hex digits, in upper or lower case.',
    path: '/api/v0/location-records?prover=0x12',
    detail: 'prover must be a 42-character hex string starting with 0x',
  },
  'Invalid timestamp format': {
    cause: 'fromTimestamp or toTimestamp is not ISO 8601.',
    remedy: 'Send 2026-01-31T12:00:00Z or 2026-01-31.',
    path: '/api/v0/location-records?fromTimestamp=yesterday',
    detail: 'fromTimestamp must be ISO 8601, such as 2026-01-31T12:00:00Z or 2026-01-31',
  },
  'Invalid datetime parameter': {
    cause: 'datetime of OGC API Features is neither a time nor an interval.',
    remedy: 'Send one time, or two times separated by a slash, of which one may be ..',
    path: '/ogc/collections/location-records/items?datetime=soon',
    detail:
      'datetime must be a time such as 2026-01-31T12:00:00Z, or start/end with the earlier time first; .. is an open end',
  },
  'Invalid f parameter': {
    cause: 'The route does not have this format.',
    remedy: 'Use a name that the detail lists, or the Accept header.',
    path: '/api/v0/location-records?f=xml',
    detail: 'f must be one of json, geojson',
  },
  'Duplicate parameter': {
    cause: 'A parameter appears more than once, so its value is ambiguous.',
    remedy: 'Send it once.',
    path: '/api/v0/location-records?limit=1&limit=2',
    detail: 'limit appears 2 times; send it once',
  },
  'Unknown parameter': {
    cause: 'The route has no such parameter. Ignoring it would give a misleading response.',
    remedy: 'Use the parameters that the detail lists.',
    path: '/api/v0/location-records/stream?bbox=1,2,3,4',
    detail: '"bbox"; supported parameters: chain, prover, subject, lastEventId',
  },
  'Invalid query': {
    cause: 'The query string is too long, or not percent-encoded UTF-8.',
    remedy: 'Encode values with encodeURIComponent, and keep the query string below 4096 characters.',
    path: '/api/v0/location-records?%zz',
    detail: '"%zz" is not percent-encoded UTF-8',
  },
  'Invalid UID format': {
    cause: 'The path has no valid UID.',
    remedy: 'Send 0x and 64 hex digits, in upper or lower case.',
    path: '/api/v0/location-records/0x12',
    detail: 'UID must be a 66-character hex string starting with 0x',
  },
  'Location record not found': {
    cause: 'No location attestation with this UID was read from the chains.',
    remedy:
      'Check in GET /api/sync/status whether its chain is read, and up to which block. The UID on the chain differs from the UID before submission.',
    path: '/api/v0/location-records/0x0000000000000000000000000000000000000000000000000000000000000000',
    type: 'not-found',
    detail: 'No attestation with UID 0x0000000000000000000000000000000000000000000000000000000000000000 was found',
  },
  'Collection not found': {
    cause: 'OGC API Features has no collection with this name here.',
    remedy: 'Use one that GET /ogc/collections lists.',
    path: '/ogc/collections/roads',
    type: 'not-found',
    detail: 'The collections are location-records, location-points, location-lines, location-polygons',
  },
  'Invalid Last-Event-ID': {
    cause: 'The value is not the id of an event of the stream of changes.',
    remedy: 'Send the unchanged id of the last event, or omit it.',
    path: '/api/v0/location-records/stream?lastEventId=zz',
    detail: 'send the unchanged id of an event of this stream, or omit it',
  },
  'Invalid action parameter': {
    cause: 'The worker can only be started and stopped.',
    remedy: 'Send ?action=start or ?action=stop.',
    method: 'POST',
    path: '/api/sync/worker?action=dance',
    detail: 'Supported actions: start, stop',
  },
  'No chain is configured': {
    cause: 'No chain is configured that could be read.',
    remedy: 'Set RPC_URL_<chainId> and restart the service.',
    method: 'POST',
    path: '/api/sync',
    detail: 'set RPC_URL_<chainId> for each chain to read',
  },
  'Invalid GraphQL request': {
    cause: 'The body or the query string contains no GraphQL query.',
    remedy: 'Send {"query": "…"}; GET /graphql/schema returns the schema.',
    method: 'POST',
    path: '/graphql',
    body: '{}',
    type: 'bad-request',
    detail: 'query is missing; send {"query": "{ locationRecords(limit: 1) { count } }"}',
  },
  'Sync is off': {
    cause: 'This deployment stores records but does not read chains (SYNC=0).',
    remedy: 'Call the process that reads the chains, or start this one without SYNC=0.',
    path: '/api/sync',
    situation: 'POST /api/sync of a service with SYNC=0.',
    detail: 'this deployment does not read chains (SYNC=0)',
  },
  'Sync is already running': {
    cause: 'The same chains are already being read.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    path: '/api/sync',
    situation: 'POST /api/sync twice at once.',
    type: 'conflict',
    detail: 'the same request is already running',
  },
  'Revocation check is already running': {
    cause: 'The records are already being checked for revocation.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    path: '/api/sync/revocations',
    situation: 'POST /api/sync/revocations twice at once.',
    type: 'conflict',
    detail: 'the same request is already running',
  },
  'Sync failed': {
    cause: 'A chain could not be read completely.',
    remedy: 'Try again after the seconds in Retry-After; recentErrors in GET /api/sync/status lists what failed.',
    path: '/api/sync',
    situation: 'No RPC endpoint of the chain responds.',
    type: 'internal',
    detail: 'the chain or the store does not answer',
    retryAfterSeconds: 5,
  },
  'Failed to get sync status': {
    cause: 'The database that holds the sync status did not respond.',
    remedy:
      'Try again; GET /ready reports whether the database is available. This response has the text in error, not in detail.',
    path: '/api/sync/status',
    situation: 'The database is unavailable.',
    type: 'internal',
    detail: 'the database is not available; try again',
  },
  'Records are not available': {
    cause:
      'The database is not open yet or is unavailable, there are too many requests, or this deployment stores no records (RECORDS=0).',
    remedy: 'Try again after the seconds in Retry-After. An outage is never reported as an empty list.',
    path: '/api/v0/location-records',
    situation: 'A service with RECORDS=0, or in its first seconds.',
    type: 'overloaded',
    detail: 'this deployment keeps no records (RECORDS=0)',
    retryAfterSeconds: 1,
  },
  'Offset too large': {
    cause: 'The matching records are so rare that the database cannot read to this offset in time.',
    remedy: 'Start without offset and follow the Link header, or narrow the filter.',
    path: '/api/v0/location-records?bbox=-180,0,180,90&offset=5000000',
    situation: 'A store of many millions of records, and a filter that few of them match.',
    detail:
      'reading to offset 5000000 takes too long with this filter: start without offset and follow the Link header, or narrow the filter',
  },
  'Page too large': {
    cause: 'The records of the page are larger than one response may be.',
    remedy: 'Use a smaller limit, or an export, which has no limit.',
    path: '/api/v0/location-records',
    situation: 'A page of records with very large media.',
    detail: '1000 records have 73,400,320 characters: ask for a smaller limit, or for an export',
  },
}
