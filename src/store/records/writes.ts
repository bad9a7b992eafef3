import { geometryFamily, type LocationRecord, type Revocation, StoreFault } from '../../wire/store-messages.ts'
import type { StoredLog } from '../../wire/sync-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { Parameter, Row, Session } from '../database.ts'
import { FAMILY_NUMBERS, formatBox } from './conditions.ts'

/**
 * Serializes a record as the JSON text that every client gets. This happens once, when the record is stored. JSON escapes
 * U+0000 and lone surrogates, which PostgreSQL rejects in text.
 *
 * @param storedAt time of storing, ISO 8601 with milliseconds
 * @throws {StoreFault} on times beyond the year 9999, which ISO 8601 writes differently
 */
export function serializeRecord(record: LocationRecord, storedAt: string): string {
  return (
    `{"uid":"${record.uid}","chain":${JSON.stringify(record.chain)},"prover":"${record.prover}","subject":"${record.subject}",` +
    `"timestamp":"${formatTime(record.timeSeconds)}","event_timestamp":"${formatTime(record.eventTimeSeconds)}",` +
    `"srs":${JSON.stringify(record.srs)},"location_type":${JSON.stringify(record.locationType)},` +
    `"location":${JSON.stringify(record.location)},` +
    `"longitude":${writeCoordinate(record.longitude)},"latitude":${writeCoordinate(record.latitude)},` +
    `"recipe_types":${JSON.stringify(record.recipeTypes)},"recipe_payloads":${JSON.stringify(record.recipePayloads)},` +
    `"media_types":${JSON.stringify(record.mediaTypes)},"media_data":${JSON.stringify(record.mediaData)},` +
    `"memo":${JSON.stringify(record.memo)},${writeTail(false, storedAt, storedAt)}`
  )
}

/** Returns the document with its `revoked` member set, and with `changedAt` as the time of the update. */
export function setRevoked(document: string, isRevoked: boolean, changedAt: string): string {
  const tailStart = document.lastIndexOf('"revoked":') // the last match is the member: quotes within values are escaped
  const [createdAt] = /(?<="created_at":")[^"]*/.exec(document.slice(tailStart))!
  return document.slice(0, tailStart) + writeTail(isRevoked, createdAt, changedAt)
}

function writeTail(isRevoked: boolean, createdAt: string, updatedAt: string): string {
  return `"revoked":${isRevoked},"created_at":"${createdAt}","updated_at":"${updatedAt}"}`
}

const LAST_SECOND = 253_402_300_799 // 9999-12-31T23:59:59Z

function formatTime(seconds: number): string {
  if (!(seconds >= 0 && seconds <= LAST_SECOND))
    throw new StoreFault('refused', `${seconds} s is not a time between 1970 and 9999`)
  return new Date(seconds * 1000).toISOString()
}

function writeCoordinate(degrees: number | null): string {
  if (degrees !== null && !Number.isFinite(degrees)) throw new StoreFault('refused', 'a coordinate is not a number')
  return JSON.stringify(degrees)
}

/** Differences to add to the counters of one chain. */
interface CounterChange {
  records: number
  revoked: number
}

/** The first and the last row ID of records that were stored together. */
export interface IdRange {
  readonly first: string
  readonly last: string
}

/** Rows per statement: enough to make the cost of the statement itself negligible. */
const ROWS_PER_STATEMENT = 500

// Storing a record again changes nothing, unless more than half of the endpoints say that it is in another block. An attestation never
// moves to another block without a rollback, so a single endpoint that says so may be wrong.
const INSERT = `
  with incoming as (
    select * from unnest(${Array.from({ length: 9 }, (_, index) => `string_to_array($${index + 1}, E'\\n')`).join(', ')})
      as row (uid, prover, subject, block_time, event_time, block_number, bounds, family, document)
  ), stored as (
    insert into location_record
      (uid, chain_id, prover, subject, block_time, event_time, block_number, revoked, bounds, family)
    select decode(uid, 'hex'), $10::bigint, decode(prover, 'hex'), decode(subject, 'hex'), block_time::bigint,
      event_time::bigint, block_number::bigint, false, bounds::box, family::smallint
    from incoming
    on conflict (uid, chain_id) do update set block_number = excluded.block_number
      where $11::boolean and location_record.block_number <> excluded.block_number
    returning id, uid, block_time, (xmax = 0) as is_new
  ), documented as (
    insert into record_document (id, document)
    select stored.id, incoming.document from stored join incoming on decode(incoming.uid, 'hex') = stored.uid where is_new
  )
  select count(*) filter (where is_new)::int as inserted, (min(block_time) filter (where is_new))::text as oldest,
    (min(id) filter (where is_new))::text as first_id, (max(id) filter (where is_new))::text as last_id from stored`

