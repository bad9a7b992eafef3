import { setImmediate } from 'node:timers/promises'
import type { Config } from '../config.ts'
import type { RecordQuery, RecordSlice } from '../store-messages.ts'
import { readExportQuery } from '../validation/feed-query.ts'
import { featureText, splitDocuments } from './record-documents.ts'
import { type RecordQuestion, recordsUnavailable } from './record-questions.ts'
import type { ExportFormat, RecordFeeds } from './record-services.ts'

export interface RecordExportParts {
  readonly config: Config
  /** Chain ids by name. */
  readonly chains: ReadonlyMap<string, number>
  readonly ask: RecordQuestion
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** UTF-16 units written at once: a client that takes as many within the time of a request is not too slow. */
const PIECE_UNITS = 65_536

/** U+001E before each record (RFC 8142, section 2). */
const SEQUENCE_MARK = '\x1e'

const LINES: Readonly<Record<ExportFormat, (document: string) => string>> = {
  ndjson: (document) => `${document}\n`,
  geojsonseq: (document) => `${SEQUENCE_MARK}${featureText(document)}\n`,
}

/**
 * Writes lists of any length. The store is asked for the next slice when the client has taken the last one, so that an
 * export holds one slice, whatever its length and however slow its client.
 */
export function createRecordExport({ config, chains, ask, now }: RecordExportParts): RecordFeeds['export'] {
  const { maxExports, exportPiece, requestDeadlineMs } = config.limits
  let open = 0

  return async (format, search, context, sink) => {
    const query = readExportQuery(search, chains)
    if (open >= maxExports) throw recordsUnavailable(`${open} exports are under way; try again`)
    open++
    try {
      let after: typeof query.after
      do {
        const place: RecordQuery = after === undefined ? query : { ...query, after }
        const slice: RecordSlice = await ask(
          'slice',
          { query: place, size: exportPiece },
          { deadlineMs: now() + requestDeadlineMs },
        )
        for (const piece of pieces(splitDocuments(slice.documents), LINES[format])) {
          await sink.write(piece)
          if (context.aborted) return
          await setImmediate() // a client that reads at once would have the thread for a whole slice
        }
        after = slice.next
      } while (after !== undefined && !context.aborted)
    } finally {
      open--
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
