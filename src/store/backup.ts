import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { StoreFault } from '../wire/store-messages.ts'
import type { Database, Row, Session } from './database.ts'
import { REPAIR_COMMAND } from './embedded-files.ts'
import { readCounters } from './records/counters.ts'
import { requireDocuments } from './records/page.ts'
import { familyNumber } from './records/writes.ts'

/** The first line of a backup. */
const HEADER = { format: 'trigpoint records', version: 1 }
const ROWS_PER_STATEMENT = 500
/** Tables of the synchronisation besides records and checkpoints. Without them, quarantined attestations would never be retried. */
const SYNC_TABLES = ['chain_sync', 'block_ladder', 'quarantine'] as const
type SyncTable = (typeof SYNC_TABLES)[number]

/** Columns of a record in a backup, as text, in this order. */
const COLUMNS = [
  'uid',
  'chain_id',
  'prover',
  'subject',
  'block_time',
  'event_time',
  'block_number',
  'revoked',
  'revoked_block',
  'bounds',
  'document',
] as const

/**
 * Writes one snapshot of all records and the synchronisation's tables into a gzip file of JSON lines. Later versions can restore
 * it into either engine. An existing file is replaced only when the backup is complete.
 *
 * @returns the number of records in the backup
 */
export async function backUp(database: Database, file: string): Promise<number> {
  let records = 0
  const partFile = `${file}.part`
  const write = async (session: Session) => {
    async function* lines() {
      yield `${JSON.stringify(HEADER)}\n`
      const checkpoints = await session.query(
        'select chain_id::text, block_number::text, block_hash from chain_checkpoint',
      )
      for (const checkpoint of checkpoints) yield `${JSON.stringify({ checkpoint })}\n`
      for (const table of SYNC_TABLES) yield* tableLines(session, table)
      for (let last = '0'; ; ) {
        const rows = await session.query(
          `select id::text as last, encode(uid, 'hex') as uid, chain_id::text, encode(prover, 'hex') as prover,
             encode(subject, 'hex') as subject, block_time::text, event_time::text, block_number::text, revoked::text,
             coalesce(revoked_block::text, '') as revoked_block, bounds::text, document
           from location_record left join record_document using (id) where id > $1::bigint order by id limit $2::bigint`,
          [last, ROWS_PER_STATEMENT],
        )
        if (rows.length === 0) break
        requireDocuments(rows.filter(({ document }) => document === null).length)
        for (const row of rows) yield `${JSON.stringify(COLUMNS.map((column) => row[column]))}\n`
        records += rows.length
        last = rows.at(-1)!['last'] as string
      }
      const { total } = await readCounters(session)
      if (records !== total)
        throw new StoreFault(
          'damaged',
          `${total} records were stored, and ${records} are there: run \`${REPAIR_COMMAND}\``,
        )
    }
    await pipeline(Readable.from(lines()), createGzip(), createWriteStream(partFile, { mode: 0o600, flush: true }))
  }
  try {
    await database.readTransaction(write)
    await rename(partFile, file)
  } finally {
    await rm(partFile, { force: true })
  }
  return records
}

/** Yields the rows of a table as JSON that the engine writes, many rows per line. */
async function* tableLines(session: Session, table: SyncTable): AsyncGenerator<string> {
  await session.query(`declare backup_${table} cursor for select row_to_json(${table})::text as line from ${table}`)
  for (;;) {
    const rows = await session.query(`fetch ${ROWS_PER_STATEMENT} from backup_${table}`)
    if (rows.length === 0) return
    // Rows stay text, because their integers may exceed what JavaScript numbers hold.
    yield `${JSON.stringify({ table, rows: rows.map((row) => row['line']) })}\n`
  }
}

/**
 * Fills an empty store from a backup, completely or not at all.
 *
 * @param onProgress called with the number of records restored so far, and the share of the file that was read
 * @returns the number of restored records
 * @throws {Error} when the store has records, or the file is not a complete backup
 */
