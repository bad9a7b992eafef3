import type { InFlight } from './in-flight.ts'

const CHECK_MS = 5
/**
 * After this number of quiet checks in a row, 50 ms at least, we assume that no more requests are on their way. Checks are counted
 * because time passes also while a busy machine keeps this process waiting; between two checks the event loop has read the sockets.
 */
const QUIET_CHECKS = 10

/**
 * Waits until nothing has been in flight for a short while. A request that a kept-alive client sent before it could know of
 * the shutdown is still answered.
 *
 * @param limitMs longest wait
 */
export async function drain(inFlight: InFlight, limitMs: number): Promise<void> {
  inFlight.beginDraining()
  const start = performance.now()
  let quietChecks = 0
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now()
      const isBusy = inFlight.count > 0 || now < inFlight.lingersUntilMs
      quietChecks = isBusy ? 0 : quietChecks + 1
      if (quietChecks >= QUIET_CHECKS || now - start >= limitMs) {
        clearInterval(timer)
        resolve()
      }
    }, CHECK_MS)
  })
}
