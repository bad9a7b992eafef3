import type { ProblemData } from '../../base/problem.ts'

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
