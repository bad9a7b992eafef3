import type { Chain } from '../../attest/chains.ts'
import type { SyncKind, SyncStatus } from '../../wire/sync-messages.ts'

/**
 * Returns the body of `GET /api/sync/status`.
 *
 * @param supported names of the chains that this process reads
 * @param nowMs milliseconds since the epoch
 */
export function syncStatusBody(
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
