/** Byte strings between threads: packing them into one transferable buffer, and freeing large buffers early. */
import { MessageChannel } from 'node:worker_threads'

/** Several byte strings in one transferable buffer, so that one transfer replaces a clone of each. */
export interface PackedBytes {
  readonly buffer: ArrayBuffer
  /** Item i is bytes [offsets[i], offsets[i + 1]). */
  readonly offsets: Uint32Array
}

/** Copies byte strings into one buffer; `unpack` reads one of them. */
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

/** Copies packed bytes. A buffer that is sent to a thread is transferred, and the original is needed for a second try. */
export function copyPacked({ buffer, offsets }: PackedBytes): PackedBytes {
  return { buffer: buffer.slice(0), offsets }
}

const { port1: closedPort, port2 } = new MessageChannel()

/**
 * Resolves when the port is closed; from then on `freeBuffer` frees memory at once. Closing takes a tick of the event loop, which
 * a pool thread runs only while it waits.
 */
export const freeBufferReady = new Promise<void>((resolve) => {
  port2.once('close', resolve)
})
port2.close()

/**
 * Frees the memory of a large buffer at once, by transferring it to a closed port. When the garbage collector had to free the
 * buffers of batches, it scanned the whole heap of the main thread up to seventeen times a second, a fifth of all CPU time.
 *
 * @param buffer must not be in use by native code; views of it are empty afterwards
 */
export function freeBuffer(buffer: ArrayBufferLike): void {
  if (buffer instanceof ArrayBuffer) closedPort.postMessage(undefined, [buffer])
}

/** Smaller buffers are cheap to collect and often share an ArrayBuffer. */
const LARGE_BYTES = 16_384

/** Returns true if a view covers the whole of a large buffer. */
export function isLarge(view: Uint8Array | Float64Array): boolean {
  // Test the length first: reading `buffer` of a small typed array makes V8 allocate one.
  return view.byteLength >= LARGE_BYTES && view.byteLength === view.buffer.byteLength
}
