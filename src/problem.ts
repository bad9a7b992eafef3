/** Everything a client can do wrong, as one table: name of the type → status and title (interface.md, Errors). */
export const PROBLEMS = {
  'bad-request': { status: 400, title: 'Bad Request' },
  'invalid-input': { status: 400, title: 'Invalid Input' },
  validation: { status: 400, title: 'Validation Error' },
  unauthorized: { status: 401, title: 'Unauthorized' },
  forbidden: { status: 403, title: 'Forbidden' },
  'not-found': { status: 404, title: 'Not Found' },
  'method-not-allowed': { status: 405, title: 'Method Not Allowed' },
  'request-timeout': { status: 408, title: 'Request Timeout' },
  conflict: { status: 409, title: 'Conflict' },
  'payload-too-large': { status: 413, title: 'Payload Too Large' },
  'unsupported-media-type': { status: 415, title: 'Unsupported Media Type' },
  'rate-limited': { status: 429, title: 'Rate Limited' },
  internal: { status: 500, title: 'Internal Server Error' },
  database: { status: 500, title: 'Database Error' },
  'not-implemented': { status: 501, title: 'Not Implemented' },
  overloaded: { status: 503, title: 'Overloaded' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemType = keyof typeof PROBLEMS

/** One place in the request that is wrong, in the style of RFC 9457: JSON Pointer as URI fragment. */
export interface ProblemPlace {
  /** `#/geometry/coordinates/0/2/1`; `#` is the body as a whole. */
  readonly pointer: string
  readonly detail: string
  /** Stable short name of the rule, e.g. `latitude-range`. */
  readonly code?: string
  /** What the caller should do instead. */
  readonly hint?: string
}

/** A problem as plain data: what crosses a thread border instead of an Error, whose class would be lost there. */
export interface ProblemData {
  readonly type: ProblemType
  readonly detail: string
  /** What the record API's errors say first, in place of the type's title. */
  readonly message?: string
  readonly places?: readonly ProblemPlace[]
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
}

/** A refusal of the client's request. Thrown on one side of the line, turned into bytes by `http/respond.ts` alone. */
export class ProblemError extends Error {
  readonly data: ProblemData

  constructor(data: ProblemData, options?: ErrorOptions) {
    super(data.detail, options)
    this.name = 'ProblemError'
    this.data = data
  }
}

/**
 * The common case: one rule broken at one place.
 *
 * @param pointer segments from the body's root, e.g. `['geometry', 'coordinates', 0]`
 * @param rule `code` and `hint` of the place
 */
export function problemAt(
  type: ProblemType,
  pointer: readonly (string | number)[],
  detail: string,
  rule: { code?: string; hint?: string } = {},
): ProblemError {
  const where = dottedPath(pointer)
  return new ProblemError({
    type,
    detail: where === '' ? detail : `${where}: ${detail}`,
    places: [{ pointer: jsonPointer(pointer), detail, ...rule }],
  })
}

/** `['geometry','coordinates',0]` → `#/geometry/coordinates/0` (RFC 6901, section 6). */
export function jsonPointer(segments: readonly (string | number)[]): string {
  let pointer = '#'
  for (const segment of segments) {
    // Half a surrogate pair, which JSON can hold, is nothing that a URI can.
    const whole = String(segment).replace(/\p{Surrogate}/gu, '\ufffd')
    pointer += `/${encodeURIComponent(whole.replaceAll('~', '~0').replaceAll('/', '~1'))}`
  }
  return pointer
}

/** `['geometry','coordinates',0]` → `geometry.coordinates[0]`, as people write it. */
function dottedPath(segments: readonly (string | number)[]): string {
  let path = ''
  for (const segment of segments) {
    path += typeof segment === 'number' ? `[${segment}]` : path === '' ? segment : `.${segment}`
  }
  return path
}

/** The same problem of something that stands deeper in the request: its detail and its places begin at `path`. */
export function underPath(problem: ProblemData, path: readonly (string | number)[]): ProblemData {
  const prefix = jsonPointer(path)
  const places = problem.places?.map((place) => ({ ...place, pointer: prefix + place.pointer.slice(1) }))
  const { detail } = problem
  // `problemAt` begins with the place, unless it is the body as a whole.
  const namesPlace = problem.places?.[0] !== undefined && problem.places[0].detail !== detail
  const between = path.length === 0 ? '' : !namesPlace ? ': ' : detail.startsWith('[') ? '' : '.'
  const placed = `${dottedPath(path)}${between}${detail}`
  return { ...problem, detail: placed, places: places ?? [{ pointer: prefix, detail }] }
}
