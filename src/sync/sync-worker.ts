import type { RecordStore } from '../wire/store-messages.ts'
import type { SyncAction, SyncEvent, SyncKind, SyncOperations, SyncOutcome } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { Audit } from './audit.ts'
import type { ChainSync, PassResult } from './chain-sync.ts'
import type { HeadComparison } from './head-comparison.ts'
import { Leases } from './lease.ts'
import type { RpcList } from './rpc-list.ts'
import type { Sweep } from './sweep.ts'

/** The tasks that read one chain. They share one position, so only one of them may run at a time. */
export interface ChainTasks {
  readonly sync: ChainSync
  readonly comparison: HeadComparison
  readonly audit: Audit
  readonly sweep: Sweep
}

/** A chain as the worker receives it. */
export interface SyncedChain extends ChainTasks {
  readonly chainId: number
  readonly pollMs: number
  readonly rpcs: RpcList
  /** Returns and clears the problems reported since the last call. */
  readonly takeProblems: () => string[]
}

/** A chain with the state of its work. */
interface SyncedChainState extends SyncedChain {
  /** The running task; the next one waits for it. */
  busy: Promise<unknown>
  /** The running comparison with a second endpoint. It is busy only while it stores logs. */
  comparing: Promise<void> | undefined
  isReading: boolean
  lastStoredMs: number
  lastAuditMs: number
  lastSweepMs: number
  wake: () => void
}

interface SyncWorkerParts {
  readonly chains: readonly SyncedChain[]
  readonly store: Pick<RecordStore, 'beginRun' | 'endRun' | 'lease'>
  /** A name that is unique to this process. */
  readonly owner: string
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly limits: SyncWorkerLimits
  readonly onEvent: (event: SyncEvent) => void
}

interface SyncWorkerLimits {
  readonly stepsPerPass: number
  readonly leaseMs: number
  readonly auditMs: number
  readonly sweepMs: number
}

type EndedRun = SyncOperations['endRun']['argument']

/** Passes that find nothing are stored at most this often. */
const IDLE_STORE_MS = 5000

/** Keeps the records up to date with the chains. Each chain has an independent loop. */
export class SyncWorker {
  readonly #store: SyncWorkerParts['store']
  readonly #now: () => number
  readonly #limits: SyncWorkerLimits
  readonly #onEvent: (event: SyncEvent) => void
  readonly #chains: readonly SyncedChainState[]
  readonly #leases: Leases
  /** Names of the requested jobs that are running. */
  readonly #jobs = new Set<string>()
  readonly #loops: readonly Promise<void>[]
  #isClosed = false

