import type { Hex } from '../wire/values.ts'
import { bytesToHex, compareBytes, hexToBytes, utf8 } from './hex.ts'

/** An ECDSA signature on secp256k1, with the bit that selects one of its two possible public keys. */
export interface RecoverableSignature {
  /** r‖s, 64 bytes, s ≤ n/2. */
  readonly compact: Uint8Array
  readonly recovery: 0 | 1
}

export type ParsedSignature =
  | { readonly ok: true; readonly signature: RecoverableSignature }
  | { readonly ok: false; readonly reason: string }

/** Order n of the group, and n/2 rounded down (SEC 2, section 2.4.1). */
const ORDER = hexToBytes('0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141')!
const HALF_ORDER = hexToBytes('0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0')!
const ZERO = new Uint8Array(32)

const SIGNATURE_TEXT = /^0x[0-9a-fA-F]{130}$/

/**
 * Parses r‖s‖v strictly: exactly 65 bytes, 0 < r < n, 0 < s ≤ n/2, v 0, 1, 27 or 28 (decision 110).
 *
 * s with v and n − s with the other v are both valid for the same message. Accepting both would give each signature a second
 * valid encoding.
 *
 * @param text `0x` and 130 hex digits in any case
 */
export function parseSignature(text: string): ParsedSignature {
  if (!SIGNATURE_TEXT.test(text)) return { ok: false, reason: 'is not 0x and 130 hex digits (65 bytes r, s, v)' }
  const bytes = hexToBytes(text)!
  const r = bytes.subarray(0, 32)
  const s = bytes.subarray(32, 64)
  const v = bytes[64]!
  if (compareBytes(r, ZERO) === 0 || compareBytes(r, ORDER) >= 0)
    return { ok: false, reason: 'has an r outside 1..n-1' }
  if (compareBytes(s, ZERO) === 0 || compareBytes(s, ORDER) >= 0)
    return { ok: false, reason: 'has an s outside 1..n-1' }
  if (compareBytes(s, HALF_ORDER) > 0) return { ok: false, reason: 'has an s above n/2 (malleable)' }
  if (v !== 0 && v !== 1 && v !== 27 && v !== 28) return { ok: false, reason: `has v ${v}, expected 27 or 28` }
  return { ok: true, signature: { compact: bytes.subarray(0, 64), recovery: (v % 27) as 0 | 1 } }
}

/** Formats r‖s‖v with v 27 or 28, lower case: the form that EAS contracts and wallets accept (decision 78). */
export function formatSignature({ compact, recovery }: RecoverableSignature): Hex {
  const rs = bytesToHex(compact.subarray(0, 64))
  return recovery === 0 ? `0x${rs}1b` : `0x${rs}1c`
}

/** Returns the bytes that wallets sign for a message: EIP-191, version 0x45 ("personal sign"). */
export function personalMessage(bytes: Uint8Array): Uint8Array {
  const prefix = utf8(`\x19Ethereum Signed Message:\n${bytes.length}`)
  const message = new Uint8Array(prefix.length + bytes.length)
  message.set(prefix)
  message.set(bytes, prefix.length)
  return message
}
