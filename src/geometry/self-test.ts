import type { Kernel } from '../wasm/loader.ts'
import { scanText } from './scan.ts'
import { hashScannedGeometry } from './scanned-geometry.ts'

/** Numbers that need every digit, white space and a zero too many. */
const TEXT = '{"type":"LineString","coordinates":[[0.1,-0.30000000000000004],[ 179.99999999999997,89.50]]}'
const VERTICES = [0.1, -0.30000000000000004, 179.99999999999997, 89.5]
/** keccak-256 of `{"coordinates":[[0.1,-0.30000000000000004],[179.99999999999997,89.5]],"type":"LineString"}`. */
const REFERENCE = '8b43f2a0172273ccbd90a2e25ccb1175aac607909a0ea0d3823b1759c6159988'

/**
 * Checks that the kernel reads numbers and hashes texts here as it did where it was made.
 *
 * @throws {Error} when it does not: the service must not start then (decision 97)
 */
export function selfTestScanner(kernel: Kernel): void {
  kernel.release()
  const scanned = scanText(kernel, Buffer.from(TEXT), { maxJsonDepth: 8, maxVertices: 2 })
  const vertices = scanned?.spans[0]?.vertices
  if (!VERTICES.every((value, index) => vertices?.[index] === value)) throw new Error('the scanner misreads numbers')
  const hash = hashScannedGeometry(kernel, scanned!, scanned!.skeleton)
  if (hash !== REFERENCE) throw new Error('the scanner hashes a geometry wrongly')
}
