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
import type { Config } from '../config.ts'
import { ProblemError } from '../problem.ts'
import { readGraphqlBody, readGraphqlSearch } from '../validation/graphql-request.ts'
import { refuseDearQuery } from './graphql-cost.ts'
import { GRAPHQL_SCHEMA } from './graphql-schema.ts'
import { pageTooLarge } from './record-questions.ts'
import type { GraphqlAnswer, GraphqlService, RecordService } from './record-services.ts'
import type { RequestContext } from './services.ts'

export interface GraphqlServiceParts {
  readonly config: Config
  readonly records: RecordService
}

/** What a question is refused with at most: the first mistakes say enough. */
const MAX_ERRORS = 5
/** UTF-16 units of a list. Taking it apart, executing and writing are a piece of some milliseconds each: others are answered between. */
const MAX_PAGE_UNITS = 1_048_576

/**
 * Records by GraphQL. A question is parsed within a limit of tokens, validated, and its depth and cost are known before anything
 * is asked for: what is too much is refused, not begun.
 */
export function createGraphqlService({ config, records }: GraphqlServiceParts): GraphqlService {
  const { limits } = config
  const schema = buildSchema(GRAPHQL_SCHEMA)
  const rules = config.graphqlIntrospection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]

  async function answer(request: ReturnType<typeof readGraphqlBody>, context: RequestContext): Promise<GraphqlAnswer> {
    const { query, variables, operationName } = request
    let document: DocumentNode
    try {
      document = parse(query, { maxTokens: limits.maxGraphqlTokens, noLocation: false })
    } catch (error) {
      return refusal([asGraphqlError(error)])
    }
    const mistakes = validate(schema, document, rules, { maxErrors: MAX_ERRORS })
    if (mistakes.length > 0) return refusal(mistakes)
    const operation = getOperationAST(document, operationName)
    if (!operation) return refusal([new GraphQLError('name one operation of the document as operationName')])
    if (operation.operation !== 'query') return refusal([new GraphQLError('records are only read here: send a query')])
    try {
      refuseDearQuery(document, operation, variables, limits)
    } catch (error) {
      return refusal([asGraphqlError(error)])
    }
    const result = await execute({
      schema,
      document,
      rootValue: resolvers(records, context),
      variableValues: variables,
      ...(operationName === undefined ? {} : { operationName }),
    })
    for (const { originalError } of result.errors ?? []) {
      // What the client did wrong stands beside what could be answered; anything else fails the whole request.
      const isClients = originalError instanceof ProblemError && originalError.data.type === 'invalid-input'
      if (originalError != null && !(originalError instanceof GraphQLError) && !isClients) throw originalError
    }
    // Without data a variable or an argument was wrong: nothing was begun.
    await setImmediate()
    return { json: JSON.stringify(result), status: result.data === undefined ? 400 : 200 }
  }

  return {
    schemaText: GRAPHQL_SCHEMA,
    query: async (search, context) => answer(readGraphqlSearch(search), context),
    post: async (body, context) => answer(readGraphqlBody(body, limits.maxGraphqlBytes, limits.maxJsonDepth), context),
  }
}

function refusal(errors: readonly GraphQLError[]): GraphqlAnswer {
  return { json: JSON.stringify({ errors }), status: 400 }
}

/** @throws whatever is no mistake of the question */
function asGraphqlError(error: unknown): GraphQLError {
  if (error instanceof GraphQLError) return error
  throw error
}

type ListArguments = Readonly<Record<string, string | number | readonly number[] | null | undefined>>

/** The same answers as of the record API, with the same checks. */
function resolvers(records: RecordService, context: RequestContext): object {
  return {
    async locationRecords(args: ListArguments) {
      const given = Object.entries(args).filter(([, value]) => value !== null && value !== undefined)
      const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
      const { json: bytes, headers } = await orSaying(records.list('location-records', search.toString(), '', context))
      const json = bytes.toString()
      if (json.length > MAX_PAGE_UNITS)
        throw saying(pageTooLarge(`${json.length} characters; ${MAX_PAGE_UNITS} may be taken apart here`))
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
        throw saying(error)
      }
    },
    async locationRecordStats() {
      const stats = JSON.parse((await records.stats(context)).json)
      return { ...stats, by_chain: Object.entries(stats.by_chain).map(([chain, count]) => ({ chain, count })) }
    },
  }
}

async function orSaying<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw saying(error)
  }
}

/** A refusal whose text says both halves of what the record API says. */
function saying(error: unknown): unknown {
  if (!(error instanceof ProblemError) || error.data.message === undefined) return error
  const { message, detail } = error.data
  return new ProblemError({ ...error.data, detail: `${message}: ${detail}` }, { cause: error })
}
