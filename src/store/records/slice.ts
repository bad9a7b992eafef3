import type { ReadSize, RecordQuery, RecordSlice } from '../../wire/store-messages.ts'
import type { Session } from '../database.ts'
import {
  afterKeySql,
  type ConditionName,
  conditionNames,
  conditionSql,
  filterSql,
  matchingRowsSql,
  Parameters,
} from './conditions.ts'
import { FINALITY_BYTES, KEY_COLUMNS, KEY_SQL, ORDER, readKey, requireDocuments, shownDocumentSql } from './page.ts'

/** The most records examined for one slice, whether they match or not: tens of milliseconds. */
export const MAX_EXAMINED = 20_000

/**
 * Reads the next records of a list, newest first, for clients that read all of it. The work is bounded for every filter. If an
 * index finds few matching records, they are collected and sorted. Otherwise a limited number of records is scanned in the order
 * of the list, and the slice ends where the scan ends, even if it is empty.
 */
export async function readSlice(
  session: Session,
  query: RecordQuery,
  size: ReadSize,
  maxExamined = MAX_EXAMINED,
): Promise<RecordSlice> {
  const names = conditionNames(query)
  const parameters = new Parameters()
  const first = await findSelectiveCondition(session, query, names, maxExamined)
  const examinedSql =
    first === undefined ? walkSql(query, names, parameters, maxExamined) : collectSql(query, names, first, parameters)
  const records = parameters.add(size.records, 'bigint')
  const bytes = parameters.add(size.bytes, 'bigint')
  const [row] = await session.query(
    `with examined as materialized (${examinedSql}), matching as (
       select ${KEY_COLUMNS} from examined where matches order by ${ORDER} limit ${records}
     ), sized as (
       select uid, chain_id, block_time, block_number, finalized, document, coalesce(octet_length(document), 0) + ${FINALITY_BYTES} as bytes
       from matching left join record_document using (id) left join chain_sync using (chain_id)
     ), measured as (
       select *, sum(bytes) over (order by ${ORDER} rows unbounded preceding) - bytes as bytes_before from sized
     ), returned as (
       select * from measured where bytes_before = 0 or bytes_before < ${bytes}
     ) select coalesce(string_agg(${shownDocumentSql('document', 'block_number', 'finalized')}, ',' order by ${ORDER}), '') as documents, count(*)::int as length, count(*)::int - count(document)::int as missing,
       (select count(*) from examined where matches)::int as matches, (select count(*) from examined)::int as examined,
       (select ${KEY_SQL} from examined order by block_time, uid, chain_id limit 1) as last_examined,
       (select ${KEY_SQL} from returned order by block_time, uid, chain_id limit 1) as last_returned
     from returned`,
    parameters.values,
  )
  requireDocuments(row!['missing'] as number)
  const length = row!['length'] as number
  const isCut = length < (row!['matches'] as number)
  const isEnd = !isCut && (row!['examined'] as number) < maxExamined
  const next = isEnd ? undefined : readKey(row![isCut ? 'last_returned' : 'last_examined'] as string)
  return { documents: row!['documents'] as string, length, next }
}

/** Returns the condition whose index finds few records. Addresses and chains have an index in the order of the list anyway. */
async function findSelectiveCondition(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
  maxExamined: number,
): Promise<ConditionName | undefined> {
  const candidates = names.filter((name) => name === 'event' || name === 'bbox')
  if (candidates.length === 0) return undefined
  const parameters = new Parameters()
  const counts = candidates.map((name) => {
    const source = matchingRowsSql(name, query, parameters, '1')
    return `(select count(*) from (select 1 from (${source}) as met limit ${maxExamined}) as hit)::int as ${name}`
  })
  const [row] = await session.query(`select ${counts.join(', ')}`, parameters.values)
  return candidates.find((name) => (row![name] as number) < maxExamined)
}

function collectSql(
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
  parameters: Parameters,
): string {
  const tests = names.filter((name) => name !== first).map((name) => filterSql(name, query, parameters))
  if (query.after !== undefined) tests.push(afterKeySql(query.after, parameters))
  return `select ${KEY_COLUMNS}, true as matches from (${matchingRowsSql(first, query, parameters, KEY_COLUMNS, tests)}) as met`
}

function walkSql(
  query: RecordQuery,
  names: readonly ConditionName[],
  parameters: Parameters,
  maxExamined: number,
): string {
  const base = (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
  const conditions = base === undefined ? [] : [conditionSql(base, query, parameters)]
  if (query.after !== undefined) conditions.push(afterKeySql(query.after, parameters))
  const tests = names.filter((name) => name !== base).map((name) => filterSql(name, query, parameters))
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  return (
    `select ${KEY_COLUMNS}, ${tests.length === 0 ? 'true' : tests.join(' and ')} as matches from location_record ${where} ` +
    `order by ${ORDER} limit ${maxExamined}`
  )
}
