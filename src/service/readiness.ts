import type { ChainClient } from '../threads/chain-client.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { Readiness } from './services.ts'

export interface ReadinessParts {
  readonly pool: ComputePool
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
}

/** What `GET /ready` says: whether a compute request would be answered now, and what is missing. */
export function createReadiness({ pool, signer, chainClient }: ReadinessParts): () => Readiness {
  return () => {
    const checks: Record<string, { ok: boolean; detail?: string }> = {
      compute: pool.isReady ? { ok: true } : { ok: false, detail: 'no compute thread is running' },
      signer: signer.isReady ? { ok: true } : { ok: false, detail: 'the signer thread is restarting' },
    }
    if (chainClient === undefined)
      checks['chains'] = { ok: true, detail: 'no RPC is set: nonces are not read from a chain' }
    for (const [chainId, state] of chainClient?.states() ?? []) {
      checks[`chain-${chainId}`] =
        state.state === 'refused' ? { ok: false, detail: state.reason } : { ok: true, detail: state.state }
    }
    // A refused chain is shown, yet does not make the service unready: it serves the others.
    return { ready: checks['compute']!.ok && checks['signer']!.ok, checks }
  }
}
