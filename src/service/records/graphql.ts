import { setImmediate } from 'node:timers/promises'
import {
  buildSchema,
  type DocumentNode,
  execute,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  getOperationAST,
  Kind,
  NoSchemaIntrospectionCustomRule,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  validate,
} from 'graphql'
import { ProblemError } from '../../base/problem.ts'
import { WaitLimit } from '../../base/wait-limit.ts'
import type { Config, Limits } from '../../config/config.ts'
import { readGraphqlBody, readGraphqlSearch } from '../../validation/graphql-request.ts'
import { Gate } from '../gate.ts'
import { chargeTime, type RequestContext, rejectExpired } from '../request.ts'
import { GRAPHQL_SCHEMA } from './graphql-schema.ts'
import type { GraphqlResponse, GraphqlService, RecordService } from './record-services.ts'
import { pageTooLarge, STORE_BUSY } from './store-access.ts'

/** Cost of one store query, in fields of a response. */
const STORE_QUERY_COST = 500
/** Cost of introspection, whose lists are as long as the schema. */
const INTROSPECTION_COST = 4000
/** Length of a list that names no limit. */
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

/**
 * Rejects a query whose response would be too deep or too large. The cost is the number of fields in the response plus a cost for
 * each store query; the fields of a record count as many times as the list may have records. Counting stops at the limit, so
 * nested fragments cannot make the check itself expensive.
 *
 * @param document must be validated: no fragment contains itself
 * @throws {GraphQLError} if a limit is exceeded
 */
function rejectCostlyQuery(
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  limits: Pick<Limits, 'maxGraphqlCost' | 'maxGraphqlDepth'>,
): void {
  const fragments = new Map(
    document.definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((definition) => [definition.name.value, definition.selectionSet]),
  )
  let cost = 0
  count(operation.selectionSet, { times: 1, length: 1, depth: 1, isWithinIntrospection: false })

  function count(set: SelectionSetNode, level: Level): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) countField(selection, level)
      else if (selection.kind === Kind.INLINE_FRAGMENT) count(selection.selectionSet, level)
      else count(fragments.get(selection.name.value)!, level)
    }
  }

  function countField(field: FieldNode, { times, length, depth, isWithinIntrospection }: Level): void {
    const name = field.name.value
    // A validation rule limits the depth of introspection.
    const isIntrospection = isWithinIntrospection || name === '__schema' || name === '__type'
    if (!isIntrospection && depth > limits.maxGraphqlDepth) {
      throw queryError(field, `the query is deeper than ${limits.maxGraphqlDepth} fields`)
    }
    cost += times
    if (depth === 1 && name !== '__typename') cost += isIntrospection ? INTROSPECTION_COST : STORE_QUERY_COST
    if (cost > limits.maxGraphqlCost) {
      throw queryError(
        field,
        `the query costs more than ${limits.maxGraphqlCost}: request fewer records or fields at once`,
      )
    }
    if (field.selectionSet === undefined) return
    count(field.selectionSet, {
      times: name === 'data' ? times * length : times,
      length: name === 'locationRecords' ? listLimit(field, variables) : 1,
      depth: depth + 1,
      isWithinIntrospection: isIntrospection,
    })
  }
}

/** The level of a selection set in the query. */
interface Level {
  /** How many times the response may contain each field of this level. */
  readonly times: number
  /** Largest length of the list on this level. */
  readonly length: number
  readonly depth: number
  readonly isWithinIntrospection: boolean
}

/** Returns the largest number of records in a list. A limit that cannot be read here counts as the maximum. */
function listLimit(field: FieldNode, variables: Readonly<Record<string, unknown>>): number {
  const value = field.arguments?.find((argument) => argument.name.value === 'limit')?.value
  if (value === undefined) return DEFAULT_LIMIT
  const limit =
    value.kind === Kind.INT
      ? Number(value.value)
      : value.kind === Kind.VARIABLE
        ? Number(variables[value.name.value] ?? MAX_LIMIT)
        : MAX_LIMIT
  return limit >= 1 && limit <= MAX_LIMIT ? limit : MAX_LIMIT
}

function queryError(field: FieldNode, reason: string): GraphQLError {
  return new GraphQLError(reason, { nodes: [field] })
}

