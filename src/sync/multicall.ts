import type { Hex } from '../wire/messages.ts'
import { RpcError } from './rpc.ts'

/** Multicall3, at the same address on every chain that has it. */
export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** `aggregate3((address,bool,bytes)[])` */
const AGGREGATE_SELECTOR = '82ad56cb'
const WORD_DIGITS = 64

/**
 * Encodes several calls of one contract as one. A call that reverts does not affect the others.
 *
 * @param calls calldata of each call, hex digits without 0x
 */
export function encodeAggregate(target: Hex, calls: readonly string[]): Hex {
  const address = padWord(target.slice(2).toLowerCase())
  const encodedCalls = calls.map((call) => {
    const padded = call.padEnd(Math.ceil(call.length / WORD_DIGITS) * WORD, '0')
    return address + encodeNumber(1) + encodeNumber(96) + encodeNumber(call.length / 2) + padded
  })
  let offset = 32 * calls.length
  let offsets = ''
  for (const encodedCall of encodedCalls) {
    offsets += encodeNumber(offset)
    offset += encodedCall.length / 2
  }
  return `0x${AGGREGATE_SELECTOR}${encodeNumber(32)}${encodeNumber(calls.length)}${offsets}${encodedCalls.join('')}`
}

/**
 * Decodes the response to calldata of `encodeAggregate`.
 *
 * @param count number of calls
 * @returns the result of each call in hex; `0x` for a call that reverted
 * @throws {RpcError} when the response has another form
 */
export function decodeAggregate(response: unknown, count: number): string[] {
  const digits = typeof response === 'string' && /^0x[0-9a-fA-F]*$/.test(response) ? response.slice(2) : ''
  /** Reads the number at a byte offset. */
  const readNumber = (byte: number): number => {
    const text = digits.slice(2 * byte, 2 * byte + WORD_DIGITS)
    const value = text.length === WORD_DIGITS && /^0{52}/.test(text) ? Number.parseInt(text.slice(52), 16) : Number.NaN
    if (Number.isNaN(value)) throw new RpcError('aggregate3: the response is truncated')
    return value
  }
  const list = readNumber(0)
  if (readNumber(list) !== count) throw new RpcError('aggregate3: the number of results is not the number of calls')
  const base = list + 32
  return Array.from({ length: count }, (_, index) => {
    const item = base + readNumber(base + 32 * index)
    const bytes = item + readNumber(item + 32)
    const end = 2 * (bytes + 32 + readNumber(bytes))
    if (end > digits.length) throw new RpcError('aggregate3: the response is truncated')
    return readNumber(item) === 1 ? `0x${digits.slice(2 * (bytes + 32), end)}` : '0x'
  })
}

const padWord = (digits: string) => digits.padStart(WORD_DIGITS, '0')
const encodeNumber = (value: number) => padWord(value.toString(16))
