import { describe, expect, it } from 'vitest'
import { prefers } from '../../src/http/transport/request-head.ts'

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
