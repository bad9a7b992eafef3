import { expect, it } from 'vitest'
import { claimOf, NOW, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const signature = stampOf('mock')['signatures'][0]
const padded = unsignedStamp('mock', { signals: { padding: 'x'.repeat(300_000) } })
const stamps = (count: number) =>
  `{"proof":{"claim":${JSON.stringify(claimOf())},"stamps":[${Array(count).fill('{}').join()}]}}`

it('hashes and recovers signers for evidence within the limits, which the call count shows', async () => {
  const verifier = await createVerifier()
  expect(await verifier.ask({ kind: 'stamp', body: toBody(stampOf('mock')), nowSeconds: NOW })).toMatchObject({
    ok: true,
  })
  expect(verifier.cryptoCalls()).toBeGreaterThan(1)
})

// Hashing, recovering signers and checking each of many stamps are expensive; a rejection does none of this.
it.each([
  ['65 stamps', 'proof', Buffer.from(stamps(65))],
  ['256 stamps', 'proof', Buffer.from(stamps(256))],
  ['40,000 stamps', 'proof', Buffer.from(stamps(40_000))],
  ['200 signatures', 'stamp', toBody({ ...padded, signatures: Array(200).fill(signature) })],
  ['300 KB of signals', 'stamp', toBody({ ...padded, signatures: [signature] })],
] as const)('rejects %s before it hashes anything, recovers any signer or checks any stamp', async (_, kind, body) => {
  const verifier = await createVerifier()
  const result = await verifier.ask({ kind, body, nowSeconds: NOW })
  expect(!result.ok && result.problem).toMatchObject({ type: 'validation', invalidParts: [{ code: 'evidence-limit' }] })
  expect(!result.ok && result.problem.invalidParts).toHaveLength(1)
  expect(verifier.cryptoCalls()).toBe(0)
})

function toBody(stamp: unknown): Buffer {
  return Buffer.from(JSON.stringify({ stamp }))
}
