import type { ChainClient } from '../threads/chain-client.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { StoreClient } from '../threads/store-client.ts'
import type { StoreState } from '../threads/store-state.ts'
import type { Readiness } from './services.ts'

export interface ReadinessParts {
  readonly pool: ComputePool
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
  /** Hears what is missing when that changes, not at each look. */
  readonly log: { info(event: string): void; warn(event: string, fields: { readonly reason: string }): void }
  /** undefined when no records are kept. */
  readonly store: StoreClient | undefined
}

/** What `GET /ready` says: whether a compute request would be answered now, and what is missing. */
export function createReadiness({ log, pool, signer, chainClient, store }: ReadinessParts): () => Readiness {
  /** What was missing at the last look. */
  let missing = ''
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
    if (store !== undefined) checks['database'] = databaseCheck(store.state)
    // A refused chain is shown, yet does not make the service unready: it serves the others.
    const ready = checks['compute']!.ok && checks['signer']!.ok && checks['database']?.ok !== false
    const found = ready ? '' : missingText(checks)
    if (found !== missing) {
      missing = found
      if (ready) log.info('ready again')
      else log.warn('not ready', { reason: found })
    }
    return { ready, checks }
  }
}

function databaseCheck(state: StoreState): { ok: boolean; detail?: string } {
  if (!state.isOpen) return { ok: false, detail: `${state.engine}: ${state.reason}` }
  // What the embedded engine wrote is handed to the system, not to the disk.
  const durability = state.engine === 'embedded' ? ', durability: process-crash' : ''
  return { ok: true, detail: `${state.engine} ${state.version}${durability}` }
}

/** Chains are left out: a refused one does not make the service unready. */
function missingText(checks: Readonly<Record<string, { ok: boolean; detail?: string }>>): string {
  return Object.entries(checks)
    .filter(([name, { ok }]) => !ok && !name.startsWith('chain-'))
    .map(([name, { detail }]) => `${name}: ${detail}`)
    .join('; ')
}
