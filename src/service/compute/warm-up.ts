import type { ComputeService } from './compute.ts'

/** Enough that later requests are about as fast as those of a service that has run for a while; more would lengthen the start. */
const REQUESTS = 100
const AT_ONCE = 16
const DEADLINE_MS = 10_000

const BODY = {
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [2.3522, 48.8566] },
}

const NOBODY = { account: undefined, tier: 'public', idempotencyKey: undefined } as const

/**
 * Computes and signs distances and discards them, so that the engine has compiled this path on the main thread and on the signer
 * thread before the first client sends a request.
 *
 * @param chainId a chain without an RPC endpoint, because a warm-up must not wait for one
 */
export async function warmUpSignedRequests(compute: ComputeService, chainId: number): Promise<void> {
  const body = Buffer.from(JSON.stringify({ chainId, ...BODY }))
  const call = { prefersResultSignature: false, caller: NOBODY }
  const context = { client: 'warm-up', aborted: false, deadlineMs: Date.now() + DEADLINE_MS }
  let started = 0
  const sender = async () => {
    while (started++ < REQUESTS) await compute('distance', Buffer.from(body), context, call)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, sender))
}
