import type { InFlight } from './in-flight.ts'

/** Quiet time after which a connection is taken to have nothing more on its way. */
const QUIET_MS = 50
const CHECK_MS = 5

/**
 * Waits until nothing has been in flight for a short while: a request that a kept-alive client sent before it could
 * know of the end is still answered.
 *
 * @param limitMs resolves then in any case
 */
export async function drain(inFlight: InFlight, limitMs: number): Promise<void> {
  inFlight.beginDraining()
  const start = performance.now()
  let quietSince = start
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now()
      if (inFlight.count > 0 || now < inFlight.lingersUntilMs) quietSince = now
      if (now - quietSince >= QUIET_MS || now - start >= limitMs) {
        clearInterval(timer)
        resolve()
      }
    }, CHECK_MS)
  })
}
