import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadDevelopmentKeys } from '../../src/http/access/dev-keys.ts'
import { openApiDocument } from '../../src/http/openapi/document.ts'
import { loadInstalledUws } from '../../src/http/transport/server.ts'
import { cliFolder, runCli } from '../cli-runner.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const EIFFEL = '2.2945,48.8584'
const TOWN_HALL = '2.3522,48.8566'
const folder = cliFolder()
const keyFile = join(folder.path, 'api-keys.json')
const CRON_SECRET = 'a secret of at least 32 characters'
let service: TestService
let strict: TestService

beforeAll(async () => {
  service = await startTestService({ API_KEYS_FILE: keyFile })
  strict = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '3', CRON_SECRET })
})
afterAll(async () => {
  await Promise.all([service.stop(), strict.stop()])
  folder.remove()
})

const paris = { type: 'Point', coordinates: [2.3522, 48.8566] }
const square = (size: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [2 + size, 48],
      [2 + size, 48 + size],
      [2, 48 + size],
      [2, 48],
    ],
  ],
})
/** Nine rows with results, nine that are rejected; one of these is not sent. */
const MIXED_ROWS = [
  { op: 'distance', id: 'é"\u0007', from: paris, to: { type: 'Point', coordinates: [-179.999999, -0.1] } },
  { op: 'distance', id: 'wide', from: paris, to: { type: 'Point', coordinates: [0, 95] } },
  { op: 'area', geometry: square(1) },
  { op: 'area', id: 7, geometry: { type: 'Feature', properties: {}, geometry: square(0.5) } },
  { op: 'area', id: 'point', geometry: paris },
  {
    op: 'area',
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
          [1, 0],
          [0, 1],
          [0, 0],
        ],
      ],
    },
  },
  {
    op: 'length',
    geometry: {
      type: 'LineString',
      coordinates: [
        [0, 0],
        [170, 10],
        [-170, 20],
      ],
    },
  },
  { op: 'length', geometry: { type: 'LineString', coordinates: [[0, 0]] } },
  { op: 'contains', container: square(1), containee: paris },
  { op: 'contains', container: square(1), containee: { ...paris, extra: 'x'.repeat(500) } },
  { op: 'within', geometry: paris, target: { type: 'Point', coordinates: [2, 48] }, radius: 500 },
  { op: 'within', geometry: paris, target: paris, radius: -1 },
  { op: 'within', geometry: paris, target: paris },
  {
    op: 'intersects',
    geometry1: square(1),
    geometry2: {
      type: 'LineString',
      coordinates: [
        [0, 48.2],
        [9, 48.2],
      ],
    },
  },
  { op: 'intersects', geometry1: square(1), geometry2: { type: 'Circle', coordinates: [0, 0] } },
  { op: 'distance', id: 'x'.repeat(129), from: paris, to: paris },
  { op: 'distance', id: 'other chain', chainId: 5, from: paris, to: paris },
  { op: 'distance', id: 'chain', chainId: 8453, from: paris, to: paris, note: 'x' },
]

const file = (name: string, text: string) => {
  writeFileSync(join(folder.path, name), text)
  return join(folder.path, name)
}
const cli = (argv: readonly string[], env: Record<string, string> = {}, input?: string) =>
  runCli(argv, {
    env: { TRIGPOINT_URL: service.url, DATA_DIR: folder.path, ...env },
    ...(input === undefined ? {} : { input }),
  })

