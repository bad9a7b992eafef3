import { isIP } from 'node:net'
import { ConfigError } from '../config.ts'

/** A range of addresses in one of two families, told apart by the length of the bytes. */
export interface AddressRange {
  readonly bytes: Uint8Array
  readonly bits: number
}

/** Key of everything that is counted by address: IPv4 as a signed 32-bit integer, IPv6 by its /64 in hex. */
export type AddressKey = number | string

/**
 * @param text dotted IPv4, or IPv6 with or without a zone
 * @returns 4 or 16 bytes; IPv4 inside IPv6 (`::ffff:192.0.2.1`) gives 4; undefined when it is no address
 */
export function parseAddress(text: string): Uint8Array | undefined {
  const zone = text.indexOf('%')
  const plain = zone < 0 ? text : text.slice(0, zone)
  switch (isIP(plain)) {
    case 4:
      return Uint8Array.from(plain.split('.'), Number)
    case 6:
      return unmapped(parseIpv6(plain))
    default:
      return undefined
  }
}

/** @param bytes 4 or 16; a mapped IPv4 address may come as 16 */
export function addressKey(bytes: Uint8Array): AddressKey {
  const plain = unmapped(bytes)
  if (plain.length === 4) return (plain[0]! << 24) | (plain[1]! << 16) | (plain[2]! << 8) | plain[3]!
  // One customer of an IPv6 provider holds at least a /64: single addresses would be no limit at all.
  return Buffer.from(plain.buffer, plain.byteOffset, 8).toString('hex')
}

/**
 * @param entries addresses or CIDR ranges of a setting
 * @param name of that setting
 * @throws {ConfigError} on an entry that is neither
 */
export function parseRanges(entries: readonly string[], name = 'TRUSTED_PROXIES'): AddressRange[] {
  return entries.map((entry) => {
    const slash = entry.indexOf('/')
    const bytes = parseAddress(slash < 0 ? entry : entry.slice(0, slash))
    const wanted = slash < 0 ? undefined : entry.slice(slash + 1)
    const bits = wanted === undefined ? (bytes?.length ?? 0) * 8 : /^\d{1,3}$/.test(wanted) ? Number(wanted) : -1
    if (bytes === undefined || bits < 0 || bits > bytes.length * 8) {
      throw new ConfigError(`${name}: ${JSON.stringify(entry)} is no address and no CIDR range`)
    }
    return { bytes, bits }
  })
}

export function isInside(address: Uint8Array, ranges: readonly AddressRange[]): boolean {
  return ranges.some(({ bytes, bits }) => {
    if (bytes.length !== address.length) return false
    const whole = bits >> 3
    for (let at = 0; at < whole; at++) if (bytes[at] !== address[at]) return false
    const rest = bits & 7
    return rest === 0 || (bytes[whole]! ^ address[whole]!) >> (8 - rest) === 0
  })
}

/**
 * Who really asks: the socket's address, or what a trusted proxy says about it.
 *
 * Each proxy appends the address it was asked from, so the list is read from the right, and the first one that is no
 * proxy of ours is the client: everything left of it is the client's own invention. A word that is no address ends the
 * search at the last proxy known.
 *
 * @param forwardedFor `X-Forwarded-For`, all lines joined; ignored unless the socket's address is trusted
 * @returns 4 or 16 bytes
 */
export function clientAddress(
  peer: Uint8Array,
  forwardedFor: string | undefined,
  trusted: readonly AddressRange[],
): Uint8Array {
  let address = unmapped(peer)
  if (forwardedFor === undefined || !isInside(address, trusted)) return address
  const hops = forwardedFor.split(',')
  for (let at = hops.length - 1; at >= 0; at--) {
    const hop = parseAddress(withoutPort(hops[at]!.trim()))
    if (hop === undefined) return address
    address = hop
    if (!isInside(address, trusted)) return address
  }
  return address
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']') < 0 ? undefined : hop.indexOf(']'))
  const colon = hop.indexOf(':')
  return colon > 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop
}

/** Groups on both sides of `::`, the last of them perhaps dotted. */
function parseIpv6(text: string): Uint8Array {
  const [left = '', right] = text.split('::')
  const head = groupBytes(left)
  const tail = right === undefined ? [] : groupBytes(right)
  const bytes = new Uint8Array(16)
  bytes.set(head, 0)
  bytes.set(tail, 16 - tail.length)
  return bytes
}

function groupBytes(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number)
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

/** 127.0.0.0/8 or ::1. */
export function isLoopback(address: Uint8Array): boolean {
  const plain = unmapped(address)
  if (plain.length === 4) return plain[0] === 127
  return plain.subarray(0, 15).every((byte) => byte === 0) && plain[15] === 1
}

/** ::ffff:0:0/96 is IPv4 seen through an IPv6 socket (RFC 4291, section 2.5.5.2). */
function unmapped(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 16 || bytes[10] !== 0xff || bytes[11] !== 0xff) return bytes
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return bytes
  return bytes.subarray(12)
}
