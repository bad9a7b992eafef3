/** The address from which a request comes, which a trusted proxy may report. */
import { isIP } from 'node:net'
import { ConfigError } from '../../config/setting.ts'

/** A range of IPv4 or IPv6 addresses; the length of `bytes` (4 or 16) tells which. */
export interface AddressRange {
  readonly bytes: Uint8Array
  readonly bits: number
}

/** Key for everything that is counted by address: IPv4 as a signed 32-bit integer, IPv6 as its /64 prefix in hex. */
export type AddressKey = number | string

/**
 * Parses an IP address.
 *
 * @param text dotted IPv4, or IPv6 with or without a zone
 * @returns 4 or 16 bytes; IPv4 inside IPv6 (`::ffff:192.0.2.1`) gives 4; undefined if the text is not an address
 */
export function parseAddress(text: string): Uint8Array | undefined {
  const zone = text.indexOf('%')
  const withoutZone = zone < 0 ? text : text.slice(0, zone)
  switch (isIP(withoutZone)) {
    case 4:
      return Uint8Array.from(withoutZone.split('.'), Number)
    case 6:
      return unmapIpv4(parseIpv6(withoutZone))
    default:
      return undefined
  }
}

/** @param bytes 4 or 16; a mapped IPv4 address may come as 16 */
export function addressKey(bytes: Uint8Array): AddressKey {
  const unmapped = unmapIpv4(bytes)
  if (unmapped.length === 4) return (unmapped[0]! << 24) | (unmapped[1]! << 16) | (unmapped[2]! << 8) | unmapped[3]!
  // A customer of an IPv6 provider has at least a /64, so a limit on single addresses would limit no one.
  return Buffer.from(unmapped.buffer, unmapped.byteOffset, 8).toString('hex')
}

/**
 * Parses a list of addresses and CIDR ranges.
 *
 * @param entries value of a setting
 * @param name name of that setting, for the error
 * @throws {ConfigError} if an entry is neither
 */
export function parseRanges(entries: readonly string[], name = 'TRUSTED_PROXIES'): AddressRange[] {
  return entries.map((entry) => {
    const slash = entry.indexOf('/')
    const bytes = parseAddress(slash < 0 ? entry : entry.slice(0, slash))
    const prefixText = slash < 0 ? undefined : entry.slice(slash + 1)
    const bits =
      prefixText === undefined ? (bytes?.length ?? 0) * 8 : /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : -1
    if (bytes === undefined || bits < 0 || bits > bytes.length * 8) {
      throw new ConfigError(`${name}: ${JSON.stringify(entry)} is neither an IP address nor a CIDR range`)
    }
    return { bytes, bits }
  })
}

/** Returns true if one of the ranges contains the address. An IPv4 range contains no IPv6 address, and vice versa. */
export function isInRanges(address: Uint8Array, ranges: readonly AddressRange[]): boolean {
  return ranges.some(({ bytes, bits }) => {
    if (bytes.length !== address.length) return false
    const wholeBytes = bits >> 3
    for (let index = 0; index < wholeBytes; index++) if (bytes[index] !== address[index]) return false
    const remainingBits = bits & 7
    return remainingBits === 0 || (bytes[wholeBytes]! ^ address[wholeBytes]!) >> (8 - remainingBits) === 0
  })
}

/**
 * Returns the address of the client: the socket's address, or the one that a trusted proxy reports.
 *
 * Each proxy appends the address of its peer, so the list is read from the right. The first address that is not a trusted
 * proxy is the client; everything to its left may be forged. An entry that is not an address ends the search at the last
 * known proxy.
 *
 * @param forwardedFor `X-Forwarded-For`, all lines joined; ignored unless the socket's address is trusted
 * @returns 4 or 16 bytes
 */
export function clientAddress(
  peer: Uint8Array,
  forwardedFor: string | undefined,
  trusted: readonly AddressRange[],
): Uint8Array {
  let address = unmapIpv4(peer)
  if (forwardedFor === undefined || !isInRanges(address, trusted)) return address
  const hops = forwardedFor.split(',')
  for (let index = hops.length - 1; index >= 0; index--) {
    const hop = parseAddress(withoutPort(hops[index]!.trim()))
    if (hop === undefined) return address
    address = hop
    if (!isInRanges(address, trusted)) return address
  }
  return address
}

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']') < 0 ? undefined : hop.indexOf(']'))
  const colon = hop.indexOf(':')
  return colon > 0 && colon === hop.lastIndexOf(':') ? hop.slice(0, colon) : hop
}

/** Reads the groups on both sides of `::`; the last group may be dotted IPv4. */
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

/** Returns true for 127.0.0.0/8 and ::1. */
export function isLoopback(address: Uint8Array): boolean {
  const unmapped = unmapIpv4(address)
  if (unmapped.length === 4) return unmapped[0] === 127
  return unmapped.subarray(0, 15).every((byte) => byte === 0) && unmapped[15] === 1
}

/** Converts ::ffff:0:0/96, which is IPv4 seen through an IPv6 socket, to IPv4 (RFC 4291, section 2.5.5.2). */
export function unmapIpv4(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 16 || bytes[10] !== 0xff || bytes[11] !== 0xff) return bytes
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return bytes
  return bytes.subarray(12)
}
