import type { RecordStore } from '../store-messages.ts'
import type { SyncAction, SyncEvent, SyncOutcome } from '../sync-messages.ts'
import { type Chain, createChainRuns, type WorkedChain } from './chain-runs.ts'
import { createLease } from './lease.ts'

export interface SyncWorkerParts {
  readonly chains: readonly WorkedChain[]
  readonly store: Pick<RecordStore, 'beginRun' | 'endRun' | 'lease'>
  /** A name no other process has. */
  readonly owner: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly limits: SyncWorkerLimits
  readonly onEvent: (event: SyncEvent) => void
}

export interface SyncWorkerLimits {
  readonly stepsPerPass: number
  readonly leaseMs: number
  readonly auditMs: number
  readonly sweepMs: number
}

/** Keeps the records on their chains: one loop a chain, none of which waits for another. */
export interface SyncWorker {
  act(action: SyncAction): Promise<SyncOutcome>
  close(): Promise<void>
}

export function createSyncWorker({ chains: worked, store, owner, now, limits, onEvent }: SyncWorkerParts): SyncWorker {
  const chains = worked.map(
    (chain): Chain => ({
      ...chain,
      busy: Promise.resolve(),
      isReading: false,
      notedMs: 0,
      auditMs: now(),
      // The first sweep of a process comes soon, for it may have been away for long.
      sweepMs: now() - limits.sweepMs + 10 * limits.auditMs,
      wake: () => {},
    }),
  )
  const runs = createChainRuns({ store, now, limits, onEvent })
  const { exclusively } = runs
  const lease = createLease({
    store,
    owner,
    holdMs: limits.leaseMs,
    onChange,
    onStopped: () => onEvent({ kind: 'stopped' }),
  })
  const jobs = new Set<string>()
  let isClosed = false
  const loops = chains.map(loop)

  return {
    async act(action) {
      switch (action.kind) {
        case 'chain':
          return syncOne(action.chainId, action.waitMs)
        case 'all':
          return inBackground('all', async () => void (await Promise.all(chains.map((chain) => catchUp(chain)))))
        case 'revocations':
          return inBackground(
            'revocations',
            async () => void (await Promise.all(chains.map((chain) => runs.sweep(chain, () => isClosed)))),
          )
        case 'refresh':
          await lease.renew()
          return { state: 'started' }
      }
    },
    async close() {
      isClosed = true
      for (const chain of chains) chain.wake()
      await Promise.all(loops)
      await lease.close()
    },
  }

  function onChange(isHeld: boolean): void {
    onEvent({ kind: 'lead', isHeld })
    for (const chain of chains) chain.wake()
  }

  async function loop(chain: Chain): Promise<void> {
    while (!isClosed) {
      let isCaughtUp = true
      if (lease.mayWork && !isAsleep(chain)) {
        const result = await exclusively(chain, () => runs.pass(chain))
        isCaughtUp = result?.isCaughtUp ?? true
        if (isCaughtUp && result !== undefined) await compare(chain)
      }
      if (isCaughtUp && !isClosed) await pause(chain)
    }
  }

  /** Every endpoint is left alone for a while: asking would only say so again. */
  function isAsleep({ rpcs }: Chain): boolean {
    return rpcs.standings().every(({ isBenched }) => isBenched)
  }

  function pause(chain: Chain): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, chain.pollMs)
      chain.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** What is due beside new blocks: a range from a second endpoint, a look at all valid records. */
  async function compare(chain: Chain): Promise<void> {
    if (now() - chain.auditMs >= limits.auditMs) {
      const missed = await exclusively(chain, () => chain.audit.step()).catch((error: Error) => {
        onEvent({ kind: 'problem', chainId: chain.chainId, message: error.message })
        return undefined
      })
      // A range that was left to compare is followed by the next at once, until the end.
      if (missed === undefined) chain.auditMs = now()
    }
    if (now() - chain.sweepMs >= limits.sweepMs) await runs.sweep(chain, () => isClosed)
  }

  /** @returns false when it failed */
  async function catchUp(chain: Chain, onCount: (inserted: number) => void = () => {}): Promise<boolean> {
    for (;;) {
      const result = await exclusively(chain, () => runs.pass(chain))
      if (result === undefined) return false
      onCount(result.inserted)
      if (result.isCaughtUp || isClosed) return true
    }
  }

  async function syncOne(chainId: number, waitMs: number): Promise<SyncOutcome> {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    if (chain === undefined) return { state: 'failed', reason: `chain ${chainId} has no RPC` }
    if (chain.isReading) return { state: 'busy', reason: 'the chain is being read' }
    let count = 0
    const job = await begin(`chain ${chainId}`, () =>
      catchUp(chain, (inserted) => {
        count += inserted
      }),
    )
    if ('state' in job) return job
    let timer: NodeJS.Timeout | undefined
    const waited = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, waitMs, 'late')
    })
    const end = await Promise.race([job.end, waited])
    clearTimeout(timer)
    if (end === 'late') return { state: 'continues', count }
    return end ? { state: 'done', count } : { state: 'failed', reason: 'the chain or the store does not answer' }
  }

  async function inBackground(name: string, run: () => Promise<void>): Promise<SyncOutcome> {
    const job = await begin(name, run)
    return 'state' in job ? job : { state: 'started' }
  }

  /** Begins a job unless the same one, or another process, is at it. Also while the chains are not to be read by themselves. */
  async function begin<T>(
    name: string,
    run: () => Promise<T>,
  ): Promise<Extract<SyncOutcome, { state: 'busy' | 'failed' }> | { readonly end: Promise<T> }> {
    if (jobs.has(name)) return { state: 'busy', reason: 'it was asked for before and is under way' }
    jobs.add(name)
    const release = await lease.holdForJob()
    if (release === undefined) {
      jobs.delete(name)
      return { state: 'busy', reason: 'another process of this deployment reads the chains' }
    }
    const end = run().finally(() => {
      jobs.delete(name)
      release()
    })
    return { end }
  }
}
