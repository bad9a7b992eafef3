/** What the service reports about itself: who it is, and whether it can handle requests. */
import type { Chain } from '../attest/chains.ts'
import type { SchemaKind } from '../attest/schemas.ts'
import type { Config } from '../config/config.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { StoreClient, StoreState } from '../threads/store-client.ts'
import type { Hex } from '../wire/values.ts'
import type { Identity, Readiness } from './services.ts'

/** What the identity of the service is made of. */
export interface IdentityParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  readonly signer: SignerClient
  readonly version: string
  readonly commit: string
}

/** Builds the service's identity: its attester and the contracts it signs for. Resolver contracts compare against it. */
export function createIdentity({ config, chains, schemas, signer, version, commit }: IdentityParts): Identity {
  const { numeric, boolean, verify, 'merkle-root': merkleRoot } = schemas
  return {
    attester: signer.address,
    purpose: signer.keyKind === 'development' ? 'development' : config.production ? 'production' : 'staging',
    version,
    commit,
    chains: [...chains.values()].map(({ id, name, profile, easVersion, easAddress, schemaRegistryAddress }) => ({
      chainId: id,
      name,
      profile,
      easVersion,
      registry: easAddress,
      schemaRegistry: schemaRegistryAddress,
      schemas: { numeric, boolean, verify, merkleRoot },
    })),
    retired: config.retiredAttesters,
  }
}

/** The parts of the service whose state decides about its readiness. */
export interface ReadinessParts {
  readonly pool: ComputePool
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
  /** Gets a line when readiness or its reasons change, not at every check. */
  readonly log: { info(event: string): void; warn(event: string, fields: { readonly reason: string }): void }
  /** Undefined if the service stores no records. */
  readonly store: StoreClient | undefined
  /** With several processes: how many HTTP processes answer, of how many. */
  readonly processes: (() => { readonly running: number; readonly expected: number }) | undefined
}

/** Makes the check for `GET /ready`: whether the service can handle a compute request now, and which checks fail. */
export function createReadiness({ log, pool, signer, chainClient, store, processes }: ReadinessParts): () => Readiness {
  /** The failed checks at the last call. */
  let lastFailures = ''
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
    if (processes !== undefined) checks['processes'] = processCheck(processes())
    // A refused chain is reported but does not make the service unready, because the other chains still work.
    // The same holds for a full disk: records are still read.
    const ready = checks['compute']!.ok && checks['signer']!.ok && store?.state.isOpen !== false
    const failures = ready ? '' : failureText(checks)
    if (failures !== lastFailures) {
      lastFailures = failures
      if (ready) log.info('ready again')
      else log.warn('not ready', { reason: failures })
    }
    return { ready, checks, database: databaseHealth(store?.state) }
  }
}

/** What anyone may know about the store. It names neither folders nor addresses. @param state undefined if there is no store */
function databaseHealth(state: StoreState | undefined): Readiness['database'] {
  if (state === undefined) return { isConnected: false, detail: 'this deployment keeps no records (RECORDS=0)' }
  if (!state.isOpen) return { isConnected: false, detail: CLOSED_STORE[state.condition] }
  return { isConnected: true, detail: state.fullReason === undefined ? undefined : FULL_DISK }
}

const CLOSED_STORE = {
  opening: 'the store is opening',
  away: 'the database cannot be reached or opened',
  damaged: 'the store is damaged: run `trigpoint store rebuild`',
  full: 'the disk of the store is full, and the store needs room to open: make room, and it opens by itself',
} as const
const FULL_DISK =
  'the disk of the store is full: records are read, but writing fails; make room, and writing continues by itself'

/** A process that restarts is reported, but the others answer. */
function processCheck({ running, expected }: { readonly running: number; readonly expected: number }) {
  return { ok: running === expected, detail: `${running} of ${expected} HTTP processes answer` }
}

function databaseCheck(state: StoreState): { ok: boolean; detail?: string } {
  if (!state.isOpen) return { ok: false, detail: `${state.engine}: ${state.reason}` }
  if (state.fullReason !== undefined) return { ok: false, detail: `${state.engine}: ${state.fullReason}` }
  // The embedded engine hands its writes to the operating system, but does not force them to the disk.
  const durability = state.engine === 'embedded' ? ', durability: process-crash' : ''
  const warming = state.isWarming === true ? ', warming: lists take longer while the records are read into memory' : ''
  return { ok: true, detail: `${state.engine} ${state.version}${durability}${warming}` }
}

/** Lists the failed checks. Chains are left out, because a refused chain does not make the service unready. */
function failureText(checks: Readonly<Record<string, { ok: boolean; detail?: string }>>): string {
  return Object.entries(checks)
    .filter(([name, { ok }]) => !ok && !name.startsWith('chain-') && name !== 'processes')
    .map(([name, { detail }]) => `${name}: ${detail}`)
    .join('; ')
}
