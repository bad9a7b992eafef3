import type { ProblemType } from '../../base/problem.ts'
import { rateLimitProblem } from '../access/rate-limit.ts'
import type { ExampleRequest, Explanation } from './explanation.ts'

const post = (path: string, body: unknown, headers?: Readonly<Record<string, string>>): ExampleRequest => ({
  method: 'POST',
  path,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  ...(headers === undefined ? {} : { headers }),
})

const CLAIM = {
  lpVersion: '0.2',
  locationType: 'geojson-point',
  location: { type: 'Point', coordinates: [2.2945, 48.8584] },
  srs: 'EPSG:4326',
  subject: { scheme: 'eth-address', value: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf' },
  time: { start: 1759998200, end: 1760001800 },
}

/** The explanation of each problem type. */
export const PROBLEM_EXPLANATIONS: Readonly<Record<ProblemType, Explanation>> = {
  'bad-request': {
    cause: 'The body is empty, is not UTF-8 or is not one JSON object, or the request is not well-formed HTTP/1.1.',
    remedy:
      'Send one JSON object as UTF-8, with one Content-Length or chunked. Use each key once, and at most 32 levels.',
    example: {
      request: post('/compute/v0/area', '{"chainId": 84532, "chainId": 1}'),
      problem: {
        type: 'bad-request',
        detail: 'the key "chainId" appears twice in one object (byte 19)',
        places: [
          { pointer: '#', detail: 'the key "chainId" appears twice in one object (byte 19)', code: 'duplicate-key' },
        ],
      },
    },
  },
  'invalid-input': {
    cause: 'A member is missing, has the wrong type or is out of range, or a geometry is not valid.',
    remedy:
      'Each entry of errors has a pointer to the member and may have a hint. Positions are [longitude, latitude].',
    example: {
      request: post('/compute/v0/area', {
        chainId: 84532,
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [2, 48],
              [3, 48],
              [3, 95],
              [2, 48],
            ],
          ],
        },
      }),
      problem: {
        type: 'invalid-input',
        detail: 'geometry.coordinates[0][2][1]: latitude 95 is outside -90..90',
        places: [
          {
            pointer: '#/geometry/coordinates/0/2/1',
            detail: 'latitude 95 is outside -90..90',
            code: 'latitude-range',
            hint: 'GeoJSON order is [longitude, latitude]',
          },
        ],
      },
    },
  },
  validation: {
    cause: 'The claim or a stamp breaks a rule, for example the claim has no radius.',
    remedy: 'Correct the member that errors names.',
    example: {
      request: post('/verify/v0/proof', { proof: { claim: CLAIM, stamps: [{}] } }),
      problem: {
        type: 'validation',
        detail: 'proof.claim.radius: is missing',
        places: [
          {
            pointer: '#/proof/claim/radius',
            detail: 'is missing',
            code: 'missing-member',
            hint: 'send the largest distance from the location in metres, for example "radius": 100',
          },
        ],
      },
    },
  },
  unauthorized: {
    cause: 'The API key is unknown, the two key headers differ, or this deployment requires a key.',
    remedy: 'Send one valid key as X-API-Key or Authorization: Bearer, or none for the public tier.',
    example: {
      request: post('/compute/v0/area', {}, { 'X-API-Key': 'no-such-key' }),
      problem: { type: 'unauthorized', detail: 'Invalid API key' },
    },
  },
  forbidden: {
    cause: 'This route is internal to the deployment.',
    remedy:
      'Call it from the machine of the service, from an address in SYNC_ALLOW, or with CRON_SECRET as a bearer token.',
    example: {
      request: { method: 'GET', path: '/api/sync/status', headers: { 'X-Forwarded-For': '203.0.113.9' } },
      problem: {
        type: 'forbidden',
        message: 'Forbidden',
        detail:
          'this route is internal: call it from the same machine without a proxy, from an address in SYNC_ALLOW, or with CRON_SECRET as a bearer token',
      },
    },
  },
  'not-found': {
    cause: 'There is nothing under this path.',
    remedy: 'GET / lists every route.',
    example: {
      request: { method: 'GET', path: '/compute/v1/area' },
      problem: { type: 'not-found', detail: 'no route matches this path; GET / lists every route' },
    },
  },
  'method-not-allowed': {
    cause: 'The path does not support this method.',
    remedy: 'Use a method that the Allow header lists.',
    example: {
      request: { method: 'GET', path: '/compute/v0/area' },
      problem: { type: 'method-not-allowed', detail: 'this path does not support GET; use POST, OPTIONS' },
    },
  },
  'request-timeout': {
    cause: 'The request did not arrive completely in time.',
    remedy: 'Send the body without pauses, and send smaller bodies over a slow connection.',
    example: {
      request: { path: '/compute/v0/area', situation: 'A body that pauses in the middle for 10 seconds.' },
      problem: { type: 'request-timeout', detail: 'the body did not arrive in time' },
    },
  },
  conflict: {
    cause: 'The same job is already running, or the Idempotency-Key was used for another request.',
    remedy: 'Wait until the job has ended; use a new key for each attestation to submit.',
    example: {
      request: {
        path: '/verify/v0/proof',
        situation: 'Two different proofs with submitOnchain and the same Idempotency-Key.',
      },
      problem: {
        type: 'conflict',
        detail: 'Idempotency-Key: stands for another attestation already; use a new key for this one',
      },
    },
  },
  'payload-too-large': {
    cause: 'The body is larger than this deployment accepts.',
    remedy: 'Simplify the geometry, or split the request.',
    example: {
      request: post('/compute/v0/resign', { padding: ' '.repeat(16_384) }),
      problem: {
        type: 'payload-too-large',
        detail: 'a request to sign again has at most 16384 bytes, found 16398',
      },
    },
  },
  'unsupported-media-type': {
    cause: 'The body is compressed (Content-Encoding).',
    remedy: 'Send the body as plain JSON.',
    example: {
      request: post('/compute/v0/area', {}, { 'Content-Encoding': 'gzip' }),
      problem: {
        type: 'unsupported-media-type',
        detail: 'Content-Encoding is not accepted; send the body uncompressed',
      },
    },
  },
  'rate-limited': {
    cause: 'This address or key has used up its requests for this hour.',
    remedy: 'Wait for the seconds in Retry-After; an API key (X-API-Key or Authorization: Bearer) raises the limit.',
    example: {
      request: { path: '/compute/v0/area', situation: 'The 101st request of an hour without an API key.' },
      problem: rateLimitProblem(100, 'public', 'answer'),
    },
  },
  internal: {
    cause: 'Something failed on our side, or a chain could not be reached.',
    remedy: 'Try again after the seconds in Retry-After if the response has it; otherwise report the requestId.',
    example: {
      request: {
        path: '/compute/v0/area',
        situation: 'A fault of the service, or an input {"uid": …} whose chain does not respond.',
      },
      problem: { type: 'internal', detail: 'something failed on our side; report the requestId' },
    },
  },
  database: {
    cause: 'A database operation failed.',
    remedy: 'Try again later; report the requestId if the error persists.',
    example: {
      request: { path: '/verify/v0/proof', situation: 'A proof with submitOnchain while the database is unavailable.' },
      problem: { type: 'database', detail: 'submissions cannot be stored or read now', retryAfterSeconds: 1 },
    },
  },
  'not-implemented': {
    cause: 'The operation, plugin or form of input is not supported yet, for example an input with a uri.',
    remedy: 'Use another form of input; {"uid": …} reads an attestation from its chain.',
    example: {
      request: post('/compute/v0/area', {
        chainId: 84532,
        geometry: { uid: `0x${'1'.repeat(64)}`, uri: 'ipfs://bafy' },
      }),
      problem: {
        type: 'not-implemented',
        detail: 'geometry: off-chain attestations (uid and uri) are not supported yet',
        places: [
          {
            pointer: '#/geometry',
            detail: 'off-chain attestations (uid and uri) are not supported yet',
            code: 'offchain-input',
            hint: 'send the geometry, or {"uid": "0x…"} of an on-chain attestation',
          },
        ],
      },
    },
  },
  overloaded: {
    cause: 'More work is waiting than can be done in time.',
    remedy: 'Try again after the seconds in Retry-After, with fewer requests at the same time.',
    example: {
      request: {
        path: '/compute/v0/area',
        situation: 'Requests arrive faster than they are computed, or the service is stopping.',
      },
      problem: { type: 'overloaded', detail: 'the service is stopping', retryAfterSeconds: 1 },
    },
  },
}
