/** The outer layers of OpenPGP (RFC 9580): ASCII armour, and packets of definite length. */

export interface Packet {
  readonly tag: number
  readonly body: Buffer
}

/** The most packets of one key: primary key, user IDs, subkeys and signatures. */
const MAX_PACKETS = 64

/** Thrown for input that is not OpenPGP, or not the part of OpenPGP that is supported here. */
export class OpenPgpError extends Error {
  override readonly name = 'OpenPgpError'
}

/**
 * Decodes ASCII armour.
 *
 * @param text one armoured block
 * @param kind its title, e.g. `SIGNATURE`
 * @throws {OpenPgpError} unless the text is exactly that block; a checksum is optional, but must match
 */
export function readArmor(text: string, kind: 'PUBLIC KEY BLOCK' | 'SIGNATURE'): Buffer {
  const lines = text.trim().split(/\r?\n/)
  if (
    lines[0]?.trimEnd() !== `-----BEGIN PGP ${kind}-----` ||
    lines.at(-1)?.trimEnd() !== `-----END PGP ${kind}-----`
  ) {
    throw new OpenPgpError(`expected exactly one armoured ${kind}`)
  }
  const blank = lines.findIndex((line) => line.trim() === '')
  if (blank < 0) throw new OpenPgpError('the armour has no blank line')
  const content = lines.slice(blank + 1, -1).map((line) => line.trim())
  const checksum = content.at(-1)?.startsWith('=') ? content.pop()!.slice(1) : undefined
  const base64 = content.join('')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new OpenPgpError('the armour is not base64')
  const bytes = Buffer.from(base64, 'base64')
  if (checksum !== undefined && checksum !== checksumOf(bytes))
    throw new OpenPgpError('the checksum of the armour does not match')
  return bytes
}

/** @throws {OpenPgpError} on partial or indeterminate lengths, and on extra bytes */
export function readPackets(bytes: Buffer): Packet[] {
  const packets: Packet[] = []
  for (let offset = 0; offset < bytes.length; ) {
    if (packets.length === MAX_PACKETS) throw new OpenPgpError(`more than ${MAX_PACKETS} packets`)
    const first = byteAt(bytes, offset)
    if (first < 0x80) throw new OpenPgpError('a packet has no tag bit')
    const isNew = (first & 0x40) !== 0
    const { length, start } = isNew ? readNewLength(bytes, offset + 1) : readOldLength(bytes, offset + 1, first & 3)
    if (start + length > bytes.length) throw new OpenPgpError('a packet is truncated')
    packets.push({ tag: isNew ? first & 0x3f : (first >> 2) & 0x0f, body: bytes.subarray(start, start + length) })
    offset = start + length
  }
  return packets
}

/** Reads a length in the new format, for packets and subpackets. */
export function readNewLength(bytes: Buffer, offset: number, isSubpacket = false): { length: number; start: number } {
  const first = byteAt(bytes, offset)
  if (first < 192) return { length: first, start: offset + 1 }
  if (first < (isSubpacket ? 255 : 224)) {
    return { length: (first - 192) * 256 + byteAt(bytes, offset + 1) + 192, start: offset + 2 }
  }
  if (first !== 255) throw new OpenPgpError('a packet has a partial length')
  if (offset + 5 > bytes.length) throw new OpenPgpError('a length is truncated')
  return { length: bytes.readUInt32BE(offset + 1), start: offset + 5 }
}

function readOldLength(bytes: Buffer, offset: number, kind: number): { length: number; start: number } {
  const size = [1, 2, 4][kind]
  if (size === undefined) throw new OpenPgpError('a packet has an indeterminate length')
  if (offset + size > bytes.length) throw new OpenPgpError('a length is truncated')
  return { length: bytes.readUIntBE(offset, size), start: offset + size }
}

/** Reads a multiprecision integer, and returns where the next one begins. Throws on leading zero bits. */
export function readInteger(bytes: Buffer, offset: number): { value: Buffer; next: number } {
  if (offset + 2 > bytes.length) throw new OpenPgpError('an integer is truncated')
  const bits = bytes.readUInt16BE(offset)
  const next = offset + 2 + Math.ceil(bits / 8)
  if (bits === 0 || next > bytes.length) throw new OpenPgpError('an integer is empty or truncated')
  const value = bytes.subarray(offset + 2, next)
  if (32 - Math.clz32(value[0]!) !== ((bits - 1) % 8) + 1) throw new OpenPgpError('an integer has the wrong length')
  return { value, next }
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset]
  if (byte === undefined) throw new OpenPgpError('a packet is truncated')
  return byte
}

/** Returns the CRC-24 of armoured bytes, in base64. */
function checksumOf(bytes: Buffer): string {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x800000) === 0 ? 0 : 0x1864cfb)
  }
  return Buffer.of(crc >> 16, crc >> 8, crc).toString('base64')
}
