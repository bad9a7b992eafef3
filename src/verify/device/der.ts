/**
 * A strict reader of DER (X.690): only definite, minimal lengths and minimal tags. It reads in place and never
 * recurses, so the cost of any input is bounded by its length.
 */

export interface DerElement {
  /** 0 universal, 1 application, 2 context-specific, 3 private. */
  readonly tagClass: number
  readonly isConstructed: boolean
  readonly tag: number
  /** The bytes after tag and length. */
  readonly content: Uint8Array
  /** The whole element. */
  readonly bytes: Uint8Array
}

export const INTEGER = 2
export const BIT_STRING = 3
export const OCTET_STRING = 4
export const OBJECT_IDENTIFIER = 6
export const ENUMERATED = 10
export const SEQUENCE = 16
export const SET = 17

/** The most elements inside one constructed element; certificates have about a dozen. */
const MAX_CHILDREN = 128

/** Thrown for bytes that are not DER or not of the expected shape. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

/** @throws {DerError} unless the bytes are exactly one element */
export function readDer(bytes: Uint8Array): DerElement {
  const element = elementAt(bytes, 0)
  if (element.bytes.length !== bytes.length) throw new DerError('extra bytes after the element')
  return element
}

/**
 * Reads the elements inside a constructed element.
 *
 * @throws {DerError} when the element is primitive or malformed
 */
export function readChildren(element: DerElement): DerElement[] {
  if (!element.isConstructed) throw new DerError('expected a constructed element')
  const children: DerElement[] = []
  for (let offset = 0; offset < element.content.length; ) {
    if (children.length === MAX_CHILDREN) throw new DerError(`more than ${MAX_CHILDREN} elements`)
    const child = elementAt(element.content, offset)
    children.push(child)
    offset += child.bytes.length
  }
  return children
}

/**
 * Returns the element if it has the universal tag, in the form that DER prescribes for the tag.
 *
 * @throws {DerError} otherwise
 */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  const isConstructed = tag === SEQUENCE || tag === SET
  if (element?.tagClass !== 0 || element.tag !== tag || element.isConstructed !== isConstructed) {
    throw new DerError(`expected universal tag ${tag}`)
  }
  return element
}

/** @returns a non-negative INTEGER or ENUMERATED that fits a double exactly */
export function readSmallInteger(element: DerElement | undefined, tag = INTEGER): number {
  const { content } = expectTag(element, tag)
  const isMinimal = content.length > 0 && !(content.length > 1 && content[0] === 0 && content[1]! < 0x80)
  if (!isMinimal || content[0]! >= 0x80 || content.length > 7) throw new DerError('expected a small integer')
  return content.reduce((value, byte) => value * 256 + byte, 0)
}

export function readBoolean(element: DerElement | undefined): boolean {
  const { content } = expectTag(element, 1)
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError('expected a BOOLEAN')
  return content[0] === 0xff
}

/** @returns dotted decimals */
export function readObjectIdentifier(element: DerElement | undefined): string {
  const { content } = expectTag(element, OBJECT_IDENTIFIER)
  const arcs: number[] = []
  let value = 0
  let isStart = true
  for (const byte of content) {
    if (isStart && byte === 0x80) throw new DerError('an object identifier has a padded arc')
    value = value * 128 + (byte & 0x7f)
    if (value > 2 ** 40) throw new DerError('an object identifier has an arc that is too large')
    isStart = byte < 0x80
    if (!isStart) continue
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40))
      arcs.push(first, value - 40 * first)
    } else arcs.push(value)
    value = 0
  }
  if (arcs.length === 0 || !isStart) throw new DerError('an object identifier is truncated')
  return arcs.join('.')
}

function elementAt(bytes: Uint8Array, start: number): DerElement {
  const first = byteAt(bytes, start)
  let offset = start + 1
  let tag = first & 0x1f
  if (tag === 0x1f) {
    tag = 0
    let byte: number
    do {
      byte = byteAt(bytes, offset++)
      if (tag === 0 && byte === 0x80) throw new DerError('a tag is padded')
      tag = tag * 128 + (byte & 0x7f)
      if (tag > 0xff_ff_ff) throw new DerError('a tag is too large')
    } while (byte >= 0x80)
    if (tag < 0x1f) throw new DerError('a small tag is in the long form')
  }
  let length = byteAt(bytes, offset++)
  if (length >= 0x80) {
    const count = length & 0x7f
    if (count === 0 || count > 3) throw new DerError(count === 0 ? 'a length is indefinite' : 'a length is too large')
    length = 0
    for (let i = 0; i < count; i++) length = length * 256 + byteAt(bytes, offset++)
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a length is not minimal')
  }
  const end = offset + length
  if (end > bytes.length) throw new DerError('an element is truncated')
  return {
    tagClass: first >> 6,
    isConstructed: (first & 0x20) !== 0,
    tag,
    content: bytes.subarray(offset, end),
    bytes: bytes.subarray(start, end),
  }
}

function byteAt(bytes: Uint8Array, offset: number): number {
  const byte = bytes[offset]
  if (byte === undefined) throw new DerError('an element is truncated')
  return byte
}
