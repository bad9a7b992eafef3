import type { PackedBytes } from '../src/packed-bytes.ts'

/**
 * Texts of one chunk as bytes. Joined as a string first, so that one call encodes them all.
 *
 * @param separator one ASCII character behind each
 */
export function packTexts(texts: readonly string[], separator: string): PackedBytes {
  const joined = `${texts.join(separator)}${separator}`
  const bytes = new TextEncoder().encode(joined)
  const isAscii = bytes.length === joined.length
  const offsets = new Uint32Array(texts.length + 1)
  let end = 0
  texts.forEach((text, index) => {
    end += (isAscii ? text.length : Buffer.byteLength(text)) + 1
    offsets[index + 1] = end
  })
  return { buffer: bytes.buffer as ArrayBuffer, offsets }
}
