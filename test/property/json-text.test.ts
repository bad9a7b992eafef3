import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { canonicalBytes } from '../../src/crypto/canonical.ts'
import { guardJson } from '../../src/validation/json-body.ts'
import { scaled } from '../scale.ts'
import fc from '../seeded.ts'

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'grapheme', maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom('', '"', '\\', '\u007f', '\ud800', '\ud83d\ude00', '\u0000', 'a'.repeat(5000)),
)
const scalar = fc.oneof(text, fc.double(), fc.integer(), fc.boolean(), fc.constant(null))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(text, tie('value'), { maxKeys: 6 }),
    fc.dictionary(text, scalar, { minKeys: 20, maxKeys: 40 }),
  ),
}))

/** A simple, slow implementation of RFC 8785. Throws a RangeError for non-finite numbers and lone surrogates. */
function referenceText(input: unknown): string {
  if (typeof input === 'number' && !Number.isFinite(input)) throw new RangeError('not a finite number')
  if (typeof input === 'string' && /\p{Surrogate}/u.test(input)) throw new RangeError('lone surrogate')
  if (typeof input !== 'object' || input === null) return JSON.stringify(input)
  if (Array.isArray(input)) return `[${input.map(referenceText).join(',')}]`
  const members = Object.entries(input).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${referenceText(name)}:${referenceText(member)}`).join(',')}}`
}

function resultOrRejected<T>(make: () => T): T | 'rejected' {
  try {
    return make()
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
    return 'rejected'
  }
}

describe('canonical bytes', () => {
  it('equal the reference RFC 8785 text of any value, and are rejected for the same values', () => {
    fc.assert(
      fc.property(value, (input) => {
        const expected = resultOrRejected(() => referenceText(input))
        const bytes = resultOrRejected(() => canonicalBytes(input))
        expect(bytes === 'rejected' ? bytes : Buffer.from(bytes).toString('utf8')).toBe(expected)
      }),
      { numRuns: scaled(3000) },
    )
  })

  it('are not overwritten by later calls', () => {
    const large = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name ${index}`, 'é'.repeat(20)]))
    const [first, second] = [canonicalBytes({ a: 1 }), canonicalBytes(large)]
    expect(() => canonicalBytes([large, Number.NaN])).toThrow(RangeError)
    expect(Buffer.from(canonicalBytes(['later'])).toString()).toBe('["later"]')
    expect(Buffer.from(first).toString()).toBe('{"a":1}')
    expect(Buffer.from(second).toString('utf8')).toBe(referenceText(large))
  })
})

interface Key {
  readonly name: string
  readonly isEscaped: boolean
}
type Model = number | readonly Model[] | { readonly members: readonly (readonly [Key, Model])[] }

const key: fc.Arbitrary<Key> = fc.record({
  // Few names, so that some occur twice. Some have equal lengths, or the length of a forbidden name.
  name: fc.oneof(
    { weight: 30, arbitrary: fc.constantFrom('a', 'b', 'ab', 'ba', 'é', 'latitudes', 'coordinates', '😀', '"', '\\') },
    { weight: 60, arbitrary: fc.string({ maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor') },
  ),
  isEscaped: fc.boolean(),
})
const { model } = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { maxDepth: 4 },
    fc.integer(),
    fc.array(tie('model'), { maxLength: 4 }),
    fc.record({ members: fc.array(fc.tuple(key, tie('model')), { maxLength: 5 }) }),
    fc.record({
      members: fc.uniqueArray(fc.tuple(key, fc.integer()), { maxLength: 30, selector: ([{ name }]) => name }),
    }),
  ),
}))

function serialize(node: Model): string {
  if (typeof node === 'number') return String(node)
  if ('members' in node)
    return `{${node.members.map(([name, member]) => `${keyText(name)}:${serialize(member)}`).join(', ')}}`
  return `[${node.map(serialize).join(',')}]`
}

function keyText({ name, isEscaped }: Key): string {
  if (!isEscaped) return JSON.stringify(name)
  return `"${[...name].map((unit) => [...Array(unit.length)].map((_, at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')).join('')}"`
}

/** The code of the first fault in text order, or undefined. */
function firstFault(node: Model): string | undefined {
  if (typeof node === 'number') return undefined
  if (!('members' in node)) return node.map(firstFault).find((fault) => fault !== undefined)
  const seen = new Set<string>()
  for (const [{ name }, member] of node.members) {
    if (name === '__proto__' || name === 'constructor') return 'forbidden-key'
    if (seen.has(name)) return 'duplicate-key'
    seen.add(name)
    const fault = firstFault(member)
    if (fault !== undefined) return fault
  }
  return undefined
}

describe('keys of a JSON text', () => {
  it('are rejected when one occurs twice in its object, however it is escaped', () => {
    const countsByCode: Record<string, number> = {}
    fc.assert(
      fc.property(model, (node) => {
        let code: string | undefined
        try {
          guardJson(Buffer.from(serialize(node)), 64)
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemError)
          code = (error as ProblemError).data.places?.[0]?.code
        }
        expect(code).toBe(firstFault(node))
        countsByCode[String(code)] = (countsByCode[String(code)] ?? 0) + 1
      }),
      { numRuns: scaled(3000) },
    )
    for (const code of ['undefined', 'duplicate-key', 'forbidden-key'])
      expect(countsByCode[code]).toBeGreaterThan(scaled(10))
  })
})