export interface GraphqlServiceParts {
  readonly config: Config
  readonly records: RecordService
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type GraphqlRequest = ReturnType<typeof readGraphqlBody>

/** A faulty query gets at most this many errors. */
const MAX_ERRORS = 5
/** Largest list in bytes. Parsing, executing and writing it take some milliseconds each; other requests are served in between. */
const MAX_PAGE_BYTES = 1_048_576
/** Bytes of all lists that one query may read. */
const MAX_QUERY_BYTES = 4 * MAX_PAGE_BYTES

/**
 * Makes the GraphQL service. A query is parsed within a limit of tokens and validated. Its depth and cost are checked before
 * execution, so a query that is too large is rejected and never started.
 */
export function createGraphqlService({ config, records, now }: GraphqlServiceParts): GraphqlService {
  const { limits } = config
  // This thread does most of the work of a query. If all queries of a client ran at once, their parts would become ready together,
  // and other requests would wait for all of them.
  const queries = new Gate(Number.POSITIVE_INFINITY, 1)
  const waitLimit = new WaitLimit(limits.maxQueueMs, 1, now)
  const schema = buildSchema(GRAPHQL_SCHEMA)
  const rules = config.graphqlIntrospection ? specifiedRules : [...specifiedRules, NoSchemaIntrospectionCustomRule]

  /** Runs the queries of one client one after another, so that other requests can run between them. */
  function respondInTurn(request: GraphqlRequest, context: RequestContext): Promise<GraphqlResponse> {
    const sinceMs = now()
    return queries.run(context.client, async () => {
      const { client } = context
      if (waitLimit.refusesLate(client, sinceMs, queries.waiting(client))) throw new ProblemError(STORE_BUSY)
      // Without this pause, a run of queries that are rejected would be parsed without a break, because none of them waits.
      await setImmediate()
      rejectExpired(context, now())
      waitLimit.begin()
      const beginMs = now()
      try {
        return await respond(request, context)
      } finally {
        waitLimit.record(now() - beginMs)
        waitLimit.end()
      }
    })
  }

  /** @returns the query if it may be executed, otherwise the response */
  function read({ query, variables, operationName }: GraphqlRequest): DocumentNode | GraphqlResponse {
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
    return document
  }

  async function respond(request: GraphqlRequest, context: RequestContext): Promise<GraphqlResponse> {
    const { variables, operationName } = request
    const document = chargeTime(context, () => read(request))
    if ('json' in document) return document
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
    return { json: chargeTime(context, () => JSON.stringify(result)), status: result.data === undefined ? 400 : 200 }
  }

  return {
    schemaText: GRAPHQL_SCHEMA,
    query: async (search, context) => respondInTurn(readGraphqlSearch(search), context),
    post: async (body, context) =>
      respondInTurn(readGraphqlBody(body, limits.maxGraphqlBytes, limits.maxJsonDepth), context),
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

/**
 * Makes the resolvers. They return the same data as the record API, after the same checks. The fields of one query are read one
 * after another, so that a query with many aliases takes no more slots at the store than any other request.
 */
function resolvers(records: RecordService, context: RequestContext): object {
  const gate = new Gate(1)
  let remainingBytes = MAX_QUERY_BYTES
  return {
    locationRecords: (args: ListArguments) => gate.run(context.client, () => readPage(args)),
    locationRecord: ({ uid }: { readonly uid: string }) => gate.run(context.client, () => readRecord(uid)),
    locationRecordStats: () => gate.run(context.client, readStats),
  }

  async function readPage(args: ListArguments): Promise<object> {
    const presentArguments = Object.entries(args).filter(([, value]) => value !== null && value !== undefined)
    const search = new URLSearchParams(presentArguments.map(([name, value]): [string, string] => [name, String(value)]))
    const maxBytes = Math.min(MAX_PAGE_BYTES, remainingBytes)
    const { json: bytes, headers } = await withMessage(
      records.list('location-records', search.toString(), '', context, 'json', maxBytes),
    )
    // A cached page may be larger, and the service adds a few bytes to the stored ones.
    if (bytes.length > maxBytes)
      throw joinMessage(pageTooLarge(`the page has ${bytes.length} bytes; the limit is ${maxBytes} bytes`))
    remainingBytes -= bytes.length
    const json = bytes.toString()
    const link = /<\?([^>]*)>/.exec(headers?.['Link'] ?? '')?.[1]
    const page = chargeTime(context, () => JSON.parse(json))
    await setImmediate()
    const resumedMs = performance.now()
    // Runs after the promise callbacks that complete the fields of the page, so that their time is charged too.
    process.nextTick(() => context.costs?.charge('cpu-ms', performance.now() - resumedMs))
    return {
      ...page,
      countIsEstimated: headers?.['X-Count'] !== undefined,
      next: link === undefined ? null : new URLSearchParams(link).get('cursor'),
    }
  }

  async function readRecord(uid: string): Promise<object | null> {
    try {
      return JSON.parse((await records.record('location-records', uid, context)).json)
    } catch (error) {
      if (error instanceof ProblemError && error.data.type === 'not-found') return null
      throw joinMessage(error)
    }
  }

  async function readStats(): Promise<object> {
    const stats = JSON.parse((await records.stats(context)).json)
    return { ...stats, by_chain: Object.entries(stats.by_chain).map(([chain, count]) => ({ chain, count })) }
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
