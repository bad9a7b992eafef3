import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { canonicalBytes } from '../../src/crypto/canonical.ts'
import { guardJson } from '../../src/validation/json-guard.ts'
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

/** RFC 8785 by the methods that take their time. */
function plainly(of: unknown): string {
  if (typeof of === 'number' && !Number.isFinite(of)) throw new RangeError('no number')
  if (typeof of === 'string' && /\p{Surrogate}/u.test(of)) throw new RangeError('no text')
  if (typeof of !== 'object' || of === null) return JSON.stringify(of)
  if (Array.isArray(of)) return `[${of.map(plainly).join(',')}]`
  const members = Object.entries(of).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${plainly(name)}:${plainly(member)}`).join(',')}}`
}

function orRefused<T>(make: () => T): T | 'refused' {
  try {
    return make()
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
    return 'refused'
  }
}

describe('canonical bytes', () => {
  it('are the plain RFC 8785 text of any value, and are refused where that is', () => {
    fc.assert(
      fc.property(value, (of) => {
        const expected = orRefused(() => plainly(of))
        const bytes = orRefused(() => canonicalBytes(of))
        expect(bytes === 'refused' ? bytes : Buffer.from(bytes).toString('utf8')).toBe(expected)
      }),
      { numRuns: scaled(3000) },
    )
  })

  it('stay what they are when others are made', () => {
    const large = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`name ${index}`, 'é'.repeat(20)]))
    const [first, second] = [canonicalBytes({ a: 1 }), canonicalBytes(large)]
    expect(() => canonicalBytes([large, Number.NaN])).toThrow(RangeError)
    expect(Buffer.from(canonicalBytes(['later'])).toString()).toBe('["later"]')
    expect(Buffer.from(first).toString()).toBe('{"a":1}')
    expect(Buffer.from(second).toString('utf8')).toBe(plainly(large))
  })
})

interface Key {
  readonly name: string
  readonly isEscaped: boolean
}
type Model = number | readonly Model[] | { readonly members: readonly (readonly [Key, Model])[] }

const key: fc.Arbitrary<Key> = fc.record({
  // Few, so that some stand twice; of equal lengths, and as long as those that are forbidden.
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

function written(of: Model): string {
  if (typeof of === 'number') return String(of)
  if ('members' in of)
    return `{${of.members.map(([name, member]) => `${keyText(name)}:${written(member)}`).join(', ')}}`
  return `[${of.map(written).join(',')}]`
}

function keyText({ name, isEscaped }: Key): string {
  if (!isEscaped) return JSON.stringify(name)
  return `"${[...name].map((unit) => [...Array(unit.length)].map((_, at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')).join('')}"`
}

/** The first fault in the order of the text. */
function faultOf(of: Model): string | undefined {
  if (typeof of === 'number') return undefined
  if (!('members' in of)) return of.map(faultOf).find((fault) => fault !== undefined)
  const seen = new Set<string>()
  for (const [{ name }, member] of of.members) {
    if (name === '__proto__' || name === 'constructor') return 'forbidden-key'
    if (seen.has(name)) return 'duplicate-key'
    seen.add(name)
    const fault = faultOf(member)
    if (fault !== undefined) return fault
  }
  return undefined
}

describe('keys of a JSON text', () => {
  it('are refused when one stands twice in its object, however it is written', () => {
    const found: Record<string, number> = {}
    fc.assert(
      fc.property(model, (of) => {
        let code: string | undefined
        try {
          guardJson(Buffer.from(written(of)), 64)
        } catch (error) {
          expect(error).toBeInstanceOf(ProblemError)
          code = (error as ProblemError).data.places?.[0]?.code
        }
        expect(code).toBe(faultOf(of))
        found[String(code)] = (found[String(code)] ?? 0) + 1
      }),
      { numRuns: scaled(3000) },
    )
    for (const code of ['undefined', 'duplicate-key', 'forbidden-key']) expect(found[code]).toBeGreaterThan(scaled(10))
  })
})
