import type { Hex } from '../messages.ts'
import { RpcError } from './rpc.ts'

/** Multicall3, at the same address on every chain that has it. */
export const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

/** `aggregate3((address,bool,bytes)[])` */
const SELECTOR = '82ad56cb'
const WORD = 64

/**
 * Calldata that asks one contract several things at once; a call that reverts leaves the others their answers.
 *
 * @param calls calldata of each, hex digits without 0x
 */
export function encodeAggregate(target: Hex, calls: readonly string[]): Hex {
  const address = word(target.slice(2).toLowerCase())
  const bodies = calls.map((call) => {
    const padded = call.padEnd(Math.ceil(call.length / WORD) * WORD, '0')
    return address + number(1) + number(96) + number(call.length / 2) + padded
  })
  let offset = 32 * calls.length
  let offsets = ''
  for (const body of bodies) {
    offsets += number(offset)
    offset += body.length / 2
  }
  return `0x${SELECTOR}${number(32)}${number(calls.length)}${offsets}${bodies.join('')}`
}

/**
 * The answers to `encodeAggregate`.
 *
 * @param count how many were asked for
 * @returns `0x` and hex digits of each; `0x` alone for one that reverted
 * @throws {RpcError} when the answer is not of that form
 */
export function decodeAggregate(answer: unknown, count: number): string[] {
  const digits = typeof answer === 'string' && /^0x[0-9a-fA-F]*$/.test(answer) ? answer.slice(2) : ''
  /** The number at a byte offset. */
  const at = (byte: number): number => {
    const text = digits.slice(2 * byte, 2 * byte + WORD)
    const value = text.length === WORD && /^0{52}/.test(text) ? Number.parseInt(text.slice(52), 16) : Number.NaN
    if (Number.isNaN(value)) throw new RpcError('aggregate3: an answer that ends within itself')
    return value
  }
  const list = at(0)
  if (at(list) !== count) throw new RpcError('aggregate3: another number of answers than of questions')
  const base = list + 32
  return Array.from({ length: count }, (_, index) => {
    const item = base + at(base + 32 * index)
    const bytes = item + at(item + 32)
    const end = 2 * (bytes + 32 + at(bytes))
    if (end > digits.length) throw new RpcError('aggregate3: an answer that ends within itself')
    return at(item) === 1 ? `0x${digits.slice(2 * (bytes + 32), end)}` : '0x'
  })
}

const word = (digits: string) => digits.padStart(WORD, '0')
const number = (value: number) => word(value.toString(16))
