import { ProblemError, problemAt } from '../../base/problem.ts'
import type { BatchOptions } from '../../validation/batch.ts'
import { ITEMS_HINT } from '../../validation/sentences.ts'
import { MAX_SEQUENCE } from '../../wire/messages.ts'
import type { BatchRun } from './batch.ts'

/** Returns the beginning of the response to a JSON batch. */
export function responseHead({ chainId, attest }: BatchOptions): string {
  return `{"chainId":${chainId},"attest":"${attest}",`
}

/** Returns the end of the response. */
export function responseTail({ tally: { failed } }: BatchRun, count: number): string {
  return `],"count":${count},"failed":${failed}}`
}

/** @throws {ProblemError} if the results cannot be signed as a sequence */
export function checkSequence({ attest }: BatchOptions, count: number): void {
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

export function envelopeTooLarge(bytes: number, maxBytes: number): ProblemError {
  const detail = `the batch without its items has ${bytes} bytes, more than ${maxBytes}`
  const hint = 'besides items, a batch has only chainId, recipient, attest and sequence'
  const entry = { pointer: '#', detail, code: 'envelope-too-large', hint }
  return new ProblemError({ type: 'payload-too-large', detail, places: [entry] })
}

export function missingItems(): ProblemError {
  return problemAt('invalid-input', ['items'], 'must be a list of operations', {
    code: 'wrong-type',
    hint: ITEMS_HINT,
  })
}
