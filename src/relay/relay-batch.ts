import { type AttestationPayload, MAX_SEQUENCE } from '../wire/messages.ts'
import type { RelayWork } from '../wire/relay-messages.ts'
import type { RelayChain } from './relay-chain.ts'

type Queued = RelayWork['queued'][number]

/** The submissions for the next transaction, and those that can never be in one. */
export interface Batch {
  readonly chosen: readonly Queued[]
  readonly gas: number
  /** Submissions whose attestations the contract rejects even separately. */
  readonly rejected: readonly Queued[]
}

/** Gas may rise if others change the state before our transaction is mined: allow a fifth more than the estimate. */
const HEADROOM = 1.2

/**
 * Chooses attestations that succeed together in a trial on the head. Those that revert separately are excluded. While the others
 * revert together or need too much gas, half of them are left for later.
 *
 * @param maxGas gas limit of one transaction
 * @throws {RpcError} when the endpoint reports neither gas nor a revert for a single attestation
 */
export async function chooseBatch(chain: RelayChain, queued: readonly Queued[], maxGas: number): Promise<Batch> {
  let candidates = dropRepeated(queued).slice(0, MAX_SEQUENCE)
  let rejected: readonly Queued[] = []
  let areTriedSeparately = false
  while (candidates.length > 0) {
    const trial = await chain.estimate(candidates.map(({ payload }) => payload))
    if (trial.ok && trial.gas <= maxGas) {
      const gas = Math.min(Math.ceil(trial.gas * HEADROOM), maxGas)
      return { chosen: candidates, gas, rejected }
    }
    // The error may be a limit of the node in its own words; fewer attestations may be within it.
    const isUnclear = !trial.ok && trial.error !== undefined
    if (candidates.length === 1) {
      if (isUnclear) throw trial.error
      return { chosen: [], gas: 0, rejected: [...rejected, ...candidates] }
    }
    if (!trial.ok && !isUnclear && !areTriedSeparately) {
      const trials = await chain.estimateEach(candidates.map(({ payload }) => payload))
      for (const separateTrial of trials)
        if (!separateTrial.ok && separateTrial.error !== undefined) throw separateTrial.error
      const isReverted = candidates.map((_, index) => !trials[index]!.ok)
      rejected = candidates.filter((_, index) => isReverted[index])
      candidates = candidates.filter((_, index) => !isReverted[index])
      areTriedSeparately = true
      if (rejected.length > 0) continue
    }
    candidates = candidates.slice(0, Math.ceil(candidates.length / 2))
  }
  return { chosen: [], gas: 0, rejected }
}

/** Drops repeated attestations: UIDs of equal ones in one block would differ by a counter, so each waits for another block. */
function dropRepeated(queued: readonly Queued[]): Queued[] {
  const seen = new Set<string>()
  return queued.filter(({ payload }) => {
    const key = payloadKey(payload)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}

function payloadKey({ schema, recipient, data }: AttestationPayload): string {
  return `${schema} ${recipient} ${data}`
}
