import type { Hex } from '../wire/messages.ts'
import type { ChainSyncState, SyncOperations } from '../wire/sync-messages.ts'
import type { Database } from './database.ts'

type Operation<O extends keyof SyncOperations> = (
  argument: SyncOperations[O]['argument'],
) => Promise<SyncOperations[O]['result']>

/** Creates the operations that the synchronisation of a chain reads with. */
export function createSyncReads(database: Database): {
  readonly [O in 'syncState' | 'known' | 'keptOfBlocks' | 'activeRecords' | 'quarantined']: Operation<O>
} {
  const { reads } = database
  return {
    syncState: ({ chainId }) =>
      database.readTransaction(async (session): Promise<ChainSyncState> => {
        const [checkpoint] = await session.query(
          'select block_number::text, block_hash from chain_checkpoint where chain_id = $1',
          [chainId],
        )
        const ladder = await session.query(
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
          ladder: ladder.map((row) => ({ number: Number(row['at']), hash: row['hash'] as Hex })),
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

    async keptOfBlocks({ chainId, from, to }) {
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
