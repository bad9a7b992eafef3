/** Settings of the synchronisation, which turns attestations on the chains into records. */
import { PROCESSES, REQUEST_DEADLINE_MS } from './limits.ts'
import { RECORD_SETTINGS } from './records.ts'
import { ConfigError, choice, constant, derived, flag, integer, list, parsed, type Setting } from './setting.ts'

const SYNC = flag('SYNC', true)
const ROLES = ['all', 'api', 'data', 'sync'] as const
export type Role = (typeof ROLES)[number]

const ROLE: Setting<Role> = {
  names: ['ROLE'],
  fallback: 'all',
  read(source) {
    const role = choice('ROLE', ROLES).read(source)
    if (role === 'all') return role
    if (!source.env['DATABASE_URL'] || !RECORD_SETTINGS.records.read(source)) {
      throw new ConfigError(
        `ROLE: ${role} is a part of several nodes, which share a database: set DATABASE_URL, without RECORDS=0`,
      )
    }
    if (role !== 'api' && PROCESSES.read(source) > 1) {
      throw new ConfigError(`ROLE: ${role} answers no requests of clients, so it runs in one process: remove PROCESSES`)
    }
    return role
  },
}

/** True if this node answers requests of clients. */
export function servesClients(role: Role): boolean {
  return role === 'all' || role === 'api'
}

/** True if this node computes jobs. */
export function computesJobs(role: Role): boolean {
  return role === 'all' || role === 'data'
}

/** True if this node computes anything. */
export function computes(role: Role): boolean {
  return servesClients(role) || computesJobs(role)
}

export const SYNC_SETTINGS = {
  /** What this node does of what a service does. */
  role: ROLE,
  /** True: records are read from every chain that has an RPC. */
  sync: { ...SYNC, read: (source) => SYNC.read(source) && ROLE.read(source) !== 'api' } satisfies Setting<boolean>,
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
  /** How long a process that reads a chain may be silent before another process takes over. */
  syncLeaseMs: integer('SYNC_LEASE_MS', 3000, 300, 600_000),
  /** Interval between comparisons of all valid records with their chain. */
  syncSweepMs: integer('SYNC_SWEEP_MS', 3_600_000, 1000, 86_400_000),
  /** Interval between audits, each of which reads one range of blocks from a second endpoint. */
  syncAuditMs: integer('SYNC_AUDIT_MS', 10_000, 10, 86_400_000),
  /** How long `POST /api/sync?chain=` waits for the chain to be read. The reading continues after that. */
  syncWaitMs: derived((source) => Math.floor(REQUEST_DEADLINE_MS.read(source) / 2)),
}
