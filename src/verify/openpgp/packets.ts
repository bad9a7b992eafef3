/** The outer forms of OpenPGP (RFC 9580): ASCII armour and packets of definite length. */

export interface Packet {
  readonly tag: number
  readonly body: Buffer
}

/** Packets of one key: a primary, user names, subkeys and their signatures. */
const MAX_PACKETS = 64

/** Material that is not OpenPGP, or not the part of it that is read here. */
export class OpenPgpError extends Error {
  override readonly name = 'OpenPgpError'
}

/**
 * @param text one armoured block
 * @param kind its title, e.g. `SIGNATURE`
 * @throws {OpenPgpError} unless there is exactly that block, with a checksum that fits where there is one
 */
export function readArmor(text: string, kind: 'PUBLIC KEY BLOCK' | 'SIGNATURE'): Buffer {
  const lines = text.trim().split(/\r?\n/)
  if (
    lines[0]?.trimEnd() !== `-----BEGIN PGP ${kind}-----` ||
    lines.at(-1)?.trimEnd() !== `-----END PGP ${kind}-----`
  ) {
    throw new OpenPgpError(`one armoured ${kind} was expected`)
  }
  const blank = lines.findIndex((line) => line.trim() === '')
  if (blank < 0) throw new OpenPgpError('armour without a blank line')
  const content = lines.slice(blank + 1, -1).map((line) => line.trim())
  const checksum = content.at(-1)?.startsWith('=') ? content.pop()!.slice(1) : undefined
  const base64 = content.join('')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) throw new OpenPgpError('armour that is not base64')
  const bytes = Buffer.from(base64, 'base64')
  if (checksum !== undefined && checksum !== checksumOf(bytes))
    throw new OpenPgpError('an armour checksum that differs')
  return bytes
}

/** @throws {OpenPgpError} on partial or indeterminate lengths and on bytes left over */
export function readPackets(bytes: Buffer): Packet[] {
  const packets: Packet[] = []
  for (let offset = 0; offset < bytes.length; ) {
    if (packets.length === MAX_PACKETS) throw new OpenPgpError(`more than ${MAX_PACKETS} packets`)
    const first = byteAt(bytes, offset)
    if (first < 0x80) throw new OpenPgpError('a packet without its mark')
    const isNew = (first & 0x40) !== 0
    const { length, start } = isNew ? newLength(bytes, offset + 1) : oldLength(bytes, offset + 1, first & 3)
    if (start + length > bytes.length) throw new OpenPgpError('a packet that ends after the bytes')
    packets.push({ tag: isNew ? first & 0x3f : (first >> 2) & 0x0f, body: bytes.subarray(start, start + length) })
    offset = start + length
  }
  return packets
}

/** A length of the new format, as packets and subpackets have it. */
export function newLength(bytes: Buffer, offset: number, isSubpacket = false): { length: number; start: number } {
  const first = byteAt(bytes, offset)
  if (first < 192) return { length: first, start: offset + 1 }
  if (first < (isSubpacket ? 255 : 224)) {
    return { length: (first - 192) * 256 + byteAt(bytes, offset + 1) + 192, start: offset + 2 }
  }
  if (first !== 255) throw new OpenPgpError('a packet of partial length')
  if (offset + 5 > bytes.length) throw new OpenPgpError('a length that ends after the bytes')
  return { length: bytes.readUInt32BE(offset + 1), start: offset + 5 }
}

function oldLength(bytes: Buffer, offset: number, kind: number): { length: number; start: number } {
  const size = [1, 2, 4][kind]
  if (size === undefined) throw new OpenPgpError('a packet of indeterminate length')
  if (offset + size > bytes.length) throw new OpenPgpError('a length that ends after the bytes')
  return { length: bytes.readUIntBE(offset, size), start: offset + size }
}

/** A multiprecision integer and where the next one begins. Leading zero bits are refused. */
export function readInteger(bytes: Buffer, offset: number): { value: Buffer; next: number } {
  if (offset + 2 > bytes.length) throw new OpenPgpError('an integer that ends after the bytes')
  const bits = bytes.readUInt16BE(offset)
  const next = offset + 2 + Math.ceil(bits / 8)
  if (bits === 0 || next > bytes.length) throw new OpenPgpError('an integer that is empty or ends after the bytes')
  const value = bytes.subarray(offset + 2, next)
  if (32 - Math.clz32(value[0]!) !== ((bits - 1) % 8) + 1) throw new OpenPgpError('an integer of another length')
  return { value, next }
}

function byteAt(bytes: Buffer, offset: number): number {
  const byte = bytes[offset]
  if (byte === undefined) throw new OpenPgpError('a packet that ends after the bytes')
  return byte
}

/** CRC-24 of armour, in base64. */
function checksumOf(bytes: Buffer): string {
  let crc = 0xb704ce
  for (const byte of bytes) {
    crc ^= byte << 16
    for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ ((crc & 0x800000) === 0 ? 0 : 0x1864cfb)
  }
  return Buffer.of(crc >> 16, crc >> 8, crc).toString('base64')
}
