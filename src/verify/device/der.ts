/**
 * A strict reader of DER (X.690): definite, minimal lengths and minimal tags only. It walks in place and never recurses,
 * so that no input costs more than its own length.
 */

export interface DerElement {
  /** 0 universal, 1 application, 2 context-specific, 3 private. */
  readonly tagClass: number
  readonly isConstructed: boolean
  readonly tag: number
  /** What the tag and length enclose. */
  readonly content: Uint8Array
  /** The whole element. */
  readonly bytes: Uint8Array
}

export const INTEGER = 2
export const OCTET_STRING = 4
export const OBJECT_IDENTIFIER = 6
export const ENUMERATED = 10
export const SEQUENCE = 16
export const SET = 17

/** Elements that one constructed element may hold: certificates hold a dozen. */
const MAX_CHILDREN = 128

/** Bytes that are no DER, or not of the shape asked for. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

/** @throws {DerError} unless the bytes are one element exactly */
export function readDer(bytes: Uint8Array): DerElement {
  const element = elementAt(bytes, 0)
  if (element.bytes.length !== bytes.length) throw new DerError('bytes follow the element')
  return element
}

/** The elements inside a constructed one. @throws {DerError} when it is primitive or malformed */
export function childrenOf(element: DerElement): DerElement[] {
  if (!element.isConstructed) throw new DerError('a constructed element was expected')
  const children: DerElement[] = []
  for (let offset = 0; offset < element.content.length; ) {
    if (children.length === MAX_CHILDREN) throw new DerError(`more than ${MAX_CHILDREN} elements`)
    const child = elementAt(element.content, offset)
    children.push(child)
    offset += child.bytes.length
  }
  return children
}

/** @returns the element when it is of the universal tag, in the form DER gives that tag */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  const isConstructed = tag === SEQUENCE || tag === SET
  if (element?.tagClass !== 0 || element.tag !== tag || element.isConstructed !== isConstructed) {
    throw new DerError(`universal tag ${tag} was expected`)
  }
  return element
}

/** @returns a non-negative INTEGER or ENUMERATED that fits a double exactly */
export function smallIntegerOf(element: DerElement | undefined, tag = INTEGER): number {
  const { content } = expectTag(element, tag)
  const isMinimal = content.length > 0 && !(content.length > 1 && content[0] === 0 && content[1]! < 0x80)
  if (!isMinimal || content[0]! >= 0x80 || content.length > 7) throw new DerError('a small integer was expected')
  return content.reduce((value, byte) => value * 256 + byte, 0)
}

export function booleanOf(element: DerElement | undefined): boolean {
  const { content } = expectTag(element, 1)
  if (content.length !== 1 || (content[0] !== 0 && content[0] !== 0xff)) throw new DerError('a BOOLEAN was expected')
  return content[0] === 0xff
}

/** @returns dotted decimals */
export function objectIdentifierOf(element: DerElement | undefined): string {
  const { content } = expectTag(element, OBJECT_IDENTIFIER)
  const arcs: number[] = []
  let value = 0
  let isStart = true
  for (const byte of content) {
    if (isStart && byte === 0x80) throw new DerError('an object identifier with a padded arc')
    value = value * 128 + (byte & 0x7f)
    if (value > 2 ** 40) throw new DerError('an object identifier with a giant arc')
    isStart = byte < 0x80
    if (!isStart) continue
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40))
      arcs.push(first, value - 40 * first)
    } else arcs.push(value)
    value = 0
  }
  if (arcs.length === 0 || !isStart) throw new DerError('an object identifier that ends within an arc')
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
      if (tag === 0 && byte === 0x80) throw new DerError('a padded tag')
      tag = tag * 128 + (byte & 0x7f)
      if (tag > 0xff_ff_ff) throw new DerError('a giant tag')
    } while (byte >= 0x80)
    if (tag < 0x1f) throw new DerError('a long tag for a small number')
  }
  let length = byteAt(bytes, offset++)
  if (length >= 0x80) {
    const count = length & 0x7f
    if (count === 0 || count > 3) throw new DerError(count === 0 ? 'an indefinite length' : 'a giant length')
    length = 0
    for (let i = 0; i < count; i++) length = length * 256 + byteAt(bytes, offset++)
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a length that is not minimal')
  }
  const end = offset + length
  if (end > bytes.length) throw new DerError('an element that ends after the bytes')
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
  if (byte === undefined) throw new DerError('an element that ends after the bytes')
  return byte
}
