import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql'
import type { Limits } from '../config.ts'

/** What a question to the store counts for, in fields of an answer. */
const QUESTION_COST = 500
/** What the description of the schema counts for, whose lists are as long as the schema is. */
const INTROSPECTION_COST = 4000
/** Length of a list that names no limit. */
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 1000

/**
 * Refuses what would take too deep an answer or too large a one, by what it asks for: the fields of an answer, those of a record
 * as many times as the list may be long, and the questions to the store. Counting ends where the limit is passed, so that
 * fragments within fragments cost nothing more.
 *
 * @param document validated: no fragment contains itself
 * @throws {GraphQLError}
 */
export function refuseDearQuery(
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
  count(operation.selectionSet, { times: 1, length: 1, depth: 1, isDescription: false })

  function count(set: SelectionSetNode, place: Place): void {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) countField(selection, place)
      else if (selection.kind === Kind.INLINE_FRAGMENT) count(selection.selectionSet, place)
      else count(fragments.get(selection.name.value)!, place)
    }
  }

  function countField(field: FieldNode, { times, length, depth, isDescription }: Place): void {
    const name = field.name.value
    // How deep descriptions may go is the matter of a validation rule.
    const describes = isDescription || name === '__schema' || name === '__type'
    if (!describes && depth > limits.maxGraphqlDepth) {
      throw refusal(field, `the question is deeper than ${limits.maxGraphqlDepth} fields`)
    }
    cost += times
    if (depth === 1 && name !== '__typename') cost += describes ? INTROSPECTION_COST : QUESTION_COST
    if (cost > limits.maxGraphqlCost) {
      throw refusal(
        field,
        `the question costs more than ${limits.maxGraphqlCost}: ask for fewer records or fields at once`,
      )
    }
    if (field.selectionSet === undefined) return
    count(field.selectionSet, {
      times: name === 'data' ? times * length : times,
      length: name === 'locationRecords' ? limitOf(field, variables) : 1,
      depth: depth + 1,
      isDescription: describes,
    })
  }
}

/** Where fields stand. */
interface Place {
  /** How many times the answer may have each of them. */
  readonly times: number
  /** Of the list that is among them. */
  readonly length: number
  readonly depth: number
  readonly isDescription: boolean
}

/** Records that a list may have: what is not said, or cannot be read here, counts as the longest. */
function limitOf(field: FieldNode, variables: Readonly<Record<string, unknown>>): number {
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

function refusal(field: FieldNode, reason: string): GraphQLError {
  return new GraphQLError(reason, { nodes: [field] })
}
