import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'
import { AUDIENCE, ISSUER, makeKeyPair } from '../token-issuer.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/metrics.md'), 'utf8')
const wordsIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, word]) => word!)

/** The rows of the table in docs/metrics.md: name → type and labels. */
const documented = new Map(
  PAGE.split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, name, type, labels]) => [wordsIn(name!)[0]!, { type, labels: wordsIn(labels!).sort() }]),
)

/** Parses the metric families of a response: name → type and the labels of its samples. */
function printed(text: string): Map<string, { type: string; labels: string[] }> {
  const families = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [
      name!,
      { type: type!, labels: [] as string[] },
    ]),
  )
  for (const line of text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const [, sample, labels = ''] = /^([a-z_]+)(?:\{(.*)\})? \S+$/.exec(line)!
    const name = families.has(sample!) ? sample! : sample!.replace(/_(bucket|sum|count)$/, '')
    const labelNames = [...labels.matchAll(/([a-z_]+)="/g)].map(([, label]) => label!).filter((label) => label !== 'le')
    const family = families.get(name)!
    family.labels = [...new Set([...family.labels, ...labelNames])].sort()
  }
  return families
}

describe('the page on metrics', () => {
  let service: TestService
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-metrics-'))
  const keySet = join(folder, 'keys.json')
  beforeAll(async () => {
    writeFileSync(keySet, JSON.stringify({ keys: [(await makeKeyPair('EdDSA')).jwk] }))
    const tokens = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS: keySet }
    // The relay runs even though no RPC answers for the chain.
    const holders = { WALLET_TIER_TOKEN: `tier=internal,chain=84532,token=0x${'5f'.repeat(20)},balance=1` }
    const chain = { ...holders, RPC_URL_84532: 'http://127.0.0.1:1', ENABLE_ONCHAIN_SUBMIT: '1' }
    service = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '2', ...tokens, RECORDS: '1', ...chain })
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  it('names the metrics that have no sample before the first event', async () => {
    // Samples of the others come from the store and the relay, which open after the listener.
    await eventually(
      async () => {
        const text = await (await fetch(`${service.url}/metrics`)).text()
        const names = [...printed(text).keys()].filter((name) => !new RegExp(`^${name}(?:_count)?[ {]`, 'm').test(text))
        const [, sentence = ''] = /^These counters have no sample[^:]*: ([^.]*)\./m.exec(PAGE) ?? []
        expect(names.sort()).toEqual(wordsIn(sentence).sort())
      },
      { interval: 200 },
    )
  })

  it('lists exactly what the service prints, with types and labels', async () => {
    const point = { type: 'Point', coordinates: [2, 48] }
    const items = Array(3).fill({ op: 'distance', from: point, to: point })
    await service.post('/compute/v0/batch', { chainId: 84532, attest: 'none', items })
    await service.post('/compute/v0/batch', { chainId: 84532, attest: 'none', items })
    // Submission metrics have samples once the database is open.
    await eventually(
      async () => {
        const text = await (await fetch(`${service.url}/metrics`)).text()
        expect(Object.fromEntries(printed(text))).toEqual(Object.fromEntries(documented))
      },
      { interval: 200 },
    )
  })
})
