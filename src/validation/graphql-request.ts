import { ProblemError } from '../base/problem.ts'
import { isJsonObject, parseJsonObject } from './json-body.ts'

/** A GraphQL-over-HTTP request. */
export interface GraphqlRequest {
  readonly query: string
  readonly variables: Readonly<Record<string, unknown>>
  readonly operationName: string | undefined
}

/**
 * Reads the body of `POST /graphql`.
 *
 * @throws {ProblemError} on a body that is too large, not a JSON object or without a query
 */
export function readGraphqlBody(body: Uint8Array, maxBytes: number, maxDepth: number): GraphqlRequest {
  if (body.byteLength > maxBytes) {
    throw new ProblemError({ type: 'payload-too-large', detail: `the body is larger than ${maxBytes} bytes` })
  }
  return checkRequest(parseJsonObject(body, maxDepth))
}

/**
 * Reads the parameters of `GET /graphql`.
 *
 * @param search the raw query string, without the question mark
 * @throws {ProblemError} on a missing query, a repeated parameter or variables that are not a JSON object
 */
export function readGraphqlSearch(search: string): GraphqlRequest {
  const parameters = new URLSearchParams(search)
  const single = (name: string): string | undefined => {
    const values = parameters.getAll(name)
    if (values.length > 1) throw invalidRequest(`${name} appears ${values.length} times; send it once`)
    return values[0]
  }
  const variables = single('variables')
  return checkRequest({
    query: single('query'),
    operationName: single('operationName'),
    variables: variables === undefined || variables === '' ? undefined : parseVariables(variables),
  })
}

function parseVariables(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalidRequest('variables is not JSON')
  }
}

function checkRequest({ query, variables, operationName }: Readonly<Record<string, unknown>>): GraphqlRequest {
  if (typeof query !== 'string' || query.trim() === '') {
    throw invalidRequest('query is missing; send {"query": "{ locationRecords(limit: 1) { count } }"}')
  }
  if (variables !== undefined && variables !== null && !isJsonObject(variables)) {
    throw invalidRequest('variables must be an object')
  }
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    throw invalidRequest('operationName must be a string')
  }
  return { query, variables: variables ?? {}, operationName: operationName ?? undefined }
}

function invalidRequest(detail: string): ProblemError {
  return new ProblemError({ type: 'bad-request', message: 'Invalid GraphQL request', detail })
}
