/**
 * API keys in the database, where all nodes read them. Each change gets the next number, so a node asks for the changes after the
 * last one that it knows (decision 144). Revoked keys stay as rows while their usage is kept: a node that asks late learns of them, and
 * their account can be found.
 */
import {
  type KeyChangeOutcome,
  type KeyOperations,
  type ListedKey,
  maxAccountKeys,
  type StoredKey,
} from '../wire/key-messages.ts'
import type { Database, Row, Session } from './database.ts'

type Argument<Name extends keyof KeyOperations> = KeyOperations[Name]['argument']
type Result<Name extends keyof KeyOperations> = KeyOperations[Name]['result']

/** Creates the operations for API keys on either engine. */
export function createKeyStore(database: Database): {
  readonly [Name in keyof KeyOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  return {
    changedKeys: ({ after }) => database.readTransaction((session) => readChanges(session, after)),
    changeKeys: (change) => database.transaction((session) => changeKeys(session, change)),
    listKeys: async (of) => {
      const rows = await database.reads.query(
        `select document, last_used_ms::text from api_key
         where not revoked ${of === undefined ? '' : 'and owner = $1'} order by created_ms, sha256`,
        of === undefined ? [] : [of.owner],
      )
      return rows.map(readListedKey)
    },
    findKeyOwner: async ({ id }) => {
      const [row] = await database.reads.query(
        'select owner from api_key where sha256 between $1 and $2 and owner is not null limit 1',
        [id.padEnd(64, '0'), id.padEnd(64, 'f')],
      )
      return row?.['owner'] as string | undefined
    },
    noteKeyUse: (uses) =>
      database.transaction(async (session) => {
        await session.query(
          // Every node locks the rows in the same order, so that none waits for another in a circle.
          `with used as (
             select api_key.sha256, at_ms from api_key join unnest($1::text[], $2::bigint[]) as use (sha256, at_ms) using (sha256)
             order by api_key.sha256 for update of api_key
           ) update api_key set last_used_ms = greatest(coalesce(last_used_ms, 0), used.at_ms)
           from used where api_key.sha256 = used.sha256`,
          [uses.map(({ sha256 }) => sha256), uses.map(({ atMs }) => String(atMs))],
        )
        return undefined
      }),
  }
}

/** Revoked keys that one call dates, and that it deletes. */
const KEYS_PER_CALL = 5000

/**
 * Deletes keys that were revoked more than a number of days ago, by the clock of the database.
 *
 * @returns true if there may be more
 */
export async function pruneRevokedKeys(session: Session, keepDays: number): Promise<boolean> {
  // A process of an older version does not store when it revokes a key.
  const dated = await session.query(
    `update api_key set revoked_at = now() where sha256 in (
       select sha256 from api_key where revoked and revoked_at is null limit ${KEYS_PER_CALL} for update skip locked
     ) returning 1 as dated`,
  )
  const [found] = await session.query(
    `with old as (
       select sha256 from api_key where revoked and revoked_at < now() - $1 * interval '1 day'
       limit ${KEYS_PER_CALL} for update skip locked
     ), deleted as (
       delete from api_key using old where api_key.sha256 = old.sha256 returning api_key.change
     ) select count(*)::int as deleted, max(change)::text as newest from deleted`,
    [keepDays],
  )
  const { deleted, newest } = found as { deleted: number; newest: string | null }
  if (deleted > 0) await session.query('update api_key_change set deleted = greatest(deleted, $1)', [newest])
  return deleted === KEYS_PER_CALL || dated.length === KEYS_PER_CALL
}

async function readChanges(session: Session, after: number): Promise<Result<'changedKeys'>> {
  const [counter] = await session.query('select number::text, deleted::text from api_key_change')
  const number = Number(counter!['number'])
  if (number === after) return { number, isWhole: false, put: [], revoked: [] }
  // A node that starts needs no revoked keys. `after` is above the newest number if the database was restored from a backup. A node that
  // has not asked for long may have missed a revoked key whose row was deleted.
  const isWhole = after === 0 || after > number || after < Number(counter!['deleted'])
  const rows = await session.query(
    `select document, sha256, revoked from api_key where change > $1 ${isWhole ? 'and not revoked' : ''}`,
    [isWhole ? 0 : after],
  )
  return {
    number,
    isWhole,
    put: rows.filter((row) => row['revoked'] === false).map(readKey),
    revoked: rows.filter((row) => row['revoked'] === true).map((row) => row['sha256'] as string),
  }
}

async function changeKeys(
  session: Session,
  { expected, put, revoked, owner, maxKeys }: Argument<'changeKeys'>,
): Promise<KeyChangeOutcome> {
  // The row is locked until the end of the transaction, so changes become visible in the order of their numbers.
  const [counter] = await session.query('update api_key_change set number = number + 1 returning number::text')
  const number = counter!['number'] as string
  const [found] = await session.query(
    `select (select count(*)::int from api_key where not revoked) as valid,
      (select count(*)::int from api_key where not revoked and sha256 = any($1::text[])) as expected,
      (select count(*)::int from api_key where not revoked and owner = $2) as owned,
      (select count(*)::int from api_key where not revoked and owner is not null) as of_accounts`,
    [expected, owner?.account ?? null],
  )
  if (found!['expected'] !== expected.length) return 'missing'
  // A key in `expected` exists, so `put` only replaces it.
  const added = put.filter(({ sha256 }) => !expected.includes(sha256)).length
  // One key more than the limit, so that a key can be rotated at the limit: both keys are valid for a time.
  const extra = put.length > added ? 1 : 0
  const growth = added - revoked.length
  const exceeds = (count: string, limit: number) => growth > 0 && (found![count] as number) + growth > limit + extra
  if (exceeds('valid', maxKeys)) return 'full'
  if (owner !== undefined && exceeds('owned', owner.maxKeys)) return 'owner-full'
  if (owner !== undefined && exceeds('of_accounts', maxAccountKeys(maxKeys))) return 'accounts-full'
  for (const key of put) {
    await session.query(
      `insert into api_key (sha256, document, created_ms, change, owner) values ($1, $2, $3, $4, $5)
       on conflict (sha256) do update set document = excluded.document, change = excluded.change`,
      [key.sha256, JSON.stringify(key), Date.parse(key.createdAt), number, key.owner ?? null],
    )
  }
  await session.query(
    'update api_key set revoked = true, revoked_at = now(), change = $2 where sha256 = any($1::text[]) and not revoked',
    [revoked, number],
  )
  return 'done'
}

function readKey(row: Row): StoredKey {
  return JSON.parse(row['document'] as string) as StoredKey
}

function readListedKey(row: Row): ListedKey {
  const lastUsed = row['last_used_ms'] as string | null
  return lastUsed === null ? readKey(row) : { ...readKey(row), lastUsedAt: new Date(Number(lastUsed)).toISOString() }
}
