import { createHash } from 'node:crypto'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'

const SIGNATURES = 300
/** What a signature by the addon took on the machine for which the marks of `load` were set. */
export const MARKS_SIGNATURE_MICROS = 28.4

/**
 * What one signature by the addon takes by itself, in this process and while nothing else runs: the speed of a machine that
 * others use too changes by half within an hour.
 *
 * @returns a function that measures once more and gives the median so far, in microseconds
 */
export async function signatureAnchor(): Promise<() => number> {
  const secp256k1 = await loadSecp256k1(['native', 'libauth'])
  const privateKey = createHash('sha256').update('anchor').digest()
  const digest = createHash('sha256').update('digest').digest()
  const found: number[] = []
  return () => {
    const started = performance.now()
    for (let count = 0; count < SIGNATURES; count++) secp256k1.sign(digest, privateKey)
    found.push(((performance.now() - started) * 1000) / SIGNATURES)
    found.sort((a, b) => a - b)
    return Math.round(10 * found[Math.floor(found.length / 2)]!) / 10
  }
}
