/** How much of a processor core checks may take. */

/**
 * Checks take at most this times the share of answers that is checked, as a part of one core: 1 % with the default share. A check takes far
 * longer than an unsigned distance of a batch, so without this limit the checks of batches would take more.
 */
const BUSY_PER_SHARE = 10

/**
 * Returns how long no check begins after one has ended.
 *
 * @param tookMs how long the thread worked for the check
 * @param share the share of the answers that is checked, above 0
 */
export function restMs(tookMs: number, share: number): number {
  const busy = Math.min(1, BUSY_PER_SHARE * share)
  return tookMs * (1 / busy - 1)
}
