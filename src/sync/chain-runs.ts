import type { Hex } from '../messages.ts'
import type { RecordStore } from '../store-messages.ts'
import type { SyncEvent, SyncKind } from '../sync-messages.ts'
import type { PassResult } from './chain-sync.ts'
import type { OpenChainSync } from './open-chain-sync.ts'
import type { RpcList } from './rpc-list.ts'

/** One chain as it is given to the worker. */
export interface WorkedChain extends OpenChainSync {
  readonly chainId: number
  readonly pollMs: number
  readonly rpcs: RpcList
  /** Gives and forgets what was found worth saying since the last call. */
  readonly takeProblems: () => string[]
}

/** One chain and what is under way on it. */
export interface Chain extends WorkedChain {
  /** What is under way; the next waits for it. */
  busy: Promise<unknown>
  isReading: boolean
  notedMs: number
  auditMs: number
  sweepMs: number
  wake: () => void
}

export interface ChainRunsParts {
  readonly store: Pick<RecordStore, 'beginRun' | 'endRun'>
  readonly now: () => number
  readonly limits: { readonly stepsPerPass: number }
  readonly onEvent: (event: SyncEvent) => void
}

/** Passes and sweeps, written down in the store with what went wrong. */
export interface ChainRuns {
  /** One thing at a time on a chain. */
  exclusively<T>(chain: Chain, run: () => Promise<T>): Promise<T>
  /** @returns undefined when it failed */
  pass(chain: Chain): Promise<PassResult | undefined>
  /** Compares all valid records of a chain with it; new blocks come in between two pieces. */
  sweep(chain: Chain, isOver: () => boolean): Promise<void>
}

/** Passes that found nothing are written down this often at most. */
const IDLE_NOTE_MS = 5000

export function createChainRuns({ store, now, limits, onEvent }: ChainRunsParts): ChainRuns {
  return { exclusively, pass, sweep }

  function exclusively<T>(chain: Chain, run: () => Promise<T>): Promise<T> {
    const result = chain.busy.then(run)
    chain.busy = result.catch(() => {})
    return result
  }

  async function pass(chain: Chain): Promise<PassResult | undefined> {
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
    if (isReading || errors.length > 0 || now() - chain.notedMs > IDLE_NOTE_MS) {
      chain.notedMs = now()
      const progress = result === undefined ? undefined : { head: result.head, headSeconds: result.headSeconds }
      await note(
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

  async function note(
    { chainId }: Chain,
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
        message: `the store did not take what happened: ${(error as Error).message}`,
      })
    }
  }

  async function sweep(chain: Chain, isOver: () => boolean): Promise<void> {
    chain.sweepMs = now()
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
    await note(chain, 'revocations', startedMs, done, errors)
  }
}
