import { describe, expect, it } from 'vitest'
import { acceptQuality, prefers } from '../../src/http/transport/request-head.ts'

describe('the Accept header', () => {
  it.each([
    ['text/html', 1],
    ['text/html;q=0.25', 0.25],
    ['application/json, Text/HTML ; Q=1.000', 1],
    ['text/html;q=0', 0],
    ['application/json', 0],
    [undefined, 0],
    // Weights that are none.
    ['text/html;q=0x1', 0],
    ['text/html;q=Infinity', 0],
    ['text/html;q=2', 0],
    ['text/html;q=', 0],
  ])('%j gives text/html the weight %d', (header, weight) => {
    expect(acceptQuality(header, 'text/html')).toBe(weight)
  })
})

describe('the Prefer header', () => {
  it.each([
    'result-signature',
    'Result-Signature',
    ' result-signature ',
    'respond-async, result-signature',
    'result-signature;foo=bar, wait=10',
    'result-signature=',
    'result-signature=""',
    'wait="1,2", result-signature',
    'wait="a\\"b,", result-signature',
    ', ,result-signature,',
  ])('names the preference in %j', (header) => {
    expect(prefers(header, 'result-signature')).toBe(true)
  })

  it.each([
    undefined,
    '',
    'result-signatures',
    'x-result-signature',
    'result-signature=0',
    'result-signature="no"',
    'return=result-signature',
    'wait="1, result-signature"',
    'wait="1, result-signature',
    'foo;result-signature',
    'result signature',
  ])('does not name it in %j', (header) => {
    expect(prefers(header, 'result-signature')).toBe(false)
  })

  // Takes milliseconds for a million characters. A parser that rescans the remaining text at each character takes minutes.
  it.each([' ', ',', '"', '=', ';', '\t=', '\\"'])(
    'is read in linear time: %j',
    (piece) => {
      expect(prefers(piece.repeat(1_000_000), 'result-signature')).toBe(false)
    },
    60_000,
  )
})
