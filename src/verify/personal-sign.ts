import { recoverAddress } from '../crypto/address.ts'
import { parseSignature } from '../crypto/signature.ts'
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
  const bytes = Buffer.from(text, 'utf8')
  const prefix = Buffer.from(`\x19Ethereum Signed Message:\n${bytes.length}`, 'latin1')
  return recoverAddress(keccak.hash(Buffer.concat([prefix, bytes])), parsed.signature, secp256k1, keccak)
}
