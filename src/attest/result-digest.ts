/**
 * EIP-712 digest of a result that any contract can check without EAS and without a nonce (decision 104).
 *
 * The domain names no contract, so one signature works in every contract of its chain. A contract accepts each digest once, which
 * prevents replays. The salt distinguishes equal results.
 */
import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { putUint, putWord } from './words.ts'

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

export const RESULT_TYPE =
  'SignedResult(bytes32 schema,address recipient,bytes32 dataHash,uint64 deadline,bytes32 salt)'
const RESULT_DOMAIN_TYPE = 'EIP712Domain(string name,string version,uint256 chainId)'
const RESULT_DOMAIN_NAME = 'GeoResult'
const RESULT_DOMAIN_VERSION = '1'

/** Computes the EIP-712 domain separator of signed results on one chain, 32 bytes. */
export function resultDomainSeparator(chainId: number, keccak: Keccak): Uint8Array {
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
