import { setImmediate } from 'node:timers/promises'
import {
  buildSchema,
  type DocumentNode,
  execute,
  GraphQLError,
  getOperationAST,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  validate,
} from 'graphql'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { readGraphqlBody, readGraphqlSearch } from '../../validation/graphql-request.ts'
import type { RequestContext } from '../services.ts'
import { rejectCostlyQuery } from './graphql-cost.ts'
import { GRAPHQL_SCHEMA } from './graphql-schema.ts'
import { pageTooLarge } from './questions.ts'
import type { GraphqlResponse, GraphqlService, RecordService } from './record-services.ts'

export interface GraphqlServiceParts {
  readonly config: Config
  readonly records: RecordService
}

/** A faulty query gets at most this many errors. */
const MAX_ERRORS = 5
/**
 * Largest list in UTF-16 code units. Parsing, executing and writing it take some milliseconds each; other requests are served in
 * between.
 */
const MAX_PAGE_UNITS = 1_048_576

/**
 * Makes the GraphQL service. A query is parsed within a limit of tokens and validated. Its depth and cost are checked before
 * execution, so a query that is too large is rejected and never started.
 */
export function createGraphqlService({ config, records }: GraphqlServiceParts): GraphqlService {
  const { limits } = config
  const schema = buildSchema(GRAPHQL_SCHEMA)
  const rules = config.graphqlIntrospection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]

  async function respond(
    request: ReturnType<typeof readGraphqlBody>,
    context: RequestContext,
  ): Promise<GraphqlResponse> {
    const { query, variables, operationName } = request
    let document: DocumentNode
    try {
      document = parse(query, { maxTokens: limits.maxGraphqlTokens, noLocation: false })
    } catch (error) {
      return errorResponse([asGraphqlError(error)])
    }
    const errors = validate(schema, document, rules, { maxErrors: MAX_ERRORS })
    if (errors.length > 0) return errorResponse(errors)
    const operation = getOperationAST(document, operationName)
    if (!operation) return errorResponse([new GraphQLError('operationName must name one operation of the document')])
    if (operation.operation !== 'query')
      return errorResponse([new GraphQLError('only queries are supported, because records are read-only')])
    try {
      rejectCostlyQuery(document, operation, variables, limits)
    } catch (error) {
      return errorResponse([asGraphqlError(error)])
    }
    const result = await execute({
      schema,
      document,
      rootValue: resolvers(records, context),
      variableValues: variables,
      ...(operationName === undefined ? {} : { operationName }),
    })
    for (const { originalError } of result.errors ?? []) {
      // A client's mistake is reported next to the data of the other fields. Any other error fails the whole request.
      const isClientError = originalError instanceof ProblemError && originalError.data.type === 'invalid-input'
      if (originalError != null && !(originalError instanceof GraphQLError) && !isClientError) throw originalError
    }
    // If there is no data, a variable or an argument was wrong and execution did not start: status 400.
    await setImmediate()
    return { json: JSON.stringify(result), status: result.data === undefined ? 400 : 200 }
  }

  return {
    schemaText: GRAPHQL_SCHEMA,
    query: async (search, context) => respond(readGraphqlSearch(search), context),
    post: async (body, context) => respond(readGraphqlBody(body, limits.maxGraphqlBytes, limits.maxJsonDepth), context),
  }
}

function errorResponse(errors: readonly GraphQLError[]): GraphqlResponse {
  return { json: JSON.stringify({ errors }), status: 400 }
}

/** @throws the error itself if it is not a mistake in the query */
function asGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error
  throw error
}

type ListArguments = Readonly<Record<string, string | number | readonly number[] | null | undefined>>

/** Makes the resolvers. They return the same data as the record API, after the same checks. */
function resolvers(records: RecordService, context: RequestContext): object {
  return {
    async locationRecords(args: ListArguments) {
      const presentArguments = Object.entries(args).filter(([, value]) => value !== null && value !== undefined)
      const search = new URLSearchParams(
        presentArguments.map(([name, value]): [string, string] => [name, String(value)]),
      )
      const { json: bytes, headers } = await withMessage(
        records.list('location-records', search.toString(), '', context),
      )
      const json = bytes.toString()
      if (json.length > MAX_PAGE_UNITS)
        throw joinMessage(pageTooLarge(`the page has ${json.length} characters, more than ${MAX_PAGE_UNITS}`))
      const link = /<\?([^>]*)>/.exec(headers?.['Link'] ?? '')?.[1]
      const page = JSON.parse(json)
      await setImmediate()
      return { ...page, next: link === undefined ? null : new URLSearchParams(link).get('cursor') }
    },
    async locationRecord({ uid }: { readonly uid: string }) {
      try {
        return JSON.parse((await records.record('location-records', uid, context)).json)
      } catch (error) {
        if (error instanceof ProblemError && error.data.type === 'not-found') return null
        throw joinMessage(error)
      }
    },
    async locationRecordStats() {
      const stats = JSON.parse((await records.stats(context)).json)
      return { ...stats, by_chain: Object.entries(stats.by_chain).map(([chain, count]) => ({ chain, count })) }
    },
  }
}

async function withMessage<T>(response: Promise<T>): Promise<T> {
  try {
    return await response
  } catch (error) {
    throw joinMessage(error)
  }
}

/** Joins `message` and `detail` of a problem of the record API into one text. */
function joinMessage(error: unknown): unknown {
  if (!(error instanceof ProblemError) || error.data.message === undefined) return error
  const { message, detail } = error.data
  return new ProblemError({ ...error.data, detail: `${message}: ${detail}` }, { cause: error })
}
