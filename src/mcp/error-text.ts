import { ApiError, ConnectionError } from '../client/api-error.ts'

/**
 * Describes an error to a model: the service's problem with pointers and hints, or what is wrong with the connection or an
 * argument.
 *
 * @returns undefined for any other error, which is a bug of ours
 */
export function describeError(error: unknown): string | undefined {
  if (error instanceof ApiError) {
    const { title, detail, errors = [] } = error.problem
    const hints = errors.flatMap(({ pointer, hint }) => (hint === undefined ? [] : [`${pointer}: ${hint}`]))
    const wait = error.retryAfterSeconds === undefined ? [] : [`Try again in ${error.retryAfterSeconds} s.`]
    return [`${title} (${error.status}): ${detail}`, ...hints, ...wait].join('\n')
  }
  if (error instanceof ConnectionError) {
    return `${error.message}. Start a service there (npm start), or pass another address with --url.`
  }
  // The client throws a TypeError, with a hint, on an invalid argument.
  return error instanceof TypeError ? error.message : undefined
}
