import { beforeAll, describe, expect, it } from 'vitest'
import { WorkLimitError } from '../../src/base/work.ts'
import { parseTime } from '../../src/verify/signals.ts'
import { EIFFEL, type Loose, NOW, proofOf, SIGNALS, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

let verifier: Awaited<ReturnType<typeof createVerifier>>
beforeAll(async () => {
  verifier = await createVerifier()
})

const withSignals = (plugin: string, signals: Loose, changes: Loose = {}) =>
  stampOf(plugin, { signals: { ...SIGNALS[plugin], ...signals }, ...changes })
/** Returns the checks that failed, as `severity:id`. */
const failedChecks = ({ details }: Loose): string[] =>
  details.checks.filter(({ ok }: Loose) => !ok).map(({ severity, id }: Loose) => `${severity}:${id}`)

// Regression: each of these was accepted, or changed the response in a way that it must not.
describe('misleading evidence', () => {
  it.each(['constructor', '__proto__', 'toString'])(
    'treats a provider named %s like any unknown one',
    async (provider) => {
      const signals: Loose = { ...SIGNALS['proofmode'], 'Location.Provider': provider }
      delete signals['Location.Accuracy']
      const { credibility } = await verifier.proof(proofOf([stampOf('proofmode', { signals })]))
      expect(credibility.extensions.weightedMeanDistance).toBe(0)
    },
  )

  it('gets a warning when it observes a time in the future', async () => {
    const temporalFootprint = { start: NOW, end: 4e9 }
    const stamp = stampOf('geoclue', { temporalFootprint })
    expect(failedChecks(await verifier.stamp(stamp))).toEqual(['warn:future-end'])
    const minute = stampOf('geoclue', { temporalFootprint: { start: NOW, end: NOW + 300 } })
    expect(failedChecks(await verifier.stamp(minute, NOW))).toEqual([])
  })

  it('is evaluated the same in every time zone of the service', async () => {
    const zone = process.env['TZ']
    const tpv = { ...SIGNALS['gpsd']!['tpv'], time: new Date(NOW * 1000).toISOString().slice(0, 19) }
    const DateCreated = `${new Date(NOW * 1000).toISOString().slice(0, 10)} 08:53:20`
    try {
      for (const name of ['UTC', 'America/New_York', 'Asia/Tokyo']) {
        process.env['TZ'] = name
        expect(failedChecks(await verifier.stamp(withSignals('gpsd', { tpv }))), name).toEqual([])
        const { details } = await verifier.stamp(withSignals('proofmode', { DateCreated }))
        expect(details.checks.find(({ id }: Loose) => id === 'times-agree').measured, name).toBe(20)
      }
    } finally {
      process.env['TZ'] = zone ?? 'UTC'
    }
  })

  it.each([
    '::127.0.0.1',
    '::ffff:0:7f00:1',
    '4000::1',
    '64:ff9b::a00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b::',
    '::ffff:7f00:1',
    'fe80::1%eth0',
  ])('has no location for the address %s', async (ip) => {
    expect(failedChecks(await verifier.stamp(withSignals('ip-geolocation', { ip })))).toEqual(['fail:non-routable-ip'])
  })

  it.each(['2001:4860:4860::8888', '::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::808:808', '8.8.8.8'])(
    'may have a location for %s',
    async (ip) => {
      expect(failedChecks(await verifier.stamp(withSignals('ip-geolocation', { ip })))).toEqual([])
    },
  )

  it('cannot make a plugin throw with a level that is not a string', async () => {
    const hostile = withSignals('geoclue', { accuracyLevel: { toString: 1, valueOf: 1 } })
    expect(failedChecks(await verifier.stamp(hostile))).toEqual(['warn:accuracy-level'])
  })

  it('cannot fill the response with long texts or leave half a character there', async () => {
    const long = await verifier.stamp(withSignals('witnesschain', { challenger: 'x'.repeat(40_000) }))
    expect(JSON.stringify(long).length).toBeLessThan(20_000)
    const { details } = await verifier.stamp(withSignals('geoclue', { description: `${'x'.repeat(119)}😀😀` }))
    const { measured } = details.checks.find(({ id }: Loose) => id === 'description')
    expect(measured).toBe(`${'x'.repeat(119)}\ufffd…`)
  })

  it('is rejected with a pointer to the value that has no canonical form', async () => {
    const body = (signals: string, kind = 'stamp') => {
      const stamp = JSON.stringify(stampOf('mock')).replace('"provider":"mock"', signals)
      return kind === 'stamp'
        ? `{"stamp":${stamp}}`
        : JSON.stringify({ proof: proofOf([]) }).replace('[]', `[${stamp}]`)
    }
    const findProblem = async (signals: string, kind: 'stamp' | 'proof' = 'stamp') => {
      const result = await verifier.run(kind, body(signals, kind), NOW)
      return result.ok ? undefined : result.problem.invalidParts![0]
    }
    const code = 'no-canonical-form'
    expect(await findProblem('"a":[1,{"b":1e400}]')).toMatchObject({ pointer: '#/stamp/signals/a/1/b', code })
    expect(await findProblem('"a":"\\ud800"', 'proof')).toMatchObject({ pointer: '#/proof/stamps/0/signals/a', code })
    expect((await findProblem('"\\ud800":1'))?.pointer).toMatch(/^#\/stamp\/signals\/./)
    expect(await findProblem('"a":1')).toBeUndefined()
    // Signatures are not part of the message that they cover.
    const signed = JSON.stringify({ stamp: stampOf('mock') })
    const broken = signed.replace(/"algorithm":"[^"]*"/, '"algorithm":"\\ud800"')
    const result = await verifier.run('stamp', broken, NOW)
    expect(result.ok ? undefined : result.problem.invalidParts![0]).toMatchObject({
      pointer: '#/stamp/signatures/0/algorithm',
      detail: expect.stringContaining('text with a lone surrogate has no canonical form'),
      code,
    })
  })

  it('is not called inconsistent because it is expensive to measure', async () => {
    const { verifyStamp } = await import('../../src/verify/stamp.ts')
    const { witnesschain } = await import('../../src/verify/plugins/witnesschain.ts')
    const engine = {
      crypto: { keccak: { hashHex: () => '0x00' } },
      config: { allowMock: false },
      toPoint: () => ({}),
      distanceMeters() {
        throw new WorkLimitError('too much')
      },
    } as never
    const { challengeResult: _, ...signals } = SIGNALS['witnesschain']!
    const stamp = { ...stampOf('witnesschain', { signals }), signatures: [] } as never
    const geometry = { type: 'Point', vertices: Float64Array.of(...EIFFEL) } as never
    const catching: typeof witnesschain = {
      ...witnesschain,
      check(context, checks) {
        try {
          return witnesschain.check(context, checks)
        } catch {
          return {}
        }
      },
    }
    for (const plugin of [witnesschain, catching])
      await expect(verifyStamp({ stamp, plugin, geometry, messages: [] as never }, NOW, engine)).rejects.toThrow(
        WorkLimitError,
      )
  })
})

describe('a moment in ISO 8601', () => {
  it.each([
    ['2025-10-09T08:53:20Z', 1_760_000_000],
    ['2025-10-09T08:53:20.500Z', 1_760_000_000.5],
    ['2025-10-09 08:53:20', 1_760_000_000],
    ['2025-10-09T10:53:20+02:00', 1_760_000_000],
    ['2025-10-09T03:23:20 -0530', 1_760_000_000],
    ['2025-10-09', 1_759_968_000],
    ['2016-12-31T23:59:60Z', 1_483_228_800],
    ['2024-02-29T00:00Z', 1_709_164_800],
  ])('%s is %d', (text, seconds) => expect(parseTime(text)).toBe(seconds))

  it.each(['', 'now', '2025', '9 Oct 2025', '2025-02-30', '2025-13-01', '2025-10-09T24:00:00Z', '0050-01-01', '1e9'])(
    '%s is not one',
    (text) => expect(parseTime(text)).toBeUndefined(),
  )
})
