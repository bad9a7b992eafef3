import { setImmediate } from 'node:timers/promises'
import type { Config } from '../../config/config.ts'
import { readExportQuery } from '../../validation/feed-query.ts'
import type { RecordQuery, RecordSlice } from '../../wire/store-messages.ts'
import { featureText, splitDocuments } from './documents.ts'
import { recordsUnavailable, type StoreAccess } from './questions.ts'
import type { ExportFormat, RecordFeeds } from './record-services.ts'

export interface RecordExportParts {
  readonly config: Config
  /** Chain ids by name. */
  readonly chains: ReadonlyMap<string, number>
  readonly ask: StoreAccess
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** UTF-16 code units per write. A client that takes this much within a request deadline is fast enough. */
const PIECE_UNITS = 65_536

/** U+001E, which precedes each record (RFC 8142, section 2). */
const SEQUENCE_MARK = '\x1e'

const LINES: Readonly<Record<ExportFormat, (document: string) => string>> = {
  ndjson: (document) => `${document}\n`,
  geojsonseq: (document) => `${SEQUENCE_MARK}${featureText(document)}\n`,
}

/**
 * Writes lists of any length. It reads the next slice from the store only when the client has taken the previous one. So an
 * export holds one slice in memory, however long the list and however slow the client.
 */
export function createRecordExport({ config, chains, ask, now }: RecordExportParts): RecordFeeds['export'] {
  const { maxExports, exportPiece, requestDeadlineMs } = config.limits
  let running = 0

  return async (format, search, context, sink) => {
    const query = readExportQuery(search, chains)
    if (running >= maxExports) throw recordsUnavailable(`${running} exports are running; try again`)
    running++
    try {
      let after: typeof query.after
      do {
        const sliceQuery: RecordQuery = after === undefined ? query : { ...query, after }
        const slice: RecordSlice = await ask(
          'slice',
          { query: sliceQuery, size: exportPiece },
          { deadlineMs: now() + requestDeadlineMs },
        )
        for (const piece of pieces(splitDocuments(slice.documents), LINES[format])) {
          await sink.write(piece)
          if (context.aborted) return
          await setImmediate() // otherwise a fast client would occupy the thread for a whole slice
        }
        after = slice.next
      } while (after !== undefined && !context.aborted)
    } finally {
      running--
    }
  }
}

function* pieces(documents: readonly string[], line: (document: string) => string): Generator<string> {
  let piece = ''
  for (const document of documents) {
    piece += line(document)
    if (piece.length < PIECE_UNITS) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
