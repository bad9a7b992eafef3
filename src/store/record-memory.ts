import type { RecordQuery } from '../store-messages.ts'
import type { Database, Row, Session } from './database.ts'
import { ROW_TEXT } from './record-changes.ts'
import { RecordColumns, type SelectedRecords } from './record-columns.ts'
import { bytesOf, Parameters } from './record-conditions.ts'
import { ORDER } from './record-page.ts'

/** Records read at once while loading: some milliseconds of the database, and the embedded one never gives memory back. */
const LOADED_AT_ONCE = 2000
/** Records stored since the last question that a question waits for, and rows of the journal that are read at once. */
const MAX_CAUGHT_UP = 10_000
const ENTRIES_AT_ONCE = 1000
/** Share of rows without a record at which everything is read anew. */
const MAX_GONE = 0.2

/** Where in the journal of changes the columns stand. */
interface Place {
  readonly epoch: string
  readonly number: number
  /** What the row of that number says: after a failover another row may have the number. */
  readonly row: string
}

/**
 * Keeps columns of all records beside the database, and brings them up to the state that a question sees before it answers.
 * It answers nothing while it loads, while much was just stored, or when there are more records than it may hold: the
 * database is asked then.
 */
export class RecordMemory {
  readonly #database: Database
  readonly #maxRecords: number
  #columns: RecordColumns | undefined
  #place: Place = { epoch: '', number: -1, row: '' }
  /** Reads in the background. */
  #work: Promise<void> | undefined
  /** One question at a time brings the columns forward. */
  #turn: Promise<unknown> = Promise.resolve()

  /** @param maxRecords 0 for none */
  constructor(database: Database, maxRecords: number) {
    this.#database = database
    this.#maxRecords = maxRecords
  }

  /** Settles when the columns answer, or never will: for tests and measurements. */
  async loaded(): Promise<void> {
    this.#start()
    await this.#work
  }

