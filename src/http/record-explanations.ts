import type { ProblemType } from '../problem.ts'
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

const REFUSALS = {
  'Invalid chain parameter': explained(
    'The name of the chain is none that this deployment knows, or for a sync none that it reads.',
    'Use a name of the detail; base is Base mainnet.',
    `${LIST}?chain=moon`,
    'Supported chains: arbitrum, celo, sepolia, base, base-sepolia, local',
  ),
  'Invalid bbox format': explained(
    'bbox is not four numbers of degrees in the order west, south, east, north.',
    'Send minLng,minLat,maxLng,maxLat; west above east crosses the antimeridian.',
    `${LIST}?bbox=1,2,3`,
    'Expected format: minLng,minLat,maxLng,maxLat; 3 numbers instead of 4',
  ),
  'Invalid limit parameter': explained(
    'limit is no whole number above 0, or stands where everything is asked for.',
    'Send 1 to 1000, or leave it out for 100.',
    `${LIST}?limit=0`,
    'limit must be a whole number of at least 1',
  ),
  'Invalid offset parameter': explained(
    'offset is no whole number from 0 to 10,000,000.',
    'Follow the Link header instead of counting: pages do not shift under it.',
    `${LIST}?offset=-1`,
    'offset must be a whole number from 0 to 10000000',
  ),
  'Invalid cursor parameter': explained(
    'An export has no pages, so it takes no cursor.',
    'Leave it out.',
    `${LIST}/export?cursor=x`,
    'an export has every record that matches; leave cursor out',
  ),
  'Invalid cursor': explained(
    'The cursor is not one that a Link header gave.',
    'Use the address of the Link header as it is, or offset.',
    `${LIST}?cursor=zz`,
    'use the cursor of a Link header as it is, or offset',
  ),
  'Invalid address format': explained(
    'prover or subject is no address.',
    'Send 0x and 40 hex digits, in any case.',
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
    'datetime of OGC API Features is no time and no interval.',
    'Send one time, or two with a slash between them of which one may be ..',
    '/ogc/collections/location-records/items?datetime=soon',
    'datetime must be a time such as 2026-01-31T12:00:00Z, or two with a slash between them, the earlier one first; .. is open',
  ),
  'Invalid f parameter': explained(
    'The format is none of those that the route has.',
    'Use a name of the detail, or Accept.',
    `${LIST}?f=xml`,
    'f must be one of json, geojson',
  ),
  'Duplicate parameter': explained(
    'A parameter stands more than once, so that nobody can tell which is meant.',
    'Send it once.',
    `${LIST}?limit=1&limit=2`,
    'limit stands 2 times; send it once',
  ),
  'Unknown parameter': explained(
    'The route has no such parameter, and ignoring it would look like an answer to it.',
    'Use the parameters that the detail names.',
    `${LIST}/stream?bbox=1,2,3,4`,
    '"bbox"; known here: chain, prover, subject, lastEventId',
  ),
  'Invalid query': explained(
    'The query string is too long, or not percent-encoded UTF-8.',
    'Encode it (encodeURIComponent), and keep it below 4096 characters.',
    `${LIST}?%zz`,
    '"%zz" is not percent-encoded UTF-8',
  ),
  'Invalid UID format': explained(
    'What stands for a UID in the path is none.',
    'Send 0x and 64 hex digits, in any case.',
    `${LIST}/0x12`,
    'UID must be a 66-character hex string starting with 0x',
  ),
  'Location record not found': explained(
    'No attestation of a location with this UID was read from the chains.',
    'Look at GET /api/sync/status whether its chain is read, and how far; a UID before submission is not the one on the chain.',
    `${LIST}/0x${'0'.repeat(64)}`,
    `No attestation with UID 0x${'0'.repeat(64)} was found`,
    'not-found',
  ),
  'Collection not found': explained(
    'OGC API Features has one collection here.',
    'Use location-records.',
    '/ogc/collections/roads',
    'The only collection is location-records',
    'not-found',
  ),
  'Invalid Last-Event-ID': explained(
    'The place in the stream of changes is not the id of one of its events.',
    'Send the id of the last event as it came, or none.',
    `${LIST}/stream?lastEventId=zz`,
    'send the id of an event of this stream as it is, or none',
  ),
} as const

