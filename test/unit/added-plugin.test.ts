import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { loadPlugin } from '../../src/verify/added-plugin.ts'
import { type Loose, stampOf } from '../evidence.ts'
import { createVerifier } from '../verify-runner.ts'

const folder = mkdtempSync(join(tmpdir(), 'plugins-'))
afterAll(() => rmSync(folder, { recursive: true }))
let count = 0

/** Writes a module with a plugin named `evil` that has the given members (JavaScript source), and returns its URL. */
function writePlugin(members: string): string {
  const file = join(folder, `${count++}.mjs`)
  writeFileSync(
    file,
    `export default { name: 'evil', version: '0.1.0', environments: ['node'], description: '', pointOnly: false,
    accuracyMeters: () => 5, maxAccuracyMeters: () => 10, check: () => ({}), ${members} }`,
  )
  return pathToFileURL(file).href
}

async function judgeStamp(members: string): Promise<Loose> {
  const plugins = [await loadPlugin(writePlugin(members))]
  const verifier = await createVerifier({ allowMock: false, plugins })
  return verifier.stamp(stampOf('evil', { signals: { a: 1 } }))
}

describe('an added plugin', () => {
  it('judges its own stamps alongside the built-in plugins', async () => {
    const barometer = await loadPlugin(pathToFileURL(resolve(import.meta.dirname, '../plugins/barometer.mjs')).href)
    const verifier = await createVerifier({ allowMock: false, plugins: [barometer] })
    const good = await verifier.stamp(stampOf('barometer', { signals: { hectopascals: 1009, altitudeMeters: 35 } }))
    expect(good).toMatchObject({ valid: true, details: { expectedHectopascals: 1009.1 } })
    const bad = await verifier.stamp(stampOf('barometer', { signals: { hectopascals: 700, altitudeMeters: 35 } }))
    expect(bad).toMatchObject({ valid: false, signaturesValid: true, signalsConsistent: false })
    const unknown = await verifier.stamp(stampOf('thermometer'))
    expect(JSON.stringify(unknown['problem'])).toContain('ip-geolocation, barometer')
  })

  it.each([
    ['throws', `check: () => { throw new Error('broken') }`, 'broken'],
    ['throws a value that is not an Error', 'check: () => { throw null }', 'null'],
    ['rejects', `check: async () => { throw new Error('later') }`, 'later'],
    ['returns no object', 'check: () => 5', 'facts must be an object'],
    ['serializes to a number', 'check: () => ({ toJSON: () => 5 })', 'facts must be an object'],
    ['serializes to undefined', 'check: () => ({ toJSON() {} })', 'facts must be an object'],
    [
      'serializes to a reserved member',
      'check: () => ({ toJSON: () => ({ evaluation: 1 }) })',
      'the name evaluation is reserved',
    ],
    ['returns a reserved member', 'check: () => ({ signatures: [] })', 'the name signatures is reserved'],
    ['returns a megabyte', `check: () => ({ text: 'x'.repeat(1e6) })`, 'facts have more than'],
    ['returns a value that JSON cannot hold', 'check: () => ({ n: 1n })', 'BigInt'],
    ['returns a circular object', 'check: () => { const o = {}; o.o = o; return o }', 'circular'],
    ['adds checks without end', `check: (_, c) => { for (;;) c.warn('x', true, 1, 1) }`, 'more than 200 checks'],
    ['gives a check an invalid name', `check: (_, c) => { c.fail('<b>', true, 1, 1) }`, 'identifier of a check'],
    ['measures an object', `check: (_, c) => { c.fail('a', true, {}, 1) }`, 'measured and limit'],
    ['judges by a truthy value', `check: (_, c) => { c.fail('a', 1, 1, 1) }`, 'ok must be true or false'],
    ['changes the stamp', `check: ({ stamp }) => { stamp.plugin = 'gpsd' }`, 'read only'],
    ['changes the signals', 'check: ({ signals }) => { signals.a = 2 }', 'read only'],
  ])('only makes the signals of its stamp inconsistent when it %s', async (_, members, reason) => {
    const verdict = await judgeStamp(members)
    expect(verdict).toMatchObject({
      valid: false,
      signaturesValid: true,
      structureValid: true,
      signalsConsistent: false,
    })
    const [error] = verdict['details'].checks.filter(({ id }: Loose) => id === 'plugin-error')
    expect(error.measured).toContain(reason)
  })

  it('is stopped after a quarter of a second when it never returns', async () => {
    const verdict = await judgeStamp('check: () => { for (;;); }')
    expect(verdict).toMatchObject({ signalsConsistent: false, details: { error: expect.any(String) } })
  })

  it('times out when its promise never settles, and cannot add checks afterwards', async () => {
    const calls = globalThis as { addLateCheck?: () => void }
    const verdict = await judgeStamp(
      `check: (_, c) => new Promise((done) => { globalThis.addLateCheck = () => { c.fail('late', false, 1, 1); done({}) } })`,
    )
    expect(JSON.stringify(verdict)).toContain('took longer than 250 ms')
    calls.addLateCheck!()
    await new Promise((done) => setImmediate(done))
    expect(JSON.stringify(verdict)).not.toContain('"late"')
  })

  it('has no accuracy when its accuracy functions fail', async () => {
    const verdict = await judgeStamp(`accuracyMeters: () => { throw new Error('x') }, maxAccuracyMeters: () => NaN`)
    expect(verdict['valid']).toBe(true)
    expect(verdict['details'].checks.some(({ id }: Loose) => id === 'implausible-accuracy')).toBe(false)
  })

  it.each([
    [`name: 'gpsd'`, 'built in'],
    [`name: 'mock-x'`, 'built in'],
    [`name: 'Evil!'`, 'name'],
    [`version: '1'`, 'version'],
    ['environments: []', 'environments'],
    ['description: 5', 'description'],
    [`pointOnly: 'yes'`, 'pointOnly'],
    ['check: 5', 'check'],
  ])('is rejected when a member is invalid: %s', async (members, reason) => {
    await expect(loadPlugin(writePlugin(members))).rejects.toThrow(reason)
  })
})
