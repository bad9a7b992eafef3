import { expect, it } from 'vitest'
import { PROBLEMS } from '../../src/base/problem.ts'
import { canonicalJson } from '../canonical-json.ts'
import { NOW, proofOf, SIGNALS, stampOf } from '../evidence.ts'
import { mutate } from '../mutated-bodies.ts'
import { scaled } from '../scale.ts'
import { createVerifier } from '../verify-runner.ts'

/** Returns the signed text of a request to verify a stamp. */
function signedText(body: string): string {
  const { signatures: _, ...unsigned } = JSON.parse(body).stamp
  return canonicalJson(unsigned)
}

/** Locations in text notations. */
const TEXT = { locationType: 'wkt', location: 'SRID=4326;POINT Z (2.2945 48.8584 35)' }
const CELL = { locationType: 'h3-index', location: '891fb466257ffff' }

const count = scaled(20_000)

it(`mutated evidence gets a result or a problem, ${count} times, and never breaks a worker`, async () => {
  const verifier = await createVerifier()
  const plugins = Object.keys(SIGNALS)
  const seeds = [
    ...plugins.map((plugin) => ['stamp', JSON.stringify({ stamp: stampOf(plugin) })] as const),
    [
      'proof',
      JSON.stringify({ proof: proofOf(plugins.map((plugin) => stampOf(plugin))), options: { chainId: 84532 } }),
    ],
    ['stamp', JSON.stringify({ stamp: stampOf('gpsd', TEXT) })],
    ['proof', JSON.stringify({ proof: proofOf([stampOf('gpsd', TEXT)], CELL) })],
    ['older-proof', JSON.stringify({ proof: proofOf([stampOf('mock')]) })],
    ['recheck', JSON.stringify({ proof: proofOf([stampOf('gpsd')]), data: `0x${'00'.repeat(352)}` })],
  ] as const
  const seen: Record<string, number> = {}
  let valid = 0
  for (let index = 0; index < count; index++) {
    const [kind, seed] = seeds[index % seeds.length]!
    const body = mutate(seed)
    const result = await verifier.ask({ kind, body, nowSeconds: NOW + 60 }).catch((cause: unknown) => {
      throw new Error(`body ${index} broke the worker: ${body.toString('base64')}`, { cause })
    })
    const key = result.ok ? 'answered' : result.problem.type
    seen[key] = (seen[key] ?? 0) + 1
    if (!result.ok) {
      expect(PROBLEMS[result.problem.type].status === 400 || result.problem.type === 'not-implemented').toBe(true)
      continue
    }
    const members = JSON.parse(`{${result.members}}`)
    if (members.valid !== true) continue
    valid++
    // A stamp that is still valid has the signed text: only spaces, spellings of numbers and the time of signing may differ.
    expect(signedText(body.toString('utf8')), `body ${index}`).toBe(signedText(seed))
  }
  console.log({ ...seen, valid })
  expect(seen['answered']).toBeGreaterThan(count / 50)
})
