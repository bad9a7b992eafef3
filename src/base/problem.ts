/** All problem types, each with its HTTP status and title. */
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
  'too-complex': { status: 422, title: 'Too Complex' },
  'not-repairable': { status: 422, title: 'Not Repairable' },
  undecided: { status: 422, title: 'Undecided' },
  'rate-limited': { status: 429, title: 'Rate Limited' },
  internal: { status: 500, title: 'Internal Server Error' },
  database: { status: 500, title: 'Database Error' },
  'not-implemented': { status: 501, title: 'Not Implemented' },
  overloaded: { status: 503, title: 'Overloaded' },
} as const satisfies Record<string, { status: number; title: string }>

export type ProblemType = keyof typeof PROBLEMS

/** One invalid part of the request, in the style of RFC 9457. */
export interface InvalidPart {
  /** JSON Pointer as a URI fragment: `#/geometry/coordinates/0/2/1`. `#` is the whole body. */
  readonly pointer: string
  readonly detail: string
  /** Stable short name of the rule, e.g. `latitude-range`. */
  readonly code?: string
  /** What would work instead. */
  readonly hint?: string
}

/** A problem as plain data. Threads exchange this instead of an Error, because structured clone drops its class. */
export interface ProblemData {
  readonly type: ProblemType
  readonly detail: string
  /** Replaces the title of the type in errors of the record API. */
  readonly message?: string
  readonly invalidParts?: readonly InvalidPart[]
  /** Seconds after which the same request may succeed; becomes `Retry-After`. */
  readonly retryAfterSeconds?: number
  /** Parameters of `WWW-Authenticate: Bearer` (RFC 6750, section 3). */
  readonly challenge?: string
}

/** An error that is sent to the client. Any other error is sent as `internal`, without its message. */
export class ProblemError extends Error {
  readonly data: ProblemData

  constructor(data: ProblemData, options?: ErrorOptions) {
    super(data.detail, options)
    this.name = 'ProblemError'
    this.data = data
  }
}

/**
 * Creates the most common problem: one rule broken by one part of the request.
 *
 * @param pointer segments from the body's root, e.g. `['geometry', 'coordinates', 0]`
 * @param rule `code` and `hint` of that part
 */
export function problemAt(
  type: ProblemType,
  pointer: readonly (string | number)[],
  detail: string,
  rule: { code?: string; hint?: string } = {},
): ProblemError {
  const path = dottedPath(pointer)
  return new ProblemError({
    type,
    detail: path === '' ? detail : `${path}: ${detail}`,
    invalidParts: [{ pointer: jsonPointer(pointer), detail, ...rule }],
  })
}

/** Returns the same problem with a hint for its first part, if that part broke the rule `code` and has no hint. */
export function withHint(problem: ProblemData, code: string, hint: string): ProblemData {
  const [first, ...others] = problem.invalidParts ?? []
  if (first?.code !== code || first.hint !== undefined) return problem
  return { ...problem, invalidParts: [{ ...first, hint }, ...others] }
}

/** Formats a path as a JSON Pointer: `['geometry','coordinates',0]` → `#/geometry/coordinates/0` (RFC 6901, section 6). */
export function jsonPointer(segments: readonly (string | number)[]): string {
  let pointer = '#'
  for (const segment of segments) {
    // JSON may contain a lone surrogate; a URI may not.
    const wellFormed = String(segment).replace(/\p{Surrogate}/gu, '\ufffd')
    pointer += `/${encodeURIComponent(wellFormed.replaceAll('~', '~0').replaceAll('/', '~1'))}`
  }
  return pointer
}

/** Formats a path for people: `['geometry','coordinates',0]` → `geometry.coordinates[0]`. */
function dottedPath(segments: readonly (string | number)[]): string {
  let path = ''
  for (const segment of segments) {
    path += typeof segment === 'number' ? `[${segment}]` : path === '' ? segment : `.${segment}`
  }
  return path
}

/**
 * Returns the same problem with `path` in front of its detail and pointers, for a value that is nested in the request. An empty
 * path changes nothing: the value is the whole request.
 */
export function underPath(problem: ProblemData, path: readonly (string | number)[]): ProblemData {
  if (path.length === 0) return problem
  const prefix = jsonPointer(path)
  const invalidParts = problem.invalidParts?.map((part) => ({ ...part, pointer: prefix + part.pointer.slice(1) }))
  const { detail } = problem
  // `problemAt` begins the detail with the path, except for the whole body.
  const namesPath = problem.invalidParts?.[0] !== undefined && problem.invalidParts[0].detail !== detail
  const separator = !namesPath ? ': ' : detail.startsWith('[') ? '' : '.'
  const prefixedDetail = `${dottedPath(path)}${separator}${detail}`
  return { ...problem, detail: prefixedDetail, invalidParts: invalidParts ?? [{ pointer: prefix, detail }] }
}
