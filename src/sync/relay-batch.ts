import { type AttestationPayload, MAX_SEQUENCE } from '../messages.ts'
import type { RelayWork } from '../relay-messages.ts'
import type { RelayChain } from './relay-chain.ts'

type Queued = RelayWork['queued'][number]

/** What goes into the next transaction, and what can never go into one. */
export interface Batch {
  readonly chosen: readonly Queued[]
  readonly gas: number
  /** The contract refuses each of them alone. */
  readonly refused: readonly Queued[]
}

/** State that others change before our transaction is in a block may cost more: a fifth above what the head says. */
const HEADROOM = 1.2

/**
 * Chooses attestations that go through together, after trying them on the head: those that revert alone are out, and where
 * the others revert together or need too much gas, half of them wait.
 *
 * @param maxGas of one transaction
 * @throws {RpcError} when the endpoint says neither gas nor revert of one alone
 */
export async function chooseBatch(chain: RelayChain, queued: readonly Queued[], maxGas: number): Promise<Batch> {
  let candidates = withoutEquals(queued).slice(0, MAX_SEQUENCE)
  let refused: readonly Queued[] = []
  let areTriedAlone = false
  while (candidates.length > 0) {
    const trial = await chain.estimate(candidates.map(({ payload }) => payload))
    if (trial.ok && trial.gas <= maxGas) {
      const gas = Math.min(Math.ceil(trial.gas * HEADROOM), maxGas)
      return { chosen: candidates, gas, refused }
    }
    // A node has limits of its own, and says so in its own words: fewer may be within them.
    const isUnclear = !trial.ok && trial.error !== undefined
    if (candidates.length === 1) {
      if (isUnclear) throw trial.error
      return { chosen: [], gas: 0, refused: [...refused, ...candidates] }
    }
    if (!trial.ok && !isUnclear && !areTriedAlone) {
      const trials = await chain.estimateEach(candidates.map(({ payload }) => payload))
      for (const alone of trials) if (!alone.ok && alone.error !== undefined) throw alone.error
      const isOut = candidates.map((_, index) => !trials[index]!.ok)
      refused = candidates.filter((_, index) => isOut[index])
      candidates = candidates.filter((_, index) => !isOut[index])
      areTriedAlone = true
      if (refused.length > 0) continue
    }
    candidates = candidates.slice(0, Math.ceil(candidates.length / 2))
  }
  return { chosen: [], gas: 0, refused }
}

/** Equal attestations in one block have UIDs that differ by a counter: each waits for a block of its own. */
function withoutEquals(queued: readonly Queued[]): Queued[] {
  const seen = new Set<string>()
  return queued.filter(({ payload }) => {
    const text = textOf(payload)
    if (seen.has(text)) return false
    seen.add(text)
    return true
  })
}

function textOf({ schema, recipient, data }: AttestationPayload): string {
  return `${schema} ${recipient} ${data}`
}
