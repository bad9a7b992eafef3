import { recoverAddress } from '../../crypto/address.ts'
import { utf8 } from '../../crypto/hex.ts'
import { parseSignature, personalMessage } from '../../crypto/signature.ts'
import type { Hex } from '../../wire/messages.ts'
import type { SignatureEngine } from '../signatures.ts'

/**
 * Returns the address that signed a text by EIP-191 ("personal sign"), lower case; undefined when none can be
 * recovered.
 */
export function recoverPersonalSigner(
  text: string,
  signature: string,
  { keccak, secp256k1 }: SignatureEngine,
): Hex | undefined {
  const parsed = parseSignature(signature)
  if (!parsed.ok) return undefined
  return recoverAddress(keccak.hash(personalMessage(utf8(text))), parsed.signature, secp256k1, keccak)
}
