/** Values as JSON-RPC writes them. */
import type { Hex } from '../messages.ts'
import { RpcError } from './rpc.ts'

/** As JSON-RPC writes integers. */
export function hexOf(number: number): string {
  return `0x${number.toString(16)}`
}

/** @throws {RpcError} on anything but an integer below 2⁵³ */
export function quantity(value: unknown): number {
  const number = Number(bigQuantity(value))
  if (Number.isSafeInteger(number)) return number
  throw new RpcError('a quantity of JSON-RPC that is too large')
}

/** @throws {RpcError} on anything but an integer of at most 256 bits */
export function bigQuantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value)
  throw new RpcError('not a quantity of JSON-RPC')
}

/**
 * @returns lower case
 * @throws {RpcError} on anything but 32 bytes
 */
export function bytes32(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase() as Hex
  throw new RpcError('not 32 bytes of JSON-RPC')
}
