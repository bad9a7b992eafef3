import type { Chain } from '../../attest/chains.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import { readSyncParameter } from '../../validation/feed-query.ts'
import type { SyncKind, SyncOutcome, SyncStatus } from '../../wire/sync-messages.ts'
import type { EventSink, SyncResponse, SyncService } from '../records/record-services.ts'
import { recordsUnavailable, type StoreAccess } from '../records/store-access.ts'
import type { RequestContext } from '../request.ts'

/**
 * Returns the body of `GET /api/sync/status`.
 *
 * @param supported names of the chains that this process reads
 * @param nowMs milliseconds since the epoch
 */
function syncStatusBody(
  { worker, runs, chains: stored, errors }: SyncStatus,
  chains: ReadonlyMap<number, Chain>,
  supported: readonly string[],
  nowMs: number,
): object {
  const chainName = (chainId: number) => chains.get(chainId)?.name ?? `chain-${chainId}`
  const run = (kind: SyncKind) => runs.find((candidate) => candidate.kind === kind)
  const [attestations, revocations] = [run('attestations'), run('revocations')]
  const total = attestations?.total ?? 0
  const failed = attestations?.failed ?? 0
  const durationMs = attestations?.lastDurationMs ?? null
  return {
    status: 'ok',
    worker: {
      running: worker.isDesired && worker.isHeld,
      isAttestationSyncRunning: (attestations?.open ?? 0) > 0,
      isRevocationCheckRunning: (revocations?.open ?? 0) > 0,
      startTime: worker.startedAt,
      uptime: worker.uptimeSeconds,
      lastSuccessfulRun: attestations?.lastSuccessAt ?? null,
      lastRunDuration: durationMs === null ? null : `${(durationMs / 1000).toFixed(2)}s`,
      totalRuns: total + (attestations?.open ?? 0),
      successfulRuns: total - failed,
      failedRuns: failed,
    },
    attestations: {
      totalIngested: stored.reduce((sum, { records }) => sum + records, 0),
      byChain: Object.fromEntries(stored.map(({ chainId, records }) => [chainName(chainId), records])),
      lastRunIngested: Object.fromEntries(
        stored.map(({ chainId, lastIngested }) => [chainName(chainId), lastIngested]),
      ),
    },
    revocationChecks: {
      lastRun: revocations?.lastEndAt ?? null,
      totalChecked: revocations?.counted ?? 0,
      totalRevoked: revocations?.revoked ?? 0,
    },
    supportedChains: supported,
    recentErrors: errors.map(({ at, message, chainId }) => ({ timestamp: at, message, chain: chainName(chainId) })),
    chains: Object.fromEntries(stored.map((chain) => [chainName(chain.chainId), chainStatus(chain, nowMs)])),
  }
}

function chainStatus(chain: SyncStatus['chains'][number], nowMs: number): object {
  const { block, head, headSeconds } = chain
  return {
    block,
    blockHash: chain.blockHash,
    finalized: chain.finalized === -1 ? null : chain.finalized, // -1: no block is final yet
    head,
    lagBlocks: head === null || block === null ? null : Math.max(0, head - block),
    lagSeconds: headSeconds === null ? null : Math.max(0, Math.floor(nowMs / 1000) - headSeconds),
    auditedTo: chain.auditedTo,
    quarantined: chain.quarantined,
    reorgs: chain.reorgs,
    deepestReorg: chain.deepestReorg,
  }
}

interface SyncServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly chainClient: Pick<ChainClient, 'sync' | 'serves'> | undefined
  readonly ask: StoreAccess
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const RECENT_ERRORS = 10
const RETRY_SECONDS = 5

/** Members that change all the time; a change in them alone is not sent. */
const CLOCK_MEMBERS = new Set(['uptime', 'lagSeconds'])

/** The sync API. Its state is in the database, so every process of a deployment reports the same. */
export class SyncApi implements SyncService {
  readonly #parts: SyncServiceParts
  readonly #served: readonly Chain[]
  readonly #openStreams = new Set<() => void>()

  constructor(parts: SyncServiceParts) {
    this.#parts = parts
    this.#served = [...parts.chains.values()].filter(({ id }) => parts.chainClient?.serves(id) === true)
  }

  async trigger(search: string): Promise<SyncResponse> {
    const { chains, config } = this.#parts
    const name = readSyncParameter(search, 'chain')
    const chain = name === undefined ? undefined : [...chains.values()].find((candidate) => candidate.name === name)
    if (name !== undefined && chain === undefined)
      throw invalidInput('Invalid chain parameter', `Supported chains: ${chainNames(chains.values())}`)
    const client = this.#requireClient()
    if (chain === undefined) {
      expectStart(await client.sync({ type: 'all' }), 'Sync is already running')
      return success(202, { message: 'Full sync cycle started' })
    }
    if (!client.serves(chain.id)) {
      throw invalidInput(
        'Invalid chain parameter',
        `${chain.name} has no RPC here (RPC_URL_${chain.id}). Supported chains: ${chainNames(this.#served)}`,
      )
    }
    const outcome = await client.sync({ type: 'chain', chainId: chain.id, waitMs: config.limits.syncWaitMs })
    if (outcome.state === 'busy' || outcome.state === 'failed') throw syncProblem(outcome, 'Sync is already running')
    const count = 'count' in outcome ? outcome.count : 0
    return outcome.state === 'continues'
      ? success(202, { message: `Sync of ${chain.name} continues`, chain: chain.name, count })
      : success(200, { message: `Synced ${count} attestations from ${chain.name}`, chain: chain.name, count })
  }

