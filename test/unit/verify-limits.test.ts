import { expect, it } from 'vitest'
import { claimOf, NOW, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const signature = stampOf('mock')['signatures'][0]
const padded = unsignedStamp('mock', { signals: { padding: 'x'.repeat(300_000) } })
const stamps = (count: number) =>
  `{"proof":{"claim":${JSON.stringify(claimOf())},"stamps":[${Array(count).fill('{}').join()}]}}`

it('hashes and recovers for evidence within the limits, and the count sees it', async () => {
  const verifier = await createVerifier()
  expect(await verifier.ask({ question: 'stamp', body: bodyOf(stampOf('mock')), nowSeconds: NOW })).toMatchObject({
    ok: true,
  })
  expect(verifier.cryptoCalls()).toBeGreaterThan(1)
})

// What costs is to hash, to recover signers and to look into each of many stamps: a refusal does none of it.
it.each([
  ['65 stamps', 'proof', Buffer.from(stamps(65))],
  ['256 stamps', 'proof', Buffer.from(stamps(256))],
  ['130,000 stamps', 'proof', Buffer.from(stamps(130_000))],
  ['200 signatures', 'stamp', bodyOf({ ...padded, signatures: Array(200).fill(signature) })],
  ['300 KB of signals', 'stamp', bodyOf({ ...padded, signatures: [signature] })],
] as const)(
  'refuses %s before it hashes anything, recovers any signer and looks into any stamp',
  async (_, question, body) => {
    const verifier = await createVerifier()
    const result = await verifier.ask({ question, body, nowSeconds: NOW })
    expect(!result.ok && result.problem).toMatchObject({ type: 'validation', places: [{ code: 'evidence-limit' }] })
    expect(!result.ok && result.problem.places).toHaveLength(1)
    expect(verifier.cryptoCalls()).toBe(0)
  },
)

function bodyOf(stamp: unknown): Buffer {
  return Buffer.from(JSON.stringify({ stamp }))
}
