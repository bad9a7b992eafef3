import { ProblemError } from '../problem.ts'
import { isJsonObject, parseJsonObject } from './json-body.ts'

/** A question as GraphQL over HTTP carries it. */
export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/**
 * Reads the body of `POST /graphql`.
 *
 * @throws {ProblemError} on a body that is too large, no JSON object or no question
 */
export function readGraphqlBody(body: Uint8Array, maxBytes: number, maxDepth: number): GraphqlRequest {
  if (body.byteLength > maxBytes) {
    throw new ProblemError({ type: 'payload-too-large', detail: `a question may have ${maxBytes} bytes` })
  }
  return checked(parseJsonObject(body, maxDepth))
}

/**
 * Reads the parameters of `GET /graphql`.
 *
 * @param search as sent, without the question mark
 * @throws {ProblemError}
 */
export function readGraphqlSearch(search: string): GraphqlRequest {
  const parameters = new URLSearchParams(search)
  const single = (name: string): string | undefined => {
    const values = parameters.getAll(name)
    if (values.length > 1) throw refusal(`${name} stands ${values.length} times; send it once`)
    return values[0]
  }
  const variables = single('variables')
  return checked({
    query: single('query'),
    operationName: single('operationName'),
    variables: variables === undefined || variables === '' ? undefined : parsed(variables),
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refusal('variables is not JSON')
  }
}

function checked({ query, variables, operationName }: Readonly<Record<string, unknown>>): GraphqlRequest {
  if (typeof query !== 'string' || query.trim() === '') {
    throw refusal('query is missing; send {"query": "{ locationRecords(limit: 1) { count } }"}')
  }
  if (variables !== undefined && variables !== null && !isJsonObject(variables)) {
    throw refusal('variables must be an object')
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw refusal('operationName must be a string')
  }
  return { query, variables: variables ?? {}, operationName: operationName ?? undefined }
}

function refusal(detail: string): ProblemError {
  return new ProblemError({ type: 'bad-request', message: 'Invalid GraphQL request', detail })
}
