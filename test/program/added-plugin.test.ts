import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { androidChain, phoneMaker } from '../certificates.ts'
import { commitment, deviceContext } from '../device-context.ts'
import { eventually } from '../eventually.ts'
import { type Loose, SIGNALS, stampOf } from '../evidence.ts'
import { startTestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const barometer = join(root, 'test/plugins/barometer.mjs')
const folder = mkdtempSync(join(tmpdir(), 'plugins-'))
afterAll(() => rmSync(folder, { recursive: true }))

function writeTemporary(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

/** Runs the command line. */
function command(...argv: string[]) {
  const env = { PATH: process.env['PATH'], PORT: '0', DATA_DIR: folder }
  return spawnSync(process.execPath, ['scripts/trigpoint.mjs', ...argv], {
    cwd: root,
    env,
    encoding: 'utf8',
    timeout: 600_000,
  })
}

describe('the conformance kit', () => {
  it('passes a conforming plugin', () => {
    const { status, stdout } = command('plugin-test', barometer)
    expect({ status, last: stdout.trim().split('\n').at(-1) }).toEqual({ status: 0, last: 'barometer conforms' })
    expect(stdout).not.toContain('FAIL')
  })

  it.each([
    ['accepts anything', 'check: () => ({})', 'rejects signals without members: accepted'],
    [
      'throws on foreign JSON',
      `check: ({ signals }, c) => { c.fail('a', signals.a.length > 0, 1, 1) }`,
      'handles hostile signals',
    ],
    [
      'uses random numbers',
      `check: (_, c) => { c.fail('a', Math.random() < 2, Math.random(), 1) }`,
      'gives the same result 100 times',
    ],
    ['reads the clock', `check: (_, c) => { c.fail('a', true, new Date().getFullYear(), 1) }`, 'the clock (new Date)'],
    [
      'uses the network',
      `check: async () => { try { await fetch('http://127.0.0.1:1/') } catch {} return {} }`,
      'the network (fetch)',
    ],
    [
      'reads files',
      `check: () => { try { readFileSync('/etc/hostname') } catch {} return {} }`,
      'files (fs.readFileSync)',
    ],
    ['has no examples', 'check: () => ({})', 'has examples', 'export const other = 1'],
  ])('fails a plugin that %s', (...[title, members, expected, examples]) => {
    const stamp = { ...stampOf('evil', { signals: { a: 'x' } }), signatures: [] }
    const example = JSON.stringify([{ stamp, nowSeconds: 1_760_000_060 }])
    const file = writeTemporary(
      `${title.replaceAll(' ', '-')}.mjs`,
      `import { readFileSync } from 'node:fs'
      export default { name: 'evil', version: '0.1.0', environments: ['node'], description: '', pointOnly: false,
      accuracyMeters: () => 5, maxAccuracyMeters: () => 10, ${members}, unused: readFileSync }
      ${examples ?? `export const examples = { accepts: ${example}, rejects: ${example} }`}`,
    )
    const { status, stdout } = command('plugin-test', file)
    expect(status).toBe(1)
    const failed = stdout.split('\n').filter((line) => line.startsWith('FAIL'))
    expect(failed.join('\n')).toContain(expected)
  })

  it('shows its usage, and what a module lacks', () => {
    expect(command('plugin-test').status).toBe(2)
    expect(command('plugin-test', 'no-such.mjs')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('no-such.mjs: no such file'),
    })
    const { status, stdout } = command('plugin-test', writeTemporary('broken.mjs', 'export default 5'))
    expect({ status, stdout }).toMatchObject({ status: 1, stdout: expect.stringContaining('must be an object') })
  })
})

describe('the service with additions of the operator', () => {
  it('lists and runs an added plugin, and accepts devices that the operator trusts', async () => {
    const maker = phoneMaker()
    const trust = writeTemporary('trust.json', JSON.stringify({ androidRoots: [maker.rootPem] }))
    const service = await startTestService({ PLUGINS: barometer, DEVICE_TRUST_FILE: trust })
    try {
      const { plugins } = (await (await fetch(`${service.url}/verify/v0/plugins`)).json()) as { plugins: Loose[] }
      expect(plugins.map(({ name }) => name).slice(-2)).toEqual(['barometer', 'mock'])
      const stamp = stampOf('barometer', { signals: { hectopascals: 1009, altitudeMeters: 35 } })
      const { status, body } = await service.post('/verify/v0/stamp', { stamp })
      expect({ status, body }).toMatchObject({ status: 200, body: { valid: true } })

      const chain = androidChain(maker, { challenge: commitment(deviceContext()) })
      const x5c = chain.map((der) => der.toString('base64'))
      const signals = { ...SIGNALS['proofmode'], 'AndroidKeyAttestation.x5c': x5c }
      const attested = await service.post('/verify/v0/stamp', { stamp: stampOf('proofmode', { signals }) })
      expect(attested.body).toMatchObject({
        valid: true,
        details: { device: { keyAttestation: { securityLevel: 'trusted-environment', boundBy: 'sha256' } } },
      })
      const moved = { ...signals, 'Location.Accuracy': '5' }
      const forged = await service.post('/verify/v0/stamp', { stamp: stampOf('proofmode', { signals: moved }) })
      expect(forged.body).toMatchObject({ valid: false, signaturesValid: true, signalsConsistent: false })
    } finally {
      await service.stop()
    }
  })

  it('terminates a thread that a plugin blocks, and keeps serving', async () => {
    const blocking = `export default { name: 'evil', version: '0.1.0', environments: ['node'], description: '', pointOnly: false,
      accuracyMeters: () => 5, maxAccuracyMeters: () => 10, check: async () => { await null; for (;;); } }`
    const service = await startTestService({
      PLUGINS: writeTemporary('blocks.mjs', blocking),
      REQUEST_DEADLINE_MS: '1500',
    })
    try {
      const blocked = await service.post('/verify/v0/stamp', { stamp: stampOf('evil', { signals: {} }) })
      expect(blocked.status).toBe(503)
      // Until another thread has started, the response may be 503.
      await eventually(async () => {
        const next = await service.post('/verify/v0/stamp', { stamp: stampOf('gpsd') })
        expect(next).toMatchObject({ status: 200, body: { valid: true } })
      })
    } finally {
      await service.stop()
    }
  })

  it.each([
    ['PLUGINS', writeTemporary('throws.mjs', `throw new Error('no licence')`), 'no licence'],
    ['PLUGINS', writeTemporary('hangs.mjs', 'for (;;);'), 'did not finish within'],
    ['PLUGINS', `${barometer},${barometer}`, 'already exists'],
    ['DEVICE_TRUST_FILE', writeTemporary('bad.json', '{"androidRoots":["x"]}'), 'root 1'],
    ['DEVICE_TRUST_FILE', join(folder, 'none.json'), 'ENOENT'],
  ])('does not start with %s=%s', (name, value, reason) => {
    const code = 'import("./dist/src/main.js").then((m) => m.main([]))'
    const env = { PATH: process.env['PATH'], PORT: '0', DATA_DIR: folder, RECORDS: '0', [name]: value }
    const { status, stderr, stdout } = spawnSync(process.execPath, ['-e', code], {
      cwd: root,
      env,
      encoding: 'utf8',
      timeout: 600_000,
    })
    expect({ status, text: stderr + stdout }).toMatchObject({ status: 78, text: expect.stringContaining(reason) })
  })
})
