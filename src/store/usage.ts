/**
 * Usage by subject, day and kind of request. Processes add what they counted. Each flush has a number, and the last number of a process
 * is stored in the transaction that adds its rows: a flush that is sent again, because its answer was lost, adds nothing.
 */
import { USAGE_AMOUNTS, type UsageOperations, type UsageRow } from '../wire/usage-messages.ts'
import type { Database, Row, Session } from './database.ts'
import { pruneRevokedKeys } from './keys.ts'

type Argument<Name extends keyof UsageOperations> = UsageOperations[Name]['argument']
type Result<Name extends keyof UsageOperations> = UsageOperations[Name]['result']

/** Rows that are deleted in one transaction. */
const ROWS_PER_DELETION = 5000

const COLUMNS = ['requests', 'operations', 'bytes', 'vertices', 'cpu_micros', 'errors_4xx', 'errors_5xx']
const SUMS = COLUMNS.map((name) => `sum(${name})`).join(', ')

/** The rows are sorted, so that two processes lock them in the same order. */
const ADD_ROWS = `
  insert into usage_daily as usage (subject, day, kind, ${COLUMNS.join(', ')})
  select subject, day, kind, ${SUMS}
  from unnest($1::text[], $2::date[], $3::text[], ${COLUMNS.map((_, index) => `$${index + 4}::bigint[]`).join(', ')})
    as added (subject, day, kind, ${COLUMNS.join(', ')})
  group by subject, day, kind
  order by subject collate "C", day, kind collate "C"
  on conflict (subject, day, kind) do update set ${COLUMNS.map((name) => `${name} = usage.${name} + excluded.${name}`).join(', ')}`

/** Creates the operations for usage on either engine. */
export function createUsageStore(database: Database): {
  readonly [Name in keyof UsageOperations]: (argument: Argument<Name>) => Promise<Result<Name>>
} {
  return {
    addUsage: (flush) => database.transaction((session) => addUsage(session, flush)),
    readUsage: (range) => database.readTransaction((session) => readUsage(session, range)),
    pruneUsage: ({ keepDays }) => database.transaction((session) => pruneUsage(session, keepDays)),
  }
}

async function addUsage(session: Session, flush: Argument<'addUsage'>): Promise<boolean> {
  const { process, sequence, completeMs, silentMs, isLast, subjects, days, kinds, amounts } = flush
  const isNew = await session.query(
    `insert into usage_process as known (name, sequence, complete_ms, awaited_until)
     values ($1, $2, $3, now() + case when $5::boolean then interval '0' else $4::bigint * interval '1 millisecond' end)
     on conflict (name) do update set
       sequence = excluded.sequence, complete_ms = excluded.complete_ms, awaited_until = excluded.awaited_until
     where known.sequence < excluded.sequence returning 1 as new`,
    [process, String(sequence), String(completeMs), String(silentMs), isLast],
  )
  if (isNew.length === 0) return false
  if (subjects.length > 0)
    await session.query(ADD_ROWS, [subjects, days, kinds, ...amounts.map((column) => column.map(String))])
  return true
}

async function readUsage(session: Session, { prefix, from, to }: Argument<'readUsage'>): Promise<Result<'readUsage'>> {
  // Names are compared by bytes and are ASCII, so all of them that begin with the prefix are below the prefix and a DEL.
  const rows = await session.query(
    `select to_char(day, 'YYYY-MM-DD') as day, kind, ${COLUMNS.map((name) => `sum(${name})::text as ${name}`).join(', ')}
     from usage_daily where subject >= $1 and subject < $2 and day between $3::date and $4::date
     group by usage_daily.day, kind order by usage_daily.day, kind`,
    [prefix, `${prefix}\x7f`, from, to],
  )
  const [complete] = await session.query(
    'select min(complete_ms)::text as complete from usage_process where awaited_until > now()',
  )
  const completeMs = Number((complete?.['complete'] as string | null | undefined) ?? 0)
  return { rows: rows.map(readRow), completeMs: completeMs === 0 ? undefined : completeMs }
}

function readRow(row: Row): UsageRow {
  const amounts = USAGE_AMOUNTS.map((name, index) => [name, Number(row[COLUMNS[index]!])])
  return { day: row['day'], kind: row['kind'], ...Object.fromEntries(amounts) } as UsageRow
}

/** Uses the clock of the database: that of one process may be years ahead. */
async function pruneUsage(session: Session, keepDays: number): Promise<boolean> {
  const old = await session.query(
    `with old as (
       select subject, day, kind from usage_daily where day < (now() at time zone 'utc')::date - $1::int
       limit ${ROWS_PER_DELETION} for update skip locked
     ), deleted as (
       delete from usage_daily as usage using old
       where usage.subject = old.subject and usage.day = old.day and usage.kind = old.kind returning 1 as deleted
     ) select count(*)::int as deleted from deleted`,
    [keepDays],
  )
  // Only a process that cannot reach the database for longer could send a flush again.
  await session.query("delete from usage_process where awaited_until < now() - interval '30 days'")
  // Revoked keys tell whose usage it is, so they are kept as long.
  const hasMoreKeys = await pruneRevokedKeys(session, keepDays)
  return (old[0]!['deleted'] as number) === ROWS_PER_DELETION || hasMoreKeys
}
