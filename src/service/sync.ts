import type { Chain } from '../attest/chains.ts'
import type { Config } from '../config.ts'
import { ProblemError } from '../problem.ts'
import type { SyncKind, SyncOutcome, SyncStatus } from '../sync-messages.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import { readSyncParameter } from '../validation/sync-query.ts'
import { type RecordQuestion, recordsUnavailable } from './record-questions.ts'
import type { SyncAnswer, SyncService } from './record-services.ts'

export interface SyncServiceParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly chainClient: Pick<ChainClient, 'sync' | 'serves'> | undefined
  readonly ask: RecordQuestion
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

const RECENT_ERRORS = 10
const RETRY_SECONDS = 5

/** What the sync API answers. What it says of itself stands in the database, so that every process says the same. */
export function createSyncService({ config, chains, chainClient, ask, now }: SyncServiceParts): SyncService {
  const served = [...chains.values()].filter(({ id }) => chainClient?.serves(id) === true)
  const nameOf = (chainId: number) => chains.get(chainId)?.name ?? `chain-${chainId}`

  return {
    async trigger(search) {
      const name = readSyncParameter(search, 'chain')
      const client = reader()
      if (name === undefined) {
        expectStart(await client.sync({ kind: 'all' }), 'Sync is already running')
        return success(202, { message: 'Full sync cycle started' })
      }
      const chain = [...chains.values()].find((candidate) => candidate.name === name)
      if (chain === undefined) throw refusal('Invalid chain parameter', `Supported chains: ${namesOf(chains.values())}`)
      if (!client.serves(chain.id)) {
        throw refusal(
          'Invalid chain parameter',
          `${name} has no RPC here (RPC_URL_${chain.id}). Supported chains: ${namesOf(served)}`,
        )
      }
      const outcome = await client.sync({ kind: 'chain', chainId: chain.id, waitMs: config.limits.syncWaitMs })
      if (outcome.state === 'busy' || outcome.state === 'failed') throw notDone(outcome, 'Sync is already running')
      const count = 'count' in outcome ? outcome.count : 0
      return outcome.state === 'continues'
        ? success(202, { message: `Sync of ${name} goes on`, chain: name, count })
        : success(200, { message: `Synced ${count} attestations from ${name}`, chain: name, count })
    },

    async revocations() {
      expectStart(await reader().sync({ kind: 'revocations' }), 'Revocation check is already running')
      return success(202, { message: 'Revocation check started' })
    },

    async worker(search, context) {
      const action = readSyncParameter(search, 'action')
      if (action !== 'start' && action !== 'stop')
        throw refusal('Invalid action parameter', 'Supported actions: start, stop')
      const client = reader()
      const isDesired = action === 'start'
      const before = await ask('syncStatus', { recentErrors: 0 }, context)
      await ask('wantWorker', { isDesired }, context)
      await client.sync({ kind: 'refresh' })
      const word = isDesired ? 'running' : 'stopped'
      const message =
        before.worker.isDesired === isDesired
          ? `Worker is already ${word}`
          : isDesired
            ? 'Worker started'
            : 'Worker stopped'
      return success(200, { message })
    },

    async status(context) {
      try {
        return {
          status: 200,
          json: JSON.stringify(statusOf(await ask('syncStatus', { recentErrors: RECENT_ERRORS }, context))),
        }
      } catch (error) {
        const why = error instanceof ProblemError ? error.data.detail : 'the status could not be read'
        return {
          status: 500,
          json: JSON.stringify({ status: 'error', message: 'Failed to get sync status', error: why }),
        }
      }
    },
  }

  /** @throws {ProblemError} when nothing is read here */
  function reader(): Pick<ChainClient, 'sync' | 'serves'> {
    if (!config.records) throw recordsUnavailable('this deployment keeps no records (RECORDS=0)')
    if (!config.sync) throw refusal('Sync is off', 'this deployment does not read chains (SYNC=0)')
    if (chainClient !== undefined) return chainClient
    throw refusal('No chain is configured', 'set RPC_URL_<chainId> for the chains that shall be read')
  }

  function statusOf({ worker, runs, chains: known, errors }: SyncStatus): object {
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
        totalIngested: known.reduce((sum, { records }) => sum + records, 0),
        byChain: Object.fromEntries(known.map(({ chainId, records }) => [nameOf(chainId), records])),
        lastRunIngested: Object.fromEntries(known.map(({ chainId, lastIngested }) => [nameOf(chainId), lastIngested])),
      },
      revocationChecks: {
        lastRun: revocations?.lastEndAt ?? null,
        totalChecked: revocations?.counted ?? 0,
        totalRevoked: revocations?.revoked ?? 0,
      },
      supportedChains: served.map(({ name }) => name).sort(),
      recentErrors: errors.map(({ at, message, chainId }) => ({ timestamp: at, message, chain: nameOf(chainId) })),
      chains: Object.fromEntries(known.map((chain) => [nameOf(chain.chainId), chainOf(chain)])),
    }
  }

  function chainOf(chain: SyncStatus['chains'][number]): object {
    const { block, head, headSeconds } = chain
    return {
      block,
      blockHash: chain.blockHash,
      finalized: chain.finalized,
      head,
      lagBlocks: head === null || block === null ? null : Math.max(0, head - block),
      lagSeconds: headSeconds === null ? null : Math.max(0, Math.floor(now() / 1000) - headSeconds),
      auditedTo: chain.auditedTo,
      quarantined: chain.quarantined,
      reorgs: chain.reorgs,
      deepestReorg: chain.deepestReorg,
    }
  }
}

function success(status: number, members: object): SyncAnswer {
  return { status, json: JSON.stringify({ status: 'success', ...members }) }
}

function expectStart(outcome: SyncOutcome, busyMessage: string): void {
  if (outcome.state === 'busy' || outcome.state === 'failed') throw notDone(outcome, busyMessage)
}

function notDone(
  { state, reason }: Extract<SyncOutcome, { state: 'busy' | 'failed' }>,
  busyMessage: string,
): ProblemError {
  return state === 'busy'
    ? new ProblemError({ type: 'conflict', message: busyMessage, detail: reason })
    : new ProblemError({ type: 'internal', message: 'Sync failed', detail: reason, retryAfterSeconds: RETRY_SECONDS })
}

function refusal(message: string, detail: string): ProblemError {
  return new ProblemError({ type: 'invalid-input', message, detail })
}

function namesOf(chains: Iterable<Chain>): string {
  return [...chains].map(({ name }) => name).join(', ')
}
