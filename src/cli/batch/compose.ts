import type { BatchOperation } from '../../client/batch.ts'
import { isObject } from '../../client/forms.ts'
import { type InputLike, toInput } from '../../client/inputs.ts'
import { usage } from '../exit-codes.ts'
import type { SourceItem } from '../inputs/source-item.ts'
import { OPERATION_INPUTS, type Operation } from '../options.ts'

/** What all items of a run share. */
export interface ItemRule {
  readonly operation: Operation | 'mixed'
  /** Inputs that are the same for all items, by member. */
  readonly fixed: Readonly<Record<string, InputLike>>
  readonly radius: number | undefined
}

export type Composed = { readonly item: BatchOperation } | { readonly fault: string }

/** Members that mark a value as an input rather than as the members of an operation. */
const INPUT_MEMBERS = ['type', 'uid', 'uri', 'verifiedProof']

/**
 * Makes an operation from a value in a file, which is either the members of the operation or the one input that `rule` leaves
 * open.
 *
 * @param number number of the item in the file, from 1; it serves as the `id` of an item without one
 */
export function composeItem({ value, id }: SourceItem, number: number, rule: ItemRule): Composed {
  if (!isObject(value)) return { fault: 'is not a JSON object' }
  const members: Record<string, unknown> = {
    ...(rule.radius === undefined ? {} : { radius: rule.radius }),
    ...rule.fixed,
  }
  let operation: Operation
  if (INPUT_MEMBERS.some((name) => name in value) && !('op' in value)) {
    if (rule.operation === 'mixed') return { fault: 'has no "op", so the operation is unknown' }
    operation = rule.operation
    const open = findOpenMember(operation, rule)
    if ('fault' in open) return open
    members[open.member] = value
    members['id'] = id ?? number
  } else {
    const { op, input, ...otherMembers } = value
    const operationName = op ?? (rule.operation === 'mixed' ? undefined : rule.operation)
    if (!isOperation(operationName))
      return {
        fault: operationName === undefined ? 'has no "op"' : `op ${JSON.stringify(operationName)} is not an operation`,
      }
    if (rule.operation !== 'mixed' && operationName !== rule.operation)
      return { fault: `op is ${operationName}, this batch computes ${rule.operation}` }
    operation = operationName
    Object.assign(members, otherMembers)
    if (input !== undefined) {
      const open = findOpenMember(operation, rule)
      if ('fault' in open) return open
      members[open.member] = input
    }
    members['id'] = otherMembers['id'] ?? id ?? number
  }
  return checkItem(operation, members)
}

/** Checks that every input is present and valid. */
function checkItem(operation: Operation, members: Record<string, unknown>): Composed {
  for (const name of OPERATION_INPUTS[operation]) {
    if (!(name in members))
      return { fault: `has no "${name}": ${operation} takes ${OPERATION_INPUTS[operation].join(' and ')}` }
    try {
      members[name] = toInput(members[name] as InputLike)
    } catch (error) {
      return { fault: `${name}: ${(error as Error).message}` }
    }
  }
  if (operation === 'within' && members['radius'] === undefined)
    return { fault: 'has no "radius": give --radius <meters>' }
  const id = members['id']
  if (typeof id !== 'string' && typeof id !== 'number') return { fault: 'its "id" is neither a string nor a number' }
  return { item: { ...members, op: operation } as unknown as BatchOperation }
}

function findOpenMember(
  operation: Operation,
  { fixed }: ItemRule,
): { readonly member: string } | { readonly fault: string } {
  const open = OPERATION_INPUTS[operation].filter((name) => !(name in fixed))
  if (open.length === 1) return { member: open[0]! }
  return {
    fault: `is one input, but ${operation} takes ${OPERATION_INPUTS[operation].join(' and ')}: give the other one with --with`,
  }
}

function isOperation(name: unknown): name is Operation {
  return typeof name === 'string' && Object.hasOwn(OPERATION_INPUTS, name)
}

/**
 * Splits `target=2.35,48.85` into member and input.
 *
 * @throws {CommandError} on a member that the operation does not have
 */
export function splitFixed(text: string, operation: Operation | 'mixed'): readonly [member: string, input: string] {
  const at = text.indexOf('=')
  const member = text.slice(0, Math.max(0, at))
  const names: readonly string[] = operation === 'mixed' ? [] : OPERATION_INPUTS[operation]
  if (names.length < 2) throw usage(`--with is for operations with two inputs, not ${operation}`)
  if (names.includes(member)) return [member, text.slice(at + 1)]
  throw usage(
    `--with ${JSON.stringify(text.slice(0, 40))}: must begin with ${names.map((name) => `${name}=`).join(' or ')}`,
  )
}
