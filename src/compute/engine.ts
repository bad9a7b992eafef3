import type { Keccak } from '../crypto/primitives.ts'
import { selfTestScanner } from '../geometry/scanned-geometry.ts'
import { type Kernel, loadKernel } from '../wasm/loader.ts'
import { selfTestKernel } from '../wasm/self-test.ts'
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import { PreparedGeometries } from './prepared-geometries.ts'
import type { ComputeContext } from './run.ts'

/**
 * Loads the kernel and tests it.
 *
 * @throws {Error} when its self-test fails: a broken kernel must not compute signed results (decision 97)
 */
export function createEngine(limits: ComputeWorkerData['limits']) {
  const kernel = loadKernel()
  selfTestKernel(kernel)
  selfTestScanner(kernel)
  const prepared = new PreparedGeometries(kernel, limits.maxPreparedBytes)
  return { kernel, keccak: kernelKeccak(kernel), limits, prepared, counts: { vertices: 0 } } satisfies ComputeContext
}

/** Size of the input buffer inside the kernel. Longer inputs are hashed piece by piece. */
const BUFFER_BYTES = 16_384

/**
 * Returns a keccak-256 backend that uses the thread's own kernel. A call takes half as long as one into a separate module.
 * Must not be used while a text is being hashed in the kernel's arena.
 *
 * @throws {RangeError} when the kernel's memory cannot grow
 */
export function kernelKeccak(kernel: Kernel): Keccak {
  const bufferAddress = kernel.setAside(BUFFER_BYTES) >>> 0
  if (bufferAddress === 0) throw new RangeError('the kernel is out of memory')
  const digest = (bytes: Uint8Array): number => {
    kernel.keccakStart()
    for (let begin = 0; begin < bytes.length; begin += BUFFER_BYTES) {
      const piece = bytes.length <= BUFFER_BYTES ? bytes : bytes.subarray(begin, begin + BUFFER_BYTES)
      kernel.views().bytes.set(piece, bufferAddress)
      kernel.keccakAdd(bufferAddress, piece.length)
    }
    return kernel.keccakEnd()
  }
  const hashInto = (bytes: Uint8Array, target: Uint8Array, at: number): void => {
    const digestAddress = digest(bytes)
    const memory = kernel.views().bytes
    // For only 32 bytes, a loop is faster than TypedArray.set.
    for (let index = 0; index < 32; index++) target[at + index] = memory[digestAddress + index]!
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
