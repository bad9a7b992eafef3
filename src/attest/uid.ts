import { hexToBytes } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { Hex } from '../wire/values.ts'

/** The fields of an attestation that its UID covers. Times are uint64, in Unix seconds. */
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

/** The UID that fields such as `refUID` have when they name no attestation. */
export const ZERO_UID: Hex = `0x${'0'.repeat(64)}`
/**
 * Attestations with equal fields in one block differ by a counter. A UID with this counter or a higher one is treated as wrong:
 * no more attestations fit into the gas of a block.
 */
export const MAX_EQUAL_ATTESTATIONS = 1024

/**
 * Computes the UID that the EAS contract gives an attestation: the keccak-256 of its packed fields (`_getUID` in EAS.sol).
 *
 * For an attestation that is not on a chain, the UID only identifies its content. On the chain it gets another UID, because
 * `time` is then the time of the block (decision 24).
 *
 * @param bump number of attestations with equal fields before it in the same block, usually 0
 * @throws {RangeError} on a time that is not a uint64, or a field that is not hex
 */
export function attestationUid(fields: UidFields, keccak: Keccak, bump = 0): Hex {
  const { schema, recipient, attester, timeSeconds, expirationTimeSeconds, revocable, refUID, data } = fields
  const times = `${uint64(timeSeconds)}${uint64(expirationTimeSeconds)}${revocable ? '01' : '00'}`
  const tail = `${refUID.slice(2)}${data.slice(2)}${bump.toString(16).padStart(8, '0')}`
  const packed = hexToBytes(`${schema}${recipient.slice(2)}${attester.slice(2)}${times}${tail}`)
  if (packed === undefined) throw new RangeError('a field of the attestation is not hex')
  return keccak.hashHex(packed)
}

/** Tells whether the fields hash to a UID, with any counter that is accepted. Throws as `attestationUid` does. */
export function hasUid(fields: UidFields, uid: string, keccak: Keccak): boolean {
  for (let bump = 0; bump < MAX_EQUAL_ATTESTATIONS; bump++) {
    if (attestationUid(fields, keccak, bump) === uid) return true
  }
  return false
}

function uint64(value: number | bigint): string {
  const integer = BigInt(value)
  if (integer < 0n || integer >> 64n !== 0n) throw new RangeError(`${value} is not a uint64`)
  return integer.toString(16).padStart(16, '0')
}
