import { ProblemError, problemAt } from '../base/problem.ts'
import type { BatchAttest } from '../wire/batch-messages.ts'
import type { OperationName } from '../wire/values.ts'
import { describeValue, isJsonObject, type JsonObject, parseJsonObject } from './json-body.ts'
import { rejectMisplacedInBatch, rejectMisplacedOptions } from './misplaced-members.ts'
import { getValidator } from './schemas.ts'
import { check, ITEMS_HINT, nearest } from './sentences.ts'

/** The options of a batch, which apply to all of its items. */
export interface BatchOptions {
  readonly chainId: number | undefined
  /** As the client wrote it, in any case. */
  readonly recipient: string | undefined
  readonly attest: BatchAttest
  /** Nonces of the signatures: `same` uses the current nonce for all, `consecutive` counts up (decision 102). */
  readonly sequence: 'same' | 'consecutive'
  /** True if the service is to submit the results, or their root, to the chain itself. */
  readonly submitOnchain: boolean
}

/**
 * Reads the options of a batch.
 *
 * @param bytes the body with an empty list in place of its items
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readBatchEnvelope(bytes: Uint8Array, maxDepth: number): BatchOptions {
  const envelope = parseEnvelope(bytes, maxDepth)
  check(getValidator('batch-request.schema.json'), envelope, [])
  rejectMisplacedInBatch(envelope)
  const delivery = envelope['options'] as { readonly submitOnchain?: boolean } | undefined
  const options: BatchOptions = {
    chainId: envelope['chainId'] as number,
    recipient: envelope['recipient'] as string | undefined,
    attest: (envelope['attest'] as BatchAttest | undefined) ?? 'each',
    sequence: (envelope['sequence'] as BatchOptions['sequence'] | undefined) ?? 'same',
    submitOnchain: delivery?.submitOnchain === true,
  }
  if (options.submitOnchain) checkSubmitted(options, SUBMIT_ONCHAIN)
  return options
}

const SUBMIT_ONCHAIN = ['options', 'submitOnchain']

/** @throws {ProblemError} `invalid-input` if the results of a batch with these options cannot be submitted */
function checkSubmitted({ attest, sequence }: BatchOptions, path: readonly string[]): void {
  if (attest === 'none') {
    throw problemAt('invalid-input', path, 'needs results that are signed, but attest is none', {
      code: 'not-signed',
      hint: 'send attest each for one attestation of each result, or merkle for one of their root',
    })
  }
  if (sequence === 'consecutive') {
    throw problemAt('invalid-input', ['sequence'], 'consecutive nonces are for attestations that you submit yourself', {
      code: 'submitted-sequence',
      hint: 'leave out sequence, or submitOnchain',
    })
  }
}

/** Parses the envelope. Adds a hint to every problem: the cause may lie in the items, which were cut out of these bytes. */
function parseEnvelope(bytes: Uint8Array, maxDepth: number): JsonObject {
  try {
    return parseJsonObject(bytes, maxDepth)
  } catch (error) {
    if (!(error instanceof ProblemError)) throw error
    const invalidParts = error.data.invalidParts?.map((part) => ({ ...part, hint: part.hint ?? ITEMS_HINT }))
    throw new ProblemError({ ...error.data, ...(invalidParts === undefined ? {} : { invalidParts }) }, { cause: error })
  }
}

const STREAM_PARAMETERS = ['chainId', 'recipient', 'attest', 'sequence']
const JOB_PARAMETERS = [...STREAM_PARAMETERS, 'submitOnchain']

/**
 * Reads the options of an NDJSON stream from its query: `chainId=84532&attest=none`. All of them are optional.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readBatchQuery(query: string): BatchOptions {
  const options = readLineOptions(query, STREAM_PARAMETERS)
  const unsupported = options.attest === 'merkle' ? 'attest' : options.sequence === 'consecutive' ? 'sequence' : ''
  if (unsupported !== '') {
    throw problemAt('invalid-input', [unsupported], `${options[unsupported]} needs all items before the first result`, {
      code: 'not-for-streams',
      hint: 'send the items as one JSON document, or as a job',
    })
  }
  return options
}

/**
 * Reads the options of a job, as `readBatchQuery`. A job may have a Merkle root.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function readJobQuery(query: string): BatchOptions {
  const options = readLineOptions(query, JOB_PARAMETERS)
  if (options.submitOnchain) checkSubmitted(options, ['submitOnchain'])
  return checkJobOptions(options)
}

/** Returns options that a job may have. @throws {ProblemError} `invalid-input` */
export function checkJobOptions(options: BatchOptions): BatchOptions {
  if (options.sequence === 'consecutive') {
    throw problemAt('invalid-input', ['sequence'], 'a job has no consecutive nonces', {
      code: 'not-for-jobs',
      hint: 'send at most 40 items as one JSON document to /compute/v0/batch',
    })
  }
  const { attest, chainId, submitOnchain } = options
  if (chainId === undefined && (attest === 'merkle' || submitOnchain)) {
    const what = attest === 'merkle' ? 'root is' : 'results are'
    throw problemAt('invalid-input', ['chainId'], `is missing, and the ${what} attested on one chain`, {
      code: 'missing-member',
      hint: `name it in the query: ?chainId=84532&attest=${attest}`,
    })
  }
  return options
}

