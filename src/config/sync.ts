/** Settings of the synchronisation, which turns attestations on the chains into records. */
import { REQUEST_DEADLINE_MS } from './limits.ts'
import { ConfigError, constant, derived, flag, integer, list, parsed } from './setting.ts'

export const SYNC_SETTINGS = {
  /** True: records are read from every chain that has an RPC. */
  sync: flag('SYNC', true),
  /** Addresses and CIDR ranges that may use `/api/sync`, in addition to this machine. */
  syncAllow: list('SYNC_ALLOW'),
  /** Bearer token that gives access to `/api/sync` from any address. */
  cronSecret: parsed<string | undefined>('CRON_SECRET', undefined, (value) => {
    // The message must not repeat the secret.
    if (value.length < 32) throw new ConfigError('CRON_SECRET: must have at least 32 characters')
    return value
  }),
}

export const SYNC_LIMITS = {
  /** Timeout of one RPC call while chains are read. */
  syncRpcTimeoutMs: integer('SYNC_RPC_TIMEOUT_MS', 10_000, 100, 600_000),
  /** Largest RPC response that is accepted while chains are read. */
  maxSyncResponseBytes: constant(32 * 1_048_576),
  /** Longest time that a failing RPC endpoint is suspended. */
  maxRpcSuspensionMs: constant(60_000),
  /** Polling interval of a chain's head. */
  syncPollMs: integer('SYNC_POLL_MS', 2000, 50, 3_600_000),
  /** The same for the local chain, which makes a block for each transaction. */
  syncLocalPollMs: integer('SYNC_POLL_MS', 250, 50, 3_600_000),
  /** Largest number of blocks of one `eth_getLogs` request. */
  syncRangeBlocks: integer('SYNC_RANGE_BLOCKS', 10_000, 1, 10_000_000),
  /** Largest number of blocks that are read by hash in one step. */
  syncBlocksAtOnce: constant(64),
  /** Number of logs stored in one step; exceeded only by a single block with more. */
  syncLogsAtOnce: constant(2000),
  /** Ranges stored in one pass over a chain. */
  syncStepsPerPass: constant(20),
  maxAttestationBytes: integer('MAX_ATTESTATION_BYTES', 1_048_576, 1024, 64 * 1_048_576),
  /** How long the process that reads the chains may be silent before another process takes over. */
  syncLeaseMs: integer('SYNC_LEASE_MS', 3000, 300, 600_000),
  /** Interval between comparisons of all valid records with their chain. */
  syncSweepMs: integer('SYNC_SWEEP_MS', 3_600_000, 1000, 86_400_000),
  /** Interval between audits, each of which reads one range of blocks from a second endpoint. */
  syncAuditMs: integer('SYNC_AUDIT_MS', 10_000, 10, 86_400_000),
  /** How long `POST /api/sync?chain=` waits for the chain to be read. The reading continues after that. */
  syncWaitMs: derived((source) => Math.floor(REQUEST_DEADLINE_MS.read(source) / 2)),
}
