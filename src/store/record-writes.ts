import type { Hex } from '../messages.ts'
import type { LocationRecord, Revocation } from '../store-messages.ts'
import { boxText } from './bounds.ts'
import type { Parameter, Row, Session } from './database.ts'
import { documentOf, withRevoked } from './document.ts'

/** Changes of the counters of one chain. */
export interface CounterChange {
  records: number
  revoked: number
}

/** Keys of records in the order they were stored, the first and the last one. */
export interface IdRange {
  readonly first: string
  readonly last: string
}

/** Rows of one statement: enough to make its cost per row that of the row. */
const ROWS_PER_STATEMENT = 500

// A record that comes again changes nothing, unless a reorg put the same attestation into another block.
const INSERT = `
  with incoming as (
    select * from unnest(${Array.from({ length: 8 }, (_, index) => `string_to_array($${index + 1}, E'\\n')`).join(', ')})
      as row (uid, prover, subject, block_time, event_time, block_number, bounds, document)
  ), stored as (
    insert into location_record (uid, chain_id, prover, subject, block_time, event_time, block_number, revoked, bounds)
    select decode(uid, 'hex'), $9::bigint, decode(prover, 'hex'), decode(subject, 'hex'), block_time::bigint,
      event_time::bigint, block_number::bigint, false, bounds::box
    from incoming
    on conflict (uid, chain_id) do update set block_number = excluded.block_number
      where location_record.block_number <> excluded.block_number
    returning id, uid, block_time, (xmax = 0) as is_new
  ), documented as (
    insert into record_document (id, document)
    select stored.id, incoming.document from stored join incoming on decode(incoming.uid, 'hex') = stored.uid where is_new
  )
  select count(*) filter (where is_new)::int as inserted, (min(block_time) filter (where is_new))::text as oldest,
    (min(id) filter (where is_new))::text as first_id, (max(id) filter (where is_new))::text as last_id from stored`

/**
 * Stores records of one chain; each uid counts once, however often it comes.
 *
 * @param storedAt ISO 8601
 */
export async function insertRecords(
  session: Session,
  chainId: number,
  records: readonly LocationRecord[],
  storedAt: string,
): Promise<{ inserted: number; oldestSeconds: number | undefined; ids: IdRange | undefined }> {
  const unique = [...new Map(records.map((record) => [record.uid, record])).values()]
  let inserted = 0
  let oldestSeconds: number | undefined
  let ids: IdRange | undefined
  const count = (result: Row) => {
    inserted += result['inserted'] as number
    const oldest = result['oldest'] as string | null
    if (oldest === null) return
    oldestSeconds = Math.min(oldestSeconds ?? Number.POSITIVE_INFINITY, Number(oldest))
    ids = { first: ids?.first ?? (result['first_id'] as string), last: result['last_id'] as string }
  }
  let next = unique.length === 0 ? undefined : parametersOf(unique.slice(0, ROWS_PER_STATEMENT), chainId, storedAt)
  for (let start = ROWS_PER_STATEMENT; next !== undefined; start += ROWS_PER_STATEMENT) {
    const storing = session.query(INSERT, next)
    storing.catch(() => {}) // looked at below
    // The next statement is written while the database works on this one.
    next =
      start < unique.length
        ? parametersOf(unique.slice(start, start + ROWS_PER_STATEMENT), chainId, storedAt)
        : undefined
    count((await storing)[0]!)
  }
  return { inserted, oldestSeconds, ids }
}

/** @throws {StoreFault} as `documentOf` */
function parametersOf(rows: readonly LocationRecord[], chainId: number, storedAt: string): readonly Parameter[] {
  return [
    lines(rows, ({ uid }) => uid.slice(2)),
    lines(rows, ({ prover }) => prover.slice(2)),
    lines(rows, ({ subject }) => subject.slice(2)),
    lines(rows, ({ timeSeconds }) => String(timeSeconds)),
    lines(rows, ({ eventTimeSeconds }) => String(Math.floor(eventTimeSeconds))),
    lines(rows, ({ blockNumber }) => String(blockNumber)),
    lines(rows, ({ bounds }) => boxText(bounds)),
    // JSON text has no line feed of its own.
    lines(rows, (record) => documentOf(record, storedAt)),
    chainId,
  ]
}

/** A column of the rows, a line each: quoting documents as an array takes longer than making them. */
function lines(rows: readonly LocationRecord[], textOf: (record: LocationRecord) => string): string {
  return rows.map(textOf).join('\n')
}

