import type { Submission } from '../../wire/relay-messages.ts'

/** Returns a submission as it appears in responses. Members that are not known yet are left out. */
export function submissionJson(submission: Submission): object {
  const { id, chainId, status, uid, timeSeconds, transactionHash, blockNumber, error } = submission
  return { id, status, chainId, uid, time: timeSeconds, transactionHash, blockNumber, error }
}

/** Returns whether the submission is in a block or has failed. A reorganisation of the chain may still remove the block. */
export function isSettled({ status }: Submission): boolean {
  return status === 'mined' || status === 'finalized' || status === 'failed'
}

/** Returns whether the submission never changes again, unless a failed one is requested again. */
export function isFinal({ status }: Submission): boolean {
  return status === 'finalized' || status === 'failed'
}