describe('commands that use a service', () => {
  it('compute the same result as the API and as --local', async () => {
    const run = await cli(['compute', 'distance', EIFFEL, TOWN_HALL, '--json', '--result-signature'])
    const response = JSON.parse(run.out)
    expect([run.exitCode, response.result, response.attestation.attester]).toEqual([0, 4238.77, service.attester])
    expect(response.resultSignature.attester).toBe(service.attester)
    const local = JSON.parse(
      (await cli(['compute', 'distance', EIFFEL, TOWN_HALL, '--json', '--local', '--data', join(folder.path, '.data')]))
        .out,
    )
    expect(local.inputRefs).toEqual(response.inputRefs)
    const verified = [
      'verify',
      '-',
      '--issuer',
      service.url,
      '--geometry',
      EIFFEL,
      '--geometry',
      TOWN_HALL,
      '--recompute',
    ]
    // The clock of this process is set in the past.
    const early = await cli(verified, {}, run.out)
    expect([early.exitCode, early.out]).toEqual([1, expect.stringContaining('✗ time')])
    const real = spawnSync(process.execPath, ['scripts/trigpoint.mjs', ...verified], {
      cwd: root,
      input: run.out,
      encoding: 'utf8',
    })
    expect([real.status, real.stdout]).toEqual([
      0,
      expect.stringContaining(`It is valid, signed by ${service.attester}`),
    ])
    expect(real.stdout).not.toContain('anyone')
  })

  it('exit with the code of the error, and print the remedy', async () => {
    const ask = ['compute', 'distance', EIFFEL, TOWN_HALL]
    const rejected = await cli(['compute', 'area', TOWN_HALL])
    expect([rejected.exitCode, rejected.err]).toEqual([2, expect.stringContaining('area takes a Polygon')])
    const unknown = await cli([...ask, '--api-key', 'tp_dev_nobody'])
    expect([unknown.exitCode, unknown.err]).toEqual([4, 'trigpoint: Unauthorized: Invalid API key\n'])
    const away = await cli([...ask, '--url', 'http://127.0.0.1:9', '--timeout', '5'])
    expect([away.exitCode, away.err]).toEqual([
      3,
      expect.stringMatching(
        /no response from the service at http:\/\/127\.0\.0\.1:9 \(.+\)\n {2}start one there \(npm start\)/,
      ),
    ])
    for (let count = 0; count < 3; count++) expect((await cli([...ask, '--url', strict.url])).exitCode).toBe(0)
    const limited = await cli([...ask, '--url', strict.url])
    expect([limited.exitCode, limited.err]).toEqual([
      5,
      expect.stringMatching(/Rate Limited: .*\n(?: {2}.*\n)? {2}try again in \d+ s/),
    ])
    expect((await cli([...ask, '--url', strict.url, '--api-key', strict.developerKey])).exitCode).toBe(0)
  })

  it('use the development key of the service on this machine, unless the service has other keys', async () => {
    const dataFolder = join(folder.path, 'keys-of-the-service')
    const limited = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '2', DATA_DIR: dataFolder })
    const ask = async (env: Record<string, string>, ...more: string[]) => {
      const run = await cli(['compute', 'distance', EIFFEL, TOWN_HALL, '--url', limited.url, ...more], env)
      expect(run.out + run.err).not.toContain(limited.internalKey)
      return run.exitCode
    }
    const port = new URL(limited.url).port
    for (let count = 0; count < 4; count++) expect(await ask({ DATA_DIR: dataFolder })).toBe(0)
    expect(await ask({ DATA_DIR: dataFolder }, '--url', `http://localhost:${port}`)).toBe(0)
    // The key that is given is used, also if it is wrong.
    expect(await ask({ DATA_DIR: dataFolder }, '--api-key', 'wrong')).toBe(4)
    const otherFolder = join(folder.path, 'other-keys')
    loadDevelopmentKeys(otherFolder)
    // The address had two requests, of which the wrong key used one. The rejected key of the file uses the other.
    expect(await ask({ DATA_DIR: otherFolder })).toBe(5)
    expect(await ask({ DATA_DIR: join(folder.path, 'nothing') })).toBe(5)
    expect(await ask({ DATA_DIR: dataFolder })).toBe(0)
    await limited.stop()
  })

  it('do without the development key when the service rejects it', async () => {
    const otherFolder = join(folder.path, 'other-keys')
    loadDevelopmentKeys(otherFolder)
    expect((await cli(['compute', 'distance', EIFFEL, TOWN_HALL], { DATA_DIR: otherFolder })).exitCode).toBe(0)
  })

  it('give the results and the errors of an unsigned batch that --local gives', async () => {
    const rows = file('mixed.ndjson', `${MIXED_ROWS.map((row) => JSON.stringify(row)).join('\n')}\n`)
    const run = async (name: string, ...more: string[]) => {
      const output = join(folder.path, name)
      const argv = ['batch', 'mixed', rows, '-o', `${output}.ndjson`, '--attest', 'none', '--chunk', '3', ...more]
      expect((await cli(argv)).exitCode).toBe(1)
      const lines = (text: string) =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      const results = lines(readFileSync(`${output}.ndjson`, 'utf8'))
      const errors = lines(readFileSync(`${output}.errors.ndjson`, 'utf8'))
      return {
        results: results.map(({ timestamp, ...result }) => result),
        // The members about the request differ.
        errors: errors.map(({ place, id, problem: { type, instance, requestId, ...problem } }) => [place, id, problem]),
      }
    }
    const remote = await run('remote')
    expect([remote.results.length, remote.errors.length]).toEqual([9, 9])
    expect(await run('local', '--local', '--data', join(folder.path, 'no-key-here'))).toEqual(remote)
    // Without signatures no key is needed, so none is created.
    expect(readdirSync(folder.path)).not.toContain('no-key-here')
  })

  it('stop a batch at the hourly limit, and resume with a key', async () => {
    const points = file('points.csv', `lon,lat\n${'2,48\n'.repeat(20)}`)
    const output = join(folder.path, 'limited.ndjson')
    const argv = ['batch', 'distance', points, '--with', `to=${TOWN_HALL}`, '-o', output, '--chunk', '5']
    argv.push('--concurrency', '1')
    const fresh = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '7' })
    const first = await cli([...argv, '--url', fresh.url])
    expect([first.exitCode, first.err]).toEqual([
      5,
      expect.stringMatching(
        /^the hourly limit allows 7 more items until 20\S+Z, and the file has more: the run will end there\n/,
      ),
    ])
    expect([first.exitCode, first.err]).toEqual([
      5,
      expect.stringContaining('7 items are done: run the same command again to resume'),
    ])
    const second = await cli([...argv, '--url', fresh.url, '--api-key', fresh.internalKey])
    expect([second.exitCode, second.err]).toEqual([0, 'resuming after item 7\n'])
    const ids = readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual(Array.from({ length: 20 }, (_, index) => index + 1))
    await fresh.stop()
    const restarted = await cli([...argv, '--restart', '--url', fresh.url])
    expect([restarted.exitCode, restarted.err]).toEqual([3, expect.stringContaining('the files are unchanged')])
    expect(readFileSync(output, 'utf8').trim().split('\n')).toHaveLength(20)
  })

  it('keep every result within the limit, whichever of the concurrent requests got it, and resume with the others', async () => {
    const points = file('race.csv', `lon,lat\n${'2,48\n'.repeat(200)}`)
    const output = join(folder.path, 'race.ndjson')
    const argv = ['batch', 'distance', points, '--with', `to=${TOWN_HALL}`, '-o', output, '--attest', 'none']
    argv.push('--chunk', '30', '--concurrency', '8')
    const fresh = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '73', RATE_LIMIT_DEVELOPER: '127' })
    const first = await cli([...argv, '--url', fresh.url])
    expect(first.exitCode).toBe(5)
    expect(first.err.trim().split('\n')).toEqual([
      expect.stringContaining('the hourly limit allows 73 more items'),
      expect.stringMatching(
        /^trigpoint: the hourly limit is reached until 20\S+Z; 73 items are done: run the same command again to resume, after that time, or add --local, which has no limit$/,
      ),
      expect.stringMatching(
        /"trigpoint keys add developer" creates an API key with a higher limit for --api-key or TRIGPOINT_API_KEY; RATE_LIMIT_PUBLIC/,
      ),
    ])
    // The key allows exactly the items that are missing.
    const second = await cli([...argv, '--url', fresh.url, '--api-key', fresh.developerKey])
    expect([second.exitCode, second.err]).toEqual([0, expect.stringMatching(/^resuming after item \d+/)])
    const ids = readFileSync(output, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
    await fresh.stop()
  })

  it('do not go on with the key of this machine in a file that a service has signed', async () => {
    const points = file('signers.csv', `lon,lat\n${'2,48\n'.repeat(20)}`)
    const argv = ['batch', 'distance', points, '--with', `to=${TOWN_HALL}`, '-o', join(folder.path, 'signers.ndjson')]
    const limited = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '5' })
    const first = await runCli([...argv, '--url', limited.url])
    await limited.stop()
    expect([first.exitCode, first.err]).toEqual([5, expect.stringContaining('start again with --local --restart')])
    const second = await runCli([...argv, '--local'])
    expect([second.exitCode, second.err]).toEqual([2, expect.stringContaining('had a different command')])
  })

  it('verify batches under a Merkle root, and their items', async () => {
    const { body } = await service.post('/compute/v0/batch', {
      chainId: 84532,
      attest: 'merkle',
      items: [2, 3].map((lon) => ({ op: 'distance', from: point(lon), to: point(5) })),
    })
    const batch = file('batch.json', JSON.stringify(body))
    const item = file('item.json', JSON.stringify(body.results[1]))
    const real = (...argv: string[]) =>
      spawnSync(process.execPath, ['scripts/trigpoint.mjs', 'verify', ...argv], { cwd: root, encoding: 'utf8' })
    expect(real(batch, '--attester', service.attester)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('This is a batch.'),
    })
    const [alone, within, other] = [
      real(item),
      real(item, '--batch', batch, '--attester', service.attester),
      real(item, '--batch', batch, '--geometry', '2,1', '--geometry', '5,1'),
    ]
    expect([alone.status, alone.stdout]).toEqual([1, expect.stringContaining('is signed with its batch')])
    expect([within.status, within.stdout]).toEqual([0, expect.stringContaining('✓ proof')])
    expect([other.status, other.stdout]).toEqual([1, expect.stringContaining('✗ inputs')])
  })

  it('create keys that a running service accepts immediately, and rejects after they are revoked', async () => {
    const env = { API_KEYS_FILE: keyFile }
    const key = (await cli(['keys', 'add', 'internal'], env)).out.trim()
    expect(statSync(keyFile).mode & 0o777).toBe(0o600)
    expect(readFileSync(keyFile, 'utf8')).not.toContain(key)
    const ask = async () => (await cli(['compute', 'distance', EIFFEL, TOWN_HALL, '--api-key', key])).exitCode
    await expect.poll(ask, { timeout: 120_000, interval: 200 }).toBe(0)
    const limited = await fetch(`${service.url}/health`, { headers: { 'x-api-key': key } })
    expect(limited.headers.get('x-ratelimit-limit')).toBe('10000')
    expect((await cli(['keys', 'revoke', key], env)).exitCode).toBe(0)
    await expect.poll(ask, { timeout: 120_000, interval: 200 }).toBe(4)
    // While the file is damaged, none of its keys is valid, and the log says so.
    writeFileSync(keyFile, 'nonsense')
    await expect
      .poll(
        () =>
          service.lines.some((line) => line.includes('cannot read the file of API keys: none of its keys is valid')),
        {
          timeout: 120_000,
        },
      )
      .toBe(true)
    expect((await cli(['compute', 'distance', EIFFEL, TOWN_HALL])).exitCode).toBe(0)
  })

  it('measure a service, and check signatures', async () => {
    const run = await cli([
      'bench',
      'load',
      '--seconds',
      '0.5',
      '--concurrency',
      '4',
      '--json',
      '--api-key',
      service.internalKey,
    ])
    const report = JSON.parse(run.out)
    expect(report).toMatchObject({ errors: {}, signaturesWrong: 0 })
    expect(report.requests).toBeGreaterThan(0)
    expect(report.signaturesChecked).toBe(Math.ceil(report.requests / 100))
    const limited = await cli(['bench', 'load', '--seconds', '5', '--url', strict.url])
    expect([limited.exitCode, limited.out]).toEqual([5, expect.stringMatching(/errors: \d+ × 429 Rate Limited/)])
    expect((await cli(['bench', 'ops'])).exitCode).toBe(2)
  })

  it('print the OpenAPI document of this version or of a service', async () => {
    const own = await runCli(['openapi'])
    expect(JSON.parse(own.out)).toEqual(JSON.parse(JSON.stringify(openApiDocument())))
    const { paths, ...rest } = JSON.parse(own.out)
    const served = JSON.parse((await cli(['openapi'])).out)
    // This service has no sign-in, so its document leaves those routes out.
    const { '/auth/nonce': signIn, ...common } = paths
    expect(signIn).toBeDefined()
    expect(served).toEqual({ ...rest, paths: expect.not.objectContaining({ '/auth/nonce': signIn }) })
    expect(common).toEqual(expect.objectContaining(served.paths))
  })

  it('use the secret of the settings for a service on this machine that does not know its own callers', async () => {
    const argv = ['sync', '--status', '--json', '--url']
    const refused = await runCli([...argv, strict.url])
    expect([refused.exitCode, refused.err]).toEqual([4, expect.stringContaining('in production this is needed')])
    const served = await runCli([...argv, strict.url], { env: { CRON_SECRET } })
    // The service accepts the secret, and has no records to report.
    expect([served.exitCode, served.err]).toEqual([3, expect.stringMatching(/Service|records|database/i)])
    // A service elsewhere must not get it.
    const elsewhere = await runCli([...argv, strict.url.replace('127.0.0.1', 'localhost.')], { env: { CRON_SECRET } })
    expect(elsewhere.exitCode).not.toBe(0)
  })

  it('say what to set for a service that reads no chain', async () => {
    const run = await cli(['sync'])
    expect([run.exitCode, run.err]).toEqual([3, expect.stringMatching(/Service|records|database/i)])
  })
})

