/**
 * EIP-712 digest of a delegated EAS attestation. Written directly, because that takes 3.5 µs and a general library 130 µs.
 *
 * The layout depends on the contract's version (`Chain.profile`): legacy (0.26, 1.0.x) covers neither value nor deadline, v1
 * (1.2.x) covers both, v2 (1.3 on) also covers the attester, as its first field.
 */
import type { ChainProfile } from '../config/config.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { Chain } from './chains.ts'
import { putHex, putUint, putWord } from './words.ts'

/**
 * The fields that are signed. Integers up to 2⁴⁸−1; addresses (20 bytes) and UIDs (32 bytes) as bytes or as `0x` and hex digits.
 */
export interface AttestMessage {
  /** Signed only in `v2`. */
  readonly attester: Uint8Array | string
  readonly schema: Uint8Array | string
  readonly recipient: Uint8Array | string
  /** Unix seconds; 0 means never. */
  readonly expirationTimeSeconds: number
  readonly revocable: boolean
  readonly refUID: Uint8Array | string
  readonly data: Uint8Array
  readonly nonce: number
  /** Unix seconds. Not signed in `legacy`. */
  readonly deadlineSeconds: number
}

const FIELDS = 'bytes32 schema,address recipient,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data'
/** The EIP-712 type of each profile; the contract's `getAttestTypeHash()` returns its keccak-256. */
export const ATTEST_TYPES: Readonly<Record<ChainProfile, string>> = {
  legacy: `Attest(${FIELDS},uint256 nonce)`,
  v1: `Attest(${FIELDS},uint256 value,uint256 nonce,uint64 deadline)`,
  v2: `Attest(address attester,${FIELDS},uint256 value,uint256 nonce,uint64 deadline)`,
}
const DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'

/** Computes the type hash of a profile: the keccak-256 of its EIP-712 type, 32 bytes. */
export function attestTypeHash(profile: ChainProfile, keccak: Keccak): Uint8Array {
  return keccak.hash(utf8(ATTEST_TYPES[profile]))
}

/** Computes the EIP-712 domain separator of the chain's EAS contract, 32 bytes. */
export function domainSeparator(
  { id, easVersion, easAddress }: Pick<Chain, 'id' | 'easVersion' | 'easAddress'>,
  keccak: Keccak,
): Uint8Array {
  const words = new Uint8Array(5 * 32)
  words.set(keccak.hash(utf8(DOMAIN_TYPE)), 0)
  words.set(keccak.hash(utf8('EAS')), 32)
  words.set(keccak.hash(utf8(easVersion)), 64)
  putUint(words, 3, id)
  putHex(words, 4, easAddress)
  return keccak.hash(words)
}

/**
 * Creates the digest function of one chain. Type hash and domain separator are computed once.
 *
 * @returns a function that returns 32 bytes and throws {RangeError} on a value that does not fit its field
 */
export function createAttestDigest(
  chain: Pick<Chain, 'id' | 'profile' | 'easVersion' | 'easAddress'>,
  keccak: Keccak,
): (message: AttestMessage) => Uint8Array {
  const isLegacy = chain.profile === 'legacy'
  const first = chain.profile === 'v2' ? 2 : 1 // word index of `schema`
  const words = new Uint8Array((first + (isLegacy ? 7 : 9)) * 32)
  words.set(attestTypeHash(chain.profile, keccak), 0)
  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(domainSeparator(chain, keccak), 2)

  return (message) => {
    if (chain.profile === 'v2') putWord(words, 1, message.attester)
    putWord(words, first, message.schema)
    putWord(words, first + 1, message.recipient)
    putUint(words, first + 2, message.expirationTimeSeconds)
    putUint(words, first + 3, message.revocable ? 1 : 0)
    putWord(words, first + 4, message.refUID)
    keccak.hashInto(message.data, words, (first + 5) * 32)
    if (isLegacy) {
      putUint(words, first + 6, message.nonce)
    } else {
      // Word first + 6 is `value`, which stays 0: attestations carry no payment.
      putUint(words, first + 7, message.nonce)
      putUint(words, first + 8, message.deadlineSeconds)
    }
    keccak.hashInto(words, envelope, 34)
    return keccak.hash(envelope)
  }
}
