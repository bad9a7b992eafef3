/** Reads filters in CQL2 (OGC 21-065r2), as text or as JSON, and checks them against the queryables of records. */
import type { FilterComparison, FilterProperty, RecordFilter } from '../wire/store-messages.ts'
import { readAddress, readChain, readTimestamp, readUid, recordProblem } from './record-query.ts'
import { type Crs, readBoxIn } from './reference-systems.ts'

/** Limits of one filter; the length is limited with that of the query string. */
const MAX_DEPTH = 16
const MAX_CONDITIONS = 50

/** An expression in CQL2 JSON. The text form is parsed into it. */
type Expression =
  | string
  | number
  | boolean
  | null
  | readonly Expression[]
  | { readonly [member: string]: Expression | undefined }

/** Properties that a filter may compare, with the JSON Schema of each. `geometry` is only for S_INTERSECTS. */
export const QUERYABLES: Readonly<Record<FilterProperty, object>> = {
  uid: { title: 'UID of the record', type: 'string', pattern: '^0x[0-9a-fA-F]{64}$' },
  chain: { title: 'Chain of the attestation', type: 'string' },
  prover: { title: 'Address of the attester', type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  subject: { title: 'Address of the recipient', type: 'string', pattern: '^0x[0-9a-fA-F]{40}$' },
  timestamp: { title: 'Time of the block', type: 'string', format: 'date-time' },
  event_timestamp: { title: 'Time of the event', type: 'string', format: 'date-time' },
  revoked: { title: 'Whether the record was revoked', type: 'boolean' },
}

const COMPARISONS: readonly string[] = ['=', '<>', '<', '>', '<=', '>='] satisfies FilterComparison[]
const CONNECTIVES: readonly string[] = ['and', 'or', 'not']
const MIRRORED: Readonly<Record<string, string>> = { '<': '>', '>': '<', '<=': '>=', '>=': '<=' }

export interface FilterContext {
  /** Chain IDs by name. */
  readonly chains: ReadonlyMap<string, number>
  /** Reference system of the boxes in the filter. */
  readonly crs: Crs
}

/**
 * Reads a filter.
 *
 * @throws {ProblemError} if it is malformed, too deep or too long, or compares something that is not queryable
 */
export function readFilter(text: string, language: 'cql2-text' | 'cql2-json', context: FilterContext): RecordFilter {
  const expression = language === 'cql2-json' ? parseJson(text) : new TextParser(text).parse()
  return new FilterReader(context).read(expression, 1)
}

function invalid(detail: string): Error {
  return recordProblem('Invalid filter', detail)
}

const SUPPORTED = `supported are AND, OR, NOT, parentheses, IS NULL, ${COMPARISONS.join(' ')} with a property and a value, and \
S_INTERSECTS(geometry, BBOX(west, south, east, north)); properties are ${Object.keys(QUERYABLES).join(', ')}; \
GET /ogc/collections/location-records/queryables describes them`

/** Makes the error for what is valid CQL2, or looks like it, but has no meaning here. It says what has. */
function unsupported(what: string): Error {
  return invalid(`${what}; ${SUPPORTED}`)
}

function parseJson(text: string): Expression {
  try {
    return JSON.parse(text) as Expression
  } catch {
    throw invalid('the filter is not JSON; set filter-lang=cql2-text for the text form')
  }
}

/** Turns an expression into conditions on columns. */
class FilterReader {
  readonly #context: FilterContext
  #conditions = 0

  constructor(context: FilterContext) {
    this.#context = context
  }

  read(expression: Expression, depth: number): RecordFilter {
    if (depth > MAX_DEPTH) throw invalid(`the filter is nested deeper than ${MAX_DEPTH} levels`)
    if (++this.#conditions > MAX_CONDITIONS) throw invalid(`the filter has more than ${MAX_CONDITIONS} conditions`)
    if (typeof expression === 'boolean') return { op: expression ? 'and' : 'or', args: [] }
    const { op, args } = operation(expression)
    switch (op) {
      case 'and':
      case 'or':
        if (args.length < 2) throw invalid(`${op} needs two or more conditions`)
        return { op, args: args.map((arg) => this.read(arg, depth + 1)) }
      case 'not':
        return { op, args: [this.read(operands(op, args, 1)[0]!, depth + 1)] }
      case 'isNull':
        // Every queryable has a value in every record.
        this.#property(operands(op, args, 1)[0]!)
        return { op: 'or', args: [] }
      case 's_intersects':
        return this.#readIntersection(operands(op, args, 2))
      default:
        if (COMPARISONS.includes(op)) return this.#readComparison(op, operands(op, args, 2))
        throw unsupported(`${quote(op)} is not supported`)
    }
  }

  #readComparison(op: string, args: readonly Expression[]): RecordFilter {
    const isMirrored = !isProperty(args[0]!)
    const [subject, literal] = (isMirrored ? [...args].reverse() : args) as [Expression, Expression]
    const property = this.#property(subject)
    const comparison = ((isMirrored && MIRRORED[op]) || op) as FilterComparison
    if (comparison !== '=' && comparison !== '<>' && (property === 'chain' || property === 'revoked'))
      throw invalid(`${property} can be compared with = and <> only`)
    if (property === 'timestamp' || property === 'event_timestamp')
      return compareSeconds(comparison, property, readInstant(property, literal))
    return { op: comparison, property, value: this.#readValue(property, literal) }
  }

  #readValue(property: FilterProperty, literal: Expression): string | number | boolean {
    if (property === 'revoked') {
      if (typeof literal === 'boolean') return literal
      throw invalid('revoked is compared with TRUE or FALSE')
    }
    if (typeof literal !== 'string')
      throw invalid(`${property} is compared with a text, which has single quotes: 'celo'`)
    if (property === 'chain') return readChain(literal, this.#context.chains)
    return property === 'uid' ? readUid(literal) : readAddress(property, literal)
  }

  #readIntersection(args: readonly Expression[]): RecordFilter {
    const [geometry, area] = (isProperty(args[0]!) ? args : [...args].reverse()) as [Expression, Expression]
    if (propertyName(geometry) !== 'geometry')
      throw unsupported('s_intersects compares the property geometry with a box')
    const box = isObject(area) ? area['bbox'] : undefined
    if (!Array.isArray(box) || !box.every((number) => typeof number === 'number'))
      throw unsupported('s_intersects takes a box, and no other geometry')
    return { op: 's_intersects', bbox: readBoxIn(this.#context.crs, box.map(String)) }
  }

  #property(expression: Expression): FilterProperty {
    const name = propertyName(expression)
    if (name !== undefined && Object.hasOwn(QUERYABLES, name)) return name as FilterProperty
    throw unsupported(name === undefined ? 'a comparison needs a property' : `${quote(name)} is not queryable`)
  }
}

/** Compares a time of whole seconds with one that may lie between two seconds. */
function compareSeconds(
  op: FilterComparison,
  property: 'timestamp' | 'event_timestamp',
  seconds: number,
): RecordFilter {
  if (Number.isInteger(seconds)) return { op, property, value: seconds }
  if (op === '=' || op === '<>') return { op: op === '=' ? 'or' : 'and', args: [] }
  return { op, property, value: op === '<' || op === '>=' ? Math.ceil(seconds) : Math.floor(seconds) }
}

function readInstant(property: string, literal: Expression): number {
  const text = isObject(literal) ? (literal['timestamp'] ?? literal['date']) : undefined
  const milliseconds = typeof text === 'string' ? readTimestamp(text) : undefined
  if (milliseconds !== undefined) return milliseconds / 1000
  throw invalid(`${property} is compared with TIMESTAMP('2026-01-31T12:00:00Z') or DATE('2026-01-31')`)
}

function operation(expression: Expression): { op: string; args: readonly Expression[] } {
  const { op, args } = isObject(expression) ? expression : {}
  if (typeof op === 'string' && Array.isArray(args)) return { op, args }
  throw invalid('a condition is TRUE, FALSE, or an object with op and args')
}

function operands(op: string, args: readonly Expression[], count: number): readonly Expression[] {
  if (args.length === count) return args
  throw invalid(`${op} needs ${count} operand${count === 1 ? '' : 's'}`)
}

function isObject(expression: Expression): expression is { readonly [member: string]: Expression | undefined } {
  return typeof expression === 'object' && expression !== null && !Array.isArray(expression)
}

function propertyName(expression: Expression): string | undefined {
  const name = isObject(expression) ? expression['property'] : undefined
  return typeof name === 'string' ? name : undefined
}

function isProperty(expression: Expression): boolean {
  return propertyName(expression) !== undefined
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40))
}

