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
 * @throws {RangeError} on a time that is no uint64
 */
export function attestationUid(fields: UidFields, keccak: Keccak, bump = 0): Hex {
  const head = Buffer.from(`${fields.schema.slice(2)}${fields.recipient.slice(2)}${fields.attester.slice(2)}`, 'hex')
  const middle = Buffer.alloc(17)
  middle.writeBigUInt64BE(BigInt(fields.timeSeconds), 0)
  middle.writeBigUInt64BE(BigInt(fields.expirationTimeSeconds), 8)
  middle[16] = fields.revocable ? 1 : 0
  const tail = Buffer.alloc(4)
  tail.writeUInt32BE(bump)
  const body = Buffer.from(`${fields.refUID.slice(2)}${fields.data.slice(2)}`, 'hex')
  return keccak.hashHex(Buffer.concat([head, middle, body, tail]))
}