describe('the doctor', () => {
  const doctor = async (env: Record<string, string>) => {
    const run = await runCli(['doctor', '--json'], { env: { DATA_DIR: join(folder.path, '.data'), PORT: '0', ...env } })
    const checks = JSON.parse(run.out).checks as { id: string; status: string; detail: string; remedy?: string }[]
    return { run, of: (id: string) => checks.find((check) => check.id === id)!, checks }
  }

  it('finds no failure here, and says what to do about the warnings', async () => {
    const { run, checks, of } = await doctor({})
    expect(run.exitCode).toBe(0)
    expect(checks.map(({ id }) => id)).toEqual(
      'node transport threads kernel memory open-files settings port data database signer pages rpc'.split(' '),
    )
    for (const { status, remedy } of checks) expect(remedy === undefined).toBe(status === 'ok')
    expect(of('signer')).toMatchObject({
      status: 'warn',
      detail: expect.stringContaining('0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf'),
    })
    expect(of('rpc')).toMatchObject({ status: 'skip', remedy: expect.stringContaining('set RPC_URL_<chainId>') })
  })

  // Regression: it said that only a start of the service shows whether the password opens the keystore.
  it('opens the keystore with the configured password, and names its address', async () => {
    const data = mkdtempSync(join(tmpdir(), 'trigpoint-doctor-'))
    const env = { SIGNER_KEYSTORE: join(data, 'signer.json'), SIGNER_PASSWORD_FILE: join(data, 'password') }
    expect((await doctor(env)).of('signer')).toMatchObject({
      status: 'fail',
      detail: expect.stringContaining('ENOENT'),
      remedy: expect.stringContaining('trigpoint keygen'),
    })
    const address = (await runCli(['keygen'], { env })).out.trim()
    expect((await doctor(env)).of('signer')).toEqual({
      id: 'signer',
      status: 'ok',
      detail: `${env.SIGNER_KEYSTORE} opens with ${env.SIGNER_PASSWORD_FILE}; the attester is ${address}`,
    })
    const password = readFileSync(env.SIGNER_PASSWORD_FILE, 'utf8').trim()
    writeFileSync(env.SIGNER_PASSWORD_FILE, 'another\n')
    const { of, run } = await doctor(env)
    expect([run.exitCode, of('signer')]).toEqual([
      1,
      expect.objectContaining({
        status: 'fail',
        detail: 'SIGNER_KEYSTORE: cannot be decrypted with this password',
        remedy: expect.stringContaining('SIGNER_PASSWORD_FILE'),
      }),
    ])
    expect(run.out).not.toContain(password)
    rmSync(data, { recursive: true })
  })

  it('says in one sentence why the native transport does not run here, if it does not', async () => {
    const loaded = loadInstalledUws([])
    if (!loaded.ok) console.warn(`without the native transport: ${loaded.reason}`)
    expect((await doctor({})).of('transport')).toMatchObject(
      loaded.ok
        ? { status: 'ok', detail: expect.stringContaining('uWebSockets.js') }
        : { status: 'warn', detail: `${loaded.reason}, so the slower HTTP server of Node.js is used` },
    )
  })

  it.each([
    ['a port in use', 'port', () => ({ PORT: new URL(service.url).port }), 'signs with another key'],
    ['an impossible folder', 'data', () => ({ DATA_DIR: file('a-file', '') }), 'set DATA_DIR'],
    ['a misspelt name', 'settings', () => ({ RECODRS: '0' }), 'correct the name'],
    [
      'an unreachable database server',
      'database',
      () => ({ DATABASE_URL: 'postgres://127.0.0.1:9/x' }),
      'start the server',
    ],
    ['production without a key', 'signer', () => ({ NODE_ENV: 'production' }), 'trigpoint keygen'],
    ['a dead endpoint', 'rpc', () => ({ RPC_URL_84532: 'http://127.0.0.1:9/secret' }), 'RPC_URL_84532'],
    ['a service instead of an RPC endpoint', 'contracts', () => ({ RPC_URL_84532: service.url }), 'RPC_URL_84532'],
  ])('reports %s', async (_what, id, env, remedy) => {
    const { run, of } = await doctor(env())
    expect(of(id).remedy).toContain(remedy)
    expect(['warn', 'fail']).toContain(of(id).status)
    expect(run.exitCode).toBe(of(id).status === 'fail' ? 1 : run.exitCode)
    expect(run.out).not.toContain('secret')
  })

  // Regression: beside the running service it said FAIL, and to stop the service.
  it('recognises the running service, by its signing key', async () => {
    const { port } = new URL(service.url)
    const data = mkdtempSync(join(tmpdir(), 'trigpoint-doctor-'))
    writeFileSync(join(data, 'dev-signer.json'), JSON.stringify({ address: service.attester }))
    const keystore = join(data, 'signer.json')
    writeFileSync(keystore, JSON.stringify({ address: service.attester.slice(2).toLowerCase() }))
    for (const env of [{ DATA_DIR: data }, { SIGNER_KEYSTORE: keystore }, { DATA_DIR: data, HOST: '0.0.0.0' }]) {
      const { of } = await doctor({ PORT: port, ...env })
      expect(of('port')).toEqual({
        id: 'port',
        status: 'ok',
        detail: expect.stringMatching(new RegExp(`:${port} is in use by the running Trigpoint`)),
      })
    }
    rmSync(data, { recursive: true })
  })

  it('rejects invalid settings', async () => {
    const run = await runCli(['doctor'], { env: { PORT: 'far' } })
    expect([run.exitCode, run.out]).toEqual([
      78,
      expect.stringMatching(/^FAIL settings +PORT="far": must be a whole number .*\n +→ correct it/),
    ])
    const invalid = await doctor({ RPC_URL_84532: 'nowhere' })
    expect([invalid.run.exitCode, invalid.checks]).toEqual([
      78,
      [expect.objectContaining({ id: 'settings', status: 'fail', detail: expect.stringContaining('RPC_URL_84532') })],
    ])
  })
})

