import { MAX_SEQUENCE } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { BatchOptions } from '../validation/batch.ts'
import { HOW_TO_SEND_ITEMS } from '../validation/sentences.ts'
import type { BatchRun } from './batch.ts'

/** How the answer to a JSON batch begins. */
export function headOf({ chainId, attest }: BatchOptions): string {
  return `{"chainId":${chainId},"attest":"${attest}",`
}

/** How it ends. */
export function tailOf({ tally: { failed } }: BatchRun, count: number): string {
  return `],"count":${count},"failed":${failed}}`
}

/** @throws {ProblemError} when results cannot be a sequence */
export function checkSequence({ attest }: BatchOptions, count: number): void {
  if (attest !== 'each') {
    throw problemAt('invalid-input', ['sequence'], `consecutive nonces need attest "each", found "${attest}"`, {
      code: 'sequence-unsigned',
    })
  }
  if (count <= MAX_SEQUENCE) return
  throw problemAt('invalid-input', ['items'], `has ${count} items, a sequence at most ${MAX_SEQUENCE}`, {
    code: 'sequence-too-long',
    hint: 'one transaction takes no more; attest "merkle" puts any number under one signature',
  })
}

export function largeEnvelope(bytes: number, most: number): ProblemError {
  const detail = `what stands beside the items has ${bytes} bytes, more than ${most}`
  const hint = 'beside the items there are only chainId, recipient, attest and sequence'
  const place = { pointer: '#', detail, code: 'envelope-too-large', hint }
  return new ProblemError({ type: 'payload-too-large', detail, places: [place] })
}

export function noItems(): ProblemError {
  return problemAt('invalid-input', ['items'], 'must be a list of operations', {
    code: 'wrong-type',
    hint: HOW_TO_SEND_ITEMS,
  })
}
