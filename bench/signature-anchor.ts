import { createHash } from 'node:crypto'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'

const SIGNATURES = 300
/** Microseconds per signature by the addon on the machine for which the targets of `load` were set. */
export const TARGET_SIGNATURE_MICROS = 28.4

/**
 * Measures single signatures by the addon in this process while no load runs. This is a reference for the speed of the machine,
 * because the speed of a shared machine can change by half within an hour.
 *
 * @returns a function that measures once more and returns the median so far, in microseconds
 */
export async function createSignatureTimer(): Promise<() => number> {
  const secp256k1 = await loadSecp256k1(['native', 'libauth'])
  const privateKey = createHash('sha256').update('anchor').digest()
  const digest = createHash('sha256').update('digest').digest()
  const measuredMicros: number[] = []
  return () => {
    const started = performance.now()
    for (let count = 0; count < SIGNATURES; count++) secp256k1.sign(digest, privateKey)
    measuredMicros.push(((performance.now() - started) * 1000) / SIGNATURES)
    measuredMicros.sort((a, b) => a - b)
    return Math.round(10 * measuredMicros[Math.floor(measuredMicros.length / 2)]!) / 10
  }
}