/**
 * Marks records as revoked; one that is revoked already, or not stored, is left alone.
 *
 * @returns keys of those that were changed
 */
export async function revokeRecords(
  session: Session,
  chainId: number,
  revocations: readonly Revocation[],
  changedAt: string,
): Promise<readonly string[]> {
  const blocks = new Map(revocations.map(({ uid, blockNumber }) => [uid, blockNumber]))
  const rows = await session.query(
    `select id::text, '0x' || encode(uid, 'hex') as hex, document from location_record join record_document using (id)
     where chain_id = $1 and not revoked and uid in (select decode(text, 'hex') from unnest($2::text[]) as text) for update`,
    [chainId, [...blocks.keys()].map((uid) => uid.slice(2))],
  )
  await replaceDocuments(
    session,
    chainId,
    rows.map((row) => ({
      id: row['id'] as string,
      uid: row['hex'] as Hex,
      document: withRevoked(row['document'] as string, true, changedAt),
      block: blocks.get(row['hex'] as Hex)!,
    })),
  )
  return rows.map((row) => row['id'] as string)
}

/** What a rollback changed. */
export interface RolledBack extends CounterChange {
  readonly oldestSeconds: number | undefined
  /** Of each record that went the members that say which it was, as JSON texts on lines of their own. */
  readonly removed: string
  /** Keys of records whose revocation was taken back. */
  readonly restoredIds: readonly string[]
}

/**
 * Undoes every block after `blockNumber`: records of them go, revocations of them are taken back.
 */
export async function rollBackRecords(
  session: Session,
  chainId: number,
  blockNumber: number,
  changedAt: string,
): Promise<RolledBack> {
  const [gone] = await session.query(
    `with gone as (
       delete from location_record where chain_id = $1 and block_number > $2 returning id, revoked, block_time
     ), forgotten as (
       delete from record_document where id in (select id from gone) returning id, split_part(document, ',"timestamp":', 1) || '}' as key
     ) select count(*)::int as records, count(*) filter (where revoked)::int as revoked, min(block_time)::text as oldest,
         coalesce(string_agg(key, E'\\n' order by id), '') as removed
       from gone join forgotten using (id)`,
    [chainId, blockNumber],
  )
  const valid = await session.query(
    `select id::text, '0x' || encode(uid, 'hex') as hex, document from location_record join record_document using (id)
     where chain_id = $1 and revoked and revoked_block > $2 for update`,
    [chainId, blockNumber],
  )
  await replaceDocuments(
    session,
    chainId,
    valid.map((row) => ({
      id: row['id'] as string,
      uid: row['hex'] as Hex,
      document: withRevoked(row['document'] as string, false, changedAt),
      block: undefined,
    })),
  )
  const oldest = gone!['oldest'] as string | null
  return {
    records: -(gone!['records'] as number),
    revoked: -(gone!['revoked'] as number) - valid.length,
    oldestSeconds: oldest === null ? undefined : Number(oldest),
    removed: gone!['removed'] as string,
    restoredIds: valid.map((row) => row['id'] as string),
  }
}

/** @param rows `block` that revoked it, undefined for one that is valid again */
async function replaceDocuments(
  session: Session,
  chainId: number,
  rows: readonly {
    readonly id: string
    readonly uid: Hex
    readonly document: string
    readonly block: number | undefined
  }[],
): Promise<void> {
  if (rows.length === 0) return
  await session.query(
    `with changed as (
       select * from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as row (id, uid, document, block)
     ), shown as (
       update record_document set document = changed.document from changed where record_document.id = changed.id::bigint
     ) update location_record set revoked = block <> '', revoked_block = nullif(block, '')::bigint
     from changed where location_record.uid = decode(changed.uid, 'hex') and location_record.chain_id = $1`,
    [
      chainId,
      rows.map(({ id }) => id),
      rows.map(({ uid }) => uid.slice(2)),
      rows.map(({ document }) => document),
      rows.map(({ block }) => (block === undefined ? '' : String(block))),
    ],
  )
}

/** Adds to the counters of a chain, which every write passes: their version says that something changed. */
export async function countChange(session: Session, chainId: number, change: CounterChange): Promise<void> {
  await session.query(
    `insert into record_counter as counter (chain_id, records, revoked, version) values ($1, $2, $3, 1)
     on conflict (chain_id) do update set records = counter.records + $2, revoked = counter.revoked + $3, version = counter.version + 1`,
    [chainId, change.records, change.revoked],
  )
}