/**
 * Stores records of one chain. A UID that occurs several times is stored and counted once.
 *
 * @param areAgreed whether the blocks of these records replace stored ones
 * @param storedAt ISO 8601 with milliseconds
 */
export async function insertRecords(
  session: Session,
  chainId: number,
  records: readonly LocationRecord[],
  areAgreed: boolean,
  storedAt: string,
): Promise<{ inserted: number; oldestSeconds: number | undefined; ids: IdRange | undefined }> {
  const unique = [...new Map(records.map((record) => [record.uid, record])).values()]
  let inserted = 0
  let oldestSeconds: number | undefined
  let ids: IdRange | undefined
  const addResult = (result: Row) => {
    inserted += result['inserted'] as number
    const oldest = result['oldest'] as string | null
    if (oldest === null) return
    oldestSeconds = Math.min(oldestSeconds ?? Number.POSITIVE_INFINITY, Number(oldest))
    ids = { first: ids?.first ?? (result['first_id'] as string), last: result['last_id'] as string }
  }
  const parametersFrom = (start: number) =>
    start < unique.length
      ? insertParameters(unique.slice(start, start + ROWS_PER_STATEMENT), chainId, areAgreed, storedAt)
      : undefined
  let next = parametersFrom(0)
  for (let start = ROWS_PER_STATEMENT; next !== undefined; start += ROWS_PER_STATEMENT) {
    const storing = session.query(INSERT, next)
    storing.catch(() => {}) // awaited below
    // Prepare the parameters of the next statement while the database works on this one.
    next = parametersFrom(start)
    addResult((await storing)[0]!)
  }
  return { inserted, oldestSeconds, ids }
}

/**
 * Builds the parameters of `INSERT`.
 *
 * @throws {StoreFault} when a record cannot be serialized
 */
function insertParameters(
  rows: readonly LocationRecord[],
  chainId: number,
  areAgreed: boolean,
  storedAt: string,
): readonly Parameter[] {
  return [
    joinLines(rows, ({ uid }) => uid.slice(2)),
    joinLines(rows, ({ prover }) => prover.slice(2)),
    joinLines(rows, ({ subject }) => subject.slice(2)),
    joinLines(rows, ({ timeSeconds }) => String(timeSeconds)),
    joinLines(rows, ({ eventTimeSeconds }) => String(Math.floor(eventTimeSeconds))),
    joinLines(rows, ({ blockNumber }) => String(blockNumber)),
    joinLines(rows, ({ bounds }) => formatBox(bounds)),
    joinLines(rows, ({ location }) => String(familyNumber(location))),
    // JSON text contains no raw line feed.
    joinLines(rows, (record) => serializeRecord(record, storedAt)),
    chainId,
    areAgreed,
  ]
}

/** Returns the value of the column `family` for a location. */
export function familyNumber(location: string): number {
  const family = geometryFamily(location)
  return family === undefined ? 0 : FAMILY_NUMBERS[family]
}

/** Joins a column of the rows, one line per row. Quoting the documents as an SQL array would take longer than writing them. */
function joinLines(rows: readonly LocationRecord[], toText: (record: LocationRecord) => string): string {
  return rows.map(toText).join('\n')
}

/**
 * Marks records as revoked. Records that are already revoked, or not stored, are skipped.
 *
 * @param areAgreed whether the blocks of these revocations replace stored ones
 * @returns row IDs of the changed records
 */
