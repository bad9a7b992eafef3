import { recordProblem } from '../../validation/record-query.ts'

/**
 * Negotiates the format of a response: by the parameter `f`, else by the types that `Accept` names. Wildcards are ignored.
 *
 * @param search query string as sent
 * @param accept header lines joined with commas
 * @param types media types by their name for `f`; the first one is the default
 * @throws {ProblemError} if `f` is not one of the names, or appears more than once
 */
export function negotiateFormat<const F extends string>(
  search: string,
  accept: string | undefined,
  types: Readonly<Record<F, string>>,
): F {
  const names = Object.keys(types) as F[]
  const requested = new URLSearchParams(search).getAll('f')
  if (requested.length > 1)
    throw recordProblem('Duplicate parameter', `f appears ${requested.length} times; send it once`)
  if (requested.length === 1) {
    const name = names.find((candidate) => candidate === requested[0])
    if (name !== undefined) return name
    throw recordProblem('Invalid f parameter', `f must be one of ${names.join(', ')}`)
  }
  let best = names[0]!
  let bestQuality = 0
  for (const name of names) {
    const quality = acceptQuality(accept, types[name])
    if (quality > bestQuality) [best, bestQuality] = [name, quality]
  }
  return best
}

/** Returns the weight that `Accept` gives to a type by its full name; 0 if it does not name it (RFC 9110, section 12.5.1). */
export function acceptQuality(accept: string | undefined, type: string): number {
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}
