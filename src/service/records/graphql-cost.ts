import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Limits } from '../../config/config.ts'

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
export function rejectCostlyQuery(
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
