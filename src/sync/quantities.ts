/** Parses and writes values of JSON-RPC. */
import type { Hex } from '../wire/messages.ts'
import { RpcError } from './rpc.ts'

/** Formats an integer as JSON-RPC writes it. */
export function toQuantity(number: number): string {
  return `0x${number.toString(16)}`
}

/**
 * Parses an integer below 2⁵³.
 *
 * @throws {RpcError} on anything else
 */
export function parseQuantity(value: unknown): number {
  const number = Number(parseBigQuantity(value))
  if (Number.isSafeInteger(number)) return number
  throw new RpcError('the JSON-RPC quantity is too large')
}

/**
 * Parses an integer of at most 256 bits.
 *
 * @throws {RpcError} on anything else
 */
export function parseBigQuantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value)
  throw new RpcError('not a JSON-RPC quantity')
}

/**
 * Parses 32 bytes.
 *
 * @returns lower case
 * @throws {RpcError} on anything else
 */
export function parseBytes32(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase() as Hex
  throw new RpcError('not 32 bytes of JSON-RPC data')
}
