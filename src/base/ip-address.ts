/** IP addresses, and ranges of them. */
import { isIP } from 'node:net'

/** A range of IPv4 or IPv6 addresses; the length of `bytes` (4 or 16) tells which. */
export interface AddressRange {
  readonly bytes: Uint8Array
  readonly bits: number
}

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

/** Reads an address, or a CIDR range; returns undefined if the text is neither. */
export function readRange(text: string): AddressRange | undefined {
  const slash = text.indexOf('/')
  const bytes = parseAddress(slash < 0 ? text : text.slice(0, slash))
  if (bytes === undefined) return undefined
  const prefixText = slash < 0 ? String(bytes.length * 8) : text.slice(slash + 1)
  const bits = /^\d{1,3}$/.test(prefixText) ? Number(prefixText) : Number.POSITIVE_INFINITY
  return bits <= bytes.length * 8 ? { bytes, bits } : undefined
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

/** Converts ::ffff:0:0/96, which is IPv4 seen through an IPv6 socket, to IPv4 (RFC 4291, section 2.5.5.2). */
export function unmapIpv4(bytes: Uint8Array): Uint8Array {
  if (bytes.length !== 16 || bytes[10] !== 0xff || bytes[11] !== 0xff) return bytes
  for (let index = 0; index < 10; index++) if (bytes[index] !== 0) return bytes
  return bytes.subarray(12)
}