  async revocations(): Promise<SyncResponse> {
    expectStart(await this.#requireClient().sync({ type: 'revocations' }), 'Revocation check is already running')
    return success(202, { message: 'Revocation check started' })
  }

  async worker(search: string, { deadlineMs }: RequestContext): Promise<SyncResponse> {
    const { ask, chainClient } = this.#parts
    const action = readSyncParameter(search, 'action')
    if (action !== 'start' && action !== 'stop')
      throw invalidInput('Invalid action parameter', 'Supported actions: start, stop')
    const isDesired = action === 'start'
    // The desired state applies to all processes of a deployment, even if this process reads no chains and another one does.
    const client = isDesired ? this.#requireClient() : chainClient
    // Without `aborted`, because the action counts even if its client does not wait for the response.
    const before = await ask('syncStatus', { recentErrors: 0 }, { deadlineMs })
    await ask('setWorkerDesired', { isDesired }, { deadlineMs })
    await client?.sync({ type: 'refresh' })
    if (before.worker.isDesired === isDesired)
      return success(200, { message: `Worker is already ${isDesired ? 'running' : 'stopped'}` })
    return success(200, { message: isDesired ? 'Worker started' : 'Worker stopped' })
  }

  async status(context: RequestContext): Promise<SyncResponse> {
    try {
      return { status: 200, json: JSON.stringify(await this.#readStatus(context)) }
    } catch (error) {
      const reason = error instanceof ProblemError ? error.data.detail : 'the status could not be read'
      return {
        status: 500,
        json: JSON.stringify({ status: 'error', message: 'Failed to get sync status', error: reason }),
      }
    }
  }

  async watch(sink: EventSink): Promise<void> {
    const { maxStreamsPerClient, streamLifeMs, streamHeartbeatMs, streamPollMs } = this.#parts.config.limits
    const open = this.#openStreams.size
    if (open >= maxStreamsPerClient) throw recordsUnavailable(`${open} streams are open; try again`)
    let hasEnded = false
    let wake = () => {}
    const end = () => {
      hasEnded = true
      wake()
    }
    this.#openStreams.add(end)
    sink.onGone(end)
    const lifeTimer = setTimeout(end, streamLifeMs)
    const heartbeat = setInterval(() => sink.tryWrite(': \n\n'), streamHeartbeatMs)
    try {
      let last = ''
      let status: object | undefined = await this.#readStatusNow()
      while (!hasEnded) {
        const text =
          status === undefined
            ? last
            : JSON.stringify(status, (name, value) => (CLOCK_MEMBERS.has(name) ? undefined : value))
        if (text !== last) await sink.write(`event: status\ndata: ${JSON.stringify(status)}\n\n`)
        last = text
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, streamPollMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        status = await this.#readStatusNow().catch(() => undefined)
      }
    } finally {
      clearTimeout(lifeTimer)
      clearInterval(heartbeat)
      this.#openStreams.delete(end)
    }
  }

  close(): void {
    for (const end of this.#openStreams) end()
  }

  async #readStatus(context: Pick<RequestContext, 'deadlineMs' | 'client'>): Promise<object> {
    const { ask, chains, now } = this.#parts
    const supported = this.#served.map(({ name }) => name).sort()
    return syncStatusBody(await ask('syncStatus', { recentErrors: RECENT_ERRORS }, context), chains, supported, now())
  }

  #readStatusNow(): Promise<object> {
    const { now, config } = this.#parts
    return this.#readStatus({ deadlineMs: now() + config.limits.storeReadMs, client: undefined })
  }

  /** Returns the client of the sync thread. @throws {ProblemError} if this process reads no chains */
  #requireClient(): Pick<ChainClient, 'sync' | 'serves'> {
    const { config, chainClient } = this.#parts
    if (!config.records) throw recordsUnavailable('this deployment keeps no records (RECORDS=0)')
    if (!config.sync) throw invalidInput('Sync is off', 'this deployment does not read chains (SYNC=0)')
    if (chainClient !== undefined) return chainClient
    throw invalidInput('No chain is configured', 'set RPC_URL_<chainId> for each chain to read')
  }
}

function success(status: number, members: object): SyncResponse {
  return { status, json: JSON.stringify({ status: 'success', ...members }) }
}

function expectStart(outcome: SyncOutcome, busyMessage: string): void {
  if (outcome.state === 'busy' || outcome.state === 'failed') throw syncProblem(outcome, busyMessage)
}

function syncProblem(
  { state, reason }: Extract<SyncOutcome, { state: 'busy' | 'failed' }>,
  busyMessage: string,
): ProblemError {
  return state === 'busy'
    ? new ProblemError({ type: 'conflict', message: busyMessage, detail: reason })
    : new ProblemError({ type: 'internal', message: 'Sync failed', detail: reason, retryAfterSeconds: RETRY_SECONDS })
}

function invalidInput(message: string, detail: string): ProblemError {
  return new ProblemError({ type: 'invalid-input', message, detail })
}

function chainNames(chains: Iterable<Chain>): string {
  return [...chains].map(({ name }) => name).join(', ')
}
