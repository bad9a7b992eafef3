import type { Keccak } from '../crypto/keccak.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Longer inputs go in pieces of it. */
const ROOM_BYTES = 16_384

/**
 * keccak-256 by the kernel that a thread has anyway: half the time of a call into another module. Not while a text is being
 * hashed in the arena.
 *
 * @throws {RangeError} when the kernel's memory cannot grow
 */
export function kernelKeccak(kernel: Kernel): Keccak {
  const room = kernel.setAside(ROOM_BYTES) >>> 0
  if (room === 0) throw new RangeError('the kernel is out of memory')
  const digest = (bytes: Uint8Array): number => {
    kernel.keccakStart()
    for (let begin = 0; begin < bytes.length; begin += ROOM_BYTES) {
      const piece = bytes.length <= ROOM_BYTES ? bytes : bytes.subarray(begin, begin + ROOM_BYTES)
      kernel.views().bytes.set(piece, room)
      kernel.keccakAdd(room, piece.length)
    }
    return kernel.keccakEnd()
  }
  const hashInto = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
    const from = digest(bytes)
    const memory = kernel.views().bytes
    for (let index = 0; index < 32; index++) target[at + index] = memory[from + index]! // quicker than a copy of so few
  }
  return {
    hash(bytes) {
      const hash = new Uint8Array(32)
      hashInto(bytes, hash, 0)
      return hash
    },
    hashInto,
    hashHex(bytes) {
      const at = digest(bytes)
      return `0x${kernel.views().bytes.toString('hex', at, at + 32)}`
    },
    backend: 'wasm',
  }
}
