/** Reads everything in a stopped embedded store, and says what is damaged. */
import { existsSync, rmSync } from 'node:fs'
import type { Database, Session } from './database.ts'
import { embeddedFiles, readDamageNote, repairAdvice, tryNoteDamage } from './embedded-files.ts'
import { countByIndex, openPglite } from './pglite.ts'
import { readCounters } from './records/counters.ts'

/** What a check found. */
export interface StoreCheck {
  /** What is damaged; empty if the store is intact. */
  readonly faults: readonly string[]
  /** Number of records that can be read. */
  readonly records: number
  readonly submissions: number
}

/**
 * Checks the embedded store: opens it, reads every table with all its values, reads it again through its primary key, and compares
 * the stored counters with the records. A store that is intact is no longer treated as damaged; one that is not, is from now on.
 *
 * @throws {Error} when a process uses the store, or there is none
 */
export async function checkStore(dataDir: string): Promise<StoreCheck> {
  const paths = embeddedFiles(dataDir)
  if (!existsSync(paths.folder)) throw new Error(`there is no store in ${dataDir}`)
  let database: Database
  try {
    database = await openPglite(dataDir, { isCheck: true })
  } catch (error) {
    if ((error as { kind?: string }).kind !== 'damaged') throw error
    // The advice would be to run this check.
    const fault = (error as Error).message.replace(`: ${repairAdvice(paths.folder)}`, '')
    return { faults: [fault], records: 0, submissions: 0 }
  }
  const known = readDamageNote(paths)
  try {
    const check = await readEverything(database.reads, existsSync(paths.written))
    if (check.faults.length === 0) rmSync(paths.damageNote, { force: true })
    else tryNoteDamage(paths, known ?? check.faults.join('; '))
    return check
  } finally {
    await database.close()
  }
}

async function readEverything(session: Session, hasWrites: boolean): Promise<StoreCheck> {
  const faults: string[] = []
  const counts = new Map<string, number>()
  const tables = await session.query(
    `select relname as name, (
       select attname from pg_index join pg_attribute on attrelid = indrelid and attnum = indkey[0]
       where indrelid = pg_class.oid and indisprimary
     ) as key
     from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace order by relname`,
  )
  for (const table of tables) {
    const name = table['name'] as string
    try {
      counts.set(name, await readTable(session, name, table['key'] as string | null))
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}`)
    }
  }
  const records = counts.get('location_record') ?? 0
  if (!counts.has('record_counter')) {
    // A store without tables is new, unless something was acknowledged.
    if (hasWrites) faults.push('its tables are missing')
  } else if (faults.length === 0) {
    const { total } = await readCounters(session)
    const documents = counts.get('record_document')
    if (total !== records) faults.push(`${total} records were stored, and ${records} are there`)
    if (documents !== records) faults.push(`${records} records are there, and ${documents} documents`)
  }
  return { faults, records, submissions: counts.get('submission') ?? 0 }
}

/** Reads a table directly and through its primary key. Returns the number of rows. @throws {Error} if it is damaged */
async function readTable(session: Session, name: string, key: string | null): Promise<number> {
  const [direct] = await session.query(
    `select count(*)::int as rows, sum(length(${name}::text))::text as length from ${name}`,
  )
  const rows = direct!['rows'] as number
  if (key === null) return rows
  const indexed = await countByIndex(session, name, key)
  if (indexed !== rows) throw new Error(`it has ${rows} rows, and its index ${indexed}`)
  return rows
}