/** A number, a text in quotes, a name (perhaps in quotes), or a sign. */
const TOKEN =
  /\s*(?:([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|'((?:[^']|'')*)'|"([^"]*)"|([A-Za-z_][\w.]*)|(<=|>=|<>|[=<>(),]))/y

interface Token {
  readonly kind: 'number' | 'text' | 'name' | 'word' | 'sign' | 'end'
  readonly text: string
}

/** Parses CQL2 text into CQL2 JSON by recursive descent. */
class TextParser {
  readonly #tokens: Token[] = []
  #next = 0

  constructor(text: string) {
    TOKEN.lastIndex = 0
    const source = text.trimEnd()
    while (TOKEN.lastIndex < source.length) {
      const start = TOKEN.lastIndex
      const match = TOKEN.exec(source)
      if (match === null) throw unsupported(`${quote(source.slice(start).trimStart())} is not understood`)
      const index = match.slice(1).findIndex((group) => group !== undefined)
      const kind = (['number', 'text', 'name', 'word', 'sign'] as const)[index]!
      const token = match[index + 1]!
      this.#tokens.push({ kind, text: kind === 'text' ? token.replaceAll("''", "'") : token })
    }
    this.#tokens.push({ kind: 'end', text: 'the end' })
  }

  parse(): Expression {
    const expression = this.#parseOr(1)
    if (this.#peek().kind !== 'end') throw this.#unexpected('AND, OR or the end')
    return expression
  }

  #parseOr(depth: number): Expression {
    if (depth > MAX_DEPTH) throw invalid(`the filter is nested deeper than ${MAX_DEPTH} levels`)
    const args = [this.#parseAnd(depth)]
    while (this.#take('or')) args.push(this.#parseAnd(depth))
    return args.length === 1 ? args[0]! : { op: 'or', args }
  }

  #parseAnd(depth: number): Expression {
    const args = [this.#parseNot(depth)]
    while (this.#take('and')) args.push(this.#parseNot(depth))
    return args.length === 1 ? args[0]! : { op: 'and', args }
  }

  #parseNot(depth: number): Expression {
    if (this.#take('not')) return { op: 'not', args: [this.#parseTerm(depth)] }
    return this.#parseTerm(depth)
  }

  #parseTerm(depth: number): Expression {
    if (this.#take('(')) {
      const inner = this.#parseOr(depth + 1)
      this.#require(')')
      return inner
    }
    if (this.#take('s_intersects')) {
      this.#require('(')
      const first = this.#parseValue()
      this.#require(',')
      const args = [first, this.#parseValue()]
      this.#require(')')
      return { op: 's_intersects', args }
    }
    const left = this.#parseValue()
    if (this.#take('is')) {
      const isNegated = this.#take('not')
      this.#require('null')
      const test = { op: 'isNull', args: [left] }
      return isNegated ? { op: 'not', args: [test] } : test
    }
    const { kind, text } = this.#peek()
    if (typeof left === 'boolean' && !(kind === 'sign' && COMPARISONS.includes(text))) return left
    if (kind === 'word' && !CONNECTIVES.includes(text.toLowerCase()))
      throw unsupported(`${quote(text)} is not supported`)
    if (kind !== 'sign' || !COMPARISONS.includes(text)) throw this.#unexpected('a comparison')
    this.#next++
    return { op: text, args: [left, this.#parseValue()] }
  }

  #parseValue(): Expression {
    const { kind, text } = this.#peek()
    this.#next++
    if (kind === 'number') return Number(text)
    if (kind === 'text') return text
    if (kind === 'name') return { property: text }
    const word = text.toLowerCase()
    if (kind === 'word' && (word === 'true' || word === 'false')) return word === 'true'
    if (kind === 'word' && (word === 'timestamp' || word === 'date') && this.#take('(')) {
      const { kind: literal, text: time } = this.#peek()
      if (literal !== 'text') throw this.#unexpected('a time in quotes')
      this.#next++
      this.#require(')')
      return { [word]: time }
    }
    if (kind === 'word' && word === 'bbox' && this.#take('(')) return { bbox: this.#parseNumbers() }
    if (kind === 'word' && this.#take('(')) throw unsupported(`${quote(text)} is not supported`)
    if (kind === 'word') return { property: text }
    this.#next--
    throw this.#unexpected('a property or a value')
  }

  #parseNumbers(): readonly Expression[] {
    const numbers: Expression[] = []
    do {
      const { kind, text } = this.#peek()
      if (kind !== 'number') throw this.#unexpected('a number')
      this.#next++
      numbers.push(Number(text))
    } while (this.#take(','))
    this.#require(')')
    return numbers
  }

  #peek(): Token {
    return this.#tokens[this.#next]!
  }

  /** Takes a sign or a keyword, in any case, if it is next. */
  #take(text: string): boolean {
    const token = this.#peek()
    const isNext = (token.kind === 'sign' || token.kind === 'word') && token.text.toLowerCase() === text
    if (isNext) this.#next++
    return isNext
  }

  #require(text: string): void {
    if (!this.#take(text)) throw this.#unexpected(text)
  }

  #unexpected(expected: string): Error {
    const { kind, text } = this.#peek()
    return invalid(`expected ${expected} instead of ${kind === 'end' ? text : quote(text)}`)
  }
}
