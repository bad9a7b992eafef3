import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { startTestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-start-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

interface Health {
  readonly database: string
}

/** Runs the program with flags until it exits. */
function run(
  flags: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const script = `import("./dist/src/main.js").then((m) => m.main(${JSON.stringify(flags)}))`
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir, ...environment }
  const options = { cwd: root, env, timeout: 50_000, killSignal: 'SIGKILL' } as const
  const child = spawn(process.execPath, ['-e', script], { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output += data
    })
  }
  return new Promise((done) => child.on('close', (code) => done({ code, output })))
}

describe('the startup', () => {
  it('explains in one line why no backup can be made while the service runs', async () => {
    const service = await startTestService({ DATA_DIR: dataDir, RECORDS: '1' })
    const isConnected = async () =>
      ((await (await fetch(`${service.url}/health`)).json()) as Health).database === 'connected'
    await expect.poll(isConnected, { timeout: 120_000, interval: 200 }).toBe(true)
    const file = join(dataDir, 'backup.gz')
    const rejected = await run(['--backup', file])
    expect(rejected.code).toBe(78)
    expect(rejected.output.trim().split('\n')).toHaveLength(1)
    expect(rejected.output).toMatch(/cannot make a backup .*is in use by process \d+: stop it/)
    expect(existsSync(file)).toBe(false)
    expect(await service.stop()).toBe(0)
  })

  it.each([
    ['a missing file', ['--restore', join(dataDir, 'none.gz')], /cannot restore .*none\.gz/],
    ['a missing folder', ['--backup', join(dataDir, 'none', 'x.gz')], /cannot make a backup .*x\.gz/],
  ])('explains in one line what is wrong with %s', async (_what, flags, expected) => {
    const { code, output } = await run(flags)
    expect([code, output.trim().split('\n').length]).toEqual([78, 1])
    expect(output).toMatch(expected)
  })

  it.each([
    ['with a development key', { RECORDS: '0' }],
    ['with records', { SIGNER_PRIVATE_KEY: `0x${'11'.repeat(32)}`, NODE_ENV: 'production', EMBEDDED_DB: '1' }],
  ])('exits with code 78 and names DATA_DIR when the folder cannot be created, %s', async (_what, environment) => {
    // Node.js 20 never returns from a recursive mkdir here.
    const { code, output } = await run([], { DATA_DIR: '/proc/nope', PORT: '0', ...environment })
    expect(output).toMatch(/cannot start .*DATA_DIR.*\/proc\/nope/)
    expect(code).toBe(78)
  })

  it('names everything that production lacks, and what is wrong, in one line', async () => {
    const settings = { NODE_ENV: 'production', PORT: 'abc', SIGN_IN: '1', EAS_ADDRESS_999: `0x${'12'.repeat(20)}` }
    const { code, output } = await run([], settings)
    expect([code, output.trim().split('\n').length]).toEqual([78, 1])
    expect(output).toContain('5 settings are missing or wrong')
    for (const name of ['PORT', 'SIGNER_PRIVATE_KEY', 'DATABASE_URL', 'SIGN_IN_DOMAINS', 'EAS_VERSION_999'])
      expect(output).toContain(name)
  })

  it.each([
    ['one process', {}],
    ['two processes', { PROCESSES: '2' }],
  ])('names PORT when the port is taken, with %s', async (_what, settings) => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const { port } = taken.address() as AddressInfo
    const { code, output } = await run([], { RECORDS: '0', PORT: String(port), ...settings })
    taken.close()
    expect([code, output.trim().split('\n').length]).toEqual([78, 1])
    expect(output).toContain(`port ${port}: in-use (EADDRINUSE): \`ss -ltnp\``)
  })

  it('names HOST when this machine has no such address', async () => {
    // 192.0.2.0/24 is reserved for documentation (RFC 5737).
    const { code, output } = await run([], { RECORDS: '0', PORT: '0', HOST: '192.0.2.1' })
    expect([code, output.trim().split('\n').length]).toEqual([78, 1])
    expect(output).toContain('set HOST to an address of this machine')
  })

  it('warns of misspelt settings without showing their values', async () => {
    const service = await startTestService({ RECODRS: 'secret-value', HTTP_ADAPTOR: 'node' })
    const warnings = service.lines.filter((line) => line.includes('unknown setting')).map((line) => JSON.parse(line))
    expect(warnings).toMatchObject([
      { level: 'warn', name: 'RECODRS', hint: 'did you mean RECORDS?' },
      { level: 'warn', name: 'HTTP_ADAPTOR', hint: 'did you mean HTTP_ADAPTER?' },
    ])
    expect(service.lines.join('\n')).not.toContain('secret-value')
    await service.stop()
  })

  it('reports no connected database for a service without records, which is ready nevertheless', async () => {
    const service = await startTestService({ RECORDS: '0' })
    const health = await fetch(`${service.url}/health`)
    expect([health.status, await health.json()]).toMatchObject([
      200,
      { status: 'ok', database: 'disconnected', detail: 'this deployment keeps no records (RECORDS=0)' },
    ])
    const ready = await fetch(`${service.url}/ready`)
    const { checks } = (await ready.json()) as { checks: object }
    expect([ready.status, 'database' in checks]).toEqual([200, false])
    expect((await fetch(`${service.url}/api/v0/location-records`)).status).toBe(503)
    await service.stop()
  })

  it.each(['uws', 'node'])(
    'warms up in production before it is ready, unseen by limits, metrics and logs, on %s',
    async (adapter) => {
      const key = `0x${'11'.repeat(32)}`
      const service = await startTestService({ NODE_ENV: 'production', SIGNER_PRIVATE_KEY: key, HTTP_ADAPTER: adapter })
      const readiness = async () => {
        const response = await fetch(`${service.url}/ready`)
        const { checks } = (await response.json()) as { checks: Record<string, object> }
        return [response.status, checks['warm-up']]
      }
      // The listener opens before the warm-up begins, which takes far longer than one request.
      expect(await readiness()).toEqual([503, { ok: false, detail: expect.stringContaining('warms up') }])
      await expect.poll(readiness, { timeout: 60_000, interval: 50 }).toEqual([200, undefined])
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      expect(metrics.match(/^.*route="\/compute\/v0\/distance".*$/gm)).toBeNull()
      expect(service.lines.filter((line) => /will be slow|\/compute\//.test(line))).toEqual([])
      expect(await service.stop()).toBe(0)
    },
  )

  it('ends a warm-up when it stops', async () => {
    const key = `0x${'11'.repeat(32)}`
    const service = await startTestService({ NODE_ENV: 'production', SIGNER_PRIVATE_KEY: key })
    expect(await service.stop()).toBe(0)
  })
})
