import { expect, it } from 'vitest'
import { expiryTime } from '../../src/cli/commands/keys.ts'

const NOW_MS = Date.UTC(2026, 0, 31)

it.each([
  ['30d', '2026-03-02T00:00:00.000Z'],
  ['1d', '2026-02-01T00:00:00.000Z'],
  ['99999d', '2299-11-15T00:00:00.000Z'],
  ['2030-01-01', '2030-01-01'],
  ['30', '30'],
  ['-1d', '-1d'],
  ['1.5d', '1.5d'],
  ['999999d', '999999d'],
])('reads --expires %s as %s', (text, expected) => expect(expiryTime(text, NOW_MS)).toBe(expected))
