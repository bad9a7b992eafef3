import type { ProblemData } from '../problem.ts'

/** Why something is refused and what to do: the content of the pages below `/errors`. */
export interface Explanation {
  readonly cause: string
  readonly remedy: string
  readonly example: ExplainedRefusal
}

/** A refusal as it comes: of a request that anybody can repeat, or in a situation that nobody wants to make. */
export interface ExplainedRefusal {
  readonly request: ExampleRequest | { readonly path: string; readonly situation: string }
  readonly problem: ProblemData
}

export interface ExampleRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
