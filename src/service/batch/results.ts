import type { TextsResult } from '../../wire/batch-messages.ts'
import type { TextSink } from '../services.ts'

/**
 * Signed results written at a time: 64 KB. For strings more than twice as long, the operating system maps and unmaps memory each
 * time.
 */
const WRITTEN_ITEMS = 32

/** The results of a chunk: JSON texts, or all of them as bytes. */
export type Results = readonly string[] | Uint8Array

/** @param separator between results that are strings; bytes already contain it */
export async function writeResults(sink: TextSink, results: Results, separator: string): Promise<void> {
  if (results instanceof Uint8Array) return sink.write(results)
  for (let begin = 0; begin < results.length; begin += WRITTEN_ITEMS) {
    const piece = results.slice(begin, begin + WRITTEN_ITEMS).join(separator)
    await sink.write(begin === 0 ? piece : separator + piece)
  }
}

/** Returns the bytes of all results, each followed by its separator. */
export function resultBytes({ texts }: TextsResult): Uint8Array {
  return new Uint8Array(texts.buffer, 0, texts.offsets[texts.offsets.length - 1])
}
