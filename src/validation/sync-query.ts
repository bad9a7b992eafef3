import { recordProblem } from './record-query.ts'

/**
 * Reads one query parameter of the sync API. Others are ignored.
 *
 * @param search the raw query string, without the question mark
 * @returns undefined if it is absent
 * @throws {ProblemError} if it is repeated
 */
export function readSyncParameter(search: string, name: string): string | undefined {
  const values = new URLSearchParams(search.slice(0, 4096)).getAll(name)
  if (values.length > 1) throw recordProblem('Duplicate parameter', `${name} appears more than once; send it once`)
  return values[0]
}
