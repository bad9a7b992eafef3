import { type InvalidPart, ProblemError } from '../src/base/problem.ts'
import type { FormatLimits } from '../src/geometry/notation.ts'

/** The service's defaults. */
export const LIMITS: FormatLimits = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxBodyBytes: 1_048_576,
}

/** Returns the one invalid part that a rejection names; any other exception fails the test. */
export function refusalOf(read: () => unknown): InvalidPart {
  try {
    read()
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    if (error.data.type !== 'invalid-input') throw new Error(`a problem of type ${error.data.type}`)
    return error.data.invalidParts![0]!
  }
  throw new Error('nothing was rejected')
}
