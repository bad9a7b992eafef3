import type { BlockRange } from '../wire/store-messages.ts'
import type { ChainProgress, ChainSyncState, StoredLog, SyncOperations } from '../wire/sync-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { Database, Session } from './database.ts'

type Operation<O extends keyof SyncOperations> = (
  argument: SyncOperations[O]['argument'],
) => Promise<SyncOperations[O]['result']>

/** Creates the operations that the synchronisation of a chain reads with. */
export function createSyncReads(database: Database): {
  readonly [O in 'syncState' | 'known' | 'storedLogs' | 'activeRecords' | 'quarantined']: Operation<O>
} {
  const { reads } = database
  return {
    syncState: ({ chainId }) =>
      database.readTransaction(async (session): Promise<ChainSyncState> => {
        const [checkpoint] = await session.query(
          'select block_number::text, block_hash from chain_checkpoint where chain_id = $1',
          [chainId],
        )
        const knownBlocks = await session.query(
          'select number::text as at, hash from block_ladder where chain_id = $1 order by number desc',
          [chainId],
        )
        const [progress] = await session.query(
          'select coalesce(finalized, -1)::text as finalized, coalesce(audited_to, -1)::text as audited from chain_sync where chain_id = $1',
          [chainId],
        )
        return {
          checkpoint:
            checkpoint === undefined
              ? undefined
              : { number: Number(checkpoint['block_number']), hash: checkpoint['block_hash'] as Hex },
          knownBlocks: knownBlocks.map((row) => ({ number: Number(row['at']), hash: row['hash'] as Hex })),
          finalized: Number(progress?.['finalized'] ?? -1),
          auditedTo: Number(progress?.['audited'] ?? -1),
        }
      }),

    async known({ chainId, uids }) {
      const rows = await reads.query(
        `with requested as (select decode(text, 'hex') as uid from unnest($2::text[]) as text)
         select '0x' || encode(uid, 'hex') as hex from requested
         where exists (select from location_record where chain_id = $1 and location_record.uid = requested.uid)
           or exists (select from quarantine where chain_id = $1 and quarantine.uid = requested.uid)`,
        [chainId, uids.map((uid) => uid.slice(2))],
      )
      return rows.map((row) => row['hex'] as Hex)
    },

    async storedLogs({ chainId, from, to }) {
      const rows = await reads.query(
        `select kind, '0x' || encode(uid, 'hex') as hex, block::text from (
           select 'attested' as kind, uid, block_number as block from location_record where chain_id = $1 and block_number between $2 and $3
           union all select 'attested', uid, block_number from quarantine where chain_id = $1 and block_number between $2 and $3
           union all select 'revoked', uid, revoked_block from location_record where chain_id = $1 and revoked_block between $2 and $3
           union all select 'revoked', uid, revoked_block from quarantine where chain_id = $1 and revoked_block between $2 and $3
         ) as stored`,
        [chainId, from, to],
      )
      return rows.map((row) => ({
        kind: row['kind'] as 'attested' | 'revoked',
        uid: row['hex'] as Hex,
        blockNumber: Number(row['block']),
      }))
    },

    async activeRecords({ chainId, after, limit }) {
      const rows = await reads.query(
        `select '0x' || encode(uid, 'hex') as hex, block_number::text as block from location_record
         where uid > decode($2, 'hex') and chain_id = $1 and not revoked order by uid, chain_id limit $3::bigint`,
        [chainId, after === null ? '' : after.slice(2), limit],
      )
      return rows.map((row) => ({ uid: row['hex'] as Hex, blockNumber: Number(row['block']) }))
    },

    async quarantined({ chainId, nowSeconds, decoder, limit }) {
      const rows = await reads.query(
        `select '0x' || encode(uid, 'hex') as hex, block_number::text as block, attempts::int, revoked_block::text
         from quarantine where chain_id = $1 and (retry_at <= $2::bigint or decoder < $3::bigint) order by uid limit $4::bigint`,
        [chainId, nowSeconds, decoder, limit],
      )
      return rows.map((row) => ({
        uid: row['hex'] as Hex,
        blockNumber: Number(row['block']),
        attempts: row['attempts'] as number,
        revokedBlock: row['revoked_block'] === null ? null : Number(row['revoked_block']),
      }))
    },
  }
}

