import { expect, it } from 'vitest'
import { claimOf, NOW, stampOf, unsignedStamp } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const signature = stampOf('mock')['signatures'][0]
const padded = unsignedStamp('mock', { signals: { padding: 'x'.repeat(300_000) } })
const stamps = (count: number) =>
  `{"proof":{"claim":${JSON.stringify(claimOf())},"stamps":[${Array(count).fill('{}').join()}]}}`

// Processor time, so that it says the same beside other work: from the bytes to the refusal.
it.each([
  ['65 stamps', 'proof', stamps(65)],
  ['256 stamps', 'proof', stamps(256)],
  ['130,000 stamps', 'proof', stamps(130_000)],
  ['200 signatures', 'stamp', JSON.stringify({ stamp: { ...padded, signatures: Array(200).fill(signature) } })],
  ['300 KB of signals', 'stamp', JSON.stringify({ stamp: { ...padded, signatures: [signature] } })],
] as const)('refuses %s in less than 50 ms', async (_, question, text) => {
  const verifier = await createVerifier()
  const body = Buffer.from(text)
  const milliseconds: number[] = []
  for (let round = 0; round < 5; round++) {
    const before = process.cpuUsage()
    const result = await verifier.ask({ question, body, nowSeconds: NOW })
    const { user, system } = process.cpuUsage(before)
    milliseconds.push((user + system) / 1000)
    expect(!result.ok && result.problem).toMatchObject({ type: 'validation', places: [{ code: 'evidence-limit' }] })
  }
  expect(Math.min(...milliseconds)).toBeLessThan(50)
})
