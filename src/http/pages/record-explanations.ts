import type { ProblemType } from '../../base/problem.ts'
import type { Explanation } from './explanation.ts'

const LIST = '/api/v0/location-records'

function explained(
  cause: string,
  remedy: string,
  path: string,
  detail: string,
  type: ProblemType = 'invalid-input',
): Omit<Explanation, 'example'> & { readonly path: string; readonly detail: string; readonly type: ProblemType } {
  return { cause, remedy, path, detail, type }
}

const GET_ERRORS = {
  'Invalid chain parameter': explained(
    'This deployment does not know a chain with this name, or a sync was requested for a chain that it does not read.',
    'Use a name that the detail lists; base is Base mainnet.',
    `${LIST}?chain=moon`,
    'Supported chains: arbitrum, celo, sepolia, base, base-sepolia, local',
  ),
  'Invalid bbox format': explained(
    'bbox must be four numbers in degrees, in the order west, south, east, north.',
    'Send minLng,minLat,maxLng,maxLat. If minLng is greater than maxLng, the box crosses the antimeridian.',
    `${LIST}?bbox=1,2,3`,
    'Expected format: minLng,minLat,maxLng,maxLat; 3 numbers instead of 4',
  ),
  'Invalid limit parameter': explained(
    'limit is not a whole number above 0, or the route does not take a limit.',
    'Send 1 to 1000, or omit limit for 100.',
    `${LIST}?limit=0`,
    'limit must be a whole number of at least 1',
  ),
  'Invalid offset parameter': explained(
    'offset is not a whole number from 0 to 10,000,000.',
    'Follow the Link header instead of using offset: its pages do not shift when records are added.',
    `${LIST}?offset=-1`,
    'offset must be a whole number from 0 to 10000000',
  ),
  'Invalid cursor parameter': explained(
    'An export has no pages, so it takes no cursor.',
    'Remove the cursor.',
    `${LIST}/export?cursor=x`,
    'an export contains every matching record; remove cursor',
  ),
  'Invalid cursor': explained(
    'The cursor does not come from a Link header.',
    'Use the unchanged URL of the Link header, or offset.',
    `${LIST}?cursor=zz`,
    'use the unchanged cursor of a Link header, or use offset',
  ),
  'Invalid address format': explained(
    'prover or subject is not an address.',
    'Send 0x and 40 hex digits, in upper or lower case.',
    `${LIST}?prover=0x12`,
    'prover must be a 42-character hex string starting with 0x',
  ),
  'Invalid timestamp format': explained(
    'fromTimestamp or toTimestamp is not ISO 8601.',
    'Send 2026-01-31T12:00:00Z or 2026-01-31.',
    `${LIST}?fromTimestamp=yesterday`,
    'fromTimestamp must be ISO 8601, such as 2026-01-31T12:00:00Z or 2026-01-31',
  ),
  'Invalid datetime parameter': explained(
    'datetime of OGC API Features is neither a time nor an interval.',
    'Send one time, or two times separated by a slash, of which one may be ..',
    '/ogc/collections/location-records/items?datetime=soon',
    'datetime must be a time such as 2026-01-31T12:00:00Z, or start/end with the earlier time first; .. is an open end',
  ),
  'Invalid f parameter': explained(
    'The route does not have this format.',
    'Use a name that the detail lists, or the Accept header.',
    `${LIST}?f=xml`,
    'f must be one of json, geojson',
  ),
  'Duplicate parameter': explained(
    'A parameter appears more than once, so its value is ambiguous.',
    'Send it once.',
    `${LIST}?limit=1&limit=2`,
    'limit appears 2 times; send it once',
  ),
  'Unknown parameter': explained(
    'The route has no such parameter. Ignoring it would give a misleading response.',
    'Use the parameters that the detail lists.',
    `${LIST}/stream?bbox=1,2,3,4`,
    '"bbox"; supported parameters: chain, prover, subject, lastEventId',
  ),
  'Invalid query': explained(
    'The query string is too long, or not percent-encoded UTF-8.',
    'Encode values with encodeURIComponent, and keep the query string below 4096 characters.',
    `${LIST}?%zz`,
    '"%zz" is not percent-encoded UTF-8',
  ),
  'Invalid UID format': explained(
    'The path has no valid UID.',
    'Send 0x and 64 hex digits, in upper or lower case.',
    `${LIST}/0x12`,
    'UID must be a 66-character hex string starting with 0x',
  ),
  'Location record not found': explained(
    'No location attestation with this UID was read from the chains.',
    'Check in GET /api/sync/status whether its chain is read, and up to which block. The UID on the chain differs from the UID before submission.',
    `${LIST}/0x${'0'.repeat(64)}`,
    `No attestation with UID 0x${'0'.repeat(64)} was found`,
    'not-found',
  ),
  'Collection not found': explained(
    'This service has only one collection in OGC API Features.',
    'Use location-records.',
    '/ogc/collections/roads',
    'The only collection is location-records',
    'not-found',
  ),
  'Invalid Last-Event-ID': explained(
    'The value is not the id of an event of the stream of changes.',
    'Send the unchanged id of the last event, or omit it.',
    `${LIST}/stream?lastEventId=zz`,
    'send the unchanged id of an event of this stream, or omit it',
  ),
} as const

