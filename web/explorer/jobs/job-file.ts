/** Reads a file as the operations of a job: each line is an operation, or each row is one input of an operation. */
import type { BatchOperation } from '../../../src/client/batch.ts'
import { readLines } from '../../../src/client/lines.ts'
import { type BatchRow, readBatchFile } from '../compute/batch-file.ts'
import { bodyOf, type RequestDraft } from '../compute/request-draft.ts'

export type JobFile =
  /** Operations, one on each line. They are read while they are sent, so the file may be large. */
  | { readonly kind: 'lines' }
  | { readonly kind: 'rows'; readonly rows: readonly BatchRow[] }
  | { readonly kind: 'none'; readonly reason: string }

/** Largest number of rows in a CSV or GeoJSON file. Such a file is in memory as a whole. */
export const MAX_JOB_ROWS = 500_000
const LINES_NAME = /\.(?:ndjson|jsonl)$/i

export async function readJobFile(file: File): Promise<JobFile> {
  if (file.size === 0) return { kind: 'none', reason: 'The file is empty.' }
  if (LINES_NAME.test(file.name)) return { kind: 'lines' }
  const read = readBatchFile(await file.text(), MAX_JOB_ROWS)
  return read.ok ? { kind: 'rows', rows: read.rows } : { kind: 'none', reason: read.reason }
}

/** Yields the operations of the lines. @throws {Error} on a line that is not an operation, with its number */
export async function* readOperations(file: Blob): AsyncGenerator<BatchOperation, void, undefined> {
  let number = 0
  for await (const line of readLines(piecesOf(file))) {
    number++
    if (line.trim() !== '') yield parseOperation(line, number)
  }
}

function parseOperation(line: string, number: number): BatchOperation {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new Error(`Line ${number} is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || typeof (value as { op?: unknown }).op !== 'string')
    throw new Error(`Line ${number} is not an operation: it needs "op", for example {"op": "area", "geometry": …}.`)
  return value as BatchOperation
}

/** Not every browser can iterate over a stream. */
async function* piecesOf(file: Blob): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = file.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}

/** Returns an operation for each row with a geometry; the geometry replaces input A. The id is the number of the row. */
export function* operationsOfRows(
  rows: readonly BatchRow[],
  draft: RequestDraft,
): Generator<BatchOperation, void, undefined> {
  for (const [index, { geometry }] of rows.entries()) {
    if (geometry === undefined) continue
    const { chainId: _, ...members } = bodyOf({ ...draft, a: geometry })
    yield { op: draft.operation, id: index + 1, ...members } as unknown as BatchOperation
  }
}
