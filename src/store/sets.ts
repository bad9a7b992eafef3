/**
 * Sets of features. A set is a row and its features are chunks of lines. A new set is received under an id of its own beside the one
 * that it replaces; `name_taken` is the name only while a set is published, so the index on it allows one for each name.
 */
import type { SetOperations, StoredSet } from '../wire/set-messages.ts'
import type { Database, Row, Session } from './database.ts'
import { findMissingRoom, lockStored } from './stored.ts'

type Argument<Name extends keyof SetOperations> = SetOperations[Name]['argument']
type Result<Name extends keyof SetOperations> = SetOperations[Name]['result']

const COLUMNS =
  'id, name, features::text, vertices::text, bytes::text, created_ms::text, stored_set.expires_ms::text as expires'

/** Creates the operations for sets on either engine. */
export function createSetStore(database: Database): {
  readonly [Name in keyof SetOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  const { reads } = database
  return {
    createSet: (set) => database.transaction((session) => createSet(session, set)),
    holdSet: async ({ id, expiresMs, nowMs }) => {
      await database.transaction((session) =>
        session.query(
          'update stored_set set expires_ms = $2 where id = $1 and name_taken is null and expires_ms > $3',
          [id, expiresMs, nowMs],
        ),
      )
      return undefined
    },
    appendSet: (chunk) => database.transaction((session) => appendSet(session, chunk)),
    publishSet: (set) => database.transaction((session) => publishSet(session, set)),
    dropSet: async ({ id }) => {
      await database.transaction((session) =>
        session.query('delete from stored_set where id = $1 and name_taken is null', [id]),
      )
      return undefined
    },
    useSet: async ({ account, name, expiresMs, renewBeforeMs, nowMs }) => {
      const [row] = await reads.query(
        `select ${COLUMNS} from stored_set where account = $1 and name_taken = $2 and expires_ms > $3`,
        [account, name, nowMs],
      )
      if (row === undefined) return undefined
      const set = readSet(row)
      if (set.expiresMs >= renewBeforeMs) return set
      await database.transaction((session) =>
        session.query('update stored_set set expires_ms = greatest(expires_ms, $2) where id = $1', [set.id, expiresMs]),
      )
      return { ...set, expiresMs }
    },
    listSets: async ({ account, nowMs }) => {
      const rows = await reads.query(
        `select ${COLUMNS} from stored_set where account = $1 and name_taken is not null and expires_ms > $2 order by name`,
        [account, nowMs],
      )
      return rows.map(readSet)
    },
    deleteSet: async ({ account, name, nowMs }) => {
      const rows = await database.transaction((session) =>
        session.query(
          'delete from stored_set where account = $1 and name_taken = $2 returning expires_ms > $3 as was_there',
          [account, name, nowMs],
        ),
      )
      return rows[0]?.['was_there'] === true
    },
    readSetChunk: async ({ id, first }) => {
      const [row] = await reads.query(
        'select features, stored from stored_set_chunk where set_id = $1 and first = $2',
        [id, first],
      )
      if (row === undefined) return undefined
      return { count: row['features'] as number, stored: row['stored'] as Uint8Array }
    },
  }
}

async function createSet(
  session: Session,
  { id, account, name, expiresMs, maxReceiving, abandonedBeforeMs, nowMs }: Argument<'createSet'>,
): Promise<boolean> {
  await lockStored(session, account)
  await session.query('delete from stored_set where account = $1 and name_taken is null and created_ms < $2', [
    account,
    abandonedBeforeMs,
  ])
  const [open] = await session.query(
    'select count(*)::int as count from stored_set where account = $1 and name_taken is null and expires_ms > $2',
    [account, nowMs],
  )
  if ((open!['count'] as number) >= maxReceiving) return false
  await session.query(
    'insert into stored_set (id, account, name, features, vertices, bytes, created_ms, expires_ms) values ($1, $2, $3, 0, 0, 0, $4, $5)',
    [id, account, name, nowMs, expiresMs],
  )
  return true
}

async function appendSet(
  session: Session,
  { id, first, count, vertices, stored, bytes, limits, nowMs }: Argument<'appendSet'>,
): Promise<Result<'appendSet'>> {
  // The bytes of an upload that took too long do not count, so it must not go on.
  const [set] = await session.query(
    'select account, name from stored_set where id = $1 and name_taken is null and features = $2 and expires_ms > $3 for update',
    [id, first, nowMs],
  )
  if (set === undefined) return { outcome: 'gone' }
  const [account, replaces] = [set['account'] as string, set['name'] as string]
  await lockStored(session, account)
  const over = await findMissingRoom(session, { account, bytes, limits, nowMs, replaces })
  if (over !== undefined) return over
  await session.query('insert into stored_set_chunk (set_id, first, features, stored) values ($1, $2, $3, $4)', [
    id,
    first,
    count,
    stored,
  ])
  await session.query(
    'update stored_set set features = features + $2, vertices = vertices + $3, bytes = bytes + $4 where id = $1',
    [id, count, vertices, bytes],
  )
  return { outcome: 'stored' }
}

async function publishSet(
  session: Session,
  { id, expiresMs, nowMs }: Argument<'publishSet'>,
): Promise<StoredSet | undefined> {
  const [set] = await session.query(
    'select account, name from stored_set where id = $1 and name_taken is null and expires_ms > $2',
    [id, nowMs],
  )
  if (set === undefined) return undefined
  const [account, name] = [set['account'] as string, set['name'] as string]
  // Two uploads of one name are published one after the other; the later one stays.
  await lockStored(session, account)
  await session.query('delete from stored_set where account = $1 and name_taken = $2', [account, name])
  const [row] = await session.query(
    `update stored_set set name_taken = name, created_ms = $2, expires_ms = $3 where id = $1 and name_taken is null returning ${COLUMNS}`,
    [id, nowMs, expiresMs],
  )
  return row && readSet(row)
}

function readSet(row: Row): StoredSet {
  return {
    id: row['id'] as string,
    name: row['name'] as string,
    count: Number(row['features']),
    vertices: Number(row['vertices']),
    bytes: Number(row['bytes']),
    createdMs: Number(row['created_ms']),
    expiresMs: Number(row['expires']),
  }
}