function readLineOptions(query: string, parameters: readonly string[]): BatchOptions {
  const options: Record<string, string | number | boolean> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (!parameters.includes(name))
      throw name === 'submitOnchain' ? submittedLines() : unknownParameter(name, parameters)
    if (name in options) {
      throw problemAt('invalid-input', [name], 'appears more than once in the query', { code: 'duplicate-parameter' })
    }
    options[name] =
      name === 'chainId' ? readChainId(value) : name === 'submitOnchain' ? (BOOLEANS.get(value) ?? value) : value
  }
  check(getValidator('batch-request.schema.json#/$defs/BatchOptions'), options, [])
  return {
    chainId: undefined,
    recipient: undefined,
    attest: 'each',
    sequence: 'same',
    submitOnchain: false,
    ...(options as Partial<BatchOptions>),
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

function submittedLines(): ProblemError {
  return problemAt('invalid-input', ['submitOnchain'], 'the service does not submit results of a stream', {
    code: 'not-for-lines',
    hint: 'send the lines to /compute/v0/jobs, or one JSON document to /compute/v0/batch, with "options": {"submitOnchain": true}',
  })
}

function unknownParameter(name: string, parameters: readonly string[]): ProblemError {
  const near = nearest(name, parameters)
  const hint = `the parameters of an NDJSON stream are ${parameters.join(', ')}`
  return problemAt('invalid-input', [name.slice(0, 40)], 'is not a parameter of this query', {
    code: 'unknown-parameter',
    hint: near === undefined ? hint : `did you mean "${near}"? ${hint}`,
  })
}

function readChainId(text: string): number {
  if (/^[0-9]{1,16}$/.test(text)) return Number(text)
  throw problemAt('invalid-input', ['chainId'], `must be a chain ID, found ${describeValue(text)}`, {
    code: 'wrong-type',
    hint: 'send decimal digits, for example ?chainId=84532',
  })
}

/** Reads the members of an item that all operations share. `id` is text for the response, `"id":…,`, or empty without an ID. */
export function readBatchItem(item: JsonObject): { readonly operation: OperationName; readonly id: string } {
  check(getValidator('batch-request.schema.json#/$defs/BatchItem'), item, [])
  const { options } = item
  if (isJsonObject(options) && options['submitOnchain'] === true) {
    throw problemAt('invalid-input', SUBMIT_ONCHAIN, 'applies to a whole batch, not to one of its items', {
      code: 'option-of-item',
      hint: 'send options once, beside items',
    })
  }
  rejectMisplacedOptions(options)
  return { operation: item['op'] as OperationName, id: idJson(item) }
}

/**
 * Reads only the `id` of an item, as `readBatchItem` returns it. Returns an empty string if the bytes are not an item, or if its
 * `id` is not allowed.
 */
export function readBatchItemId(bytes: Uint8Array, maxDepth: number): string {
  try {
    return idJson(parseJsonObject(bytes, maxDepth))
  } catch (error) {
    if (error instanceof ProblemError) return ''
    throw error
  }
}

function idJson({ id }: JsonObject): string {
  const canEcho = typeof id === 'string' ? isShortId(id) : Number.isSafeInteger(id)
  return canEcho ? `"id":${JSON.stringify(id)},` : ''
}

/** The limit of `batch-request.schema.json`, in code points. One has at most two UTF-16 code units. */
const MAX_ID_LENGTH = 128

function isShortId(id: string): boolean {
  return id.length <= MAX_ID_LENGTH || (id.length <= 2 * MAX_ID_LENGTH && [...id].length <= MAX_ID_LENGTH)
}
