/** The transactions of our own account: EIP-1559, to a chain's EAS contract, without value, `multiAttest` and nothing else. */
import type { SubmissionConfig } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { RecoverableSignature } from '../crypto/signature.ts'
import { type Hex, MAX_SEQUENCE } from '../messages.ts'
import { ProblemError } from '../problem.ts'
import type { RelayPayload } from '../relay-messages.ts'
import { encodeRlp, type RlpItem, rlpInteger } from './rlp.ts'

/** What is attested of one item; the rest is what every attestation here is: revocable, for ever, referring to nothing. */
export interface MultiAttestItem {
  readonly schema: Hex
  readonly recipient: Hex
  readonly data: Hex
}

/** What a transaction of ours may cost at most. */
export interface RelayCeilings {
  readonly gas: number
  /** Wei for a unit of gas. */
  readonly feePerGas: bigint
  /** The part of it that goes to whoever makes the block. */
  readonly priorityFeePerGas: bigint
}

/** As the operator sets them. */
export function relayCeilings({
  maxGas,
  maxFeeGwei,
  maxPriorityFeeGwei,
}: Pick<SubmissionConfig, 'maxGas' | 'maxFeeGwei' | 'maxPriorityFeeGwei'>): RelayCeilings {
  const wei = (gwei: number) => BigInt(Math.round(gwei * 1e9))
  return { gas: maxGas, feePerGas: wei(maxFeeGwei), priorityFeePerGas: wei(maxPriorityFeeGwei) }
}

/** `multiAttest((bytes32,(address,uint64,bool,bytes32,bytes,uint256)[])[])`, the same in every version of EAS. */
const SELECTOR = '44adc90e'
const TYPE = Buffer.from([2])
const NOTHING = Buffer.alloc(0)
/** Words of one request before the bytes of its data. */
const HEAD_WORDS = 6

/**
 * Calldata of `multiAttest`. Items of one schema in a row become one request; the contract attests in their order.
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
  const tuples = groups.map((group) => `${group[0]!.schema.slice(2)}${word(64)}${dynamicArray(group.map(request))}`)
  return `0x${SELECTOR}${word(32)}${dynamicArray(tuples)}`
}

function request({ recipient, data }: MultiAttestItem): string {
  const bytes = data.slice(2)
  const padded = bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
  const [expirationTime, revocable, refUID, value] = [word(0), word(1), word(0), word(0)]
  return `${recipient.slice(2).padStart(64, '0')}${expirationTime}${revocable}${refUID}${word(HEAD_WORDS * 32)}${value}${word(bytes.length / 2)}${padded}`
}

/** Length, where each item begins, the items. */
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
 * Why a transaction is not signed, whatever it attests; undefined when nothing speaks against it.
 *
 * @param ceilings undefined where no transactions are signed at all
 */
export function relayRefusal(payload: RelayPayload, ceilings: RelayCeilings | undefined): ProblemError | undefined {
  if (ceilings === undefined) return refusal('transactions are not enabled')
  const { chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, items } = payload
  if (items.length > MAX_SEQUENCE || !items.every((item) => item.chainId === chainId)) {
    return refusal(`a transaction has at most ${MAX_SEQUENCE} attestations, all of its chain`)
  }
  if (!Number.isSafeInteger(nonce) || nonce < 0) return refusal('a nonce is a whole number')
  if (!Number.isSafeInteger(gas) || gas <= 0 || gas > ceilings.gas) {
    return refusal(`a transaction has at most ${ceilings.gas} gas`)
  }
  if (maxFeePerGas <= 0n || maxFeePerGas > ceilings.feePerGas) {
    return refusal(`a unit of gas costs at most ${ceilings.feePerGas} wei`)
  }
  if (maxPriorityFeePerGas > ceilings.priorityFeePerGas) {
    return refusal(`the priority fee is at most ${ceilings.priorityFeePerGas} wei`)
  }
  return maxPriorityFeePerGas < 0n || maxPriorityFeePerGas > maxFeePerGas
    ? refusal('the priority fee is a part of the fee')
    : undefined
}

function refusal(detail: string): ProblemError {
  return new ProblemError({ type: 'internal', detail })
}

/**
 * Signs a transaction.
 *
 * @param to the EAS contract of the payload's chain
 * @param sign over the 32 bytes of the digest
 * @returns the bytes a node takes and their hash
 */
export function signRelayTransaction(
  payload: RelayPayload,
  to: Hex,
  keccak: Keccak,
  sign: (digest: Uint8Array) => RecoverableSignature,
): { readonly raw: Hex; readonly hash: Hex } {
  const { chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas, items } = payload
  const integers = [chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gas].map(rlpInteger)
  const [value, accessList]: [RlpItem, RlpItem] = [NOTHING, []]
  const fields: RlpItem[] = [...integers, bytesOf(to), value, bytesOf(encodeMultiAttest(items)), accessList]
  const { compact, recovery } = sign(keccak.hash(Buffer.concat([TYPE, encodeRlp(fields)])))
  const signature = [rlpInteger(recovery), unpadded(compact.subarray(0, 32)), unpadded(compact.subarray(32, 64))]
  const raw = Buffer.concat([TYPE, encodeRlp([...fields, ...signature])])
  return { raw: `0x${raw.toString('hex')}`, hash: keccak.hashHex(raw) }
}

function bytesOf(hex: Hex): Buffer {
  return Buffer.from(hex.slice(2), 'hex')
}

/** r and s are integers in RLP: one in 128 signatures has a leading zero byte in one of them. */
function unpadded(bytes: Uint8Array): Uint8Array {
  const start = bytes.findIndex((byte) => byte !== 0)
  return start < 0 ? NOTHING : bytes.subarray(start)
}
