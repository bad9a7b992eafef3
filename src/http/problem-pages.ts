import { PROBLEMS, type ProblemType } from '../problem.ts'

/** Why each problem happens and what to do, as `GET /errors/<type>` says it. */
const EXPLANATIONS: Readonly<Record<ProblemType, { readonly cause: string; readonly remedy: string }>> = {
  'bad-request': {
    cause: 'The body is empty, not UTF-8, not JSON or not one object, or the request is not well-formed HTTP/1.1.',
    remedy: 'Send one JSON object as UTF-8 with a single Content-Length, or chunked; each key once, at most 32 levels.',
  },
  'invalid-input': {
    cause: 'A member is missing, of the wrong type or out of range, or a geometry is not valid.',
    remedy: 'The pointer in errors names the place and the hint what would do. Positions are [longitude, latitude].',
  },
  validation: {
    cause: 'A rule of location claims is broken, for example a claim without a radius.',
    remedy: 'Correct the member that errors names.',
  },
  unauthorized: {
    cause: 'The API key is unknown, or the two key headers differ, or this deployment asks everybody for a key.',
    remedy: 'Send one valid key as X-API-Key or Authorization: Bearer, or none for the public tier.',
  },
  forbidden: {
    cause: 'The operation is kept for this deployment itself.',
    remedy: 'Ask from the machine it runs on, from an address of SYNC_ALLOW, or with CRON_SECRET as a bearer token.',
  },
  'not-found': { cause: 'There is nothing under this path.', remedy: 'GET / lists what there is.' },
  'method-not-allowed': { cause: 'The path exists for other methods.', remedy: 'Use a method of the Allow header.' },
  'request-timeout': {
    cause: 'The request did not arrive completely in time.',
    remedy: 'Send the body without pauses; a slow link needs smaller bodies.',
  },
  conflict: {
    cause: 'The same work is under way already, or an Idempotency-Key was used before for another request.',
    remedy: 'Wait for its end; use a new key for each attestation that is to be submitted.',
  },
  'payload-too-large': {
    cause: 'The body is larger than this deployment accepts.',
    remedy: 'Simplify the geometry, or split the question.',
  },
  'unsupported-media-type': {
    cause: 'The body is compressed (Content-Encoding).',
    remedy: 'Send the body as plain JSON.',
  },
  'rate-limited': {
    cause: 'The hourly number of requests of this address or key is used up.',
    remedy: 'Wait for the seconds of Retry-After; an API key raises the number.',
  },
  internal: {
    cause: 'Something failed on our side, or a chain could not be reached.',
    remedy: 'Try again after Retry-After when it is given; otherwise report the requestId.',
  },
  database: { cause: 'A database operation failed.', remedy: 'Try again later; report the requestId when it stays.' },
  'not-implemented': {
    cause: 'The operation, plugin or form of input is not supported yet, for example an input with a uri.',
    remedy: 'Use another form; {"uid": …} reads an attestation from its chain.',
  },
  overloaded: {
    cause: 'More work is waiting than can be done in time.',
    remedy: 'Try again after the seconds of Retry-After, with fewer requests at once.',
  },
}

/** @returns undefined when there is no such problem type */
export function problemPageJson(type: string, errorTypeBase: string): string | undefined {
  if (!Object.hasOwn(PROBLEMS, type)) return undefined
  const name = type as ProblemType
  return JSON.stringify({ type: `${errorTypeBase}/${name}`, ...PROBLEMS[name], ...EXPLANATIONS[name] })
}
