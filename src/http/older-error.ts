import { PROBLEMS, type ProblemData } from '../problem.ts'

/** Paths of the older verify generation, whose errors have a shape of their own (decision 74). */
export function isOlderPath(path: string): boolean {
  return path.startsWith('/v1/') || path === '/v1'
}

/** RFC 9745: the generation was superseded before this service began; the day is that of its first release. */
export const DEPRECATION = ['Deprecation', '@1767225600'] as const

/** Status and body `{error: {code, message}}` of a problem under an older path. */
export function olderError(problem: ProblemData): { readonly status: number; readonly json: string } {
  const [status, code] = olderCode(problem)
  return { status, json: JSON.stringify({ error: { code, message: problem.detail.slice(0, 400) } }) }
}

function olderCode({ type, places }: ProblemData): [status: number, code: string] {
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
