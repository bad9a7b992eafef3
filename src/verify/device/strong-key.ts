import type { KeyObject } from 'node:crypto'

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/**
 * Returns why a public key is not accepted: it is too short, on an unknown curve, or so long that its arithmetic would
 * block a thread.
 *
 * @returns undefined for an RSA key of 2048 to 4096 bits, one on a NIST curve, or Ed25519
 */
export function findWeakness({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = 'unnamed', publicExponent = 0n } = asymmetricKeyDetails ?? {}
  switch (asymmetricKeyType) {
    case 'ed25519':
      return undefined
    case 'ec':
      // Only named curves. With explicit curve parameters, an attacker could make any key fit.
      return CURVES.includes(namedCurve) ? undefined : `a key on curve ${namedCurve}`
    case 'rsa':
      if (modulusLength < 2048 || modulusLength > 4096) return `an RSA key of ${modulusLength} bits`
      return publicExponent >= 3n && publicExponent <= 0xff_ff_ff_ffn
        ? undefined
        : 'an RSA key with an unusual exponent'
    default:
      return `a key of type ${asymmetricKeyType}`
  }
}