/** Refusals that no GET makes, or none that anybody wants to make. */
const OTHERS: Readonly<Record<string, Explanation>> = {
  'Invalid action parameter': {
    cause: 'The worker can be started and stopped, nothing else.',
    remedy: 'Send ?action=start or ?action=stop.',
    example: {
      request: { method: 'POST', path: '/api/sync/worker?action=dance' },
      problem: { type: 'invalid-input', detail: 'Supported actions: start, stop' },
    },
  },
  'No chain is configured': {
    cause: 'There is no chain that could be read.',
    remedy: 'Set RPC_URL_<chainId> and start the service again.',
    example: {
      request: { method: 'POST', path: '/api/sync' },
      problem: { type: 'invalid-input', detail: 'set RPC_URL_<chainId> for the chains that shall be read' },
    },
  },
  'Invalid GraphQL request': {
    cause: 'The body or the query string holds no question.',
    remedy: 'Send {"query": "…"}; what can be asked is GET /graphql/schema.',
    example: {
      request: { method: 'POST', path: '/graphql', body: '{}' },
      problem: {
        type: 'bad-request',
        detail: 'query is missing; send {"query": "{ locationRecords(limit: 1) { count } }"}',
      },
    },
  },
  'Sync is off': {
    cause: 'This deployment keeps records and does not read chains (SYNC=0).',
    remedy: 'Ask the process that reads them, or start this one without SYNC=0.',
    example: {
      request: { path: '/api/sync', situation: 'POST /api/sync of a service with SYNC=0.' },
      problem: { type: 'invalid-input', detail: 'this deployment does not read chains (SYNC=0)' },
    },
  },
  'Sync is already running': {
    cause: 'The same chains are being read.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    example: {
      request: { path: '/api/sync', situation: 'POST /api/sync twice at once.' },
      problem: { type: 'conflict', detail: 'it was asked for before and is under way' },
    },
  },
  'Revocation check is already running': {
    cause: 'The records are being compared with their chains.',
    remedy: 'Wait; GET /api/sync/status says when it is done.',
    example: {
      request: { path: '/api/sync/revocations', situation: 'POST /api/sync/revocations twice at once.' },
      problem: { type: 'conflict', detail: 'it was asked for before and is under way' },
    },
  },
  'Sync failed': {
    cause: 'A chain could not be read to the end.',
    remedy: 'Try again after Retry-After; recentErrors of GET /api/sync/status says what failed.',
    example: {
      request: { path: '/api/sync', situation: 'No endpoint of the chain answers.' },
      problem: { type: 'internal', detail: 'the chain or the store does not answer', retryAfterSeconds: 5 },
    },
  },
  'Failed to get sync status': {
    cause: 'The database that holds the state did not answer.',
    remedy: 'Try again; GET /ready says whether the database is there. The text stands in error, not in detail.',
    example: {
      request: { path: '/api/sync/status', situation: 'The database is away.' },
      problem: { type: 'internal', detail: 'the database is away' },
    },
  },
  'Records are not available': {
    cause: 'The database is not open yet or away, too many ask at once, or no records are kept here (RECORDS=0).',
    remedy: 'Try again after Retry-After. An outage is never an empty list.',
    example: {
      request: { path: LIST, situation: 'A service with RECORDS=0, or in its first seconds.' },
      problem: { type: 'overloaded', detail: 'this deployment keeps no records (RECORDS=0)', retryAfterSeconds: 1 },
    },
  },
  'Page too large': {
    cause: 'The records of the page are more text than one answer may be.',
    remedy: 'Ask for a smaller limit, or for an export, which has none.',
    example: {
      request: { path: LIST, situation: 'A page of records with very large media.' },
      problem: {
        type: 'invalid-input',
        detail: '1000 records have 73,400,320 characters: ask for a smaller limit, or for an export',
      },
    },
  },
}

/** One for each `message` that refusals of the record and sync API have, beside the titles of problem types. */
export const RECORD_EXPLANATIONS: Readonly<Record<string, Explanation>> = {
  ...Object.fromEntries(
    Object.entries(REFUSALS).map(([message, { cause, remedy, path, detail, type }]) => [
      message,
      { cause, remedy, example: { request: { method: 'GET', path }, problem: { type, message, detail } } },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(OTHERS).map(([message, { example, ...words }]) => [
      message,
      { ...words, example: { ...example, problem: { ...example.problem, message } } },
    ]),
  ),
}
