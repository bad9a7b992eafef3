import { describe, expect, it } from 'vitest'
import { clip, visibleText } from '../../src/base/text.ts'

describe('visibleText', () => {
  it.each([
    ['an override', 'abc\u202edef', 'abc\\u202edef'],
    ['isolates', '\u2066a\u2069', '\\u2066a\\u2069'],
    ['blanks without a width', 'a\u200bb\ufeffc\u2060d', 'a\\u200bb\\ufeffc\\u2060d'],
    ['escape sequences', '\u001b[2J\u009b', '\\u001b[2J\\u009b'],
    ['tags', 'a\u{e0041}', 'a\\udb40\\udc41'],
    ['half of a pair', '\ud800', '\\ud800'],
  ])('writes %s as escapes', (_name, text, expected) => {
    expect(visibleText(text)).toBe(expected)
  })

  it('keeps letters of every script, emoji, tabs and line ends', () => {
    const text = 'שלום مرحبا می‌خواهم 👩‍👩‍👧 Łódź\t\n'
    expect(visibleText(text)).toBe(text)
    expect(visibleText('a\r\nb')).toBe('a\nb')
  })

  it('does not change what JSON means', () => {
    const value = { memo: 'a\u202eb\u200b\u{e0041}\u0000\r\n' }
    expect(JSON.parse(visibleText(JSON.stringify(value)))).toEqual(value)
  })
})

it('cuts a text between two code points', () => {
  expect(clip('abcdef', 4)).toBe('abc…')
  expect(clip('ab📍f', 4)).toBe('ab…')
  expect(clip('abcd', 4)).toBe('abcd')
})
