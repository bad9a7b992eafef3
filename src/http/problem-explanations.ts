import type { ProblemType } from '../problem.ts'
import type { ExampleRequest, Explanation } from './explanation.ts'
import { limitReached } from './rate-limit.ts'

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

/** One for each problem type. */
export const PROBLEM_EXPLANATIONS: Readonly<Record<ProblemType, Explanation>> = {
  'bad-request': {
    cause: 'The body is empty, not UTF-8, not JSON or not one object, or the request is not well-formed HTTP/1.1.',
    remedy: 'Send one JSON object as UTF-8 with a single Content-Length, or chunked; each key once, at most 32 levels.',
    example: {
      request: post('/compute/v0/area', '{"chainId": 84532, "chainId": 1}'),
      problem: {
        type: 'bad-request',
        detail: 'the key "chainId" stands twice in one object (byte 19)',
        places: [
          { pointer: '#', detail: 'the key "chainId" stands twice in one object (byte 19)', code: 'duplicate-key' },
        ],
      },
    },
  },
  'invalid-input': {
    cause: 'A member is missing, of the wrong type or out of range, or a geometry is not valid.',
    remedy: 'The pointer in errors names the place and the hint what would do. Positions are [longitude, latitude].',
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
    cause: 'A rule of location claims is broken, for example a claim without a radius.',
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
            hint: 'say how far from the location still counts, in metres, as in "radius": 100',
          },
        ],
      },
    },
  },
  unauthorized: {
    cause: 'The API key is unknown, or the two key headers differ, or this deployment asks everybody for a key.',
    remedy: 'Send one valid key as X-API-Key or Authorization: Bearer, or none for the public tier.',
    example: {
      request: post('/compute/v0/area', {}, { 'X-API-Key': 'no-such-key' }),
      problem: { type: 'unauthorized', detail: 'Invalid API key' },
    },
  },
  forbidden: {
    cause: 'The operation is kept for this deployment itself.',
    remedy: 'Ask from the machine it runs on, from an address of SYNC_ALLOW, or with CRON_SECRET as a bearer token.',
    example: {
      request: { method: 'GET', path: '/api/sync/status', headers: { 'X-Forwarded-For': '203.0.113.9' } },
      problem: {
        type: 'forbidden',
        message: 'Forbidden',
        detail:
          'this route is for the deployment itself: ask from its machine without a proxy, from an address of SYNC_ALLOW, or with CRON_SECRET as a bearer token',
      },
    },
  },
  'not-found': {
    cause: 'There is nothing under this path.',
    remedy: 'GET / lists what there is.',
    example: {
      request: { method: 'GET', path: '/compute/v1/area' },
      problem: { type: 'not-found', detail: 'there is nothing under this path; GET / lists every route' },
    },
  },
  'method-not-allowed': {
    cause: 'The path exists for other methods.',
    remedy: 'Use a method of the Allow header.',
    example: {
      request: { method: 'GET', path: '/compute/v0/area' },
      problem: { type: 'method-not-allowed', detail: 'GET is not offered here; use POST, OPTIONS' },
    },
  },
  'request-timeout': {
    cause: 'The request did not arrive completely in time.',
    remedy: 'Send the body without pauses; a slow link needs smaller bodies.',
    example: {
      request: { path: '/compute/v0/area', situation: 'A body that stops in the middle for 10 seconds.' },
      problem: { type: 'request-timeout', detail: 'the body did not arrive in time' },
    },
  },
  conflict: {
    cause: 'The same work is under way already, or an Idempotency-Key was used before for another request.',
    remedy: 'Wait for its end; use a new key for each attestation that is to be submitted.',
    example: {
      request: {
        path: '/verify/v0/proof',
        situation: 'Two different proofs with submitOnchain under one Idempotency-Key.',
      },
      problem: {
        type: 'conflict',
        detail: 'Idempotency-Key: stands for another attestation already; use a new key for this one',
      },
    },
  },
  'payload-too-large': {
    cause: 'The body is larger than this deployment accepts.',
    remedy: 'Simplify the geometry, or split the question.',
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
    cause: 'The hourly number of requests of this address or key is used up.',
    remedy: 'Wait for the seconds of Retry-After; an API key (X-API-Key or Authorization: Bearer) raises the number.',
    example: {
      request: { path: '/compute/v0/area', situation: 'The 101st request of an hour without an API key.' },
      problem: limitReached(100, 'public', 'answer'),
    },
  },
  internal: {
    cause: 'Something failed on our side, or a chain could not be reached.',
    remedy: 'Try again after Retry-After when it is given; otherwise report the requestId.',
    example: {
      request: {
        path: '/compute/v0/area',
        situation: 'A fault of the service, or an input {"uid": …} whose chain does not answer.',
      },
      problem: { type: 'internal', detail: 'something failed on our side; report the requestId' },
    },
  },
  database: {
    cause: 'A database operation failed.',
    remedy: 'Try again later; report the requestId when it stays.',
    example: {
      request: { path: '/verify/v0/proof', situation: 'A proof with submitOnchain while the database is away.' },
      problem: { type: 'database', detail: 'submissions cannot be stored or read now', retryAfterSeconds: 1 },
    },
  },
  'not-implemented': {
    cause: 'The operation, plugin or form of input is not supported yet, for example an input with a uri.',
    remedy: 'Use another form; {"uid": …} reads an attestation from its chain.',
    example: {
      request: post('/compute/v0/area', {
        chainId: 84532,
        geometry: { uid: `0x${'1'.repeat(64)}`, uri: 'ipfs://bafy' },
      }),
      problem: {
        type: 'not-implemented',
        detail: 'geometry: attestations behind a uri are not supported yet',
        places: [
          {
            pointer: '#/geometry',
            detail: 'attestations behind a uri are not supported yet',
            code: 'offchain-input',
            hint: 'send the geometry itself, or {"uid": "0x…"} of an on-chain attestation',
          },
        ],
      },
    },
  },
  overloaded: {
    cause: 'More work is waiting than can be done in time.',
    remedy: 'Try again after the seconds of Retry-After, with fewer requests at once.',
    example: {
      request: {
        path: '/compute/v0/area',
        situation: 'Requests come faster than they are computed, or the service is stopping.',
      },
      problem: { type: 'overloaded', detail: 'the service is stopping', retryAfterSeconds: 1 },
    },
  },
}
