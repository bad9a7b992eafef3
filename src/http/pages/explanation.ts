import type { ProblemData, ProblemType } from '../../base/problem.ts'

/**
 * Cause and remedy of one kind of error as data, with one example. Texts may have placeholders, such as `{smallBodyBytes}`, for
 * the default limits (`problem-pages.ts`).
 */
export interface ExplanationRow {
  readonly cause: string
  readonly remedy: string
  /** Path and query of the request that causes the error. */
  readonly path: string
  /** `GET` if it is absent. */
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Describes a situation that is hard to reproduce. It replaces the method, the headers and the body. */
  readonly situation?: string
  /** Problem type of a message of the record API; `invalid-input` if it is absent. */
  readonly type?: ProblemType
  readonly message?: string
  /** Absent if the service computes the whole problem: `rate-limited`. */
  readonly detail?: string
  /** Path of the invalid part in the body. */
  readonly pointer?: readonly (string | number)[]
  readonly code?: string
  readonly hint?: string
  readonly retryAfterSeconds?: number
}

/** Cause and remedy of one kind of error: the content of a page below `/errors`. */
export interface Explanation {
  readonly cause: string
  readonly remedy: string
  readonly example: ExampleError
}

/** An error with the request that causes it, or with a description of a situation that is hard to reproduce. */
export interface ExampleError {
  readonly request: ExampleRequest | { readonly path: string; readonly situation: string }
  readonly problem: ProblemData
}

export interface ExampleRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