/** Errors that a GET request cannot cause, or that are hard to reproduce. */
const OTHER_ERRORS: Readonly<Record<string, Explanation>> = {
  'Invalid action parameter': {
    cause: 'The worker can only be started and stopped.',
    remedy: 'Send ?action=start or ?action=stop.',
    example: {
      request: { method: 'POST', path: '/api/sync/worker?action=dance' },
      problem: { type: 'invalid-input', detail: 'Supported actions: start, stop' },
    },
  },
  'No chain is configured': {
    cause: 'No chain is configured that could be read.',
    remedy: 'Set RPC_URL_<chainId> and restart the service.',
    example: {
      request: { method: 'POST', path: '/api/sync' },
      problem: { type: 'invalid-input', detail: 'set RPC_URL_<chainId> for the chains that shall be read' },
    },
  },
  'Invalid GraphQL request': {
    cause: 'The body or the query string contains no GraphQL query.',
    remedy: 'Send {"query": "…"}; GET /graphql/schema returns the schema.',
    example: {
      request: { method: 'POST', path: '/graphql', body: '{}' },
      problem: {
        type: 'bad-request',
        detail: 'query is missing; send {"query": "{ locationRecords(limit: 1) { count } }"}',
      },
    },
  },
  'Sync is off': {
    cause: 'This deployment stores records but does not read chains (SYNC=0).',
    remedy: 'Call the process that reads the chains, or start this one without SYNC=0.',
    example: {
      request: { path: '/api/sync', situation: 'POST /api/sync of a service with SYNC=0.' },
      problem: { type: 'invalid-input', detail: 'this deployment does not read chains (SYNC=0)' },
    },
  },
  'Sync is already running': {
    cause: 'The same chains are already being read.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    example: {
      request: { path: '/api/sync', situation: 'POST /api/sync twice at once.' },
      problem: { type: 'conflict', detail: 'the same request is already running' },
    },
  },
  'Revocation check is already running': {
    cause: 'The records are already being checked for revocation.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    example: {
      request: { path: '/api/sync/revocations', situation: 'POST /api/sync/revocations twice at once.' },
      problem: { type: 'conflict', detail: 'the same request is already running' },
    },
  },
  'Sync failed': {
    cause: 'A chain could not be read completely.',
    remedy: 'Try again after the seconds in Retry-After; recentErrors in GET /api/sync/status lists what failed.',
    example: {
      request: { path: '/api/sync', situation: 'No RPC endpoint of the chain responds.' },
      problem: { type: 'internal', detail: 'the chain or the store does not answer', retryAfterSeconds: 5 },
    },
  },
  'Failed to get sync status': {
    cause: 'The database that holds the sync status did not respond.',
    remedy:
      'Try again; GET /ready reports whether the database is available. This response has the text in error, not in detail.',
    example: {
      request: { path: '/api/sync/status', situation: 'The database is unavailable.' },
      problem: { type: 'internal', detail: 'the database is away' },
    },
  },
  'Records are not available': {
    cause:
      'The database is not open yet or is unavailable, there are too many requests, or this deployment stores no records (RECORDS=0).',
    remedy: 'Try again after the seconds in Retry-After. An outage is never reported as an empty list.',
    example: {
      request: { path: LIST, situation: 'A service with RECORDS=0, or in its first seconds.' },
      problem: { type: 'overloaded', detail: 'this deployment keeps no records (RECORDS=0)', retryAfterSeconds: 1 },
    },
  },
  'Page too large': {
    cause: 'The records of the page are larger than one response may be.',
    remedy: 'Use a smaller limit, or an export, which has no limit.',
    example: {
      request: { path: LIST, situation: 'A page of records with very large media.' },
      problem: {
        type: 'invalid-input',
        detail: '1000 records have 73,400,320 characters: ask for a smaller limit, or for an export',
      },
    },
  },
}

/** The explanation of each `message` of the record and sync API that is not the title of a problem type. */
export const RECORD_EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ...Object.fromEntries(
    Object.entries(GET_ERRORS).map(([message, { cause, remedy, path, detail, type }]) => [
      message,
      { cause, remedy, example: { request: { method: 'GET', path }, problem: { type, message, detail } } },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OTHER_ERRORS).map(([message, { example, ...words }]) => [
      message,
      { ...words, example: { ...example, problem: { ...example.problem, message } } },
    ]),
  ),
}
