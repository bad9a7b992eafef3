import { expect, it } from 'vitest'
import { createLog, FailureLog } from '../../src/base/log.ts'
import fc from '../seeded.ts'

it('writes one line per event, whatever the fields contain', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.constantFrom('pretty', 'json'), (text, format) => {
      const lines: string[] = []
      createLog(
        format as 'json',
        (line) => lines.push(line),
        () => 0,
      ).warn('event', { text })
      expect(lines).toHaveLength(1)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the line must not contain control characters
      expect(lines[0]!.slice(0, -1)).not.toMatch(/[\n\r\u2028\u2029\u001b\u007f-\u009f]/)
      if (format === 'json') expect(JSON.parse(lines[0]!).text).toBe(text)
    }),
  )
})

it('writes the beginning and the end of repeated failures, with their number', () => {
  const lines: object[] = []
  const log = createLog(
    'json',
    (line) => lines.push(JSON.parse(line)),
    () => 0,
  )
  const failures = new FailureLog(log, { begin: 'cannot read', end: 'read again' })
  failures.succeeded()
  expect(lines).toEqual([])
  for (const reason of ['first', 'second', 'third']) failures.failed({ reason })
  expect(lines).toMatchObject([{ level: 'warn', event: 'cannot read', reason: 'first' }])
  failures.succeeded({ operation: 'x' })
  failures.succeeded()
  expect(lines.slice(1)).toMatchObject([
    { level: 'info', event: 'read again', failures: 3, seconds: expect.any(Number), operation: 'x' },
  ])
  failures.failed({ reason: 'fourth' })
  expect(lines[2]).toMatchObject({ event: 'cannot read', reason: 'fourth' })
})
