import type { BatchOperation } from '../../client/batch.ts'
import { type InputLike, isObject, toInput } from '../../client/forms.ts'
import type { BatchResult, MatchLine, ProblemDetails } from '../../types/generated.ts'
import { usage } from '../exit-codes.ts'
import type { SourceItem, TableRow } from '../inputs/source-item.ts'
import { OPERATION_INPUTS, type Operation } from '../options.ts'

/** The result of an item as JSON text, or why it was rejected. */
export type ItemResult = { readonly json: string } | { readonly error: ProblemDetails }

/** A line of the service: a result of a batch, or the matches of a point. */
export type AnswerLine = BatchResult | MatchLine

/** Converts a line of the service. */
export function toItemResult(result: AnswerLine): ItemResult {
  return result.error === undefined ? { json: JSON.stringify(result) } : { error: result.error }
}

/** What the results show of an item. */
export type ShownItem = Pick<Entry, 'id' | 'row' | 'value'>

/** One item of the file: what is sent, for example an operation, or an invalid item that is not sent. */
export interface Entry<Item = BatchOperation> {
  /** Number in the file, from 1. */
  readonly number: number
  readonly place: string
  /** Identifies its result or error. */
  readonly id: string | number
  readonly item: Item | undefined
  readonly fault: string | undefined
  /** The row of the item, if the file is a table. */
  readonly row: TableRow | undefined
  /** The item as it is in the file. */
  readonly value: unknown
  /** Set when it has arrived. It stays here until the results of all items before it have arrived too. */
  result: ItemResult | undefined
}

/** Returns the problem of an item that is not sent. */
export function notSentProblem(fault: string): ProblemDetails {
  return { type: 'about:blank', title: 'Not sent', status: 400, detail: fault }
}

/** Largest number of items that are taken from the file at once, which bounds the entries in memory. */
export const GROUP_ITEMS = 256

/**
 * Supplies the items of a file and remembers those without a result, so that they can be sent again after a stream broke.
 */
export class Feeder<Item = BatchOperation> {
  readonly #source: AsyncIterator<readonly SourceItem[]>
  readonly #compose: Composer<Item>
  readonly #onFault: (entry: Entry<Item>) => void
  readonly #earlierResults: ReadonlyMap<number, AnswerLine>
  #number = 0
  /** Items that were read from the file. Those before `#next` were taken. */
  #items: readonly SourceItem[] = []
  #next = 0
  #pending: Entry<Item>[] = []

  /**
   * @param onFault receives each invalid item, in the order of the file
   * @param earlierResults results of an earlier run, by number of the item; these items are not sent again
   */
  constructor(
    source: AsyncIterable<readonly SourceItem[]>,
    compose: Composer<Item>,
    onFault: (entry: Entry<Item>) => void,
    earlierResults: ReadonlyMap<number, AnswerLine> = new Map(),
  ) {
    this.#earlierResults = earlierResults
    this.#source = source[Symbol.asyncIterator]()
    this.#compose = compose
    this.#onFault = onFault
  }

  /**
   * Skips the items that an earlier run has done.
   *
   * @returns false if the file has fewer items
   */
  async skip(items: number): Promise<boolean> {
    while (this.#number < items) {
      if (!(await this.#hasItems())) return false
      this.#number += this.#take(items - this.#number).length
    }
    return true
  }

  /**
   * Yields the items to be sent, in groups: first those that were sent without a result, then new ones. A group has at most
   * `GROUP_ITEMS` new items. It is empty if all of them are invalid or done, so that the caller can write the problems that
   * `onFault` received.
   */
  async *unanswered(): AsyncGenerator<readonly Entry<Item>[], void, undefined> {
    const earlier = this.#pending.filter(isUnanswered)
    if (earlier.length > 0) yield earlier
    while (await this.#hasItems()) {
      const entries = this.#take(GROUP_ITEMS).map((item) => this.#addEntry(item))
      this.#pending.push(...entries)
      this.#reportFaults()
      yield entries.filter(isUnanswered)
    }
  }

  /** Reads more items if all were taken. Returns false at the end of the file. */
  async #hasItems(): Promise<boolean> {
    while (this.#next === this.#items.length) {
      const { done, value } = await this.#source.next()
      if (done === true) return false
      this.#items = value
      this.#next = 0
    }
    return true
  }

  #take(count: number): readonly SourceItem[] {
    const items = this.#items.slice(this.#next, this.#next + count)
    this.#next += items.length
    return items
  }

