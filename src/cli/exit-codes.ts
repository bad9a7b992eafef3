/** How a verb ends: the same codes for all of them (docs/command-line.md). */
import { ApiError, ConnectionError } from '../client/api-error.ts'
import { ConfigError } from '../config.ts'
import { ProblemError } from '../problem.ts'

export const EXIT = {
  ok: 0,
  /** A check failed, or the answer to a question of truth is no. */
  failed: 1,
  usage: 2,
  network: 3,
  auth: 4,
  rateLimited: 5,
  internal: 70,
  config: 78,
  /** By Ctrl-C. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A verb cannot go on: what is wrong and what would help, for people. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** @returns what the caller did wrong */
export function usage(message: string, cause?: unknown): CommandError {
  return new CommandError(EXIT.usage, message, { cause })
}

/** How an error ends the program, and what is said of it; of one that is ours its place too. */
export function endingOf(error: unknown): { readonly exitCode: ExitCode; readonly text: string } {
  if (error instanceof CommandError) return { exitCode: error.exitCode, text: error.message }
  if (error instanceof ConfigError) return { exitCode: EXIT.config, text: error.message }
  if (error instanceof ApiError) return { exitCode: exitOfStatus(error.status), text: problemText(error) }
  if (error instanceof ConnectionError) {
    const reason = reasonOf(error.cause)
    const remedy = '\n  start one there (npm start), or name another with --url'
    return { exitCode: EXIT.network, text: `${error.message}${reason === '' ? '' : ` (${reason})`}${remedy}` }
  }
  if (error instanceof ProblemError) {
    return { exitCode: EXIT.usage, text: `${error.message}${hintLines(error.data.places)}` }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { exitCode: EXIT.internal, text }
}

/** @param status of an answer that is no result */
export function exitOfStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth
  if (status === 429) return EXIT.rateLimited
  return status >= 500 ? EXIT.network : EXIT.usage
}

function problemText({ problem, retryAfterSeconds }: ApiError): string {
  const wait = retryAfterSeconds === undefined ? '' : `\n  try again in ${retryAfterSeconds} s`
  return `${problem.title}: ${problem.detail}${hintLines(problem.errors)}${wait}`
}

function hintLines(places: readonly { readonly hint?: string }[] | undefined): string {
  return (places ?? []).flatMap(({ hint }) => (hint === undefined ? [] : [`\n  ${hint}`])).join('')
}

/** What a connection failed of; `fetch` hides it two errors deep. */
function reasonOf(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const { code, message } = (inner ?? {}) as { code?: unknown; message?: unknown }
  return typeof code === 'string' ? code : typeof message === 'string' ? message : ''
}
