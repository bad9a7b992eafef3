import { problemAt } from '../base/problem.ts'
import { WorkLimitError } from '../geodesy/distance.ts'
import { TOO_MUCH_WORK } from './operations.ts'

/**
 * Runs a computation and turns its `WorkLimitError` into a problem for the client.
 *
 * @param what names the computation in the problem's detail
 * @throws {ProblemError} `invalid-input` with the code `TOO_MUCH_WORK`
 */
export function withWorkLimit<T>(
  { maxDistanceSolves }: { readonly maxDistanceSolves: number },
  compute: () => T,
  what = 'distance',
): T {
  try {
    return compute()
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error
    throw problemAt('invalid-input', [], `the ${what} needs more work than ${maxDistanceSolves} exact solutions`, {
      code: TOO_MUCH_WORK,
      hint: 'simplify the geometries or split them over several requests',
    })
  }
}
