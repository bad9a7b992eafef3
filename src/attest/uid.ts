import { hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Hex } from '../messages.ts'

/** The fields of an attestation that its UID covers. Times are uint64. */
export interface UidFields {
  readonly schema: string
  readonly recipient: string
  readonly attester: string
  readonly timeSeconds: number | bigint
  readonly expirationTimeSeconds: number | bigint
  readonly revocable: boolean
  readonly refUID: string
  readonly data: string
}

/**
 * UID that the EAS contract gives an attestation: keccak-256 of its fields, packed (`_getUID` in EAS.sol).
 *
 * Of an attestation that is not on a chain it names the content; on a chain the UID differs, for `time` is then the
 * block's (decision 24).
 *
 * @param bump how many attestations with equal fields were in the block before; 0 otherwise
 * @throws {RangeError} on a time that is no uint64 and on a field that is no hex
 */
export function attestationUid(fields: UidFields, keccak: Keccak, bump = 0): Hex {
  const { schema, recipient, attester, timeSeconds, expirationTimeSeconds, revocable, refUID, data } = fields
  const times = `${uint64(timeSeconds)}${uint64(expirationTimeSeconds)}${revocable ? '01' : '00'}`
  const ends = `${refUID.slice(2)}${data.slice(2)}${bump.toString(16).padStart(8, '0')}`
  const packed = hexToBytes(`${schema}${recipient.slice(2)}${attester.slice(2)}${times}${ends}`)
  if (packed === undefined) throw new RangeError('a field of the attestation is not hex')
  return keccak.hashHex(packed)
}

function uint64(value: number | bigint): string {
  const integer = BigInt(value)
  if (integer < 0n || integer >> 64n !== 0n) throw new RangeError(`${value} is no uint64`)
  return integer.toString(16).padStart(16, '0')
}