/** Stores everything of a range of blocks except its records, after them and in the same transaction. */
export async function storeRangeNotes(session: Session, range: BlockRange): Promise<void> {
  const {
    chainId,
    knownBlocks,
    quarantine = [],
    released = [],
    removed = [],
    areAgreed = false,
    revocations,
    progress,
  } = range
  if (range.rollBackTo !== undefined) await rollBackNotes(session, chainId, range.rollBackTo)
  if (removed.length > 0) await removeNotes(session, chainId, removed)
  if (knownBlocks !== undefined && knownBlocks.remove.length > 0) {
    await session.query(
      'delete from block_ladder where chain_id = $1 and number in (select text::bigint from unnest($2::text[]) as text)',
      [chainId, knownBlocks.remove.map(String)],
    )
  }
  if (knownBlocks !== undefined && knownBlocks.add.length > 0) {
    await session.query(
      `insert into block_ladder (chain_id, number, hash)
       select $1::bigint, number::bigint, hash from unnest($2::text[], $3::text[]) as block (number, hash)
       on conflict (chain_id, number) do update set hash = excluded.hash`,
      [chainId, knownBlocks.add.map(({ number }) => String(number)), knownBlocks.add.map(({ hash }) => hash)],
    )
  }
  if (quarantine.length > 0) {
    const unique = [...new Map(quarantine.map((row) => [row.uid, row])).values()]
    await session.query(
      `insert into quarantine as existing (chain_id, uid, block_number, stage, reason, attempts, retry_at, decoder)
       select $1::bigint, decode(uid, 'hex'), block_number::bigint, stage, reason, 1, nullif(retry_at, '')::bigint, decoder::bigint
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
         as row (uid, block_number, stage, reason, retry_at, decoder)
       on conflict (chain_id, uid) do update set block_number = case when $8::boolean then excluded.block_number else existing.block_number end, stage = excluded.stage,
         reason = excluded.reason, attempts = existing.attempts + 1, retry_at = excluded.retry_at, decoder = excluded.decoder`,
      [
        chainId,
        unique.map(({ uid }) => uid.slice(2)),
        unique.map(({ blockNumber }) => String(blockNumber)),
        unique.map(({ stage }) => stage),
        unique.map(({ reason }) => reason),
        unique.map(({ retryAtSeconds }) => (retryAtSeconds === null ? '' : String(retryAtSeconds))),
        unique.map(({ decoder }) => String(decoder)),
        areAgreed,
      ],
    )
  }
  if (released.length > 0) {
    await session.query(
      "delete from quarantine where chain_id = $1 and uid in (select decode(text, 'hex') from unnest($2::text[]) as text)",
      [chainId, released.map((uid) => uid.slice(2))],
    )
  }
  if (revocations.length > 0) {
    await session.query(
      `update quarantine set revoked_block = block::bigint from unnest($2::text[], $3::text[]) as revocation (text, block)
       where chain_id = $1 and uid = decode(text, 'hex') and (revoked_block is null or $4::boolean)`,
      [
        chainId,
        revocations.map(({ uid }) => uid.slice(2)),
        revocations.map(({ blockNumber }) => String(blockNumber)),
        areAgreed,
      ],
    )
  }
  if (progress !== undefined) await storeProgress(session, chainId, progress)
}

async function rollBackNotes(session: Session, chainId: number, blockNumber: number): Promise<void> {
  const [known] = await session.query(
    'select coalesce(max(number), $2::bigint)::text as newest from block_ladder where chain_id = $1',
    [chainId, blockNumber],
  )
  const depth = Math.max(0, Number(known!['newest']) - blockNumber)
  await session.query('delete from block_ladder where chain_id = $1 and number > $2', [chainId, blockNumber])
  await session.query('delete from quarantine where chain_id = $1 and block_number > $2', [chainId, blockNumber])
  await session.query('update quarantine set revoked_block = null where chain_id = $1 and revoked_block > $2', [
    chainId,
    blockNumber,
  ])
  // least() would turn null, which means that nothing was audited, into a number.
  await session.query(
    `insert into chain_sync as known (chain_id, reorgs, deepest_reorg) values ($1, 1, $3)
     on conflict (chain_id) do update set reorgs = known.reorgs + 1, deepest_reorg = greatest(known.deepest_reorg, $3),
       finalized = case when known.finalized > $2 then $2 else known.finalized end,
       audited_to = case when known.audited_to > $2 then $2 else known.audited_to end`,
    [chainId, blockNumber, depth],
  )
}

/** Removes quarantined attestations, and revocations of them, that are not on the chain. */
async function removeNotes(session: Session, chainId: number, removed: readonly StoredLog[]): Promise<void> {
  const choose = (kind: StoredLog['kind']) => removed.filter((log) => log.kind === kind).map(({ uid }) => uid.slice(2))
  await session.query(
    "delete from quarantine where chain_id = $1 and uid in (select decode(text, 'hex') from unnest($2::text[]) as text)",
    [chainId, choose('attested')],
  )
  await session.query(
    `update quarantine set revoked_block = null
     where chain_id = $1 and uid in (select decode(text, 'hex') from unnest($2::text[]) as text)`,
    [chainId, choose('revoked')],
  )
}

/** Stores the progress of a chain. Omitted members stay as they are; `finalized` decreases only in a reorganisation. */
export async function storeProgress(session: Session, chainId: number, progress: ChainProgress): Promise<void> {
  const { head, headSeconds, finalized, auditedTo } = progress
  if (finalized !== undefined) {
    // Cached responses call these records not final, so the version has to change.
    await session.query(
      `update record_counter set version = version + 1 where chain_id = $1::bigint and exists (
         select from location_record where chain_id = $1::bigint and block_number <= $2::bigint
           and block_number > (select coalesce(max(finalized), -1) from chain_sync where chain_id = $1::bigint))`,
      [chainId, finalized],
    )
  }
  await session.query(
    `insert into chain_sync as known (chain_id, head, head_seconds, finalized, audited_to)
     values ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::bigint)
     on conflict (chain_id) do update set head = coalesce(excluded.head, known.head),
       head_seconds = coalesce(excluded.head_seconds, known.head_seconds),
       finalized = greatest(excluded.finalized, known.finalized), audited_to = coalesce(excluded.audited_to, known.audited_to)`,
    [chainId, head ?? null, headSeconds ?? null, finalized ?? null, auditedTo ?? null],
  )
}
