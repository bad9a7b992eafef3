import type { Hex } from '../wire/messages.ts'
import type { RecordStore } from '../wire/store-messages.ts'
import type { SyncEvent, SyncKind } from '../wire/sync-messages.ts'
import type { PassResult } from './chain-sync.ts'
import type { OpenChainSync } from './open-chain-sync.ts'
import type { RpcList } from './rpc-list.ts'

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

export interface ChainRunsParts {
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
    for (const message of errors) onEvent({ kind: 'problem', chainId, message })
    if (result?.beganAt !== undefined) {
      onEvent({ kind: 'began', chainId, from: result.beganAt, block: result.block, head: result.head })
    }
    if (result !== undefined && (result.inserted > 0 || result.revoked > 0 || result.rolledBack > 0)) {
      const { inserted, revoked, rolledBack, head } = result
      onEvent({ kind: 'progress', chainId, inserted, revoked, rolledBack, block: result.block, head })
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
        kind: 'problem',
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
    for (const message of errors) onEvent({ kind: 'problem', chainId: chain.chainId, message })
    await storeRun(chain, 'revocations', startedMs, done, errors)
  }
}
