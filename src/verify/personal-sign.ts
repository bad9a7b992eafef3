import { recoverAddress } from '../crypto/address.ts'
import { utf8 } from '../crypto/hex.ts'
import { parseSignature, personalText } from '../crypto/signature.ts'
import type { Hex } from '../messages.ts'
import type { SignatureEngine } from './signatures.ts'

/** Who signed a text by EIP-191 ("personal sign"), lower case; undefined when nobody did. */
export function recoverPersonalSigner(
  text: string,
  signature: string,
  { keccak, secp256k1 }: SignatureEngine,
): Hex | undefined {
  const parsed = parseSignature(signature)
  if (!parsed.ok) return undefined
  return recoverAddress(keccak.hash(personalText(utf8(text))), parsed.signature, secp256k1, keccak)
}
