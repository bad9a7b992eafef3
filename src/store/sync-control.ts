import type { SyncKind, SyncOperations, SyncStatus } from '../wire/sync-messages.ts'
import { holdGeneration } from './chain-leases.ts'
import type { Database, Session } from './database.ts'
import { storeProgress } from './sync-rows.ts'

type Operation<O extends keyof SyncOperations> = (
  argument: SyncOperations[O]['argument'],
) => Promise<SyncOperations[O]['result']>

/** Errors kept per chain. */
const MAX_ERRORS = 100
const ISO_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

/** Creates the operations for runs and errors. All of it is in the database, so every process reports the same. */
export function createSyncControl(database: Database): {
  readonly [O in 'beginRun' | 'endRun' | 'syncStatus' | 'setWorkerDesired']: Operation<O>
} {
  return {
    async beginRun({ kind, chainId, leaseGeneration }) {
      await database.transaction(async (session) => {
        if (!(await holdGeneration(session, chainId, leaseGeneration))) return
        await session.query('insert into sync_run (kind, chain_id) values ($1, $2) on conflict do nothing', [
          kind,
          chainId,
        ])
      })
      return undefined
    },

    async endRun({ run, leaseGeneration, progress, errors }) {
      const { kind, chainId, ok, count, revoked, startedMs, endedMs } = run
      await database.transaction(async (session) => {
        if (!(await holdGeneration(session, chainId, leaseGeneration))) return
        await session.query('delete from sync_run where kind = $1 and chain_id = $2', [kind, chainId])
        await session.query(
          `update sync_counter set total = total + 1, failed = failed + $2::bigint, counted = counted + $3::bigint,
             revoked = revoked + $4::bigint, last_end = to_timestamp($5::double precision / 1000), last_duration_ms = $6::bigint,
             last_success = case when $2::bigint = 0 then to_timestamp($5::double precision / 1000) else last_success end
           where kind = $1`,
          [kind, ok ? 0 : 1, count, revoked, endedMs, Math.max(0, Math.round(endedMs - startedMs))],
        )
        if (progress !== undefined) await storeProgress(session, chainId, progress)
        if (kind === 'attestations') {
          await session.query(
            `insert into chain_sync (chain_id, last_ingested) values ($1, $2)
             on conflict (chain_id) do update set last_ingested = excluded.last_ingested`,
            [chainId, count],
          )
        }
        if (errors.length > 0) await storeErrors(session, chainId, endedMs, errors)
      })
      return undefined
    },

    syncStatus: ({ recentErrors }) => database.readTransaction((session) => readStatus(session, recentErrors)),

    async setWorkerDesired({ isDesired }) {
      await database.transaction((session) => session.query('update sync_worker set desired = $1', [isDesired]))
      return undefined
    },
  }
}

async function storeErrors(session: Session, chainId: number, atMs: number, errors: readonly string[]): Promise<void> {
  await session.query(
    `insert into sync_error (chain_id, at, message)
     select $1::bigint, to_timestamp($2::double precision / 1000), message from unnest($3::text[]) as message`,
    [chainId, atMs, errors],
  )
  await session.query(
    `delete from sync_error where chain_id = $1 and id <= (
       select id from sync_error where chain_id = $1 order by id desc offset $2::bigint limit 1
     )`,
    [chainId, MAX_ERRORS],
  )
}

async function readStatus(session: Session, recentErrors: number): Promise<SyncStatus> {
  const [worker] = await session.query(
    `select desired, started is not null as held, to_char(started, '${ISO_FORMAT}') as started,
       coalesce(floor(extract(epoch from clock_timestamp() - started)), 0)::int as uptime
     from sync_worker, (select min(started_at) as started from chain_lease join sync_process using (owner)
       where held_until >= clock_timestamp()) as lease`,
  )
  const isHeld = worker!['held'] as boolean
  const runs = await session.query(
    `select kind, total::int, failed::int, counted::int, revoked::int, to_char(last_success, '${ISO_FORMAT}') as last_success,
       to_char(last_end, '${ISO_FORMAT}') as last_end, last_duration_ms::int,
       (select count(*) from sync_run where sync_run.kind = sync_counter.kind)::int as open
     from sync_counter order by kind`,
  )
  const chains = await session.query(
    `select chain_id::text, coalesce(records, 0)::int as records, coalesce(last_ingested, 0)::int as last_ingested, block_number::text,
       block_hash, finalized::text, head::text, head_seconds::text, audited_to::text, coalesce(reorgs, 0)::int as reorgs,
       coalesce(deepest_reorg, 0)::int as deepest,
       (select count(*) from quarantine where quarantine.chain_id = chain_sync.chain_id)::int as quarantined
     from chain_sync full join record_counter using (chain_id) full join chain_checkpoint using (chain_id) order by chain_id`,
  )
  const errors = await session.query(
    `select chain_id::text, to_char(at, '${ISO_FORMAT}') as at, message from sync_error order by sync_error.at desc, id desc limit $1::bigint`,
    [recentErrors],
  )
  const toNumber = (value: unknown) => (value === null || value === undefined ? null : Number(value))
  return {
    worker: {
      isDesired: worker!['desired'] as boolean,
      isHeld,
      startedAt: isHeld ? (worker!['started'] as string | null) : null,
      uptimeSeconds: isHeld ? (worker!['uptime'] as number) : 0,
    },
    runs: runs.map((row) => ({
      kind: row['kind'] as SyncKind,
      total: row['total'] as number,
      failed: row['failed'] as number,
      // If no process holds a lease, open runs belong to a process that has ended.
      open: isHeld ? (row['open'] as number) : 0,
      lastSuccessAt: row['last_success'] as string | null,
      lastEndAt: row['last_end'] as string | null,
      lastDurationMs: row['last_duration_ms'] as number | null,
      counted: row['counted'] as number,
      revoked: row['revoked'] as number,
    })),
    chains: chains.map((row) => ({
      chainId: Number(row['chain_id']),
      records: row['records'] as number,
      lastIngested: row['last_ingested'] as number,
      block: toNumber(row['block_number']),
      blockHash: row['block_hash'] as string | null,
      finalized: toNumber(row['finalized']),
      head: toNumber(row['head']),
      headSeconds: toNumber(row['head_seconds']),
      auditedTo: toNumber(row['audited_to']),
      quarantined: row['quarantined'] as number,
      reorgs: row['reorgs'] as number,
      deepestReorg: row['deepest'] as number,
    })),
    errors: errors.map((row) => ({
      chainId: Number(row['chain_id']),
      at: row['at'] as string,
      message: row['message'] as string,
    })),
  }
}
