import { recordProblem } from './record-query.ts'

/**
 * One parameter of the sync API; others are ignored.
 *
 * @param search as sent, without the question mark
 * @returns undefined when it is not there
 * @throws {ProblemError} when it stands twice
 */
export function readSyncParameter(search: string, name: string): string | undefined {
  const values = new URLSearchParams(search.slice(0, 4096)).getAll(name)
  if (values.length > 1) throw recordProblem('Duplicate parameter', `${name} stands more than once; send it once`)
  return values[0]
}
