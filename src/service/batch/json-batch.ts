/** Reads a batch that is one JSON document: its options, the bytes of its items, and the inputs that the items name. */
import { ProblemError, problemAt } from '../../base/problem.ts'
import type { Limits } from '../../config/config.ts'
import { type BatchOptions, readBatchEnvelope } from '../../validation/batch.ts'
import { ITEMS_HINT } from '../../validation/sentences.ts'
import { MAX_SEQUENCE } from '../../wire/signing-messages.ts'
import type { RequestContext } from '../request.ts'
import { BatchSplitter, runSlices, type SplitBatch } from './item-cutters.ts'
import { cutNames, type NamedJson } from './named-inputs.ts'

/** A batch whose items are not parsed. */
export interface JsonBatchParts {
  readonly options: BatchOptions
  readonly split: SplitBatch
  /** The inputs that items may name. */
  readonly names: readonly NamedJson[]
}

/**
 * Splits a JSON batch into its items and its named inputs, and reads its options. Other requests have their turn meanwhile. The client
 * is charged for the time.
 *
 * @throws {ProblemError} if the batch as a whole is rejected
 */
export async function readJsonBatch(
  body: Uint8Array,
  limits: Pick<Limits, 'maxBatchItems' | 'maxBatchEnvelopeBytes' | 'maxJsonDepth' | 'maxBodyBytes'>,
  context: Pick<RequestContext, 'costs'>,
): Promise<JsonBatchParts> {
  const split = await runSlices(new BatchSplitter(body, limits.maxBatchItems), context)
  // Without a list of items, check the whole body as an envelope: that reports other errors first.
  const table = split && (await cutNames(split.envelope, limits.maxBodyBytes, context))
  const envelope = table?.envelope ?? body
  if (envelope.length > limits.maxBatchEnvelopeBytes) {
    throw split === undefined ? missingItems() : envelopeTooLarge(envelope.length, limits.maxBatchEnvelopeBytes)
  }
  const options = readBatchEnvelope(envelope, limits.maxJsonDepth)
  if (split === undefined || table === undefined) throw missingItems()
  if (options.sequence === 'consecutive') checkSequence(options, split.count)
  return { options, split, names: table.names }
}

/** @throws {ProblemError} if the results cannot be signed as a sequence */
function checkSequence({ attest }: BatchOptions, count: number): void {
  if (attest !== 'each') {
    throw problemAt('invalid-input', ['sequence'], `consecutive nonces need attest "each", found "${attest}"`, {
      code: 'sequence-unsigned',
    })
  }
  if (count <= MAX_SEQUENCE) return
  throw problemAt('invalid-input', ['items'], `has ${count} items; a sequence can have at most ${MAX_SEQUENCE}`, {
    code: 'sequence-too-long',
    hint: 'one transaction cannot take more; attest "merkle" covers any number of items with one signature',
  })
}

function envelopeTooLarge(bytes: number, maxBytes: number): ProblemError {
  const detail = `the batch without its items and geometries has ${bytes} bytes, more than ${maxBytes}`
  const hint = 'besides items and geometries, a batch has only chainId, recipient, attest and sequence'
  const entry = { pointer: '#', detail, code: 'envelope-too-large', hint }
  return new ProblemError({ type: 'payload-too-large', detail, invalidParts: [entry] })
}

function missingItems(): ProblemError {
  return problemAt('invalid-input', ['items'], 'must be a list of operations', {
    code: 'wrong-type',
    hint: ITEMS_HINT,
  })
}
