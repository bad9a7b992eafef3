/** How much of a processor core checks may take. */

/**
 * Checks take at most this times the share of answers that is checked, as a part of one core: 2 % with the default share. A check takes far
 * longer than an unsigned distance of a batch, so without this limit the checks of batches would take more.
 */
const BUSY_PER_SHARE = 20
/** The longest rest, so that one slow check does not end the checks for minutes. */
const MAX_REST_MS = 1000

/**
 * Returns how long the thread rests after a check.
 *
 * @param tookMs duration of the check
 * @param share the share of the answers that is checked, above 0
 */
export function restMs(tookMs: number, share: number): number {
  const busy = Math.min(1, BUSY_PER_SHARE * share)
  return Math.min(MAX_REST_MS, tookMs * (1 / busy - 1))
}
