import { type RecordQuery, StoreFault } from '../../wire/store-messages.ts'
import type { Row } from '../database.ts'
import type { Parameters } from './conditions.ts'

/** Newest first. Includes the chain, because two chains may have the same uid. Each list has an index in this order. */
export const ORDER = 'block_time desc, uid desc, chain_id desc'
/** The columns that the statement of a page needs; `block_time`, `uid` and `chain_id` are for the order. */
export const KEY_COLUMNS = 'id, uid, chain_id, block_time, block_number'
/** Limit of the documents of one page, in bytes. Attesters choose the size of a record, so a page must be limited. */
export const MAX_PAGE_BYTES = 16 * 1_048_576

/**
 * Returns SQL for a document as clients get it, with the member `finalized`. That member is not stored, because it changes with
 * every block.
 *
 * @param document, block, finalized names of columns; `finalized` of `chain_sync` is null until the chain has been read
 */
export const shownDocumentSql = (document: string, block: string, finalized: string): string =>
  `left(${document}, -1) || case when ${block} <= ${finalized} then ',"finalized":true}' else ',"finalized":false}' end`

/** The most bytes that the member `finalized` adds to a document. */
export const FINALITY_BYTES = ',"finalized":false'.length

/**
 * Returns the end of a `with` statement that reads a page. If the documents exceed the limit of a page, they are not read.
 *
 * @param keys statement that selects `id, block_time, uid, chain_id, block_number` of the page's records
 * @param more further columns of the result, starting with a comma
 */
export const pageSql = (keys: string, more = ''): string => `
  shown as materialized (
    select block_time, uid, chain_id, block_number, finalized, document
    from (${keys}) as page join record_document using (id) left join chain_sync using (chain_id)
  ), size as (
    select count(*)::int as length, coalesce(sum(octet_length(document)), 0) as bytes from shown
  ) select length, bytes::text as bytes, case when bytes <= ${MAX_PAGE_BYTES} then
    (select coalesce(string_agg(${shownDocumentSql('document', 'block_number', 'finalized')}, ',' order by ${ORDER}), '') from shown) end as documents ${more} from size`

/**
 * Reads the result of the statement of a page.
 *
 * @throws {StoreFault} `large` when the documents exceed the limit of a page
 */
export function readPage(row: Row): { documents: string; length: number } {
  const [documents, length] = [row['documents'] as string | null, row['length'] as number]
  if (documents !== null) return { documents, length }
  throw new StoreFault(
    'large',
    `the page has ${length} records of ${row['bytes']} bytes in total; the limit is ${MAX_PAGE_BYTES} bytes`,
  )
}

export function limitSql({ limit, offset, after }: RecordQuery, parameters: Parameters): string {
  const text = `limit ${parameters.add(limit, 'bigint')}`
  return after !== undefined || offset === 0 ? text : `${text} offset ${parameters.add(offset, 'bigint')}`
}
