import type { GeometryFamily, RecordExtent, RecordQuery } from '../../wire/store-messages.ts'
import type { Database, Row, Session } from '../database.ts'
import { JOURNAL_ROW_SQL } from './changes.ts'
import { RecordColumns, type SelectedRecords } from './columns.ts'
import { bytesFromHex, Parameters } from './conditions.ts'
import { ORDER } from './page.ts'

/** Records per statement while loading: a few milliseconds of work. More would cost memory that the embedded engine never frees. */
const RECORDS_PER_READ = 2000
/** The most changes that a query waits for. */
const MAX_AWAITED_CHANGES = 10_000
/** The most journal rows that are read at once. */
const ENTRIES_PER_READ = 1000
/** The columns are loaded again when removed records are a larger share of their rows than this. */
const MAX_REMOVED_SHARE = 0.2

/** The journal row up to which the columns are current. */
interface LoadedPosition {
  readonly epoch: string
  readonly number: number
  /** Content of that row. It is compared too, because after a failover another row may have the same number. */
  readonly row: string
}

/**
 * Holds columns of all records outside the database, and updates them to the snapshot of a query before it selects. While the
 * columns load, after many changes at once, or when there are more records than they may hold, the database is queried instead.
 */
export class RecordMemory {
  readonly #database: Database
  readonly #maxRecords: number
  #columns: RecordColumns | undefined
  #position: LoadedPosition = { epoch: '', number: -1, row: '' }
  /** The load or update that runs in the background. */
  #background: Promise<void> | undefined
  /** Settles after the last query in the queue. Queries run one at a time, because each may update the columns. */
  #queue: Promise<unknown> = Promise.resolve()

  /** @param maxRecords 0 disables the columns */
  constructor(database: Database, maxRecords: number) {
    this.#database = database
    this.#maxRecords = maxRecords
  }

  /** Settles when the columns are loaded or cannot be loaded. For maintenance, tests and measurements. */
  async loaded(): Promise<void> {
    this.#start()
    await this.#background
  }

  /**
   * Selects a page from the columns.
   *
   * @param session a transaction; the result matches its snapshot
   * @returns undefined when the database has to be queried instead
   */
  select(session: Session, query: RecordQuery): Promise<SelectedRecords | undefined> {
    return this.#read((columns) => columns.select(query), session)
  }

  /**
   * Returns the extent of the records of a family, or of all records.
   *
   * @param session a transaction; the extent matches its snapshot
   * @returns undefined when there are none, or the columns are not loaded
   */
  extent(session: Session, family: GeometryFamily | undefined): Promise<RecordExtent | undefined> {
    return this.#read((columns) => columns.extent(family), session)
  }

