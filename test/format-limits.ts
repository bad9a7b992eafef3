import type { FormatLimits } from '../src/geometry/format-budget.ts'
import { ProblemError, type ProblemPlace } from '../src/problem.ts'

/** As the service has them without other settings. */
export const LIMITS: FormatLimits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxBodyBytes: 1_048_576,
}

/** The one place that a refusal names; anything else that is thrown fails the test. */
export function refusalOf(read: () => unknown): ProblemPlace {
  try {
    read()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.data.type !== 'invalid-input') throw new Error(`a problem of type ${error.data.type}`)
    return error.data.places![0]!
  }
  throw new Error('nothing was refused')
}
