import type { BlockRange } from '../wire/store-messages.ts'
import type { ChainProgress } from '../wire/sync-messages.ts'
import type { Session } from './database.ts'

/** Stores everything of a range of blocks except its records, after them and in the same transaction. */
export async function storeRangeNotes(session: Session, range: BlockRange): Promise<void> {
  const { chainId, ladder, quarantine = [], released = [], revocations, progress } = range
  if (range.rollBackTo !== undefined) await rollBackNotes(session, chainId, range.rollBackTo)
  if (ladder !== undefined && ladder.remove.length > 0) {
    await session.query(
      'delete from block_ladder where chain_id = $1 and number in (select text::bigint from unnest($2::text[]) as text)',
      [chainId, ladder.remove.map(String)],
    )
  }
  if (ladder !== undefined && ladder.add.length > 0) {
    await session.query(
      `insert into block_ladder (chain_id, number, hash)
       select $1::bigint, number::bigint, hash from unnest($2::text[], $3::text[]) as block (number, hash)
       on conflict (chain_id, number) do update set hash = excluded.hash`,
      [chainId, ladder.add.map(({ number }) => String(number)), ladder.add.map(({ hash }) => hash)],
    )
  }
  if (quarantine.length > 0) {
    const unique = [...new Map(quarantine.map((row) => [row.uid, row])).values()]
    await session.query(
      `insert into quarantine as existing (chain_id, uid, block_number, stage, reason, attempts, retry_at, decoder)
       select $1::bigint, decode(uid, 'hex'), block_number::bigint, stage, reason, 1, nullif(retry_at, '')::bigint, decoder::bigint
       from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
         as row (uid, block_number, stage, reason, retry_at, decoder)
       on conflict (chain_id, uid) do update set block_number = excluded.block_number, stage = excluded.stage,
         reason = excluded.reason, attempts = existing.attempts + 1, retry_at = excluded.retry_at, decoder = excluded.decoder`,
      [
        chainId,
        unique.map(({ uid }) => uid.slice(2)),
        unique.map(({ blockNumber }) => String(blockNumber)),
        unique.map(({ stage }) => stage),
        unique.map(({ reason }) => reason),
        unique.map(({ retryAtSeconds }) => (retryAtSeconds === null ? '' : String(retryAtSeconds))),
        unique.map(({ decoder }) => String(decoder)),
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
       where chain_id = $1 and uid = decode(text, 'hex') and revoked_block is null`,
      [chainId, revocations.map(({ uid }) => uid.slice(2)), revocations.map(({ blockNumber }) => String(blockNumber))],
    )
  }
  if (progress !== undefined) await storeProgress(session, chainId, progress)
}

async function rollBackNotes(session: Session, chainId: number, blockNumber: number): Promise<void> {
  const [ladderTop] = await session.query(
    'select coalesce(max(number), $2::bigint)::text as newest from block_ladder where chain_id = $1',
    [chainId, blockNumber],
  )
  const depth = Math.max(0, Number(ladderTop!['newest']) - blockNumber)
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
