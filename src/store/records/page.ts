import { type EncodedPage, type RecordKey, type RecordQuery, StoreFault } from '../../wire/store-messages.ts'
import type { Hex } from '../../wire/values.ts'
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

/** Key of a record as text, for `readKey`. */
export const KEY_SQL = `block_time::text || ' ' || encode(uid, 'hex') || ' ' || chain_id::text`

export function readKey(text: string): RecordKey {
  const [timeSeconds, uid, chainId] = text.split(' ') as [string, string, string]
  return { timeSeconds: Number(timeSeconds), uid: `0x${uid}` as Hex, chainId: Number(chainId) }
}

/**
 * Checks that each selected record has its document. They are stored and removed in one transaction, so a record without one is damage,
 * and an answer without it would be shorter than the truth.
 *
 * @throws {StoreFault} `damaged`
 */
export function requireDocuments(missing: number): void {
  if (missing > 0)
    throw new StoreFault(
      'damaged',
      `a page of the table record_document is missing: ${missing} of the records read have no document`,
    )
}

type PageSize = Pick<RecordQuery, 'endBytes' | 'maxBytes'>

/**
 * Returns the end of a `with` statement that reads a page. If the documents exceed the limit of a page, they are not read. With
 * `endBytes` the page ends early instead. The size of a document is known without decompressing it.
 *
 * @param keys statement that selects `id, block_time, uid, chain_id, block_number` of the page's records
 * @param more further columns of the result, starting with a comma
 */
export function pageSql(keys: string, { endBytes, maxBytes = MAX_PAGE_BYTES }: PageSize, more = ''): string {
  const source = `
    select block_time, uid, chain_id, coalesce(block_number <= finalized, false) as is_final, document
    from (${keys}) as page left join record_document using (id) left join chain_sync using (chain_id)`
  const [shown, last] =
    endBytes === undefined
      ? [`shown as materialized (${source})`, 'null']
      : [
          `measured as materialized (
            select *, sum(octet_length(document)) over (order by ${ORDER} rows unbounded preceding) as end_bytes from (${source}) as page
          ), shown as materialized (select * from measured where end_bytes - coalesce(octet_length(document), 0) < ${endBytes})`,
          `case when length < (select count(*) from measured)
            then (select ${KEY_SQL} from shown order by block_time, uid, chain_id limit 1) end`,
        ]
  return `
    ${shown}, size as (
      select count(*)::int as length, count(*)::int - count(document)::int as missing, coalesce(sum(octet_length(document)), 0) as bytes
      from shown
    ) select length, missing, bytes::text as bytes, ${last} as last, document, is_final ${more}
    from size left join shown on bytes <= ${maxBytes} order by ${ORDER}`
}

/**
 * Reads the result of the statement of a page: a row for each record, or one without a document.
 *
 * @throws {StoreFault} `large` when the documents exceed the limit of a page; `damaged` when a record has no document
 */
export function readPage(
  rows: readonly Row[],
  { maxBytes = MAX_PAGE_BYTES }: PageSize,
): Pick<EncodedPage, 'documents' | 'length' | 'next'> {
  const { length, missing, bytes, last, document } = rows[0] as {
    readonly length: number
    readonly missing: number
    readonly bytes: string
    readonly last: string | null
    readonly document: string | null
  }
  requireDocuments(missing)
  if (length > 0 && document === null)
    throw new StoreFault(
      'large',
      `the page has ${length} records of ${bytes} bytes in total; the limit is ${maxBytes} bytes`,
    )
  const documents = length === 0 ? new Uint8Array(0) : joinShown(rows, Number(bytes))
  return { documents, length, next: last === null ? undefined : readKey(last) }
}

/**
 * Joins documents with commas, and adds the member `finalized` to each, as `shownDocumentSql` does. The database would count the
 * characters of each document twice to remove its last one, which takes longer than everything else.
 *
 * @param bytes size of the stored documents
 */
function joinShown(rows: readonly Row[], bytes: number): Uint8Array {
  const joined = Buffer.from(new ArrayBuffer(bytes + rows.length * (FINALITY_BYTES + 1)))
  let end = 0
  for (const { document, is_final: isFinal } of rows) {
    if (end > 0) joined[end++] = COMMA
    // The brace at the end of the document is overwritten.
    end += joined.write(document as string, end) - 1
    end += joined.write(isFinal === true ? ',"finalized":true}' : ',"finalized":false}', end, 'latin1')
  }
  return joined.subarray(0, end)
}

const COMMA = 0x2c

export function limitSql({ limit, offset, after }: RecordQuery, parameters: Parameters): string {
  const text = `limit ${parameters.add(limit, 'bigint')}`
  return after !== undefined || offset === 0 ? text : `${text} offset ${parameters.add(offset, 'bigint')}`
}
