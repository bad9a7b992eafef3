import { expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
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
