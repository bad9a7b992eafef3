import { createHash } from 'node:crypto'
import type { Secp256k1Backend } from '../src/crypto/primitives.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { median } from './rounds.ts'

const CALLS = 200
const PIECES = 5

/** Microseconds that this machine takes at the moment. */
export interface SignatureTimes {
  readonly signMicros: number
  readonly recoverMicros: number
}

/**
 * Measures signatures and recoveries in this process while no load runs. They are the unit of the targets of `load`, because the
 * speed of a shared machine can change threefold within a day.
 *
 * @param backend the secp256k1 backend with which the service signs, as it names it: `native (secp256k1 5.0.2)`
 */
export async function createSignatureTimer(backend: string): Promise<() => SignatureTimes> {
  const secp256k1 = await loadSecp256k1([backend.split(' ')[0] as Secp256k1Backend])
  const privateKey = createHash('sha256').update('anchor').digest()
  const digest = createHash('sha256').update('digest').digest()
  const signed = secp256k1.sign(digest, privateKey)
  return () => ({
    signMicros: medianMicros(() => secp256k1.sign(digest, privateKey)),
    recoverMicros: medianMicros(() => secp256k1.recover(digest, signed)),
  })
}

function medianMicros(call: () => unknown): number {
  const micros = Array.from({ length: PIECES }, () => {
    const startMs = performance.now()
    for (let count = 0; count < CALLS; count++) call()
    return ((performance.now() - startMs) * 1000) / CALLS
  })
  return median(micros)
}

export function meanTimes(a: SignatureTimes, b: SignatureTimes): SignatureTimes {
  return { signMicros: (a.signMicros + b.signMicros) / 2, recoverMicros: (a.recoverMicros + b.recoverMicros) / 2 }
}
