import { isObject } from '../../client/forms.ts'
import { type Line, splitLines } from './pieces.ts'
import { MAX_ITEM_CHARACTERS, SourceError, type SourceItem } from './source-item.ts'

/** A complete JSON value as text, and the line where it begins. */
interface JsonPiece {
  readonly text: string
  readonly line: number
  /** Index in a collection that begins on the same line, where the line does not tell features apart. */
  readonly feature?: number | undefined
}

const QUOTE = 34
const BACKSLASH = 92
const LINE_FEED = 10
const OPENING = [123, 91]
const CLOSING = [125, 93]
const OPEN_BRACKET = 91
const WHITESPACE = [32, 9, 10, 13]
const COMMA = 44
const COLON = 58
const SALTED_COLLECTION =
  'a FeatureCollection with a salt, which would hide none of its features: give {"input": …, "salt": "random"} for each'
/** Longest member name or type that is recognised. */
const MAX_NAME_LENGTH = 32

/**
 * Splits JSON text into its documents, and a FeatureCollection into its features. It holds only one of them at a time, because a
 * collection may be larger than memory. It does not validate them; `JSON.parse` does.
 */
class JsonCutter {
  #depth = 0
  #isString = false
  #isEscaped = false
  /** True inside the `features` of a collection. */
  #isInFeatures = false
  /** True if the document is a collection, whose features are returned one by one. */
  #isCollection = false
  #hasSalt = false
  #string = ''
  #name = ''
  #type = ''
  #line = 1
  #itemLine = 0
  #documentLine = 0
  /** Number of features of the collection that ended. */
  #features = 0
  /** Text of the current item from earlier pushes; undefined outside of an item. */
  #pending: string | undefined

