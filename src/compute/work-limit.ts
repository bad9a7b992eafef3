import { WorkLimitError } from '../geodesy/distance.ts'
import { problemAt } from '../problem.ts'
import { TOO_MUCH_WORK } from './operations.ts'

/**
 * Says of a computation that gave up what it was, how much it may cost and what to do.
 *
 * @throws {ProblemError} of the code `TOO_MUCH_WORK`
 */
export function withinLimit<T>(
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
