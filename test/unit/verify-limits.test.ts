import { expect, it } from 'vitest'
import { account, claimOf, NOW, proofOf, stampOf, unsignedStamp } from '../evidence.ts'
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

// Recovering takes longest of what a signature costs: up to six times for a wrong one, for each form of the message and each digest.
it('rejects 64 stamps of 16 wrong signatures as soon as they needed as much work as a request may', async () => {
  const verifier = await createVerifier()
  const signer = { scheme: 'device-pubkey', value: `0x${Buffer.from(account(2).publicKey).toString('hex')}` }
  const stamp = {
    ...unsignedStamp('mock', { note: { b: 1, a: 1, 9: 1 } }),
    signatures: Array(16).fill({ ...signature, signer }),
  }
  const body = Buffer.from(JSON.stringify({ proof: proofOf(Array(64).fill(stamp)) }))
  const result = await verifier.ask({ kind: 'proof', body, nowSeconds: NOW })
  expect(!result.ok && result.problem.type).toBe('too-complex')
  expect(verifier.cryptoCalls()).toBeLessThan(2000)
})

// The locations of a proof are measured against each other, each time from their vertices.
it('counts the vertices of locations for every pair of stamps', async () => {
  const verifier = await createVerifier()
  const ask = (count: number) => {
    const coordinates = Array.from({ length: 700 }, (_, i) => [i / 1000, i % 2])
    const location = { type: 'LineString', coordinates }
    const stamp = stampOf('mock', { locationType: 'geojson-linestring', location })
    return verifier.ask({
      kind: 'proof',
      body: Buffer.from(JSON.stringify({ proof: proofOf(Array(count).fill(stamp)) })),
      nowSeconds: NOW,
    })
  }
  expect(await ask(8)).toMatchObject({ ok: true })
  const result = await ask(64)
  expect(!result.ok && result.problem.type).toBe('too-complex')
})

function toBody(stamp: unknown): Buffer {
  return Buffer.from(JSON.stringify({ stamp }))
}
