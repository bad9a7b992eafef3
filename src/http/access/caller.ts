/** The address from which a request comes, which a trusted proxy may report. */
import { type AddressRange, parseAddress, readRange, unmapIpv4 } from '../../base/ip-address.ts'
import { ConfigError } from '../../config/setting.ts'

/** Key for everything that is counted by address: IPv4 as a signed 32-bit integer, IPv6 as its /64 prefix in hex. */
export type AddressKey = number | string

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
    const range = readRange(entry)
    if (range === undefined)
      throw new ConfigError(`${name}: ${JSON.stringify(entry)} is neither an IP address nor a CIDR range`)
    return range
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

/** Returns true for 127.0.0.0/8 and ::1. */
export function isLoopback(address: Uint8Array): boolean {
  const unmapped = unmapIpv4(address)
  if (unmapped.length === 4) return unmapped[0] === 127
  return unmapped.subarray(0, 15).every((byte) => byte === 0) && unmapped[15] === 1
}
