import { recordProblem } from '../validation/record-query.ts'

/**
 * What a client asked for: by `f`, else by the types that `Accept` names. What only `*` stands for is not named.
 *
 * @param search parameters as sent
 * @param accept header lines joined with commas
 * @param types media types by their name for `f`; the first one is the usual one
 * @throws {ProblemError} for an `f` that is none of them, or stands twice
 */
export function formatOf<const F extends string>(
  search: string,
  accept: string | undefined,
  types: Readonly<Record<F, string>>,
): F {
  const names = Object.keys(types) as F[]
  const asked = new URLSearchParams(search).getAll('f')
  if (asked.length > 1) throw recordProblem('Duplicate parameter', `f stands ${asked.length} times; send it once`)
  if (asked.length === 1) {
    const name = names.find((candidate) => candidate === asked[0])
    if (name !== undefined) return name
    throw recordProblem('Invalid f parameter', `f must be one of ${names.join(', ')}`)
  }
  let best = names[0]!
  let bestQuality = 0
  for (const name of names) {
    const quality = qualityOf(accept, types[name])
    if (quality > bestQuality) [best, bestQuality] = [name, quality]
  }
  return best
}

/** Weight that `Accept` gives a type by its full name, 0 when it does not (RFC 9110, section 12.5.1). */
export function qualityOf(accept: string | undefined, type: string): number {
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [name, ...parameters] = range.split(';').map((part) => part.trim())
    if (name !== type) continue
    const weight = parameters.find((parameter) => parameter.startsWith('q='))
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0
  }
  return 0
}