  constructor({ chains, store, owner, now, limits, onEvent }: SyncWorkerParts) {
    this.#store = store
    this.#now = now
    this.#limits = limits
    this.#onEvent = onEvent
    this.#chains = chains.map((chain) => ({
      ...chain,
      busy: Promise.resolve(),
      comparing: undefined,
      isReading: false,
      lastStoredMs: 0,
      lastAuditMs: now(),
      // The first sweep comes soon after the start, because the process may have been down for long.
      lastSweepMs: now() - limits.sweepMs + 10 * limits.auditMs,
      wake: () => {},
    }))
    this.#leases = new Leases({
      store,
      owner,
      chainIds: chains.map(({ chainId }) => chainId),
      holdMs: limits.leaseMs,
      onChange: (chainIds) => this.#onLeaseChange(chainIds),
      onStopped: () => onEvent({ type: 'stopped' }),
      idle: (chainId) => this.#chains.find((chain) => chain.chainId === chainId)!.busy,
    })
    this.#loops = this.#chains.map((chain) => this.#loop(chain))
  }

  async act(action: SyncAction): Promise<SyncOutcome> {
    switch (action.type) {
      case 'chain':
        return this.#syncOne(action.chainId, action.waitMs)
      case 'all':
        return this.#inBackground('all', (chain) => this.#catchUp(chain))
      case 'revocations':
        return this.#inBackground('revocations', (chain) => this.#sweep(chain))
      case 'refresh':
        await this.#leases.renew()
        return { state: 'started' }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const chain of this.#chains) chain.wake()
    await Promise.all(this.#loops)
    await Promise.all(this.#chains.map(({ comparing }) => comparing))
    await this.#leases.close()
  }

  /** Returns the generation that each write for a chain contains. The store rejects a write unless its generation is the newest. */
  leaseGeneration(chainId: number): number {
    return this.#leases.generation(chainId)
  }

  /** Reports which chains this process now reads, and lets the loops notice it at once. */
  #onLeaseChange(chainIds: readonly number[]): void {
    this.#onEvent({ type: 'lead', chainIds })
    for (const chain of this.#chains) chain.wake()
  }

  /** Runs passes over a chain until the worker is closed. */
  async #loop(chain: SyncedChainState): Promise<void> {
    while (!this.#isClosed) {
      let isCaughtUp = true
      if (this.#leases.mayRead(chain.chainId) && !this.#isSuspended(chain)) {
        const result = await this.#exclusively(chain, () => this.#pass(chain))
        isCaughtUp = result?.isCaughtUp ?? true
        if (isCaughtUp && result !== undefined) await this.#compare(chain)
      }
      if (isCaughtUp && !this.#isClosed) await this.#pause(chain)
    }
  }

  /** Tells whether every endpoint is suspended, so that a pass could only fail. */
  #isSuspended({ rpcs }: SyncedChainState): boolean {
    return rpcs.statuses().every(({ isSuspended }) => isSuspended)
  }

  /** Waits for the polling interval of a chain, or until `wake` is called. */
  #pause(chain: SyncedChainState): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, chain.pollMs)
      chain.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Starts the comparison of new blocks with a second endpoint, and runs what is due: an audit step, and a sweep of all valid records. */
  async #compare(chain: SyncedChainState): Promise<void> {
    // A silent second endpoint must not delay the next pass.
    chain.comparing ??= this.#try(chain, () => chain.comparison.step((run) => this.#exclusively(chain, run))).finally(
      () => {
        chain.comparing = undefined
      },
    )
    if (this.#now() - chain.lastAuditMs >= this.#limits.auditMs) {
      const missed = await this.#try(chain, () => this.#exclusively(chain, () => chain.audit.step()))
      // After an audited range the next follows immediately, until there is none left.
      if (missed === undefined) chain.lastAuditMs = this.#now()
    }
    if (this.#now() - chain.lastSweepMs >= this.#limits.sweepMs) await this.#sweep(chain)
  }

  /** Runs a task. If it fails, reports the error and returns undefined. */
  #try<T>(chain: SyncedChainState, run: () => Promise<T>): Promise<T | undefined> {
    return run().catch((error: Error) => {
      this.#onEvent({ type: 'problem', chainId: chain.chainId, message: error.message })
      return undefined
    })
  }

  /** Runs one task at a time on a chain. */
  #exclusively<T>(chain: SyncedChainState, run: () => Promise<T>): Promise<T> {
    const result = chain.busy.then(run)
    chain.busy = result.catch(() => {})
    return result
  }

  /** Runs one pass and stores its outcome. Returns undefined when it failed. */
  async #pass(chain: SyncedChainState): Promise<PassResult | undefined> {
    const { chainId } = chain
    const startedMs = this.#now()
    // Not when the outcome is stored: by then, another process may have read the chain further.
    const leaseGeneration = this.leaseGeneration(chainId)
    let result: PassResult | undefined
    const errors: string[] = []
    try {
      result = await chain.sync.pass(this.#limits.stepsPerPass, async () => {
        chain.isReading = true
        await this.#store.beginRun({ kind: 'attestations', chainId, leaseGeneration })
      })
    } catch (error) {
      errors.push((error as Error).message)
    }
    const { isReading } = chain
    chain.isReading = false
    this.#reportProblems(chain, errors)
    if (result !== undefined) this.#reportPass(chainId, result)
    if (isReading || errors.length > 0 || this.#now() - chain.lastStoredMs > IDLE_STORE_MS) {
      chain.lastStoredMs = this.#now()
      const progress = result && { progress: { head: result.head, headSeconds: result.headSeconds } }
      const run = { ok: result !== undefined, count: result?.inserted ?? 0, revoked: 0, startedMs }
      await this.#storeRun(chain, 'attestations', run, { leaseGeneration, errors, ...progress })
    }
    return result
  }

  #reportPass(chainId: number, { beganAt, block, head, inserted, revoked, rolledBack }: PassResult): void {
    if (beganAt !== undefined) this.#onEvent({ type: 'began', chainId, from: beganAt, block, head })
    if (inserted > 0 || revoked > 0 || rolledBack > 0)
      this.#onEvent({ type: 'progress', chainId, inserted, revoked, rolledBack, block, head })
  }

  /** Adds the problems of a chain's tasks to the errors, and reports all of them. */
  #reportProblems(chain: SyncedChainState, errors: string[]): void {
    errors.push(...chain.takeProblems())
    for (const message of errors) this.#onEvent({ type: 'problem', chainId: chain.chainId, message })
  }

  async #storeRun(
    { chainId }: SyncedChainState,
    kind: SyncKind,
    run: Omit<EndedRun['run'], 'kind' | 'chainId' | 'endedMs'>,
    rest: Omit<EndedRun, 'run'>,
  ): Promise<void> {
    try {
      await this.#store.endRun({ run: { kind, chainId, endedMs: this.#now(), ...run }, ...rest })
    } catch (error) {
      const message = `the outcome of a run could not be stored: ${(error as Error).message}`
      this.#onEvent({ type: 'problem', chainId, message })
    }
  }

  /** Compares all valid records of a chain with the contract. Passes may run between two pieces. */
  async #sweep(chain: SyncedChainState): Promise<void> {
    chain.lastSweepMs = this.#now()
    const run = { ok: true, count: 0, revoked: 0, startedMs: this.#now() }
    const errors: string[] = []
    try {
      const leaseGeneration = this.leaseGeneration(chain.chainId)
      await this.#store.beginRun({ kind: 'revocations', chainId: chain.chainId, leaseGeneration })
      let after: Hex | null = null
      do {
        const piece = await this.#exclusively(chain, () => chain.sweep.piece(after))
        run.count += piece.checked
        run.revoked += piece.revoked
        after = piece.next
      } while (after !== null && !this.#isClosed)
    } catch (error) {
      run.ok = false
      errors.push((error as Error).message)
    }
    this.#reportProblems(chain, errors)
    await this.#storeRun(chain, 'revocations', run, { leaseGeneration: this.leaseGeneration(chain.chainId), errors })
  }

  /** Reads a chain until it is caught up. Returns false when a pass failed. */
  async #catchUp(chain: SyncedChainState, onCount: (inserted: number) => void = () => {}): Promise<boolean> {
    for (;;) {
      const result = await this.#exclusively(chain, () => this.#pass(chain))
      if (result === undefined) return false
      onCount(result.inserted)
      if (result.isCaughtUp || this.#isClosed) return true
    }
  }

  /** Reads one chain on request. If that takes longer than `waitMs`, it continues in the background. */
  async #syncOne(chainId: number, waitMs: number): Promise<SyncOutcome> {
    const chain = this.#chains.find((candidate) => candidate.chainId === chainId)
    if (chain === undefined) return { state: 'failed', reason: `chain ${chainId} has no RPC` }
    if (chain.isReading) return { state: 'busy', reason: 'the chain is being read' }
    let count = 0
    const job = await this.#begin(`chain ${chainId}`, [chain], () =>
      this.#catchUp(chain, (inserted) => {
        count += inserted
      }),
    )
    if ('state' in job) return job
    let timer: NodeJS.Timeout | undefined
    const timeout = new Promise<'late'>((resolve) => {
      timer = setTimeout(resolve, waitMs, 'late')
    })
    const end = await Promise.race([job.end, timeout])
    clearTimeout(timer)
    if (end === 'late') return { state: 'continues', count }
    return end ? { state: 'done', count } : { state: 'failed', reason: 'the chain or the store does not answer' }
  }

  /** Starts a job that runs for every chain that this process reads. */
  async #inBackground(name: string, run: (chain: SyncedChainState) => Promise<unknown>): Promise<SyncOutcome> {
    const job = await this.#begin(name, this.#chains, (held) => Promise.all(held.map(run)))
    return 'state' in job ? job : { state: 'started' }
  }

  /** Begins a job unless the same job is running or other processes read all its chains. Works even while the worker is stopped. */
  async #begin<T>(
    name: string,
    chains: readonly SyncedChainState[],
    run: (held: readonly SyncedChainState[]) => Promise<T>,
  ): Promise<Extract<SyncOutcome, { state: 'busy' | 'failed' }> | { readonly end: Promise<T> }> {
    if (this.#jobs.has(name)) return { state: 'busy', reason: 'the same request is already running' }
    this.#jobs.add(name)
    const job = await this.#leases.holdForJob(chains.map(({ chainId }) => chainId))
    if (job.held.length === 0) {
      this.#jobs.delete(name)
      return { state: 'busy', reason: 'another process of this deployment reads the chains' }
    }
    const end = run(chains.filter(({ chainId }) => job.held.includes(chainId))).finally(() => {
      this.#jobs.delete(name)
      job.end()
    })
    return { end }
  }
}
