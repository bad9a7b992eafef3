import type { KeyObject } from 'node:crypto'

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/**
 * Why a public key is not worth a signature's cost: too short, of an unknown curve, or so long that its arithmetic alone
 * would hold a thread up.
 *
 * @returns undefined for an RSA key of 2048 to 4096 bits, one on a NIST curve, or Ed25519
 */
export function weaknessOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = 'unnamed', publicExponent = 0n } = asymmetricKeyDetails ?? {}
  switch (asymmetricKeyType) {
    case 'ed25519':
      return undefined
    case 'ec':
      // A curve whose parameters are written out could make any key fit: named ones only.
      return CURVES.includes(namedCurve) ? undefined : `a key on curve ${namedCurve}`
    case 'rsa':
      if (modulusLength < 2048 || modulusLength > 4096) return `an RSA key of ${modulusLength} bits`
      return publicExponent >= 3n && publicExponent <= 0xff_ff_ff_ffn ? undefined : 'an RSA key of odd exponent'
    default:
      return `a key of type ${asymmetricKeyType}`
  }
}
