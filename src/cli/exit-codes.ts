/** Exit codes of all verbs (docs/command-line.md). */

import { ProblemError } from '../base/problem.ts'
import { ApiError, ConnectionError } from '../client/transport.ts'
import { ConfigError } from '../config/setting.ts'
import type { ProblemDetails } from '../types/generated.ts'

export const EXIT = {
  ok: 0,
  /** A check failed, or a predicate is false. */
  failed: 1,
  usageError: 2,
  network: 3,
  auth: 4,
  rateLimited: 5,
  /** Every check passed, but the signer was not compared with an expected one. */
  signerUnchecked: 6,
  internal: 70,
  config: 78,
  /** Stopped by Ctrl-C. */
  interrupted: 130,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** An error that ends a verb. Its message is for people and says how to fix it. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** Creates an error for an invalid command line or an unusable input. */
export function usage(message: string, cause?: unknown): CommandError {
  return new CommandError(EXIT.usageError, message, { cause })
}

/** Returns the exit code and the text for an error. For an internal error the text includes the stack. */
export function exitForError(error: unknown): { readonly exitCode: ExitCode; readonly text: string } {
  if (error instanceof CommandError) return { exitCode: error.exitCode, text: error.message }
  if (error instanceof ConfigError) return { exitCode: EXIT.config, text: error.message }
  if (error instanceof ApiError) return { exitCode: exitCodeForStatus(error.status), text: problemText(error) }
  if (error instanceof ConnectionError) {
    const reason = connectionFailureReason(error.cause)
    const hint = '\n  start one there (npm start), or give another address (--url; --issuer of verify)'
    return { exitCode: EXIT.network, text: `${error.message}${reason === '' ? '' : ` (${reason})`}${hint}` }
  }
  if (error instanceof ProblemError) {
    return { exitCode: EXIT.usageError, text: `${error.message}${hintLines(error.data.invalidParts)}` }
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { exitCode: EXIT.internal, text }
}

/** Returns the exit code for the HTTP status of an error response. */
export function exitCodeForStatus(status: number): ExitCode {
  if (status === 401 || status === 403) return EXIT.auth
  if (status === 429) return EXIT.rateLimited
  // The service works, and does not offer this: the same command fails again.
  if (status === 501) return EXIT.usageError
  return status >= 500 ? EXIT.network : EXIT.usageError
}

function problemText({ problem, retryAfterSeconds }: ApiError): string {
  const local = problem.status === 429 ? '; compute and batch have --local, which has no limit' : ''
  const wait = retryAfterSeconds === undefined ? '' : `\n  try again in ${retryAfterSeconds} s${local}`
  return `${problem.title}: ${problem.detail}${hintLines(problem.errors)}${wait}`
}

/** Returns lines that say what raises a limit. Only the service knows which limit the caller has. */
export function limitHints({ errors }: Pick<ProblemDetails, 'errors'>): string {
  return hintLines(errors)
}

function hintLines(errors: readonly { readonly hint?: string }[] | undefined): string {
  return (errors ?? []).flatMap(({ hint }) => (hint === undefined ? [] : [`\n  ${withCommand(hint)}`])).join('')
}

/** Adds the command or the option to a hint that names only what it is for. */
function withCommand(hint: string): string {
  return hint
    .replace(/let POST \/compute\/v0\/repair do it/, '$&, or run `trigpoint compute repair` on the file')
    .replace(
      /send the API key with which it was stored/,
      '$&: --api-key, or for the development key DATA_DIR (by default .data of the current folder)',
    )
    .replace(/leave out submitOnchain/, '$& (--submit)')
    .replace(/creates an? (?:API )?key with a higher limit/, '$& for --api-key or TRIGPOINT_API_KEY')
}

/** Returns why a connection failed. `fetch` hides the reason two errors deep. */
function connectionFailureReason(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause
  const { code, message } = (inner ?? {}) as { code?: unknown; message?: unknown }
  return typeof code === 'string' ? code : typeof message === 'string' ? message : ''
}
