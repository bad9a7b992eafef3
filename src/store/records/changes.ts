import type { ChangeKind, JournalPosition, ReadSize, RecordChange, RecordChanges } from '../../wire/store-messages.ts'
import type { Row, Session } from '../database.ts'
import { shownDocumentSql } from './page.ts'
import type { IdRange } from './writes.ts'

/** The changes of one kind that a range of blocks made. */
export type ChangeEntry =
  | { readonly kind: 'new'; readonly range: IdRange | undefined; readonly size: number; readonly chain: string }
  | { readonly kind: 'revoked' | 'restored'; readonly ids: readonly string[] }
  | { readonly kind: 'rolled-back'; readonly removed: string }

/** SQL for enough of a journal row to recognise it. That suffices because ids of records are never reused. */
export const JOURNAL_ROW_SQL = `concat_ws(' ', kind, size, chain, first_id, last_id, left(ids, 100), left(removed, 100))`

/** Journal rows that are kept: more than a day at one block per second. */
const MAX_ROWS = 100_000
const MAX_ROWS_READ = 200
/** Advisory lock: an arbitrary number that other programs on the same server are unlikely to use. */
const APPEND_LOCK = 5_831_908
/** A position after every change of a row. */
const END_OF_ROW = Number.MAX_SAFE_INTEGER

/**
 * Appends the changes of a transaction to the journal. Call it last in the transaction: writers wait for each other from here
 * on, so that no number becomes visible before a smaller one.
 */
export async function appendChanges(session: Session, entries: readonly ChangeEntry[]): Promise<void> {
  const rows = entries.filter((entry) => countChanges(entry) > 0)
  if (rows.length === 0) return
  await session.query('select pg_advisory_xact_lock($1)', [APPEND_LOCK])
  await session.query(
    `insert into record_change (number, kind, size, chain, first_id, last_id, ids, removed)
     select (select coalesce(max(number), 0) from record_change) + ordinal, kind, size::integer,
       nullif(chain, ''), nullif(first_id, '')::bigint, nullif(last_id, '')::bigint, nullif(ids, ''), nullif(removed, '')
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       with ordinality as entry (kind, size, chain, first_id, last_id, ids, removed, ordinal)`,
    [
      rows.map(({ kind }) => kind),
      rows.map((row) => String(countChanges(row))),
      rows.map((row) => (row.kind === 'new' ? row.chain : '')),
      rows.map((row) => (row.kind === 'new' ? row.range!.first : '')),
      rows.map((row) => (row.kind === 'new' ? row.range!.last : '')),
      rows.map((row) => ('ids' in row ? row.ids.join(',') : '')),
      rows.map((row) => (row.kind === 'rolled-back' ? row.removed : '')),
    ],
  )
}

function countChanges(entry: ChangeEntry): number {
  if (entry.kind === 'new') return entry.size
  if (entry.kind !== 'rolled-back') return entry.ids.length
  return entry.removed === '' ? 0 : entry.removed.split('\n').length
}

/** Deletes the oldest rows. The newest row always stays, because the next number follows from it. */
export async function pruneChanges(session: Session): Promise<void> {
  await session.query(
    'delete from record_change where number <= (select max(number) from record_change) - $1::bigint',
    [MAX_ROWS],
  )
}

/**
 * Reads the journal after a position. Changes of a record that has since been removed are left out; its removal appears
 * further on.
 */
export async function readChanges(
  session: Session,
  after: JournalPosition | undefined,
  size: ReadSize,
): Promise<RecordChanges> {
  const [journal] = await session.query(
    `select epoch, coalesce((select max(number) from record_change), 0)::text as newest,
       coalesce((select min(number) from record_change), 1)::text as oldest from record_journal`,
  )
  const epoch = journal!['epoch'] as string
  const newest = Number(journal!['newest'])
  const end = { epoch, number: newest, position: END_OF_ROW }
  if (after === undefined) return { changes: [], next: end, isEnd: true, isLost: false }
  const isForgotten = after.number < Number(journal!['oldest']) - 1
  if (after.epoch !== epoch || after.number > newest || isForgotten) {
    return { changes: [], next: end, isEnd: true, isLost: true }
  }
  const lastNumber = await findLastRow(session, after, size)
  const rows =
    lastNumber === undefined
      ? []
      : await session.query(CHANGES, [after.number, after.position, lastNumber, size.records, size.bytes])
  const changes = rows.slice(0, size.records).map(readChange)
  const isCut = changes.length < Number(rows[0]?.['total'] ?? 0)
  const { number, position } = isCut ? changes.at(-1)! : { number: lastNumber ?? newest, position: END_OF_ROW }
  return { changes, next: { epoch, number, position }, isEnd: !isCut && number === newest, isLost: false }
}

/** Returns the number of the last row to read: enough rows to fill a result, because a row can be as large as its range. */
async function findLastRow(
  session: Session,
  after: JournalPosition,
  { records }: ReadSize,
): Promise<number | undefined> {
  const rows = await session.query(
    'select number::text, size from record_change where number >= $1::bigint order by record_change.number limit $2::bigint',
    [after.number, MAX_ROWS_READ],
  )
  let changeCount = 0
  let last: number | undefined
  for (const row of rows) {
    if (changeCount > records) break
    last = Number(row['number'])
    // A row that was partly read does not count, because it is unknown how much of it remains.
    if (last > after.number) changeCount += row['size'] as number
  }
  return last
}

// Records of another chain that were stored at the same time may lie between the first and the last ID, hence the test of
// the chain's name in the document.
const CHANGES = `
  with entry as (
    select * from record_change where number between $1::bigint and $3::bigint
  ), change as (
    select entry.number, entry.kind, record_document.id as position, document, record_document.id as record
    from entry join record_document on record_document.id between entry.first_id and entry.last_id
    where entry.kind = 'new' and split_part(left(document, 300), '"', 8) = entry.chain
    union all
    select entry.number, entry.kind, listed.position, document, record_document.id
    from entry cross join lateral unnest(string_to_array(entry.ids, ',')) with ordinality as listed (id, position)
    join record_document on record_document.id = listed.id::bigint
    union all
    select entry.number, entry.kind, gone.position, gone.removed, null
    from entry cross join lateral unnest(string_to_array(entry.removed, E'\\n')) with ordinality as gone (removed, position)
  ), selected as (
    select * from change where number > $1::bigint or position > $2::bigint order by number, position limit $4::bigint + 1
  ), measured as (
    select *, sum(octet_length(document)) over (order by number, position rows unbounded preceding) - octet_length(document)
      as bytes_before
    from selected
  )
  select measured.number::text, position::text, kind,
    case when kind = 'rolled-back' then document else ${shownDocumentSql('document', 'block_number', 'finalized')} end as document,
    (select count(*) from selected)::int as total
  from measured left join location_record on location_record.id = measured.record left join chain_sync using (chain_id)
  where bytes_before = 0 or bytes_before < $5::bigint order by measured.number, measured.position`

function readChange(row: Row): RecordChange {
  return {
    kind: row['kind'] as ChangeKind,
    number: Number(row['number']),
    position: Number(row['position']),
    document: row['document'] as string,
  }
}
