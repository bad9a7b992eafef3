/** What the service reports about itself: who it is, and whether it can handle requests. */
import type { Chain } from '../attest/chains.ts'
import type { SchemaKind } from '../attest/schemas.ts'
import { PROGRAM } from '../base/version.ts'
import type { Config } from '../config/config.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import type { ComputePool } from '../threads/compute-pool.ts'
import type { CrossChecks } from '../threads/cross-checks.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { StoreClient, StoreCondition, StoreState } from '../threads/store-client.ts'
import type { Hex } from '../wire/values.ts'
import type { Identity, Readiness, Services } from './services.ts'

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
      rpc: (config.chains.get(id)?.rpcUrls.length ?? 0) > 0,
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
  readonly log: {
    info(event: string, fields: { readonly reason?: string; readonly seenBy: string }): void
    warn(event: string, fields: { readonly reason: string; readonly seenBy: string }): void
  }
  /** Undefined if the service stores no records. */
  readonly store: StoreClient | undefined
  /** With several processes: how many HTTP processes answer, of how many. */
  readonly processes: (() => { readonly running: number; readonly expected: number }) | undefined
  /** Undefined if no answers are checked. */
  readonly crossChecks: Pick<CrossChecks, 'compared' | 'disagreed'> | undefined
  /** Undefined if the service takes requests at once. */
  readonly warmUp: { readonly isDone: boolean } | undefined
}

/** Makes the check for `GET /ready` and `/health`: whether the service can handle a compute request now, and which checks fail. */
export function createReadiness(parts: ReadinessParts): Services['readiness'] {
  const { log, pool, signer, chainClient, store, processes, crossChecks, warmUp } = parts
  /** The failed checks at the last call. */
  let lastFailures = ''
  let wasReady = false
  return (askedBy) => {
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
    if (crossChecks !== undefined) checks['cross-check'] = crossCheckResult(crossChecks)
    const isWarm = warmUp?.isDone !== false
    if (!isWarm) checks['warm-up'] = { ok: false, detail: 'the process warms up: its first requests would be slow' }
    // A refused chain is reported but does not make the service unready, because the other chains still work.
    // The same holds for a full disk, when records are still read, and for an answer that a cross-check found to differ.
    const ready = checks['compute']!.ok && checks['signer']!.ok && store?.state.isOpen !== false && isWarm
    const failures = ready ? '' : failureText(checks, store?.state)
    if (failures !== lastFailures) {
      lastFailures = failures
      const fields = { reason: failures, seenBy: `a request of ${askedBy}` }
      // At every start the store and the warm-up take a while, which is no fault.
      const isStoreAsUsual = store?.state.isOpen !== false || isOpening(store.state)
      const isStarting = !wasReady && checks['compute']!.ok && checks['signer']!.ok && isStoreAsUsual
      if (ready) log.info('ready again', { seenBy: fields.seenBy })
      else if (isStarting) log.info('not ready', fields)
      else log.warn('not ready', fields)
    }
    wasReady ||= ready
    return { ready, checks, database: databaseHealth(store?.state) }
  }
}

function isOpening(state: StoreState): boolean {
  return !state.isOpen && state.condition === 'opening'
}

/** What anyone may know about the store. It names neither folders nor addresses. @param state undefined if there is no store */
function databaseHealth(state: StoreState | undefined): Readiness['database'] {
  if (state === undefined) return { isConnected: false, detail: 'this deployment keeps no records (RECORDS=0)' }
  if (!state.isOpen) return { isConnected: false, detail: CLOSED_STORE[state.condition] }
  return { isConnected: true, detail: state.fullReason === undefined ? undefined : FULL_DISK }
}

const CLOSED_STORE = {
  opening: 'the store is opening',
  slow: 'the store opens again, because it is too slow: a statement took longer than its limit, such as STORE_STUCK_MS; check the processor load, or raise it',
  away: 'the database cannot be reached or opened: the log says why',
  damaged: `the store is damaged: run \`${PROGRAM} store check\`, then \`${PROGRAM} store rebuild\``,
  full: 'the disk of the store is full, and the store needs room to open: make room, and it opens by itself',
} as const satisfies Readonly<Record<StoreCondition, string>>
const FULL_DISK =
  'the disk of the store is full: records are read, but writing fails; make room, and writing continues by itself'

/** A process that restarts is reported, but the others answer. */
function processCheck({ running, expected }: { readonly running: number; readonly expected: number }) {
  return { ok: running === expected, detail: `${running} of ${expected} HTTP processes answer` }
}

/** Stays a warning until the process ends: a wrong answer may have been signed, and somebody has to look at it. */
function crossCheckResult({ compared, disagreed }: Pick<CrossChecks, 'compared' | 'disagreed'>) {
  const detail = `${compared} answers compared with independent libraries, ${disagreed} differ`
  return { ok: disagreed === 0, detail: disagreed === 0 ? detail : `${detail}: see the log` }
}

/** Anyone may read it. The reason in the log also names folders. */
function databaseCheck(state: StoreState): { ok: boolean; detail?: string } {
  if (!state.isOpen) return { ok: false, detail: `${state.engine}: ${CLOSED_STORE[state.condition]}` }
  if (state.fullReason !== undefined) return { ok: false, detail: `${state.engine}: ${FULL_DISK}` }
  // The embedded engine hands its writes to the operating system, but does not force them to the disk.
  const durability = state.engine === 'embedded' ? ', durability: process-crash' : ''
  const warming = state.isWarming === true ? ', warming: lists take longer while the records are read into memory' : ''
  return { ok: true, detail: `${state.engine} ${state.version}${durability}${warming}` }
}

/** Checks that never make the service unready. */
const WARNINGS: readonly string[] = ['processes', 'cross-check']

/**
 * Lists the failed checks for the log. Chains are left out, because a refused chain does not make the service unready.
 *
 * @param store gives the full reason why it is closed
 */
function failureText(
  checks: Readonly<Record<string, { ok: boolean; detail?: string }>>,
  store: StoreState | undefined,
): string {
  const storeReason = store?.isOpen === false ? `${store.engine}: ${store.reason}` : undefined
  return Object.entries(checks)
    .filter(([name, { ok }]) => !ok && !name.startsWith('chain-') && !WARNINGS.includes(name))
    .map(([name, { detail }]) => `${name}: ${(name === 'database' ? storeReason : undefined) ?? detail}`)
    .join('; ')
}