describe('the program', () => {
  const program = join(root, 'scripts/trigpoint.mjs')

  it('runs from any directory, also through a symbolic link', () => {
    const directory = mkdtempSync(join(tmpdir(), 'trigpoint-link-'))
    symlinkSync(program, join(directory, 'trigpoint'))
    const run = spawnSync(join(directory, 'trigpoint'), ['compute', 'area', 'h3:8a1fb46622dffff', '--local'], {
      cwd: directory,
      encoding: 'utf8',
    })
    expect([run.status, run.stdout.split('\n')[0]]).toEqual([0, '13,449.8169 m²'])
    rmSync(directory, { recursive: true })
  })

  it('says how to build it when it is not built', () => {
    const directory = mkdtempSync(join(tmpdir(), 'trigpoint-bare-'))
    cpSync(program, join(directory, 'scripts/trigpoint.mjs'))
    const run = spawnSync(process.execPath, [join(directory, 'scripts/trigpoint.mjs'), '--help'], { encoding: 'utf8' })
    expect([run.status, run.stderr]).toEqual([78, expect.stringContaining('npm run build')])
    rmSync(directory, { recursive: true })
  })

  it('runs as npx trigpoint in a checkout', () => {
    const run = spawnSync('npx', ['--no-install', 'trigpoint', '--version'], { cwd: root, encoding: 'utf8' })
    expect([run.status, run.stdout.trim()]).toEqual([
      0,
      JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
    ])
  })

  it('shows the same help for serve as npm start', () => {
    const run = spawnSync(process.execPath, [program, 'serve', '--help'], { encoding: 'utf8' })
    expect([run.status, run.stdout]).toEqual([0, expect.stringContaining('--sample-records')])
    const wrong = spawnSync(process.execPath, [program, 'serve', '--nonsense'], { encoding: 'utf8' })
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('--nonsense')])
  })

  it.each([
    ['SIGINT', [130, null]],
    ['SIGTERM', [130, null]],
    ['SIGHUP', [null, 'SIGHUP']],
  ] as const)('ends at %s while it waits for standard input', async (signal, expected) => {
    const child = spawn(process.execPath, [program, 'verify', '-'], { stdio: ['pipe', 'ignore', 'pipe'] })
    const exited = once(child, 'exit')
    // More than a pipe holds: when all of it is written, the program reads.
    await new Promise((written) => child.stdin.write('\n'.repeat(1_000_000), written))
    child.stdin.on('error', () => {}) // the program may close the pipe first
    child.kill(signal)
    expect(await exited).toEqual(expected)
  })

  it('exits quietly when its output pipe is closed', () => {
    const points = file('many.csv', `lon,lat\n${'2,48\n'.repeat(3000)}`)
    const command = `"${process.execPath}" "${program}" batch distance "${points}" --with to=3,48 --local --data "${join(folder.path, '.data')}" | head -1`
    const run = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
    const errors = run.stderr.replace(/^█.*\n/gm, '') // on a busy machine there is a line of progress
    expect([run.status, errors, run.stdout.split('\n').length]).toEqual([0, '', 2])
  })

  it('loads no heavy module for its help', () => {
    const run = spawnSync(process.execPath, ['--trace-warnings', program, '--help'], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: folder.path },
    })
    expect([run.status, run.stderr]).toEqual([0, ''])
    const report = readdirSync(folder.path).find((name) => name.startsWith('coverage-'))!
    const { result } = JSON.parse(readFileSync(join(folder.path, report), 'utf8')) as { result: { url: string }[] }
    const loaded = result.flatMap(({ url }) => url.match(/\/((?:dist\/src|node_modules|scripts)\/.*)/)?.[1] ?? [])
    expect(loaded).toContain('dist/src/cli/program.js')
    const light =
      /^scripts\/|^dist\/src\/(?:cli\/|base\/|client\/transport|config\/(?:setting|signing-key)\.js|[^/]*$)|^node_modules\/commander\//
    expect(loaded.filter((file) => !light.test(file))).toEqual([])
  })
})

function point(lon: number) {
  return { type: 'Point', coordinates: [lon, 1] }
}
