import type { Hex } from '../messages.ts'
import type { ReadSize, RecordKey, RecordQuery, RecordSlice } from '../store-messages.ts'
import type { Row, Session } from './database.ts'
import {
  afterText,
  type ConditionName,
  conditionNames,
  conditionText,
  Parameters,
  sourceText,
  testText,
} from './record-conditions.ts'
import { FINALITY_BYTES, KEY, ORDER, shownText } from './record-page.ts'

/** Records looked at for one slice, whether they match or not: some tens of milliseconds. */
const MAX_LOOKED_AT = 20_000

/**
 * The next records of a list, newest first, for those who want all of it. The work is bounded whatever the filter is: where
 * an index finds the few records that match, they are sorted; otherwise some records are walked past, and the slice ends where
 * the walk did, be it empty.
 */
export async function readSlice(session: Session, query: RecordQuery, size: ReadSize): Promise<RecordSlice> {
  const names = conditionNames(query)
  const parameters = new Parameters()
  const first = await fewRecords(session, query, names)
  const looked = first === undefined ? walked(query, names, parameters) : collected(query, names, first, parameters)
  const records = parameters.add(size.records, 'bigint')
  const bytes = parameters.add(size.bytes, 'bigint')
  const [row] = await session.query(
    `with looked as materialized (${looked}), matching as (
       select ${KEY} from looked where matches order by ${ORDER} limit ${records}
     ), sized as (
       select uid, chain_id, block_time, block_number, finalized, document, octet_length(document) + ${FINALITY_BYTES} as bytes
       from matching join record_document using (id) left join chain_sync using (chain_id)
     ), measured as (
       select *, sum(bytes) over (order by ${ORDER} rows unbounded preceding) - bytes as bytes_before from sized
     ), given as (
       select * from measured where bytes_before = 0 or bytes_before < ${bytes}
     ) select coalesce(string_agg(${shownText('document', 'block_number', 'finalized')}, ',' order by ${ORDER}), '') as documents, count(*)::int as length,
       (select count(*) from looked where matches)::int as matches, (select count(*) from looked)::int as looked,
       (select ${keyText} from looked order by block_time, uid, chain_id limit 1) as last_looked,
       (select ${keyText} from given order by block_time, uid, chain_id limit 1) as last_given
     from given`,
    parameters.values,
  )
  const length = row!['length'] as number
  const isCut = length < (row!['matches'] as number)
  const isEnd = !isCut && (row!['looked'] as number) < MAX_LOOKED_AT
  const next = isEnd ? undefined : keyOf(row!, isCut ? 'last_given' : 'last_looked')
  return { documents: row!['documents'] as string, length, next }
}

/** The condition whose index gives few records. Addresses and chains have an index in the order of the list anyway. */
async function fewRecords(
  session: Session,
  query: RecordQuery,
  names: readonly ConditionName[],
): Promise<ConditionName | undefined> {
  const candidates = names.filter((name) => name === 'event' || name === 'bbox')
  if (candidates.length === 0) return undefined
  const parameters = new Parameters()
  const counts = candidates.map((name) => {
    const source = sourceText(name, query, parameters, '1')
    return `(select count(*) from (select 1 from (${source}) as met limit ${MAX_LOOKED_AT}) as hit)::int as ${name}`
  })
  const [row] = await session.query(`select ${counts.join(', ')}`, parameters.values)
  return candidates.find((name) => (row![name] as number) < MAX_LOOKED_AT)
}

function collected(
  query: RecordQuery,
  names: readonly ConditionName[],
  first: ConditionName,
  parameters: Parameters,
): string {
  const tests = names.filter((name) => name !== first).map((name) => testText(name, query, parameters))
  if (query.after !== undefined) tests.push(afterText(query.after, parameters))
  return `select ${KEY}, true as matches from (${sourceText(first, query, parameters, KEY, tests)}) as met`
}

function walked(query: RecordQuery, names: readonly ConditionName[], parameters: Parameters): string {
  const base = (['prover', 'subject', 'chain'] as const).find((name) => names.includes(name))
  const conditions = base === undefined ? [] : [conditionText(base, query, parameters)]
  if (query.after !== undefined) conditions.push(afterText(query.after, parameters))
  const tests = names.filter((name) => name !== base).map((name) => testText(name, query, parameters))
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  return (
    `select ${KEY}, ${tests.length === 0 ? 'true' : tests.join(' and ')} as matches from location_record ${where} ` +
    `order by ${ORDER} limit ${MAX_LOOKED_AT}`
  )
}

const keyText = `block_time::text || ' ' || encode(uid, 'hex') || ' ' || chain_id::text`

function keyOf(row: Row, column: 'last_looked' | 'last_given'): RecordKey {
  const [timeSeconds, uid, chainId] = (row[column] as string).split(' ') as [string, string, string]
  return { timeSeconds: Number(timeSeconds), uid: `0x${uid}` as Hex, chainId: Number(chainId) }
}