export async function revokeRecords(
  session: Session,
  chainId: number,
  revocations: readonly Revocation[],
  areAgreed: boolean,
  changedAt: string,
): Promise<readonly string[]> {
  const blocks = new Map(revocations.map(({ uid, blockNumber }) => [uid, blockNumber]))
  if (areAgreed) {
    await session.query(
      `update location_record set revoked_block = block::bigint from unnest($2::text[], $3::text[]) as agreed (text, block)
       where chain_id = $1 and revoked and uid = decode(text, 'hex')`,
      [chainId, [...blocks.keys()].map((uid) => uid.slice(2)), [...blocks.values()].map(String)],
    )
  }
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
      document: setRevoked(row['document'] as string, true, changedAt),
      block: blocks.get(row['hex'] as Hex)!,
    })),
  )
  return rows.map((row) => row['id'] as string)
}

/** The changes that a rollback or the removal of logs made. Its counts are zero or negative. */
export interface RollbackResult extends CounterChange {
  readonly oldestSeconds: number | undefined
  /** The identifying members of each removed record as JSON, one record per line. */
  readonly removed: string
  /** Row IDs of records whose revocation was undone. */
  readonly restoredIds: readonly string[]
}

/** Undoes every block after `blockNumber`: their records are removed and their revocations are undone. */
export function rollBackRecords(
  session: Session,
  chainId: number,
  blockNumber: number,
  changedAt: string,
): Promise<RollbackResult> {
  const records = { where: 'block_number > $2', parameter: blockNumber }
  const revocations = { where: 'revoked_block > $2', parameter: blockNumber }
  return removeRecords(session, chainId, { records, revocations }, changedAt)
}

/** Undoes single logs: their records are removed and their revocations are undone. */
export function removeLogs(
  session: Session,
  chainId: number,
  logs: readonly StoredLog[],
  changedAt: string,
): Promise<RollbackResult> {
  const choose = (kind: StoredLog['kind']): Choice => ({
    where: "uid in (select decode(text, 'hex') from unnest($2::text[]) as text)",
    parameter: logs.filter((log) => log.kind === kind).map(({ uid }) => uid.slice(2)),
  })
  return removeRecords(session, chainId, { records: choose('attested'), revocations: choose('revoked') }, changedAt)
}

/** A condition on records. `$2` is its parameter. */
interface Choice {
  readonly where: string
  readonly parameter: Parameter
}

async function removeRecords(
  session: Session,
  chainId: number,
  { records, revocations }: { readonly records: Choice; readonly revocations: Choice },
  changedAt: string,
): Promise<RollbackResult> {
  const [removed] = await session.query(
    `with removed_record as (
       delete from location_record where chain_id = $1 and ${records.where} returning id, revoked, block_time
     ), removed_document as (
       delete from record_document where id in (select id from removed_record) returning id, split_part(document, ',"timestamp":', 1) || '}' as key
     ) select count(*)::int as records, count(*) filter (where revoked)::int as revoked, min(block_time)::text as oldest,
         coalesce(string_agg(key, E'\\n' order by id), '') as removed
       from removed_record join removed_document using (id)`,
    [chainId, records.parameter],
  )
  const restored = await session.query(
    `select id::text, '0x' || encode(uid, 'hex') as hex, document from location_record join record_document using (id)
     where chain_id = $1 and revoked and ${revocations.where} for update`,
    [chainId, revocations.parameter],
  )
  await replaceDocuments(
    session,
    chainId,
    restored.map((row) => ({
      id: row['id'] as string,
      uid: row['hex'] as Hex,
      document: setRevoked(row['document'] as string, false, changedAt),
      block: undefined,
    })),
  )
  const oldest = removed!['oldest'] as string | null
  return {
    records: -(removed!['records'] as number),
    revoked: -(removed!['revoked'] as number) - restored.length,
    oldestSeconds: oldest === null ? undefined : Number(oldest),
    removed: removed!['removed'] as string,
    restoredIds: restored.map((row) => row['id'] as string),
  }
}

/**
 * Replaces documents and sets whether the records are revoked.
 *
 * @param rows `block` is the number of the revoking block, or undefined for a record that is valid again
 */
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
     ), replaced as (
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

/** Adds to the counters of a chain and increments their version. Every write that changes records must call this. */
export async function countChange(session: Session, chainId: number, change: CounterChange): Promise<void> {
  await session.query(
    `insert into record_counter as counter (chain_id, records, revoked, version) values ($1, $2, $3, 1)
     on conflict (chain_id) do update set records = counter.records + $2, revoked = counter.revoked + $3, version = counter.version + 1`,
    [chainId, change.records, change.revoked],
  )
}
