import { expect, it } from 'vitest'
import { createReadiness, type ReadinessParts } from '../../src/service/status.ts'
import type { StoreState } from '../../src/threads/store-client.ts'

const OPEN: StoreState = { isOpen: true, engine: 'embedded', version: '17' }
const closed = (condition: 'opening' | 'away', reason: string): StoreState => ({
  isOpen: false,
  engine: 'embedded',
  condition,
  reason,
})

function startReadiness() {
  const lines: string[] = []
  const store = { state: closed('opening', 'it is opening') }
  const signer = { isReady: true }
  const warmUp = { isDone: true }
  const log: ReadinessParts['log'] = {
    info: (event) => lines.push(`info: ${event}`),
    warn: (event) => lines.push(`warn: ${event}`),
  }
  const parts = { pool: { isReady: true }, signer, store, log, warmUp }
  const check = createReadiness(parts as unknown as ReadinessParts)
  const after = (state: StoreState) => {
    store.state = state
    check('/ready')
    return lines.splice(0)
  }
  return { after, signer, warmUp }
}

it('logs a store that opens at the start without a warning', () => {
  const { after } = startReadiness()
  expect(after(closed('opening', 'it is opening'))).toEqual(['info: not ready'])
  expect(after(OPEN)).toEqual(['info: ready again'])
})

it('warns when the store does not open, or opens again because its thread ended', () => {
  const { after } = startReadiness()
  after(closed('opening', 'it is opening'))
  expect(after(closed('away', 'no server'))).toEqual(['warn: not ready'])
  after(OPEN)
  expect(after(closed('opening', 'its thread ended'))).toEqual(['warn: not ready'])
})

it('warns when more than the store is missing at the start', () => {
  const { after, signer } = startReadiness()
  signer.isReady = false
  expect(after(closed('opening', 'it is opening'))).toEqual(['warn: not ready'])
})

it('is not ready until it is warm, and warns of nothing then', () => {
  const { after, warmUp } = startReadiness()
  warmUp.isDone = false
  expect(after(OPEN)).toEqual(['info: not ready'])
  warmUp.isDone = true
  expect(after(OPEN)).toEqual(['info: ready again'])
})

it('warns of a store that is away during the warm-up', () => {
  const { after, warmUp } = startReadiness()
  warmUp.isDone = false
  expect(after(closed('away', 'no server'))).toEqual(['warn: not ready'])
})

it.each(['/health', '/ready'] as const)('names the route whose request saw it: %s', (route) => {
  const seen: unknown[] = []
  const log = { info: (_: string, { seenBy }: { seenBy: string }) => seen.push(seenBy) }
  const parts = { pool: { isReady: true }, signer: { isReady: true }, log, warmUp: { isDone: false } }
  createReadiness(parts as unknown as ReadinessParts)(route)
  expect(seen).toEqual([`a request of ${route}`])
})
