import type { BatchAttest } from '../batch-messages.ts'
import type { OperationName } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import { describe, type JsonObject, parseJsonObject } from './json-body.ts'
import { validatorOf } from './schemas.ts'
import { check, HOW_TO_SEND_ITEMS, nearest } from './sentences.ts'

/** What holds for all items of a batch. */
export interface BatchOptions {
  readonly chainId: number | undefined
  /** As sent. */
  readonly recipient: string | undefined
  readonly attest: BatchAttest
  /** Nonces of the signatures: all the current one, or one after the other (decision 102). */
  readonly sequence: 'same' | 'consecutive'
}

/**
 * Checks a batch without its items.
 *
 * @param bytes the body with an empty list in their place
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readBatchEnvelope(bytes: Uint8Array, maxDepth: number): BatchOptions {
  const envelope = parseEnvelope(bytes, maxDepth)
  check(validatorOf('batch-request.schema.json'), envelope, [])
  return {
    chainId: envelope['chainId'] as number,
    recipient: envelope['recipient'] as string | undefined,
    attest: (envelope['attest'] as BatchAttest | undefined) ?? 'each',
    sequence: (envelope['sequence'] as BatchOptions['sequence'] | undefined) ?? 'same',
  }
}

function parseEnvelope(bytes: Uint8Array, maxDepth: number): JsonObject {
  try {
    return parseJsonObject(bytes, maxDepth)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const places = error.data.places?.map((place) => ({ ...place, hint: place.hint ?? HOW_TO_SEND_ITEMS }))
    throw new ProblemError({ ...error.data, ...(places === undefined ? {} : { places }) }, { cause: error })
  }
}

const PARAMETERS = ['chainId', 'recipient', 'attest', 'sequence']

/**
 * The same from the query of a stream of lines: `chainId=84532&attest=none`. All of it may be absent.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readBatchQuery(query: string): BatchOptions {
  const options: Record<string, string | number> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (!PARAMETERS.includes(name)) throw unknownParameter(name)
    if (name in options) {
      throw problemAt('invalid-input', [name], 'stands in the query more than once', { code: 'duplicate-parameter' })
    }
    options[name] = name === 'chainId' ? chainIdOf(value) : value
  }
  check(validatorOf('batch-request.schema.json#/$defs/BatchOptions'), options, [])
  const together = options['attest'] === 'merkle' ? 'attest' : options['sequence'] === 'consecutive' ? 'sequence' : ''
  if (together !== '') {
    throw problemAt('invalid-input', [together], `${options[together]} needs all items before the first answer`, {
      code: 'not-for-streams',
      hint: 'send the items as one JSON document',
    })
  }
  return {
    chainId: undefined,
    recipient: undefined,
    attest: 'each',
    sequence: 'same',
    ...(options as Partial<BatchOptions>),
  }
}

function unknownParameter(name: string): ProblemError {
  const near = nearest(name, PARAMETERS)
  const known = `the parameters of a stream of lines are ${PARAMETERS.join(', ')}`
  return problemAt('invalid-input', [name.slice(0, 40)], 'is no parameter of this query', {
    code: 'unknown-parameter',
    hint: near === undefined ? known : `did you mean "${near}"? ${known}`,
  })
}

function chainIdOf(text: string): number {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text)
  throw problemAt('invalid-input', ['chainId'], `must be a chain's number, found ${describe(text)}`, {
    code: 'wrong-type',
    hint: 'send it in digits, as in ?chainId=84532',
  })
}

/** The members of an item that are not its operation's: `op`, and `id` as JSON text with a comma after it. */
export function readBatchItem(item: JsonObject): { readonly operation: OperationName; readonly id: string } {
  check(validatorOf('batch-request.schema.json#/$defs/BatchItem'), item, [])
  return { operation: item['op'] as OperationName, id: idText(item) }
}

/** The same `id` of an item that is refused before it is read; empty when the bytes are no item or it cannot be echoed. */
export function batchItemIdOf(bytes: Uint8Array, maxDepth: number): string {
  try {
    return idText(parseJsonObject(bytes, maxDepth))
  } catch (error) {
    if (error instanceof ProblemError) return ''
    throw error
  }
}

function idText({ id }: JsonObject): string {
  const isEchoed = typeof id === 'string' ? id.length <= MAX_ID_LENGTH : Number.isSafeInteger(id)
  return isEchoed ? `"id":${JSON.stringify(id)},` : ''
}

/** As in the schema. */
const MAX_ID_LENGTH = 128
