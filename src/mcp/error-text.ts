import { ApiError, ConnectionError } from '../client/api-error.ts'

/**
 * What a model is told when a tool could not do what it was asked: the problem as the service worded it, with places and remedies.
 *
 * @returns undefined for what is no fault of the request and nothing that the service said: a bug of ours
 */
export function errorText(error: unknown): string | undefined {
  if (error instanceof ApiError) {
    const { title, detail, errors = [] } = error.problem
    const hints = errors.flatMap(({ pointer, hint }) => (hint === undefined ? [] : [`${pointer}: ${hint}`]))
    const wait = error.retryAfterSeconds === undefined ? [] : [`Try again in ${error.retryAfterSeconds} s.`]
    return [`${title} (${error.status}): ${detail}`, ...hints, ...wait].join('\n')
  }
  if (error instanceof ConnectionError) {
    return `${error.message}. Start one there (npm start), or name another with --url.`
  }
  // The client's own refusals of an argument, each with its remedy.
  return error instanceof TypeError ? error.message : undefined
}
