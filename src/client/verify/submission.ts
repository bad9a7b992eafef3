/** What a response says of its submission to the chain. No signature covers it. */

import { findFaults, isObject, SUBMISSION_FORM } from '../forms.ts'
import type { CheckList } from './verdict.ts'

export interface StatedSubmission {
  /** UID of the attestation on the chain; undefined until it is in a block. */
  readonly uid?: string
  /** Unix seconds of its block. */
  readonly time?: number
  readonly chainId?: number
  readonly status?: string
}

/** Lists the faults of the member `submission`, which may be absent. */
export function submissionFaults(value: Readonly<Record<string, unknown>>): string[] {
  return 'submission' in value ? findFaults(value['submission'], SUBMISSION_FORM, 'submission.') : []
}

/** Returns the member `submission` of a response whose form was checked. */
export function submissionOf({ submission }: Readonly<Record<string, unknown>>): StatedSubmission | undefined {
  return isObject(submission) ? submission : undefined
}

/** Adds a skipped check that says which of the submission was compared with the chain. */
export function skipSubmission(submission: StatedSubmission | undefined, wasAsked: boolean, list: CheckList): void {
  if (submission === undefined) return
  const { uid, status } = submission
  if (!wasAsked) {
    list.skip('submission', 'is not signed and was not checked: give an RPC of the chain to compare it')
  } else if (uid === undefined) {
    list.skip('submission', `is not signed and names no UID yet (${status}): read its state again`)
  } else list.skip('submission', 'only its UID, chain and time were compared with the chain; it is not signed')
}

/** Returns what to do about a deadline that has passed. A submitted result needs none. */
export function deadlineAdvice(submission: StatedSubmission | undefined): string {
  if (submission === undefined) return 'have the result signed again'
  return submission.uid === undefined
    ? 'the submission needs no deadline, and its state may have a UID by now: read it again'
    : 'the submission needs no deadline: give an RPC of the chain to check that the result is there'
}