  /** Items that already have a result but wait for an earlier item. */
  get answeredAhead(): readonly Entry<Item>[] {
    return this.#pending.filter(({ result }) => result !== undefined)
  }

  /** The item of the next result; undefined if no item is pending. */
  get first(): Entry<Item> | undefined {
    return this.#pending[0]
  }

  /** Marks the first pending item as done. */
  settle(): void {
    this.#pending.shift()
    this.#reportFaults()
  }

  async close(): Promise<void> {
    await this.#source.return?.()
  }

  #addEntry(sourceItem: SourceItem): Entry<Item> {
    const entry = createEntry(sourceItem, ++this.#number, this.#compose)
    const earlier = entry.fault === undefined ? this.#earlierResults.get(entry.number) : undefined
    if (earlier !== undefined) entry.result = toItemResult(earlier)
    return entry
  }

  #reportFaults(): void {
    while (this.#pending[0]?.fault !== undefined) this.#onFault(this.#pending.shift()!)
  }
}

function isUnanswered({ fault, result }: Entry<unknown>): boolean {
  return fault === undefined && result === undefined
}

/** Makes what is sent of an item of a file. @param number its number in the file, from 1; it is the `id` of an item without one */
export type Composer<Item> = (sourceItem: SourceItem, number: number) => Composed<Item>

export type Composed<Item = BatchOperation> = { readonly item: Item } | { readonly fault: string }

/** Makes the entry of an item of a file. @param number its number in the file, from 1 */
export function createEntry<Item>(sourceItem: SourceItem, number: number, compose: Composer<Item>): Entry<Item> {
  const { place, id = number, row, value, fault } = sourceItem
  const composed = fault === undefined ? compose(sourceItem, number) : { fault }
  const entry = { number, place, row, value, result: undefined }
  if ('fault' in composed) return { ...entry, id, item: undefined, fault: composed.fault }
  const { item } = composed
  return { ...entry, id: (item as { readonly id?: string | number }).id ?? id, item, fault: undefined }
}

/** Returns the composer of operations. */
export function operationComposer(rule: ItemRule): Composer<BatchOperation> {
  return (sourceItem, number) => composeItem(sourceItem, number, rule)
}

/** What all items of a run share. */
export interface ItemRule {
  readonly operation: Operation | 'mixed'
  /** Inputs that are the same for all items, by member. */
  readonly fixed: Readonly<Record<string, InputLike>>
  readonly radius: number | undefined
  /** The pattern of `relate`. */
  readonly pattern?: string | undefined
  /** Other members that are the same for all items. */
  readonly parameters?: Readonly<Record<string, number | string>>
}

/** Members that mark a value as an input rather than as the members of an operation. */
const INPUT_MEMBERS = ['type', 'uid', 'uri', 'attestation', 'verifiedProof']

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
    ...(rule.pattern === undefined ? {} : { pattern: rule.pattern }),
    ...rule.parameters,
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
  return open.length === 1 ? { member: open[0]! } : { fault: oneInputFault(operation) }
}

/** Returns the fault of an item that is one input of an operation with two. */
export function oneInputFault(operation: Operation): string {
  const names = OPERATION_INPUTS[operation]
  return `is one input, but ${operation} takes ${names.join(' and ')}: give the other one with --with ${names[0]}=…`
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
