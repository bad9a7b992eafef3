/** Geometries that accounts have stored. Each account has its own rows, so that none learns what another one has stored. */
import type { StoredGeometry, StoredLimits, StoredOperations } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'
import type { Database, Row, Session } from './database.ts'

type Argument<Name extends keyof StoredOperations> = StoredOperations[Name]['argument']
type Result<Name extends keyof StoredOperations> = StoredOperations[Name]['result']

const COLUMNS = 'ref, bytes::text, created_ms::text, expires_ms::text'
/** Expired rows that one transaction deletes. */
const ROWS_PER_DELETION = 100

/** Creates the operations for stored geometries on either engine. */
export function createStoredStore(database: Database): {
  readonly [Name in keyof StoredOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  const { reads } = database
  return {
    putGeometry: (geometry) => database.transaction((session) => putGeometry(session, geometry)),
    useGeometries: (use) => useGeometries(database, use),
    readGeometry: async ({ account, ref, nowMs }) => {
      const [row] = await reads.query(
        `select ${COLUMNS}, document from stored_geometry where account = $1 and ref = $2 and expires_ms > $3`,
        [account, ref, nowMs],
      )
      return row === undefined ? undefined : { ...readRow(row), text: row['document'] as string }
    },
    listGeometries: async ({ account, limit, nowMs }) => {
      const [sums] = await reads.query(
        `select count(*)::int as count, (coalesce(sum(bytes), 0) +
           (select coalesce(sum(bytes), 0) from stored_set where account = $1 and expires_ms > $2))::text as bytes
         from stored_geometry where account = $1 and expires_ms > $2`,
        [account, nowMs],
      )
      const rows = await reads.query(
        `select ${COLUMNS} from stored_geometry where account = $1 and expires_ms > $2
         order by stored_geometry.created_ms desc, ref limit $3`,
        [account, nowMs, limit],
      )
      return {
        geometries: rows.map(readRow),
        count: sums!['count'] as number,
        usedBytes: Number(sums!['bytes']),
      }
    },
    deleteGeometry: async ({ account, ref, nowMs }) => {
      const rows = await database.transaction((session) =>
        session.query(
          'delete from stored_geometry where account = $1 and ref = $2 returning expires_ms > $3 as was_there',
          [account, ref, nowMs],
        ),
      )
      return rows[0]?.['was_there'] === true
    },
  }
}

async function putGeometry(
  session: Session,
  { account, ref, text, bytes, expiresMs, limits, nowMs }: Argument<'putGeometry'>,
): Promise<Result<'putGeometry'>> {
  await lockStored(session, account)
  const [renewed] = await session.query(
    `update stored_geometry set expires_ms = greatest(expires_ms, $3) where account = $1 and ref = $2 and expires_ms > $4
     returning ${COLUMNS}`,
    [account, ref, expiresMs, nowMs],
  )
  if (renewed !== undefined) return { outcome: 'stored', geometry: readRow(renewed) }
  const over = await findMissingRoom(session, { account, bytes, limits, nowMs })
  if (over !== undefined) return over
  const [row] = await session.query(
    `insert into stored_geometry (account, ref, document, bytes, created_ms, expires_ms) values ($1, $2, $3, $4, $5, $6)
     on conflict (account, ref) do update set created_ms = excluded.created_ms, expires_ms = excluded.expires_ms
     returning ${COLUMNS}`,
    [account, ref, text, bytes, nowMs, expiresMs],
  )
  return { outcome: 'stored', geometry: readRow(row!) }
}

/** Until the end of its transaction, no other one stores for the account. So what it counts stays so until it has stored. */
export async function lockStored(session: Session, account: string): Promise<void> {
  await session.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`stored ${account}`])
}

interface WantedRoom {
  readonly account: string
  readonly bytes: number
  readonly limits: StoredLimits
  readonly nowMs: number
  /** Name of the set that will be replaced, whose bytes do not count. */
  readonly replaces?: string
}

/**
 * Compares the sizes of geometries and sets with the limits. Call it after `lockStored`. Until the end of the transaction, nothing else is
 * stored for any account, so two requests cannot pass a limit together.
 */
export async function findMissingRoom(
  session: Session,
  { account, bytes, limits: { maxBytes, maxAccountBytes }, nowMs, replaces }: WantedRoom,
): Promise<{ readonly outcome: 'share' | 'full'; readonly usedBytes: number } | undefined> {
  // Always after the lock of the account, so two transactions never wait for each other. Only these transactions wait for those of other
  // accounts: replacing a set deletes the old one, which may take long.
  await session.query("select pg_advisory_xact_lock(hashtextextended('stored', 0))")
  const [sums] = await session.query(
    `select coalesce(sum(bytes), 0)::text as bytes,
       coalesce(sum(bytes) filter (where account = $1 and expires_ms > $2), 0)::text as own
     from (
       select account, bytes, expires_ms from stored_geometry
       union all select account, bytes, expires_ms from stored_set where $3::text is null or account <> $1 or name_taken is distinct from $3
     ) as used`,
    [account, nowMs, replaces ?? null],
  )
  const own = Number(sums!['own'])
  if (own + bytes > maxAccountBytes) return { outcome: 'share', usedBytes: own }
  const all = Number(sums!['bytes'])
  return all + bytes > maxBytes ? { outcome: 'full', usedBytes: all } : undefined
}

async function useGeometries(
  database: Database,
  { account, refs, expiresMs, renewBeforeMs, nowMs }: Argument<'useGeometries'>,
): Promise<Result<'useGeometries'>> {
  const rows = await database.reads.query(
    `select ref, expires_ms < $4 as ends_soon from stored_geometry
     where account = $1 and ref = any($2::text[]) and expires_ms > $3`,
    [account, refs, nowMs, renewBeforeMs],
  )
  const endSoon = rows.filter((row) => row['ends_soon'] === true).map((row) => row['ref'] as Hex)
  if (endSoon.length > 0)
    await database.transaction((session) =>
      session.query(
        'update stored_geometry set expires_ms = greatest(expires_ms, $3) where account = $1 and ref = any($2::text[])',
        [account, endSoon, expiresMs],
      ),
    )
  return rows.map((row) => row['ref'] as Hex)
}

function readRow(row: Row): StoredGeometry {
  return {
    ref: row['ref'] as Hex,
    bytes: Number(row['bytes']),
    createdMs: Number(row['created_ms']),
    expiresMs: Number(row['expires_ms']),
  }
}

/** Deletes some geometries and sets that have expired. @returns true if there may be more */
export async function pruneStored(session: Session, nowMs: number): Promise<boolean> {
  const rows = await session.query(
    `with over as (
       select account, ref from stored_geometry where expires_ms <= $1 limit ${ROWS_PER_DELETION} for update skip locked
     ) delete from stored_geometry using over where stored_geometry.account = over.account and stored_geometry.ref = over.ref
     returning 1 as deleted`,
    [nowMs],
  )
  // A set has many chunks, so one at a time.
  const sets = await session.query(
    `delete from stored_set where id = (
       select id from stored_set where expires_ms <= $1 limit 1 for update skip locked
     ) returning 1 as deleted`,
    [nowMs],
  )
  return rows.length === ROWS_PER_DELETION || sets.length === 1
}
