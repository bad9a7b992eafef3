import { expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { logSyncEvent } from '../../src/threads/chain-client.ts'

it.each([
  ['the whole of a long chain', { from: 0, block: 2_000_000, head: 400_000_000 }, true],
  ['a long chain from a chosen block', { from: 243_446_573, block: 245_446_573, head: 400_000_000 }, false],
  ['a short chain', { from: 0, block: 90_000, head: 100_000 }, false],
])(
  'the log of the first sync of %s mentions the setting of the start block only where it helps',
  (_title, blocks, isNamed) => {
    const lines: string[] = []
    const log = createLog('json', (line) => lines.push(line))
    logSyncEvent(log, { type: 'began', chainId: 42161, ...blocks })
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', chainId: 42161, ...blocks })
    expect(lines[0]!.includes('START_BLOCK_42161')).toBe(isNamed)
  },
)
