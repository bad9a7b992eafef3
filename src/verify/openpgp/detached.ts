import { type Keyring, readKeyring } from './keyring.ts'
import { OpenPgpError, readArmor, readPackets } from './packets.ts'
import { EXPIRES, isSignedBy, readSignature, type Signature } from './signature.ts'

export type DetachedVerdict =
  | {
      readonly ok: true
      /** Fingerprint of the primary key. */
      readonly fingerprint: string
      readonly createdSeconds: number
    }
  | { readonly ok: false; readonly reason: string }

/**
 * Verifies a detached OpenPGP signature over a text. Key and signature are armoured and of version 4; algorithms are
 * RSA, ECDSA on NIST curves and Ed25519, with SHA-2.
 *
 * @param atSeconds Unix seconds at which the signature must hold
 */
export function verifyDetached(key: string, signature: string, text: string, atSeconds: number): DetachedVerdict {
  try {
    return judge(readKeyring(readArmor(key, 'PUBLIC KEY BLOCK')), onlySignature(signature), text, atSeconds)
  } catch (error) {
    if (error instanceof OpenPgpError) return { ok: false, reason: error.message }
    throw error
  }
}

function onlySignature(armored: string): Signature {
  const [packet, ...others] = readPackets(readArmor(armored, 'SIGNATURE'))
  if (packet?.tag !== 2 || others.length > 0) throw new OpenPgpError('expected exactly one signature')
  return readSignature(packet.body)
}

function judge(keyring: Keyring, signature: Signature, text: string, atSeconds: number): DetachedVerdict {
  const { createdSeconds, type, covered } = signature
  const signed = signedBytes(text, type)
  const signer = keyring.signingKeys.find((key) => isSignedBy(signature, key, [signed]))
  if (signer === undefined) return { ok: false, reason: 'the signature was not made by this key over these bytes' }
  if (keyring.isRevoked) return { ok: false, reason: 'the key is revoked' }
  if (createdSeconds < signer.createdSeconds) return { ok: false, reason: 'the signature is older than its key' }
  if (createdSeconds > signer.expiresSeconds) return { ok: false, reason: 'the key had expired when it signed' }
  const expires = covered.get(EXPIRES)
  const lifetimeSeconds = expires?.length === 4 ? expires.readUInt32BE(0) : 0
  if (lifetimeSeconds !== 0 && atSeconds > createdSeconds + lifetimeSeconds)
    return { ok: false, reason: 'the signature has expired' }
  return { ok: true, fingerprint: keyring.fingerprint, createdSeconds }
}

/**
 * Returns the bytes that a signature covers. Type 0 covers the bytes as they are, type 1 the text with CR LF line ends.
 */
function signedBytes(text: string, type: number): Buffer {
  if (type === 0) return Buffer.from(text, 'utf8')
  if (type === 1) return Buffer.from(text.replace(/\r?\n/g, '\r\n'), 'utf8')
  throw new OpenPgpError('the signature is not over a document')
}