  /** Reads columns that match the snapshot of a transaction; returns undefined when there are none. */
  #read<T>(read: (columns: RecordColumns) => T, session: Session): Promise<T | undefined> {
    const result = this.#queue.then(async () => {
      if (this.#columns === undefined || this.#background !== undefined || !(await this.#catchUp(session, true))) {
        this.#start()
        return undefined
      }
      return read(this.#columns)
    })
    this.#queue = result.catch(() => {})
    return result
  }

  #start(): void {
    // Wait in the queue of the queries, so that only one at a time updates the columns.
    this.#background ??= this.#queue
      .then(() => this.#update())
      // The database is unavailable or closed; the next query starts again.
      .catch(() => {})
      .finally(() => {
        this.#background = undefined
      })
  }

  async #update(): Promise<void> {
    for (;;) {
      if (this.#columns === undefined) await this.#load()
      if (this.#columns === undefined) return
      if (await this.#database.readTransaction((session) => this.#catchUp(session, false))) return
      await nextTick()
    }
  }

  /** Loads all records piece by piece. Changes made meanwhile are applied from the journal afterwards. */
  async #load(): Promise<void> {
    const { reads } = this.#database
    const [total] = await reads.query('select coalesce(sum(records), 0)::text as records from record_counter')
    if (Number(total!['records']) > this.#maxRecords) return
    const position = await readPosition(reads)
    const columns = new RecordColumns(Number(total!['records']))
    let last: Row | undefined
    do {
      const parameters = new Parameters()
      const after =
        last === undefined
          ? ''
          : `where (block_time, uid, chain_id) < (${parameters.add(last['time'] as string, 'bigint')}, ${parameters.add(bytesFromHex(`0x${last['uid']}`), 'bytea')}, ${parameters.add(last['chain'] as string, 'bigint')})`
      const [row] = await reads.query(
        `with piece as materialized (
           select * from location_record ${after} order by ${ORDER} limit ${RECORDS_PER_READ}
         ), last as (select * from piece order by block_time, uid, chain_id limit 1)
         select ${rowsSql('piece', ORDER)} as rows, (select block_time::text from last) as time,
           (select encode(uid, 'hex') from last) as uid, (select chain_id::text from last) as chain from piece`,
        parameters.values,
      )
      last = row!['time'] === null ? undefined : row
      columns.add(bytesFromHex(`0x${row!['rows']}`), false)
      if (columns.size > this.#maxRecords) return
      await nextTick()
    } while (last !== undefined)
    this.#position = position
    this.#columns = columns
  }

  /**
   * Updates the columns to the snapshot of a transaction.
   *
   * @param isAwaited true when a query waits; then too many changes are not applied
   * @returns false when the columns do not match the snapshot afterwards
   */
  async #catchUp(session: Session, isAwaited: boolean): Promise<boolean> {
    const columns = this.#columns!
    const { epoch, number, row } = await readPosition(session)
    const isSameJournal = epoch === this.#position.epoch
    if (isSameJournal && number === this.#position.number && row === this.#position.row) return true
    // The columns are newer than the snapshot. Another query with a newer snapshot updated them, unless the database lost rows in a
    // failover.
    if (isSameJournal && number < this.#position.number && isAwaited) return false
    const entries =
      isSameJournal && number > this.#position.number
        ? await session.query(ENTRIES, [this.#position.number, ENTRIES_PER_READ])
        : []
    const isComplete =
      entries.length > 0 &&
      Number(entries[0]!['number']) === this.#position.number + 1 &&
      (this.#position.number === 0 || entries[0]!['before'] === this.#position.row)
    if (
      !isComplete ||
      columns.removedCount > 1000 + MAX_REMOVED_SHARE * columns.size ||
      columns.size > this.#maxRecords
    ) {
      this.#columns = undefined
      return false
    }
    const batch = entries.filter((entry, i) => i === 0 || Number(entry['size']) <= MAX_AWAITED_CHANGES)
    const lastNumber = Number(batch.at(-1)!['number'])
    if (isAwaited && (lastNumber < number || Number(batch.at(-1)!['size']) > MAX_AWAITED_CHANGES)) return false
    const removed = batch.filter(({ kind }) => kind === 'rolled-back').flatMap((entry) => removedUids(entry))
    // A rolled back record may be in another block now, so its row is read again.
    if (removed.length > 0) columns.remove(removed)
    const [changed] = await session.query(CHANGED, [
      this.#position.number,
      lastNumber,
      removed.map((uid) => uid.slice(2)),
    ])
    columns.add(bytesFromHex(`0x${changed!['rows']}`), true)
    this.#position = { epoch, number: lastNumber, row: batch.at(-1)!['row'] as string }
    return lastNumber === number
  }
}

/** Journal rows after a number, with the running total of their changes and the content of the row before them. */
const ENTRIES = `
  select number::text, kind, removed, (sum(size) over (order by number rows unbounded preceding))::text as size,
    ${JOURNAL_ROW_SQL} as row, (select ${JOURNAL_ROW_SQL} from record_change as earlier where number = $1::bigint) as before
  from record_change where record_change.number > $1::bigint order by record_change.number limit $2::bigint`

/** Waits one tick. The embedded engine runs on this thread, in promises; without ticks, the thread would handle no message. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function readPosition(session: Session): Promise<LoadedPosition> {
  const [row] = await session.query(
    `select epoch, coalesce(number, 0)::text as number, ${JOURNAL_ROW_SQL} as row
     from record_journal left join (select * from record_change order by number desc limit 1) as newest on true`,
  )
  return { epoch: row!['epoch'] as string, number: Number(row!['number']), row: row!['row'] as string }
}

function removedUids(entry: Row): string[] {
  return (entry['removed'] as string).split('\n').map((line) => (JSON.parse(line) as { uid: string }).uid)
}

/** Returns SQL for concatenated rows in the format of `RecordColumns`. In hex, because the embedded engine returns bytes slowly. */
function rowsSql(source: string, order: string): string {
  const row = `${source}.uid || int8send(${source}.chain_id) || prover || subject || int8send(block_time) || int8send(event_time) || box_send(bounds) || int2send(family)`
  return `coalesce(encode(string_agg(${row}, ''::bytea order by ${order}), 'hex'), '')`
}

// Records of another chain may lie between the first and the last key of new records, hence the test of the chain's name.
const CHANGED = `
  with entry as (
    select * from record_change where number > $1::bigint and number <= $2::bigint and kind = 'new'
  ), changed as (
    select decode(substr(split_part(left(document, 300), '"', 4), 3), 'hex') as uid
    from entry join record_document on record_document.id between entry.first_id and entry.last_id
    where split_part(left(document, 300), '"', 8) = entry.chain
    union select decode(text, 'hex') from unnest($3::text[]) as text
  ) select ${rowsSql('location_record', ORDER)} as rows from changed join location_record using (uid)`
