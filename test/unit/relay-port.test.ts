import { MessageChannel } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createSign } from '../../src/relay/relay-port.ts'
import type { RelayOperations } from '../../src/wire/relay-messages.ts'
import { serve } from '../../src/wire/request-port.ts'
import type { RelayPayload } from '../../src/wire/signing-messages.ts'

const payload: RelayPayload = {
  kind: 'relay-transaction',
  chainId: 1,
  nonce: 5,
  gas: 21_000,
  maxFeePerGas: 2n,
  maxPriorityFeePerGas: 1n,
  items: [],
}
const NO_REPLY = { ok: false, problem: { type: 'overloaded', detail: 'the signer does not answer' } }

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

// Regression: the timer of a signature that came in time stayed for ten seconds.
it('passes signatures on, and leaves no timer behind', async () => {
  const { port1, port2 } = new MessageChannel()
  const sign = createSign(port1)
  serve<RelayOperations>(port2, { sign: ({ nonce }) => ({ ok: true, raw: `0x0${nonce}`, hash: '0x' }) })
  const signed = sign(payload)
  expect(vi.getTimerCount()).toBe(1)
  expect(await signed).toEqual({ ok: true, raw: '0x05', hash: '0x' })
  expect(vi.getTimerCount()).toBe(0)
  port1.close()
})

it('gives a problem that may be retried when the signer does not answer in ten seconds', async () => {
  const { port1 } = new MessageChannel()
  const sign = createSign(port1)
  const signed = sign(payload)
  vi.advanceTimersByTime(9999)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1)
  expect(await signed).toEqual(NO_REPLY)
  port1.close()
})
