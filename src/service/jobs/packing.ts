/** Compresses the operations and the results of jobs for the store: most of a line repeats the one before it (decision 156). */
import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { freeBuffer, isLarge } from '../../base/bytes.ts'
import { ProblemError } from '../../base/problem.ts'

const compress = promisify(brotliCompress)
const decompress = promisify(brotliDecompress)

/** Even the lowest quality leaves less than a fifth of the bytes of results, and it takes less time than storing them. */
const FASTEST = {
  [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MIN_QUALITY,
  // 256 KiB: far more than a line. Both sides hold as many bytes.
  [constants.BROTLI_PARAM_LGWIN]: 18,
}
/** Each piece of output is one task for a thread. The results of a chunk take 1 to 6 MB. */
const PIECE_BYTES = 1 << 20
/** Bytes of the checksum before the compressed ones: the beginning of their SHA-256. Brotli has none and reads most damage as other lines. */
const CHECKSUM_BYTES = 8
/** More than the lines of any chunk. */
const MAX_BYTES = 1 << 30

/** Compresses lines, and frees their memory. */
export async function pack(lines: Uint8Array): Promise<Uint8Array> {
  const piece = await compress(lines, { params: FASTEST, chunkSize: PIECE_BYTES })
  if (isLarge(lines)) freeBuffer(lines.buffer)
  // In a buffer of its own: a message to the store would copy the whole buffer of the piece.
  const packed = new Uint8Array(CHECKSUM_BYTES + piece.length)
  packed.set(checksum(piece))
  packed.set(piece, CHECKSUM_BYTES)
  if (hasOwnBuffer(piece)) freeBuffer(piece.buffer)
  return packed
}

/** @returns bytes in a buffer of their own. @throws {ProblemError} `internal` if the bytes are damaged */
export async function unpack(stored: Uint8Array, isCompressed: boolean): Promise<Uint8Array> {
  if (!isCompressed) return stored
  const piece = stored.subarray(CHECKSUM_BYTES)
  if (checksum(piece).compare(stored.subarray(0, CHECKSUM_BYTES)) !== 0)
    throw new ProblemError({ type: 'internal', detail: 'a part of the job is damaged in the store' })
  const lines = await decompress(piece, { chunkSize: PIECE_BYTES, maxOutputLength: MAX_BYTES })
  return hasOwnBuffer(lines) ? lines : new Uint8Array(lines)
}

/** From Node.js 22 on, short output may share a buffer with other bytes, which must not be freed. */
function hasOwnBuffer({ buffer }: Uint8Array): boolean {
  return buffer.byteLength >= PIECE_BYTES
}

function checksum(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer').subarray(0, CHECKSUM_BYTES)
}
