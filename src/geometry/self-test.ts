import type { Kernel } from '../wasm/loader.ts'
import { scanText } from './scan.ts'
import { hashScannedGeometry } from './scanned-geometry.ts'

/** Numbers with few decimals, with all that a double needs, and with too many; white space, and a superfluous zero. */
const TEXT =
  '{"type":"LineString","coordinates":[[0.1,-0.30000000000000004],[-122.4194123,37.7749123],[10.123456789012344,0.5],[ 179.99999999999997,89.50]]}'
const VERTICES = [
  0.1, -0.30000000000000004, -122.4194123, 37.7749123, 10.123456789012344, 0.5, 179.99999999999997, 89.5,
]
/** keccak-256 of this geometry as ECMAScript writes it, with the members in order: `coordinates` first. */
const REFERENCE = '5a0857328476112f275ee6e565c0f7bdb12d7a55fb9014bb7d9193dabe30c5c8'

/**
 * Checks that the kernel reads numbers and hashes texts on this machine as it did where it was built.
 *
 * @throws {Error} when it does not; the service must not start then (decision 97)
 */
export function selfTestScanner(kernel: Kernel): void {
  kernel.release()
  const scanned = scanText(kernel, Buffer.from(TEXT), { maxJsonDepth: 8, maxVertices: 4 })
  const vertices = scanned?.spans[0]?.vertices
  if (!VERTICES.every((value, index) => vertices?.[index] === value)) throw new Error('the scanner misreads numbers')
  const hash = hashScannedGeometry(kernel, scanned!, scanned!.skeleton)
  if (hash !== REFERENCE) throw new Error('the scanner hashes a geometry wrongly')
}
