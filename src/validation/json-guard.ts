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
  // keys[d]: keys seen in the object at depth d; undefined while depth d is an array.
  const keys: (Keys | undefined)[] = []
  let depth = 0
  let expectsKey = false
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE: {
        const end = endOfString(text, at + 1)
        if (expectsKey) {
          expectsKey = false
          addKey(keys[depth], text, at, end)
        }
        at = end
        break
      }
      case OPEN_BRACE:
      case OPEN_BRACKET: {
        if (++depth > maxDepth) refuse(`nesting is deeper than ${maxDepth} levels (byte ${at})`, 'json-depth')
        const isObject = text[at] === OPEN_BRACE
        keys[depth] = isObject ? new Keys() : undefined
        expectsKey = isObject
        break
      }
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        if (depth > 0) depth--
        expectsKey = false
        break
      case COMMA:
        expectsKey = keys[depth] !== undefined && depth > 0
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

/** The keys of one object: a list while it is short, for most objects have few, and a set beyond. */
class Keys {
  #few: string[] = []
  #many: Set<string> | undefined

  /** @returns false when the key was there already */
  add(key: string): boolean {
    if (this.#many !== undefined) return this.#many.size < this.#many.add(key).size
    if (this.#few.includes(key)) return false
    this.#few.push(key)
    if (this.#few.length > 16) this.#many = new Set(this.#few)
    return true
  }
}

function addKey(keys: Keys | undefined, text: Buffer, quote: number, end: number): void {
  if (keys === undefined || end >= text.length) return
  // As latin1 every byte is one character: distinct UTF-8 texts stay distinct, and no decoding is paid for.
  let key = text.toString('latin1', quote + 1, end)
  if (key.includes('\\')) {
    try {
      // "\u0074ype" is the key "type" once parsed: compare what the parser will see.
      key = Buffer.from(JSON.parse(text.toString('utf8', quote, end + 1)), 'utf8').toString('latin1')
    } catch {
      return // a bad escape: the parser refuses it
    }
  }
  if (key === '__proto__' || key === 'constructor') {
    refuse(`the key "${key}" is not allowed (byte ${quote})`, 'forbidden-key')
  }
  if (!keys.add(key)) {
    const shown = JSON.stringify(Buffer.from(key, 'latin1').toString('utf8', 0, 60))
    refuse(`the key ${shown} stands twice in one object (byte ${quote})`, 'duplicate-key')
  }
}

function refuse(detail: string, code: string): never {
  throw new ProblemError({ type: 'bad-request', detail, places: [{ pointer: '#', detail, code }] })
}
