import type { SyncKind, SyncOperations, SyncStatus } from '../sync-messages.ts'
import type { Database, Session } from './database.ts'
import { noteProgress } from './sync-writes.ts'

type Operation<O extends keyof SyncOperations> = (
  argument: SyncOperations[O]['argument'],
) => Promise<SyncOperations[O]['result']>

/** Errors kept for each chain. */
const ERRORS_KEPT = 100
const ISO = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

/** Runs, errors, the lease: what the synchronisation says of itself. Everything is in the database, so every node says the same. */
export function createSyncControl(database: Database): {
  readonly [O in 'beginRun' | 'endRun' | 'syncStatus' | 'wantWorker' | 'lease']: Operation<O>
} {
  return {
    async beginRun({ kind, chainId }) {
      await database.transaction((session) =>
        session.query('insert into sync_run (kind, chain_id) values ($1, $2) on conflict do nothing', [kind, chainId]),
      )
      return undefined
    },

    async endRun({ run, progress, errors }) {
      const { kind, chainId, ok, count, revoked, startedMs, endedMs } = run
      await database.transaction(async (session) => {
        await session.query('delete from sync_run where kind = $1 and chain_id = $2', [kind, chainId])
        await session.query(
          `update sync_counter set total = total + 1, failed = failed + $2::bigint, counted = counted + $3::bigint,
             revoked = revoked + $4::bigint, last_end = to_timestamp($5::double precision / 1000), last_duration_ms = $6::bigint,
             last_success = case when $2::bigint = 0 then to_timestamp($5::double precision / 1000) else last_success end
           where kind = $1`,
          [kind, ok ? 0 : 1, count, revoked, endedMs, Math.max(0, Math.round(endedMs - startedMs))],
        )
        if (progress !== undefined) await noteProgress(session, chainId, progress)
        if (kind === 'attestations') {
          await session.query(
            `insert into chain_sync (chain_id, last_ingested) values ($1, $2)
             on conflict (chain_id) do update set last_ingested = excluded.last_ingested`,
            [chainId, count],
          )
        }
        if (errors.length > 0) await noteErrors(session, chainId, endedMs, errors)
      })
      return undefined
    },

    syncStatus: ({ recentErrors }) => database.readTransaction((session) => readStatus(session, recentErrors)),

    async wantWorker({ isDesired }) {
      await database.transaction((session) => session.query('update sync_worker set desired = $1', [isDesired]))
      return undefined
    },

    lease: ({ owner, holdMs, always }) =>
      database.transaction(async (session) => {
        const [row] =
          holdMs === 0
            ? await session.query(
                'update sync_worker set owner = null, held_until = null, started_at = null where owner = $1 returning false as held, desired',
                [owner],
              )
            : await session.query(
                `update sync_worker set owner = $1, held_until = clock_timestamp() + make_interval(secs => $2::double precision / 1000),
                   started_at = case when owner = $1 and started_at is not null then started_at else clock_timestamp() end
                 where (desired or $3) and (owner is null or owner = $1 or held_until < clock_timestamp()) returning true as held, desired`,
                [owner, holdMs, always],
              )
        if (row !== undefined) return { isHeld: row['held'] as boolean, isDesired: row['desired'] as boolean }
        const [state] = await session.query('select desired from sync_worker')
        return { isHeld: false, isDesired: state!['desired'] as boolean }
      }),
  }
}

async function noteErrors(session: Session, chainId: number, atMs: number, errors: readonly string[]): Promise<void> {
  await session.query(
    `insert into sync_error (chain_id, at, message)
     select $1::bigint, to_timestamp($2::double precision / 1000), message from unnest($3::text[]) as message`,
    [chainId, atMs, errors],
  )
  await session.query(
    `delete from sync_error where chain_id = $1 and id <= (
       select id from sync_error where chain_id = $1 order by id desc offset $2::bigint limit 1
     )`,
    [chainId, ERRORS_KEPT],
  )
}

async function readStatus(session: Session, recentErrors: number): Promise<SyncStatus> {
  const [worker] = await session.query(
    `select desired, coalesce(held_until >= clock_timestamp(), false) as held, to_char(started_at, '${ISO}') as started,
       coalesce(floor(extract(epoch from clock_timestamp() - started_at)), 0)::int as uptime from sync_worker`,
  )
  const isHeld = worker!['held'] as boolean
  const runs = await session.query(
    `select kind, total::int, failed::int, counted::int, revoked::int, to_char(last_success, '${ISO}') as last_success,
       to_char(last_end, '${ISO}') as last_end, last_duration_ms::int,
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
    `select chain_id::text, to_char(at, '${ISO}') as at, message from sync_error order by sync_error.at desc, id desc limit $1::bigint`,
    [recentErrors],
  )
  const number = (value: unknown) => (value === null || value === undefined ? null : Number(value))
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
      // What a process began that is gone is not under way.
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
      block: number(row['block_number']),
      blockHash: row['block_hash'] as string | null,
      finalized: number(row['finalized']),
      head: number(row['head']),
      headSeconds: number(row['head_seconds']),
      auditedTo: number(row['audited_to']),
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
