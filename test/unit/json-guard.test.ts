import { describe, expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { parseJsonObject } from '../../src/validation/json-body.ts'

const parse = (text: string | Uint8Array) => parseJsonObject(Buffer.from(text as string), 32)

function readCode(text: string | Uint8Array): string | undefined {
  try {
    parse(text)
    return undefined
  } catch (error) {
    expect(error).toBeInstanceOf(ProblemError)
    const { data } = error as ProblemError
    expect(data.type).toBe('bad-request')
    return data.invalidParts?.[0]?.code
  }
}

describe('a JSON body', () => {
  it.each([
    ['', 'empty-body'],
    ['{', 'not-json'],
    ['{"a":1,}', 'not-json'],
    ["{'a':1}", 'not-json'],
    ['{"a":01}', 'not-json'],
    ['{"a":NaN}', 'not-json'],
    ['\ufeff{"a":1}', 'not-json'],
    ['{"a":1}{"b":2}', 'not-json'],
    ['[]', 'not-an-object'],
    ['null', 'not-an-object'],
    ['"text"', 'not-an-object'],
    ['{"a":1,"a":2}', 'duplicate-key'],
    ['{"a":{"b":1,"c":[{"d":1,"d":2}]}}', 'duplicate-key'],
    // The same key once the escape is decoded. The parser would use the second value.
    ['{"type":1,"\\u0074ype":2}', 'duplicate-key'],
    ['{"é":1,"\\u00e9":2}', 'duplicate-key'],
    ['{"__proto__":1}', 'forbidden-key'],
    ['{"a":[{"__proto__":{"b":1}}]}', 'forbidden-key'],
    ['{"\\u005f_proto__":1}', 'forbidden-key'],
    ['{"a":{"constructor":1}}', 'forbidden-key'],
  ])('is rejected: %s', (text, code) => {
    expect(readCode(text)).toBe(code)
  })

  it('is rejected when it is not UTF-8', () => {
    expect(readCode(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toBe('not-utf8')
  })

  it('is rejected beyond 32 levels and accepted at 32', () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
    expect(readCode(nested(33))).toBe('json-depth')
    expect(readCode(nested(100_000))).toBe('json-depth')
    expect(readCode(nested(32))).toBeUndefined()
  })

  it('is rejected beyond 1,000 members of one object, before it is parsed', () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',')
    expect(readCode(`{"a":{${members(1000)}},"b":{${members(1000)}}}`)).toBeUndefined()
    expect(readCode(`{"a":{${members(1001)}}}`)).toBe('too-many-members')
    // Not JSON at its end: the parser has not seen it.
    expect(readCode(`{"a":[{${members(100_000)}`)).toBe('too-many-members')
  })

  it.each([
    ['empty objects', '{}', 1],
    ['objects with one member', '{"b":":"}', 2],
    ['objects with members in arrays', '[[{"b":1,"c":{}}]]', 4],
  ])('is rejected beyond 50,000 objects and members in all: %s', (_, value, each) => {
    // The body itself is an object with one member.
    const count = Math.floor((50_000 - 2) / each)
    const body = (values: number) => `{"a":[${Array(values).fill(value).join(',')}]}`
    expect(readCode(body(count))).toBeUndefined()
    expect(readCode(body(count + 1))).toBe('too-many-members')
  })

  it.each([
    // Equal names in different objects, in values and in strings are not duplicates.
    '{"a":{"x":1},"b":{"x":1}}',
    '{"a":[{"x":1},{"x":1}]}',
    '{"a":"\\"a\\":1,\\"a\\":2"}',
    '{"a":"__proto__","b":"constructor"}',
    '{"constructors":1,"proto":2}',
    '{"a":{},"b":[],"c":null,"d":"a"}',
    '{"a":"\\\\","b":"x"}',
  ])('is accepted: %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text))
  })

  it('is checked for duplicates among many keys too', () => {
    const keys = Array.from({ length: 500 }, (_, index) => `"k${index}":${index}`)
    expect(readCode(`{${keys.join(',')}}`)).toBeUndefined()
    expect(readCode(`{${[...keys, '"k250":0'].join(',')}}`)).toBe('duplicate-key')
  })
})
