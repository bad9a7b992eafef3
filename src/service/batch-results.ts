import type { TextsResult } from '../batch-messages.ts'
import type { TextSink } from './services.ts'

/** Signed results written at a time: 64 KB. Strings of more than twice that are mapped and unmapped by the system each. */
const WRITTEN_ITEMS = 32

/** Of a chunk: texts, or all of them as bytes. */
export type Results = readonly string[] | Uint8Array

/** @param separator between results that are strings; bytes have theirs */
export async function writeResults(sink: TextSink, results: Results, separator: string): Promise<void> {
  if (results instanceof Uint8Array) return sink.write(results)
  for (let begin = 0; begin < results.length; begin += WRITTEN_ITEMS) {
    const piece = results.slice(begin, begin + WRITTEN_ITEMS).join(separator)
    await sink.write(begin === 0 ? piece : separator + piece)
  }
}

/** With the byte behind each result. */
export function bytesOf({ texts }: TextsResult): Uint8Array {
  return new Uint8Array(texts.buffer, 0, texts.offsets[texts.offsets.length - 1])
}
