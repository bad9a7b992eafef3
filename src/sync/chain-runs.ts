import type { Chain } from '../attest/chains.ts'
import type { LocationLayout } from '../config/signer.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { RecordStore } from '../wire/store-messages.ts'
import type { SyncEvent, SyncKind } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import { type Audit, createAudit } from './audit.ts'
import { createChainPosition, type SyncStore } from './chain-position.ts'
import { createChainReader } from './chain-reader.ts'
import { ChainSync, type PassResult, type SyncLimits } from './chain-sync.ts'
import { AttestationReader } from './eas-attestations.ts'
import { Gatherer } from './gather.ts'
import type { RpcList } from './rpc-list.ts'
import { createSweep, type Sweep } from './sweep.ts'

interface OpenChainSyncParts {
  readonly chain: Pick<Chain, 'id' | 'name' | 'easAddress' | 'startBlock' | 'finalityDepth'>
  /** Schemas of location attestations: UIDs in lower case with their layouts. */
  readonly schemas: ReadonlyMap<Hex, LocationLayout>
  readonly limits: SyncLimits & {
    /** Limit of an attestation's data; larger ones are quarantined. */
    readonly maxDataBytes: number
    /** The most equal attestations of one block that can be distinguished. */
    readonly maxBumps: number
  }
  readonly rpcs: RpcList
  readonly store: SyncStore
  readonly keccak: Keccak
  readonly nowSeconds: () => number
  /** Reports something to the operator. Messages contain no secrets. */
  readonly onProblem: (message: string) => void
}

/** The tasks that read one chain. They share one position, so only one of them may run at a time. */
export interface OpenChainSync {
  readonly sync: ChainSync
  readonly audit: Audit
  readonly sweep: Sweep
}

export function openChainSync(options: OpenChainSyncParts): OpenChainSync {
  const { chain, schemas, limits, rpcs, store, keccak, nowSeconds, onProblem } = options
  const source = { easAddress: chain.easAddress, schemas }
  const { startBlock } = chain
  const chainId = chain.id
  const reader = createChainReader(source, chain.finalityDepth)
  const attestations = new AttestationReader({ source, keccak, maxBumps: limits.maxBumps })
  const position = createChainPosition(store, chainId)
  const gatherer = new Gatherer({
    chainId,
    chain: chain.name,
    startBlock,
    maxDataBytes: limits.maxDataBytes,
    maxFailedReads: Math.max(2, rpcs.size),
    reader,
    attestations,
    store,
    nowSeconds,
    onProblem,
  })
  const parts = { chainId, startBlock, rpcs, reader, attestations, gatherer, position, store, onProblem }
  return {
    sync: new ChainSync({ ...parts, nowSeconds, limits }),
    audit: createAudit({ ...parts, maxRangeBlocks: limits.maxRangeBlocks }),
    sweep: createSweep(parts),
  }
}

/** A chain as the worker receives it. */
export interface SyncedChain extends OpenChainSync {
  readonly chainId: number
  readonly pollMs: number
  readonly rpcs: RpcList
  /** Returns and clears the problems reported since the last call. */
  readonly takeProblems: () => string[]
}

/** A chain with the state of its work. */
export interface SyncedChainState extends SyncedChain {
  /** The running task; the next one waits for it. */
  busy: Promise<unknown>
  isReading: boolean
  lastStoredMs: number
  lastAuditMs: number
  lastSweepMs: number
  wake: () => void
}

interface ChainRunsParts {
  readonly store: Pick<RecordStore, 'beginRun' | 'endRun'>
  readonly now: () => number
  readonly limits: { readonly stepsPerPass: number }
  readonly onEvent: (event: SyncEvent) => void
}

/** Runs passes and sweeps and stores their outcome and errors. */
export interface ChainRuns {
  /** Runs one task at a time on a chain. */
  exclusively<T>(chain: SyncedChainState, run: () => Promise<T>): Promise<T>
  /** Runs one pass. Returns undefined when it failed. */
  pass(chain: SyncedChainState): Promise<PassResult | undefined>
  /** Compares all valid records of a chain with the contract. Passes may run between two pieces. */
  sweep(chain: SyncedChainState, isOver: () => boolean): Promise<void>
}

/** Passes that find nothing are stored at most this often. */
const IDLE_STORE_MS = 5000

export function createChainRuns({ store, now, limits, onEvent }: ChainRunsParts): ChainRuns {
  return { exclusively, pass, sweep }

  function exclusively<T>(chain: SyncedChainState, run: () => Promise<T>): Promise<T> {
    const result = chain.busy.then(run)
    chain.busy = result.catch(() => {})
    return result
  }

  async function pass(chain: SyncedChainState): Promise<PassResult | undefined> {
    const { chainId } = chain
    const startedMs = now()
    let result: PassResult | undefined
    const errors: string[] = []
    try {
      result = await chain.sync.pass(limits.stepsPerPass, async () => {
        chain.isReading = true
        await store.beginRun({ kind: 'attestations', chainId })
      })
    } catch (error) {
      errors.push((error as Error).message)
    }
    const { isReading } = chain
    chain.isReading = false
    errors.push(...chain.takeProblems())
    for (const message of errors) onEvent({ type: 'problem', chainId, message })
    if (result?.beganAt !== undefined) {
      onEvent({ type: 'began', chainId, from: result.beganAt, block: result.block, head: result.head })
    }
    if (result !== undefined && (result.inserted > 0 || result.revoked > 0 || result.rolledBack > 0)) {
      const { inserted, revoked, rolledBack, head } = result
      onEvent({ type: 'progress', chainId, inserted, revoked, rolledBack, block: result.block, head })
    }
    if (isReading || errors.length > 0 || now() - chain.lastStoredMs > IDLE_STORE_MS) {
      chain.lastStoredMs = now()
      const progress = result === undefined ? undefined : { head: result.head, headSeconds: result.headSeconds }
      await storeRun(
        chain,
        'attestations',
        startedMs,
        { ok: result !== undefined, count: result?.inserted ?? 0, revoked: 0 },
        errors,
        progress,
      )
    }
    return result
  }

  async function storeRun(
    { chainId }: SyncedChainState,
    kind: SyncKind,
    startedMs: number,
    done: { readonly ok: boolean; readonly count: number; readonly revoked: number },
    errors: readonly string[],
    progress?: { readonly head: number; readonly headSeconds: number },
  ): Promise<void> {
    const run = { kind, chainId, startedMs, endedMs: now(), ...done }
    try {
      await store.endRun({ run, errors, ...(progress === undefined ? {} : { progress }) })
    } catch (error) {
      onEvent({
        type: 'problem',
        chainId,
        message: `the outcome of a run could not be stored: ${(error as Error).message}`,
      })
    }
  }

  async function sweep(chain: SyncedChainState, isOver: () => boolean): Promise<void> {
    chain.lastSweepMs = now()
    const startedMs = now()
    const done = { ok: true, count: 0, revoked: 0 }
    const errors: string[] = []
    try {
      await store.beginRun({ kind: 'revocations', chainId: chain.chainId })
      let after: Hex | null = null
      do {
        const piece = await exclusively(chain, () => chain.sweep.piece(after))
        done.count += piece.checked
        done.revoked += piece.revoked
        after = piece.next
      } while (after !== null && !isOver())
    } catch (error) {
      done.ok = false
      errors.push((error as Error).message)
    }
    errors.push(...chain.takeProblems())
    for (const message of errors) onEvent({ type: 'problem', chainId: chain.chainId, message })
    await storeRun(chain, 'revocations', startedMs, done, errors)
  }
}
