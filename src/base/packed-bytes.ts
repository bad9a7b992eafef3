/** Several byte strings in one transferable buffer, so that one transfer replaces a clone of each. */
export interface PackedBytes {
  readonly buffer: ArrayBuffer
  /** Item i is bytes [offsets[i], offsets[i + 1]). */
  readonly offsets: Uint32Array
}

export function pack(items: readonly Uint8Array[]): PackedBytes {
  const offsets = new Uint32Array(items.length + 1)
  items.forEach((bytes, index) => {
    offsets[index + 1] = offsets[index]! + bytes.byteLength
  })
  const buffer = new ArrayBuffer(offsets[items.length]!)
  const target = new Uint8Array(buffer)
  items.forEach((bytes, index) => {
    target.set(bytes, offsets[index])
  })
  return { buffer, offsets }
}

/** Returns the bytes of item `index` as a view, not a copy. */
export function unpack(packed: PackedBytes, index: number): Uint8Array {
  const start = packed.offsets[index]!
  return new Uint8Array(packed.buffer, start, packed.offsets[index + 1]! - start)
}
