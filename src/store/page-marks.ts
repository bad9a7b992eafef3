import type { Session } from './database.ts'

/** Records from one mark to the next: what a page far from either end skips at most. */
const MARK_DISTANCE = 1000
/** The list of all chains. */
export const ALL_CHAINS = 0
/** Any number no other program on the same server is likely to lock. */
const MARK_LOCK = 5_831_909

/**
 * Makes writers of marks wait for each other until their transactions end. Without it one would set marks that do not count
 * what another has stored and not yet committed, while that one cannot see the marks it should drop.
 */
export async function lockMarks(session: Session): Promise<void> {
  await session.query('select pg_advisory_xact_lock($1)', [MARK_LOCK])
}

/**
 * Forgets the marks that a change made wrong: those of the changed record and of all newer ones. Counted from the oldest
 * record on, the others keep their rank.
 *
 * @param oldestSeconds block time of the oldest record that came or went
 */
export async function dropMarks(session: Session, chainId: number, oldestSeconds: number): Promise<void> {
  await session.query('delete from page_mark where scope in ($1, $2) and block_time >= $3', [
    ALL_CHAINS,
    chainId,
    oldestSeconds,
  ])
}

/**
 * Sets marks behind the last one there is.
 *
 * @param maxMarks how many at most: the rest waits for the next call
 * @returns how many were set
 */
export async function extendMarks(session: Session, scope: number, maxMarks: number): Promise<number> {
  const [last] = await session.query(
    `select rank::text as place, block_time::text as seconds, encode(uid, 'hex') as hex, chain_id::text as chain from page_mark
     where scope = $1 order by rank desc limit 1`,
    [scope],
  )
  const [rank, ...place] =
    last === undefined
      ? ['0', '-1', '', '-1']
      : ['place', 'seconds', 'hex', 'chain'].map((name) => last[name] as string)
  const rows = await session.query(
    `insert into page_mark (scope, rank, block_time, uid, chain_id)
     select $1::bigint, $2::bigint + position, block_time, uid, chain_id from (
       select row_number() over (order by block_time, uid, chain_id) as position, block_time, uid, chain_id from (
         select block_time, uid, chain_id from location_record
         where (block_time, uid, chain_id) > ($3::bigint, decode($4, 'hex'), $5::bigint)
           and ${scope === ALL_CHAINS ? '$1::bigint = 0' : 'chain_id = $1::bigint'}
         order by block_time, uid, chain_id limit $6::bigint
       ) as following
     ) as numbered where position % $7::bigint = 0 returning 1 as marked`,
    [scope, rank!, place[0]!, place[1]!, place[2]!, maxMarks * MARK_DISTANCE, MARK_DISTANCE],
  )
  return rows.length
}
