import { createHash } from 'node:crypto'

/** Returns the first bytes of a stream, and the whole stream including them. */
export async function peekBytes(all: AsyncGenerator<Uint8Array, void, undefined>, headBytes: number) {
  const headPieces: Uint8Array[] = []
  let size = 0
  while (size < headBytes) {
    const { done, value } = await all.next()
    if (done === true) break
    headPieces.push(value)
    size += value.length
  }
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* headPieces.splice(0)
    yield* all
  }
  return { head: Buffer.concat(headPieces).subarray(0, headBytes), pieces: pieces() }
}

/** How much of a stream was read, and the hash of it. */
export interface ReadBytes {
  readonly bytes: number
  readonly sha256: string
}

/**
 * Wraps a stream to count and hash what is read of it.
 *
 * @param before what an earlier run read of the stream
 * @param onMismatch called if the stream begins with other bytes; must throw
 */
export function countedBytes(all: AsyncIterable<Uint8Array>, before: ReadBytes | undefined, onMismatch: () => never) {
  const hash = createHash('sha256')
  let bytes = 0
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of all) {
      const remaining = before === undefined ? 0 : before.bytes - bytes
      const reachesEnd = remaining > 0 && remaining <= piece.length
      if (reachesEnd && hash.copy().update(piece.subarray(0, remaining)).digest('hex') !== before!.sha256) onMismatch()
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
    if (before !== undefined && bytes < before.bytes) onMismatch()
  }
  // Until this run has passed the end of the earlier one, the next run has to compare with the earlier one.
  const read = (): ReadBytes =>
    before !== undefined && bytes < before.bytes ? before : { bytes, sha256: hash.copy().digest('hex') }
  return { pieces: pieces(), read, bytes: () => bytes }
}