  /**
   * Returns the items that end in `text`. @throws {SourceError} on text between documents, and on a feature that is not an object
   */
  push(text: string): JsonPiece[] {
    const pieces: JsonPiece[] = []
    let start = 0
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index)
      if (code === LINE_FEED) this.#line++
      if (this.#isString) {
        this.#inString(code, text[index]!)
      } else if (code === QUOTE) {
        this.#requireInside()
        this.#isString = true
        this.#string = ''
      } else if (OPENING.includes(code)) {
        if (this.#isFeatureList(code)) {
          this.#isInFeatures = true
          this.#isCollection = true
          this.#pending = undefined // the members before the list are not needed
        } else if (this.#pending === undefined && this.#depth === this.#itemDepth() && !this.#isAfterFeatures()) {
          this.#pending = ''
          this.#itemLine = this.#line
          start = index
        }
        if (this.#depth === 0) this.#documentLine = this.#line
        this.#depth++
      } else if (CLOSING.includes(code)) {
        this.#depth--
        if (this.#pending !== undefined && this.#depth === this.#itemDepth()) {
          const feature = this.#isInFeatures ? this.#features++ : undefined
          pieces.push({
            text: this.#pending + text.slice(start, index + 1),
            line: this.#itemLine,
            feature: this.#itemLine === this.#documentLine ? feature : undefined,
          })
          this.#pending = undefined
        } else if (this.#isInFeatures && this.#depth === 1) {
          this.#isInFeatures = false
        }
        if (this.#depth <= 0) this.#endDocument()
      } else if (!WHITESPACE.includes(code)) {
        this.#requireInside(code)
        if (code === COLON && this.#depth === 1) {
          this.#name = this.#string
          this.#hasSalt ||= this.#name === 'salt'
        }
        // Otherwise the name of the next member would be taken for another value of this one.
        if (code === COMMA && this.#depth === 1) this.#name = ''
      }
    }
    if (this.#pending !== undefined) {
      this.#pending += text.slice(start)
      if (this.#pending.length > MAX_ITEM_CHARACTERS)
        throw new SourceError(`line ${this.#itemLine}`, 'is longer than 32 MiB')
    }
    return pieces
  }

  /** @throws {SourceError} if the text ends inside a document */
  end(): void {
    if (this.#depth > 0 || this.#isString) throw new SourceError(`line ${this.#line}`, 'the JSON text is incomplete')
  }

  #inString(code: number, character: string): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (code === BACKSLASH) this.#isEscaped = true
    else if (code === QUOTE) {
      this.#isString = false
      if (this.#depth === 1 && this.#name === 'type') this.#type = this.#string
    } else if (this.#depth === 1 && this.#string.length < MAX_NAME_LENGTH) this.#string += character
  }

  #itemDepth(): number {
    return this.#isInFeatures ? 2 : 0
  }

  #isAfterFeatures(): boolean {
    return this.#isCollection && !this.#isInFeatures
  }

  #isFeatureList(code: number): boolean {
    if (code !== OPEN_BRACKET || this.#depth !== 1 || this.#isCollection || this.#name !== 'features') return false
    return this.#type === '' || this.#type === 'FeatureCollection'
  }

  /** Throws where only objects are allowed. */
  #requireInside(code?: number): void {
    if (this.#depth === 0) throw new SourceError(`line ${this.#line}`, 'is not a JSON object')
    if (this.#isInFeatures && this.#depth === 2 && code !== COMMA)
      throw new SourceError(`line ${this.#line}`, 'a member of "features" is not an object')
  }

  #endDocument(): void {
    if (this.#isCollection && this.#hasSalt) throw new SourceError(`line ${this.#documentLine}`, SALTED_COLLECTION)
    this.#hasSalt = false
    this.#depth = 0
    this.#isCollection = false
    this.#isInFeatures = false
    this.#features = 0
    this.#name = ''
    this.#type = ''
  }
}

/** Reads a sequence of JSON documents of any number of lines: geometries, Features, FeatureCollections. */
export async function* jsonItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem[], void, undefined> {
  const cutter = new JsonCutter()
  for await (const text of texts) yield cutter.push(text).flatMap(parseItems)
  cutter.end()
}

/** Reads one document per line. An invalid line does not affect the others. */
export async function* jsonLineItems(texts: AsyncIterable<string>): AsyncGenerator<SourceItem[], void, undefined> {
  for await (const lines of splitLines(texts)) yield lines.flatMap(parseLine)
}

/** Parses a line. It has no item if it is blank, and several if it is a FeatureCollection. */
export function parseLine({ text, number }: Line): SourceItem[] {
  // RFC 8142 puts a record separator before each text.
  const line = text.startsWith('\u001e') ? text.slice(1) : text
  return line.trim() === '' ? [] : parseItems({ text: line, line: number })
}

function parseItems({ text, line, feature: index }: JsonPiece): SourceItem[] {
  const place = index === undefined ? `line ${line}` : featurePlace(line, index)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return [{ place, fault: `is not JSON: ${(error as Error).message}` }]
  }
  if (!isObject(value)) return [{ place, fault: 'is not a JSON object' }]
  if (value['type'] !== 'FeatureCollection') return [toSourceItem(value, place)]
  const { features, salt } = value
  if (salt !== undefined) return [{ place, fault: SALTED_COLLECTION }]
  if (!Array.isArray(features)) return [{ place, fault: 'a FeatureCollection without a list "features"' }]
  return features.map((feature, index) => toSourceItem(feature, featurePlace(line, index)))
}

function featurePlace(line: number, index: number): string {
  return `line ${line}, features[${index}]`
}

function toSourceItem(value: unknown, place: string): SourceItem {
  if (!isObject(value)) return { place, fault: 'a member of "features" is not an object' }
  const { id } = value
  return { place, value, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }
}

/** Tells from the beginning of a text whether it has one document per line. */
export function isJsonLines(head: string): boolean {
  const end = head.indexOf('\n')
  if (end < 0) return false
  const first = head.slice(0, end).trim()
  return first.startsWith('{') && first.endsWith('}') && head.slice(end).trim() !== ''
}
