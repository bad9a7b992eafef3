/**
 * EIP-712 digest of a delegated EAS attestation. This code takes 3.5 µs; a general library takes 130 µs.
 *
 * The layout depends on the contract's version (`Chain.profile`): legacy (0.26, 1.0.x) covers neither value nor deadline, v1
 * (1.2.x) covers both, v2 (1.3 on) also covers the attester, as its first field.
 */

import type { ChainProfile } from '../config/chains.ts'
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/primitives.ts'
import { putHex, putUint, putWord } from './abi.ts'
import type { Chain } from './chains.ts'

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

/*
 * EIP-712 digest of a result that any contract can check without EAS and without a nonce (decision 104).
 *
 * The domain names no contract, so one signature works in every contract of its chain. A contract accepts each digest once, which
 * prevents replays. The salt distinguishes equal results.
 */

/** The fields that are signed; as bytes, or as `0x` and hex digits. */
export interface ResultMessage {
  readonly schema: Uint8Array | string
  readonly recipient: Uint8Array | string
  readonly data: Uint8Array
  /** Seconds, up to 2⁴⁸−1. */
  readonly deadlineSeconds: number
  /** 32 bytes. */
  readonly salt: Uint8Array | string
}

const RESULT_TYPE = 'SignedResult(bytes32 schema,address recipient,bytes32 dataHash,uint64 deadline,bytes32 salt)'
const RESULT_DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)'
const RESULT_DOMAIN_NAME = 'GeoResult'
const RESULT_DOMAIN_VERSION = '1'

/** Computes the EIP-712 domain separator of signed results on one chain, 32 bytes. */
function resultDomainSeparator(chainId: number, keccak: Keccak): Uint8Array {
  const words = new Uint8Array(4 * 32)
  for (const [index, text] of [RESULT_DOMAIN_TYPE, RESULT_DOMAIN_NAME, RESULT_DOMAIN_VERSION].entries()) {
    words.set(keccak.hash(utf8(text)), index * 32)
  }
  putUint(words, 3, chainId)
  return keccak.hash(words)
}

/**
 * Creates the digest function of one chain. Type hash and domain separator are computed once.
 *
 * @returns a function that returns 32 bytes and throws {RangeError} on a value that does not fit its field
 */
export function createResultDigest(chainId: number, keccak: Keccak): (message: ResultMessage) => Uint8Array {
  const words = new Uint8Array(6 * 32)
  words.set(keccak.hash(utf8(RESULT_TYPE)), 0)
  const envelope = new Uint8Array(66)
  envelope.set([0x19, 0x01])
  envelope.set(resultDomainSeparator(chainId, keccak), 2)

  return ({ schema, recipient, data, deadlineSeconds, salt }) => {
    putWord(words, 1, schema)
    putWord(words, 2, recipient)
    keccak.hashInto(data, words, 3 * 32)
    putUint(words, 4, deadlineSeconds)
    putWord(words, 5, salt)
    keccak.hashInto(words, envelope, 34)
    return keccak.hash(envelope)
  }
}
