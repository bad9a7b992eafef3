import { type RecordQuery, StoreFault } from '../store-messages.ts'
import type { Row } from './database.ts'
import type { Parameters } from './record-conditions.ts'

/** Newest first; two chains may hold one uid. Each list has an index in this order. */
export const ORDER = 'block_time desc, uid desc, chain_id desc'
/** What `pageText` needs of a record, with `block_time`, `uid` and `chain_id` for the order. */
export const KEY = 'id, uid, chain_id, block_time, block_number'
/** Bytes of the documents of one page. Whoever attests chooses how long a record is, so a page has to have a limit. */
const MAX_PAGE_BYTES = 16 * 1_048_576

/**
 * A document as clients get it: with the member that no stored text can have, because it changes with every block.
 *
 * @param document, block, finalized names of columns; `finalized` is of `chain_sync` and null while nobody reads the chain
 */
export const shownText = (document: string, block: string, finalized: string): string =>
  `left(${document}, -1) || case when ${block} <= ${finalized} then ',"finalized":true}' else ',"finalized":false}' end`

/** What `shownText` adds to a document at most. */
export const FINALITY_BYTES = ',"finalized":false'.length

/**
 * The end of a `with` statement that reads a page. Documents that are too many bytes together are not read.
 *
 * @param keys statement that gives `id, block_time, uid, chain_id, block_number` of the page's records
 * @param more further columns of the answer, with a comma before them
 */
export const pageText = (keys: string, more = ''): string => `
  shown as materialized (
    select block_time, uid, chain_id, block_number, finalized, document
    from (${keys}) as page join record_document using (id) left join chain_sync using (chain_id)
  ), size as (
    select count(*)::int as length, coalesce(sum(octet_length(document)), 0) as bytes from shown
  ) select length, bytes::text as bytes, case when bytes <= ${MAX_PAGE_BYTES} then
    (select coalesce(string_agg(${shownText('document', 'block_number', 'finalized')}, ',' order by ${ORDER}), '') from shown) end as documents ${more} from size`

/**
 * What a statement with `pageText` gave.
 *
 * @throws {StoreFault} `large` when it is too many bytes
 */
export function pageOf(row: Row): { documents: string; length: number } {
  const [documents, length] = [row['documents'] as string | null, row['length'] as number]
  if (documents !== null) return { documents, length }
  throw new StoreFault(
    'large',
    `${length} records of together ${row['bytes']} bytes; a page has at most ${MAX_PAGE_BYTES}`,
  )
}

export function limitText({ limit, offset, after }: RecordQuery, parameters: Parameters): string {
  const text = `limit ${parameters.add(limit, 'bigint')}`
  return after !== undefined || offset === 0 ? text : `${text} offset ${parameters.add(offset, 'bigint')}`
}
