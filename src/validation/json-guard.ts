import { ProblemError } from '../problem.ts'

/**
 * One pass over the bytes before they are parsed: refuses what `JSON.parse` lets through silently (decision 109).
 *
 * Duplicate keys and `__proto__` make two readers see two different objects, so a reference hash would be ambiguous;
 * deep nesting overflows the stack of code further down. Malformed JSON passes: the parser words that error better.
 *
 * @param bytes UTF-8 text
 * @param maxDepth arrays and objects inside each other
 * @throws {ProblemError} `bad-request` that names the key or the depth
 */
export function guardJson(bytes: Uint8Array, maxDepth: number): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  // keys[d]: keys seen in the object at depth d, used again for the next one there; closed while depth d is an array.
  const keys: Keys[] = []
  let depth = 0
  let expectsKey = false
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE: {
        const end = endOfString(text, at + 1)
        if (expectsKey) {
          expectsKey = false
          addKey(keys[depth]!, text, at, end)
        }
        at = end
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (++depth > maxDepth) refuse(`nesting is deeper than ${maxDepth} levels (byte ${at})`, 'json-depth')
        expectsKey = text[at] === OPEN_BRACE
        keys[depth] ??= new Keys()
        keys[depth]!.begin(expectsKey)
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth > 0) depth--
        expectsKey = false
        break
      case COMMA:
        expectsKey = depth > 0 && keys[depth]!.isOpen
        break
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d

/** Offset of the closing quote, or the text's end when it is missing. */
function endOfString(text: Buffer, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const byte = text[at]
    if (byte === BACKSLASH) at++
    else if (byte === QUOTE) return at
  }
  return at
}

const FEW = 16

/**
 * The keys of one object: their places in the text while they are few and stand there as they are, which spares most
 * objects a string for each; beyond, a set of strings.
 */
class Keys {
  /** Where each begins and ends. */
  readonly #places: number[] = []
  #count = 0
  #texts: Set<string> | undefined
  /** Inside an object. */
  isOpen = false

  begin(isObject: boolean): void {
    this.isOpen = isObject
    this.#count = 0
    this.#texts = undefined
  }

  /**
   * @param key in latin1, where it does not stand in the text as it is
   * @returns false when it was there already
   */
  add(text: Buffer, from: number, end: number, key: string | undefined): boolean {
    const places = this.#places
    const used = 2 * this.#count
    if (this.#texts === undefined && (key !== undefined || this.#count >= FEW)) {
      this.#texts = new Set()
      for (let at = 0; at < used; at += 2) this.#texts.add(text.toString('latin1', places[at], places[at + 1]))
    }
    const texts = this.#texts
    if (texts !== undefined) return texts.size < texts.add(key ?? text.toString('latin1', from, end)).size
    for (let at = 0; at < used; at += 2) {
      if (places[at + 1]! - places[at]! === end - from && isSame(text, places[at]!, from, end - from)) return false
    }
    places[used] = from
    places[used + 1] = end
    this.#count++
    return true
  }
}

function isSame(text: Buffer, first: number, second: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (text[first + at] !== text[second + at]) return false
  return true
}

const FORBIDDEN = ['__proto__', 'constructor']
const FORBIDDEN_LENGTHS = FORBIDDEN.map(({ length }) => length)

function addKey(keys: Keys, text: Buffer, quote: number, end: number): void {
  if (end >= text.length) return
  const from = quote + 1
  const isPlain = !hasBackslash(text, from, end)
  const key = isPlain ? undefined : unescaped(text, quote, end)
  if (!isPlain && key === undefined) return // a bad escape: the parser refuses it
  const mayBeForbidden = key !== undefined || FORBIDDEN_LENGTHS.includes(end - from)
  if (mayBeForbidden && FORBIDDEN.includes(key ?? text.toString('latin1', from, end))) {
    refuse(`the key "${key ?? text.toString('latin1', from, end)}" is not allowed (byte ${quote})`, 'forbidden-key')
  }
  if (!keys.add(text, from, end, key)) {
    const bytes = key === undefined ? text.subarray(from, end) : Buffer.from(key, 'latin1')
    refuse(
      `the key ${JSON.stringify(bytes.toString('utf8', 0, 60))} stands twice in one object (byte ${quote})`,
      'duplicate-key',
    )
  }
}

function hasBackslash(text: Buffer, from: number, end: number): boolean {
  for (let at = from; at < end; at++) if (text[at] === BACKSLASH) return true
  return false
}

/**
 * "\u0074ype" is the key "type" once parsed: what is compared is what the parser will see. As latin1 every byte is one
 * character: distinct UTF-8 texts stay distinct.
 */
function unescaped(text: Buffer, quote: number, end: number): string | undefined {
  try {
    return Buffer.from(JSON.parse(text.toString('utf8', quote, end + 1)), 'utf8').toString('latin1')
  } catch {
    return undefined
  }
}

function refuse(detail: string, code: string): never {
  throw new ProblemError({ type: 'bad-request', detail, places: [{ pointer: '#', detail, code }] })
}
