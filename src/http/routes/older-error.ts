import { PROBLEMS, type ProblemData } from '../../base/problem.ts'

/** Returns true for paths of the older verify API, whose errors have a different shape (decision 74). */
export function isOlderPath(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1'
}

/** Header of RFC 9745. The older API was superseded before this service existed; the date is that of its first release. */
export const DEPRECATION = ['Deprecation', '@1767225600'] as const

/** Returns the status and the body `{error: {code, message}}` of a problem under an older path. */
export function toOlderError(problem: ProblemData): { readonly status: number; readonly json: string } {
  const [status, code] = errorCode(problem)
  return { status, json: JSON.stringify({ error: { code, message: problem.detail.slice(0, 400) } }) }
}

function errorCode({ type, places }: ProblemData): [status: number, code: string] {
  const { code, pointer = '' } = places?.[0] ?? {}
  if (code === 'unknown-plugin') return [400, 'UNKNOWN_PLUGIN']
  if (code === 'signature-invalid') return [422, 'SIGNATURE_INVALID']
  const { status } = PROBLEMS[type]
  if (status === 400 && pointer.startsWith('#/proof/claim/radius')) return [400, 'MISSING_RADIUS']
  if (status === 400 && pointer.startsWith('#/proof/claim')) return [400, 'INVALID_CLAIM']
  if (status === 400 && /^#\/(?:stamp|proof\/stamps)\b/.test(pointer)) return [400, 'INVALID_STAMP']
  if (type === 'internal' || type === 'database') return [status, 'VERIFICATION_FAILED']
  return [status, type.toUpperCase().replaceAll('-', '_')]
}
