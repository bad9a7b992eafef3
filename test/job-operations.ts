/** Operations for tests of jobs that are interrupted, and what is compared of their results. */

/** Some operations are invalid, because errors have to survive an interruption too. */
const FAULTY_EVERY = 997

const line = (index: number) =>
  index % FAULTY_EVERY === 0
    ? `{"op":"distance","id":${index}}\n`
    : `{"op":"distance","id":${index},"from":{"type":"Point","coordinates":[${(index * 0.618) % 180},${(index * 0.382) % 90}]},"to":{"type":"Point","coordinates":[2.35,48.85]}}\n`

/** Yields the lines of operations in pieces. */
export function* pieces(from: number, to: number): Generator<string> {
  for (let index = from; index < to; index += 1000)
    yield Array.from({ length: Math.min(1000, to - index) }, (_, offset) => line(index + offset)).join('')
}

/** Returns how many of the first operations are invalid. */
export const faultyOf = (count: number) => Math.ceil(count / FAULTY_EVERY)

/** What two computations of the same operation have in common. */
export function comparable(json: string): string {
  const { error, ...result } = JSON.parse(json)
  return JSON.stringify(
    error === undefined ? { ...result, timestamp: 0 } : { ...result, error: [error.type, error.detail, error.errors] },
  )
}
