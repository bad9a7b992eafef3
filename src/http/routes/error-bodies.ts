import { PROBLEMS, type ProblemData } from '../../base/problem.ts'

/** Maximum UTF-16 units of a problem's detail: it quotes the client's input, but does not echo all of it. */
export const MAX_DETAIL = 400

/** Cuts a text to at most `length` UTF-16 units, between two code points; an ellipsis marks the cut. */
export function clip(text: string, length: number): string {
  if (text.length <= length) return text
  let end = Math.max(0, length - 1)
  // A high surrogate at the cut would lose its other half, so it goes too.
  if (end > 0 && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--
  return `${text.slice(0, end)}…`
}

/** Returns true for paths whose errors have the shape of the record API (decisions 43 and 90). */
export function isRecordPath(path: string): boolean {
  return isBelow(path, '/api') || isBelow(path, '/proofs') || isOgcPath(path) || isGraphqlPath(path)
}

function isOgcPath(path: string): boolean {
  return isBelow(path, '/ogc')
}

function isGraphqlPath(path: string): boolean {
  return isBelow(path, '/graphql')
}

function isBelow(path: string, folder: string): boolean {
  return path.startsWith(folder) && (path.length === folder.length || path[folder.length] === '/')
}

/**
 * Serializes a problem in the shape of the record API. Paths below `/ogc` add the two members of an exception (OGC API Features,
 * Part 1, 7.5.1), and GraphQL adds its `errors`.
 */
export function recordErrorJson(path: string, problem: ProblemData): string {
  const message = problem.message ?? RECORD_MESSAGES[problem.type] ?? PROBLEMS[problem.type].title
  const detail = clip(problem.detail, MAX_DETAIL)
  const text = `${message}: ${detail}`
  const more = isOgcPath(path)
    ? { code: problem.type, description: text }
    : isGraphqlPath(path)
      ? { errors: [{ message: text, extensions: { code: problem.type } }] }
      : {}
  return JSON.stringify({ status: 'error', message, detail, ...more })
}

const RECORD_MESSAGES: Readonly<Record<string, string>> = {
  'not-found': 'Not found',
  'method-not-allowed': 'Method not allowed',
}

/** Returns true for paths of the older verify API, whose errors have a different shape (decision 74). */
export function isOlderPath(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1'
}

/** Header of RFC 9745. The older API was superseded before this service existed; the date is that of its first release. */
export const DEPRECATION = ['Deprecation', '@1767225600'] as const

/** Returns the status and the body `{error: {code, message}}` of a problem under an older path. */
export function toOlderError(problem: ProblemData): { readonly status: number; readonly json: string } {
  const [status, code] = errorCode(problem)
  return { status, json: JSON.stringify({ error: { code, message: clip(problem.detail, MAX_DETAIL) } }) }
}

function errorCode({ type, invalidParts }: ProblemData): [status: number, code: string] {
  const { code, pointer = '' } = invalidParts?.[0] ?? {}
  if (code === 'unknown-plugin') return [400, 'UNKNOWN_PLUGIN']
  if (code === 'signature-invalid') return [422, 'SIGNATURE_INVALID']
  const { status } = PROBLEMS[type]
  if (status === 400 && pointer.startsWith('#/proof/claim/radius')) return [400, 'MISSING_RADIUS']
  if (status === 400 && pointer.startsWith('#/proof/claim')) return [400, 'INVALID_CLAIM']
  if (status === 400 && /^#\/(?:stamp|proof\/stamps)\b/.test(pointer)) return [400, 'INVALID_STAMP']
  if (type === 'internal' || type === 'database') return [status, 'VERIFICATION_FAILED']
  return [status, type.toUpperCase().replaceAll('-', '_')]
}
