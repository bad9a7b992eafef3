import type { Chain } from '../attest/chains.ts'
import type { Config } from '../config.ts'
import { ProblemError } from '../problem.ts'
import type { SyncOutcome } from '../sync-messages.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import { readSyncParameter } from '../validation/sync-query.ts'
import { type RecordQuestion, recordsUnavailable } from './record-questions.ts'
import type { SyncAnswer, SyncService } from './record-services.ts'
import type { RequestContext } from './services.ts'
import { syncStatusOf } from './sync-status.ts'
import { createSyncWatch } from './sync-watch.ts'

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
  const supported = served.map(({ name }) => name).sort()
  const read = async (context: Pick<RequestContext, 'deadlineMs'>) =>
    syncStatusOf(await ask('syncStatus', { recentErrors: RECENT_ERRORS }, context), chains, supported, now())

  return {
    async trigger(search) {
      const name = readSyncParameter(search, 'chain')
      const chain = name === undefined ? undefined : [...chains.values()].find((candidate) => candidate.name === name)
      if (name !== undefined && chain === undefined)
        throw refusal('Invalid chain parameter', `Supported chains: ${namesOf(chains.values())}`)
      const client = reader()
      if (chain === undefined) {
        expectStart(await client.sync({ kind: 'all' }), 'Sync is already running')
        return success(202, { message: 'Full sync cycle started' })
      }
      if (!client.serves(chain.id)) {
        throw refusal(
          'Invalid chain parameter',
          `${chain.name} has no RPC here (RPC_URL_${chain.id}). Supported chains: ${namesOf(served)}`,
        )
      }
      const outcome = await client.sync({ kind: 'chain', chainId: chain.id, waitMs: config.limits.syncWaitMs })
      if (outcome.state === 'busy' || outcome.state === 'failed') throw notDone(outcome, 'Sync is already running')
      const count = 'count' in outcome ? outcome.count : 0
      return outcome.state === 'continues'
        ? success(202, { message: `Sync of ${chain.name} goes on`, chain: chain.name, count })
        : success(200, { message: `Synced ${count} attestations from ${chain.name}`, chain: chain.name, count })
    },

    async revocations() {
      expectStart(await reader().sync({ kind: 'revocations' }), 'Revocation check is already running')
      return success(202, { message: 'Revocation check started' })
    },

    async worker(search, context) {
      const action = readSyncParameter(search, 'action')
      if (action !== 'start' && action !== 'stop')
        throw refusal('Invalid action parameter', 'Supported actions: start, stop')
      const isDesired = action === 'start'
      // What is wanted holds for all processes of a deployment, also for those that read chains where this one does not.
      const client = isDesired ? reader() : chainClient
      const before = await ask('syncStatus', { recentErrors: 0 }, context)
      await ask('wantWorker', { isDesired }, context)
      await client?.sync({ kind: 'refresh' })
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
        return { status: 200, json: JSON.stringify(await read(context)) }
      } catch (error) {
        const why = error instanceof ProblemError ? error.data.detail : 'the status could not be read'
        return {
          status: 500,
          json: JSON.stringify({ status: 'error', message: 'Failed to get sync status', error: why }),
        }
      }
    },
    ...createSyncWatch(config, () => read({ deadlineMs: now() + config.limits.storeReadMs })),
  }

  /** @throws {ProblemError} when nothing is read here */
  function reader(): Pick<ChainClient, 'sync' | 'serves'> {
    if (!config.records) throw recordsUnavailable('this deployment keeps no records (RECORDS=0)')
    if (!config.sync) throw refusal('Sync is off', 'this deployment does not read chains (SYNC=0)')
    if (chainClient !== undefined) return chainClient
    throw refusal('No chain is configured', 'set RPC_URL_<chainId> for the chains that shall be read')
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
