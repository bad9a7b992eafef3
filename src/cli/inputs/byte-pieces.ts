import { createHash } from 'node:crypto'

/** The first bytes of a stream, and all of it. */
export async function peekBytes(all: AsyncGenerator<Uint8Array, void, undefined>, headBytes: number) {
  const first: Uint8Array[] = []
  let size = 0
  while (size < headBytes) {
    const { done, value } = await all.next()
    if (done === true) break
    first.push(value)
    size += value.length
  }
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* first.splice(0)
    yield* all
  }
  return { head: Buffer.concat(first).subarray(0, headBytes), pieces: pieces() }
}

/** How far a stream was read, and what that was. */
export interface ReadBytes {
  readonly bytes: number
  readonly sha256: string
}

/**
 * A stream that says how much of it was read.
 *
 * @param before what an earlier run read of it
 * @param onOther throws: what comes now is something else
 */
export function countedBytes(all: AsyncIterable<Uint8Array>, before: ReadBytes | undefined, onOther: () => never) {
  const hash = createHash('sha256')
  let bytes = 0
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of all) {
      const rest = before === undefined ? 0 : before.bytes - bytes
      const isAt = rest > 0 && rest <= piece.length
      if (isAt && hash.copy().update(piece.subarray(0, rest)).digest('hex') !== before!.sha256) onOther()
      hash.update(piece)
      bytes += piece.length
      yield piece
    }
    if (before !== undefined && bytes < before.bytes) onOther()
  }
  // What was not passed yet is still to be compared by the run after this one.
  const read = (): ReadBytes =>
    before !== undefined && bytes < before.bytes ? before : { bytes, sha256: hash.copy().digest('hex') }
  return { pieces: pieces(), read, bytes: () => bytes }
}