  /**
   * @param session a transaction: the answer is of the state that it sees
   * @returns undefined when the database has to be asked
   */
  select(session: Session, query: RecordQuery): Promise<SelectedRecords | undefined> {
    const answer = this.#turn.then(async () => {
      if (this.#columns === undefined || this.#work !== undefined || !(await this.#catchUp(session, true))) {
        this.#start()
        return undefined
      }
      return this.#columns.select(query)
    })
    this.#turn = answer.catch(() => {})
    return answer
  }

  #start(): void {
    // In turn with the questions, so that one alone brings the columns forward.
    this.#work ??= this.#turn
      .then(() => this.#read())
      // The database is away or closed; the next question begins again.
      .catch(() => {})
      .finally(() => {
        this.#work = undefined
      })
  }

  async #read(): Promise<void> {
    for (;;) {
      if (this.#columns === undefined) await this.#load()
      if (this.#columns === undefined) return
      if (await this.#database.readTransaction((session) => this.#catchUp(session, false))) return
      await turn()
    }
  }

  /** Everything there is, piece by piece; what is stored meanwhile comes from the journal. */
  async #load(): Promise<void> {
    const { reads } = this.#database
    const [total] = await reads.query('select coalesce(sum(records), 0)::text as records from record_counter')
    if (Number(total!['records']) > this.#maxRecords) return
    const place = await placeOf(reads)
    const columns = new RecordColumns(Number(total!['records']))
    let last: Row | undefined
    do {
      const parameters = new Parameters()
      const after =
        last === undefined
          ? ''
          : `where (block_time, uid, chain_id) < (${parameters.add(last['time'] as string, 'bigint')}, ${parameters.add(bytesOf(`0x${last['uid']}`), 'bytea')}, ${parameters.add(last['chain'] as string, 'bigint')})`
      const [row] = await reads.query(
        `with piece as materialized (
           select * from location_record ${after} order by ${ORDER} limit ${LOADED_AT_ONCE}
         ), last as (select * from piece order by block_time, uid, chain_id limit 1)
         select ${rowsText('piece', ORDER)} as rows, (select block_time::text from last) as time,
           (select encode(uid, 'hex') from last) as uid, (select chain_id::text from last) as chain from piece`,
        parameters.values,
      )
      last = row!['time'] === null ? undefined : row
      columns.add(bytesOf(`0x${row!['rows']}`), false)
      if (columns.size > this.#maxRecords) return
      await turn()
    } while (last !== undefined)
    this.#place = place
    this.#columns = columns
  }

  /**
   * Brings the columns to the state that a transaction sees.
   *
   * @param isAwaited a question waits: nothing is done when it is far
   * @returns false when the columns are elsewhere afterwards
   */
  async #catchUp(session: Session, isAwaited: boolean): Promise<boolean> {
    const columns = this.#columns!
    const { epoch, number, row } = await placeOf(session)
    const isSameJournal = epoch === this.#place.epoch
    if (isSameJournal && number === this.#place.number && row === this.#place.row) return true
    // Another transaction that sees more was here before, unless the database went back.
    if (isSameJournal && number < this.#place.number && isAwaited) return false
    const entries =
      isSameJournal && number > this.#place.number
        ? await session.query(ENTRIES, [this.#place.number, ENTRIES_AT_ONCE])
        : []
    const isComplete =
      entries.length > 0 &&
      Number(entries[0]!['number']) === this.#place.number + 1 &&
      (this.#place.number === 0 || entries[0]!['before'] === this.#place.row)
    if (!isComplete || columns.gone > 1000 + MAX_GONE * columns.size || columns.size > this.#maxRecords) {
      this.#columns = undefined
      return false
    }
    const near = entries.filter((entry, i) => i === 0 || Number(entry['size']) <= MAX_CAUGHT_UP)
    const until = Number(near.at(-1)!['number'])
    if (isAwaited && (until < number || Number(near.at(-1)!['size']) > MAX_CAUGHT_UP)) return false
    const removed = near.filter(({ kind }) => kind === 'rolled-back').flatMap((entry) => uidsOf(entry))
    // A record that was taken back may stand in another block now.
    if (removed.length > 0) columns.remove(removed)
    const [changed] = await session.query(CHANGED, [this.#place.number, until, removed.map((uid) => uid.slice(2))])
    columns.add(bytesOf(`0x${changed!['rows']}`), true)
    this.#place = { epoch, number: until, row: near.at(-1)!['row'] as string }
    return until === number
  }
}

/** With the number of changes up to each, and, in the first, the row before it. */
const ENTRIES = `
  select number::text, kind, removed, (sum(size) over (order by number rows unbounded preceding))::text as size,
    ${ROW_TEXT} as row, (select ${ROW_TEXT} from record_change as earlier where number = $1::bigint) as before
  from record_change where record_change.number > $1::bigint order by record_change.number limit $2::bigint`

/** The embedded engine works on this thread and within promises alone: without a turn between, no question would be heard. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function placeOf(session: Session): Promise<Place> {
  const [found] = await session.query(
    `select epoch, coalesce(number, 0)::text as number, ${ROW_TEXT} as row
     from record_journal left join (select * from record_change order by number desc limit 1) as newest on true`,
  )
  return { epoch: found!['epoch'] as string, number: Number(found!['number']), row: found!['row'] as string }
}

function uidsOf(entry: Row): string[] {
  return (entry['removed'] as string).split('\n').map((line) => (JSON.parse(line) as { uid: string }).uid)
}

/** Records as rows for `RecordColumns`, one behind the other; as text, for the embedded engine hands over bytes slowly. */
function rowsText(source: string, order: string): string {
  const row = `${source}.uid || int8send(${source}.chain_id) || prover || subject || int8send(block_time) || int8send(event_time) || box_send(bounds)`
  return `coalesce(encode(string_agg(${row}, ''::bytea order by ${order}), 'hex'), '')`
}

// Between the first and the last key of new records those of another chain may stand; their names say whose they are.
const CHANGED = `
  with entry as (
    select * from record_change where number > $1::bigint and number <= $2::bigint and kind = 'new'
  ), wanted as (
    select decode(substr(split_part(left(document, 300), '"', 4), 3), 'hex') as uid
    from entry join record_document on record_document.id between entry.first_id and entry.last_id
    where split_part(left(document, 300), '"', 8) = entry.chain
    union select decode(text, 'hex') from unnest($3::text[]) as text
  ) select ${rowsText('location_record', ORDER)} as rows from wanted join location_record using (uid)`