export async function restore(
  database: Database,
  file: string,
  onProgress: (progress: { readonly records: number; readonly share: number }) => void = () => {},
): Promise<number> {
  const { size } = await stat(file)
  return database.transaction(async (session) => {
    // Other services on the same database cannot store records until this transaction ends.
    await session.query('lock table location_record in share row exclusive mode')
    if ((await readCounters(session)).total > 0) {
      throw new Error('the store already has records: restore into an empty one (another DATA_DIR or DATABASE_URL)')
    }
    let records = 0
    let rows: string[][] = []
    let isFirst = true
    const source = createReadStream(file)
    const text = source.pipe(createGunzip())
    source.on('error', (error) => text.destroy(error))
    for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) {
      const value = JSON.parse(line) as BackupLine
      if (isFirst) {
        if (value.format !== HEADER.format) throw new Error(`${file} is not a backup of records`)
        if (value.version !== HEADER.version) throw new Error(`${file} was written by another version of this program`)
        isFirst = false
      } else if (value.checkpoint !== undefined) await restoreCheckpoint(session, value.checkpoint)
      else if (value.table !== undefined) await restoreTable(session, value.table, value.rows ?? [])
      else if (rows.push(value) === ROWS_PER_STATEMENT) {
        records += await restoreRows(session, rows)
        rows = []
        onProgress({ records, share: source.bytesRead / size })
      }
    }
    if (isFirst) throw new Error(`${file} is empty`)
    if (rows.length > 0) records += await restoreRows(session, rows)
    onProgress({ records, share: 1 })
    await session.query(
      `insert into record_counter (chain_id, records, revoked, version)
       select chain_id, count(*), count(*) filter (where revoked), 1 from location_record group by chain_id
       on conflict (chain_id) do update set
         records = excluded.records, revoked = excluded.revoked, version = record_counter.version + 1`,
    )
    // The journal does not contain these records: the new epoch makes listeners read everything again.
    await session.query(`update record_journal set epoch = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12)`)
    return records
  })
}

/**
 * Counts the records whose UID begins with these bytes, such as sample records.
 *
 * @param prefix hexadecimal digits without `0x`, two for each byte
 */
export async function countByUidPrefix(session: Session, prefix: string): Promise<number> {
  const [row] = await session.query(
    `select count(*)::int as records from location_record where substr(uid, 1, $2::int) = decode($1, 'hex')`,
    [prefix, String(prefix.length / 2)],
  )
  return row!['records'] as number
}

/** A line of a backup: a record is an array, everything else an object. */
type BackupLine = string[] &
  Partial<typeof HEADER> & { readonly checkpoint?: Row; readonly table?: string; readonly rows?: readonly string[] }

async function restoreTable(session: Session, name: string, rows: readonly string[]): Promise<void> {
  const table = SYNC_TABLES.find((known) => known === name)
  if (table === undefined)
    throw new Error(`the backup has a table ${JSON.stringify(name)} that this version does not know`)
  await session.query(
    `insert into ${table} select (json_populate_record(null::${table}, text::json)).* from unnest($1::text[]) as text
     on conflict do nothing`,
    [rows],
  )
}

async function restoreCheckpoint(session: Session, checkpoint: Row): Promise<void> {
  for (const table of SYNC_TABLES) {
    await session.query(`delete from ${table} where chain_id = $1`, [checkpoint['chain_id'] as string])
  }
  // A store without records may already have a checkpoint.
  await session.query(
    `insert into chain_checkpoint (chain_id, block_number, block_hash) values ($1, $2, $3)
     on conflict (chain_id) do update set block_number = excluded.block_number, block_hash = excluded.block_hash`,
    [checkpoint['chain_id'] as string, checkpoint['block_number'] as string, checkpoint['block_hash'] as string],
  )
}

async function restoreRows(session: Session, rows: readonly string[][]): Promise<number> {
  const columns = COLUMNS.map((_, index) => rows.map((row) => row[index]!))
  // Backups do not contain the family, because it follows from the document.
  const families = columns.at(-1)!.map((document) => String(familyNumber(JSON.parse(document).location)))
  const [result] = await session.query(
    `with incoming as (
       select * from unnest(${COLUMNS.map((_, index) => `$${index + 1}::text[]`).join(', ')}, $${COLUMNS.length + 1}::text[])
         as row (${COLUMNS.join(', ')}, family)
     ), stored as (
       insert into location_record
         (uid, chain_id, prover, subject, block_time, event_time, block_number, revoked, revoked_block, bounds, family)
       select decode(uid, 'hex'), chain_id::bigint, decode(prover, 'hex'), decode(subject, 'hex'), block_time::bigint,
         event_time::bigint, block_number::bigint, revoked::boolean, nullif(revoked_block, '')::bigint, bounds::box, family::smallint
       from incoming returning id, uid, chain_id
     ), documented as (
       insert into record_document (id, document)
       select id, document from stored join incoming
         on decode(incoming.uid, 'hex') = stored.uid and incoming.chain_id::bigint = stored.chain_id returning 1
     ) select count(*)::int as stored from documented`,
    [...columns, families],
  )
  return result!['stored'] as number
}
