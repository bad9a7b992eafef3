/** Transactions from our own account: EIP-1559, to a chain's EAS contract, without value, calling only `multiAttest`. */

import { ProblemError } from '../base/problem.ts'
import type { SubmissionConfig } from '../config/submission.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { RecoverableSignature } from '../crypto/signature.ts'
import { MAX_SEQUENCE, type RelayPayload } from '../wire/signing-messages.ts'
import type { Hex } from '../wire/values.ts'

/**
 * Recursive length prefix (RLP), the encoding of Ethereum's transactions (Yellow Paper, appendix B): bytes, or a list of items.
 */
type RlpItem = Uint8Array | readonly RlpItem[]

/** Encodes an item in its only valid form. */
export function encodeRlp(item: RlpItem): Buffer {
  if (item instanceof Uint8Array) {
    const isItsOwnEncoding = item.length === 1 && item[0]! < 0x80
    return isItsOwnEncoding ? Buffer.from(item) : Buffer.concat([prefix(0x80, item.length), item])
  }
  const body = Buffer.concat(item.map(encodeRlp))
  return Buffer.concat([prefix(0xc0, body.length), body])
}

/**
 * Returns an integer in the form that RLP requires: big-endian, without leading zeros, 0 as no bytes.
 *
 * @throws {RangeError} on a negative integer
 */
export function rlpInteger(value: number | bigint): Buffer {
  if (value < 0) throw new RangeError(`${value} is negative`)
  const digits = value.toString(16)
  return BigInt(value) === 0n ? Buffer.alloc(0) : Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

function prefix(base: number, length: number): Buffer {
  if (length < 56) return Buffer.from([base + length])
  const size = rlpInteger(length)
  return Buffer.concat([Buffer.from([base + 55 + size.length]), size])
}

/** The fields of an attestation that vary. Every attestation is revocable, never expires and has no refUID. */
interface MultiAttestItem {
  readonly schema: Hex
  readonly recipient: Hex
  readonly data: Hex
}

/** The most that one of our transactions may cost. */
export interface RelayCeilings {
  readonly gas: number
  /** Wei per unit of gas. */
  readonly feePerGas: bigint
  /** The part of it that goes to the block's producer, in wei. */
  readonly priorityFeePerGas: bigint
}

/** Converts the operator's settings. */
export function relayCeilings({
  maxGas,
  maxFeeGwei,
  maxPriorityFeeGwei,
}: Pick<SubmissionConfig, 'maxGas' | 'maxFeeGwei' | 'maxPriorityFeeGwei'>): RelayCeilings {
  const wei = (gwei: number) => BigInt(Math.round(gwei * 1e9))
  return { gas: maxGas, feePerGas: wei(maxFeeGwei), priorityFeePerGas: wei(maxPriorityFeeGwei) }
}

/** Selector of `multiAttest((bytes32,(address,uint64,bool,bytes32,bytes,uint256)[])[])`, the same in every EAS version. */
const SELECTOR = '44adc90e'
/** EIP-2718 type of an EIP-1559 transaction. */
const TYPE = Buffer.from([2])
const EMPTY = Buffer.alloc(0)
/** Words of one request before its data. */
const HEAD_WORDS = 6

/**
 * Encodes the calldata of `multiAttest`. Consecutive items with the same schema become one request; the contract attests in the
 * order of the items.
 *
 * @param items hex in lower case
 */
export function encodeMultiAttest(items: readonly MultiAttestItem[]): Hex {
  const groups: MultiAttestItem[][] = []
  for (const item of items) {
    const last = groups.at(-1)
    if (last !== undefined && last[0]!.schema === item.schema) last.push(item)
    else groups.push([item])
  }
  const tuples = groups.map(
    (group) => `${group[0]!.schema.slice(2)}${word(64)}${dynamicArray(group.map(encodeRequest))}`,
  )
  return `0x${SELECTOR}${word(32)}${dynamicArray(tuples)}`
}

function encodeRequest({ recipient, data }: MultiAttestItem): string {
  const bytes = data.slice(2)
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  const [expirationTime, revocable, refUID, value] = [word(0), word(1), word(0), word(0)]
  return `${recipient.slice(2).padStart(64, '0')}${expirationTime}${revocable}${refUID}${word(HEAD_WORDS * 32)}${value}${word(bytes.length / 2)}${padded}`
}

/** Encodes an array of dynamic items: its length, the offset of each item, the items. */
function dynamicArray(items: readonly string[]): string {
  let offset = items.length * 32
  let heads = word(items.length)
  for (const item of items) {
    heads += word(offset)
    offset += item.length / 2
  }
  return heads + items.join('')
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0')
}

/**
 * Checks everything about a transaction but the data that it attests.
 *
 * @param ceilings undefined when no transactions may be signed
 * @returns the problem, or undefined when the transaction may be signed
 */
export function relayProblem(payload: RelayPayload, ceilings: RelayCeilings | undefined): ProblemError | undefined {
  if (ceilings === undefined) return internalProblem('transactions are not enabled')
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, items } = payload
  if (items.length > MAX_SEQUENCE || !items.every((item) => item.chainId === chainId)) {
    return internalProblem(`a transaction has at most ${MAX_SEQUENCE} attestations, all of its chain`)
  }
  if (!Number.isSafeInteger(nonce) || nonce < 0) return internalProblem('the nonce is not a whole number')
  if (!Number.isSafeInteger(gas) || gas <= 0 || gas > ceilings.gas) {
    return internalProblem(`a transaction has at most ${ceilings.gas} gas`)
  }
  if (maxFeePerGas <= 0n || maxFeePerGas > ceilings.feePerGas) {
    return internalProblem(`a unit of gas costs at most ${ceilings.feePerGas} wei`)
  }
  if (maxPriorityFeePerGas > ceilings.priorityFeePerGas) {
    return internalProblem(`the priority fee is at most ${ceilings.priorityFeePerGas} wei`)
  }
  return maxPriorityFeePerGas < 0n || maxPriorityFeePerGas > maxFeePerGas
    ? internalProblem('the priority fee must be from 0 to the fee per gas')
    : undefined
}

function internalProblem(detail: string): ProblemError {
  return new ProblemError({ type: 'internal', detail })
}

/**
 * Signs a transaction.
 *
 * @param to the EAS contract of the payload's chain
 * @param sign signs a digest of 32 bytes
 * @returns the raw transaction, to be sent to a node, and its hash
 */
export function signRelayTransaction(
  payload: RelayPayload,
  to: Hex,
  keccak: Keccak,
  sign: (digest: Uint8Array) => RecoverableSignature,
): { readonly raw: Hex; readonly hash: Hex } {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, items } = payload
  const integers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(rlpInteger)
  const [value, accessList]: [RlpItem, RlpItem] = [EMPTY, []]
  const fields: RlpItem[] = [...integers, bytesFromHex(to), value, bytesFromHex(encodeMultiAttest(items)), accessList]
  const { compact, recovery } = sign(keccak.hash(Buffer.concat([TYPE, encodeRlp(fields)])))
  const signature = [
    rlpInteger(recovery),
    withoutLeadingZeros(compact.subarray(0, 32)),
    withoutLeadingZeros(compact.subarray(32, 64)),
  ]
  const raw = Buffer.concat([TYPE, encodeRlp([...fields, ...signature])])
  return { raw: `0x${raw.toString('hex')}`, hash: keccak.hashHex(raw) }
}

function bytesFromHex(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** Strips leading zeros: r and s are integers in RLP, and in one of 128 signatures one of them starts with a zero byte. */
function withoutLeadingZeros(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  return start < 0 ? EMPTY : bytes.subarray(start)
}
