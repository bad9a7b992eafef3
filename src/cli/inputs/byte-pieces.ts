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

/** A stream that says how much of it was read. */
export function countedBytes(all: AsyncIterable<Uint8Array>) {
  let bytes = 0
  async function* pieces(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const piece of all) {
      bytes += piece.length
      yield piece
    }
  }
  return { pieces: pieces(), bytes: () => bytes }
}
