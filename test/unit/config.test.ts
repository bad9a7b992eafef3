import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readCommandLine } from '../../src/cli/arguments.ts'
import { readConfig } from '../../src/config/config.ts'
import { ConfigError } from '../../src/config/setting.ts'

describe('the configuration', () => {
  it('needs no environment', () => {
    const config = readConfig({}, 2)
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      isPortSet: false,
      production: false,
      httpAdapter: 'uws',
    })
    expect(config.requestsPerHour).toEqual({ public: 100, developer: 1000, internal: 10_000 })
    expect(config.limits).toMatchObject({ maxBodyBytes: 1_048_576, maxVertices: 50_000, computeThreads: 2 })
  })

  it('reads what an hour may cost: the named resources, and the defaults of the others', () => {
    const { costPerHour } = readConfig({ COST_LIMIT_PUBLIC: 'cpu-ms=60000, vertices=0' }, 2)
    expect(costPerHour).toEqual({
      public: { bytes: 1000 * 1_048_576, vertices: 0, 'cpu-ms': 60_000 },
      developer: { bytes: 10_000 * 1_048_576, vertices: 10_000_000, 'cpu-ms': 3_600_000 },
      internal: { bytes: 100_000 * 1_048_576, vertices: 100_000_000, 'cpu-ms': 0 },
    })
    expect(readConfig({}, 4).costPerHour.public['cpu-ms']).toBe(3_600_000)
    // More requests may cost more in total.
    expect(readConfig({ RATE_LIMIT_PUBLIC: '200' }, 2).costPerHour.public.vertices).toBe(2_000_000)
    for (const value of ['60000', 'time=1', 'cpu-ms', 'cpu-ms=', 'cpu-ms=-1', 'cpu-ms=1e3', 'bytes=1=2'])
      expect(() => readConfig({ COST_LIMIT_DEVELOPER: value }, 2), value).toThrow(
        /COST_LIMIT_DEVELOPER=.*must be a list/,
      )
  })

  it('reads no setting that docs/configuration.md does not list', () => {
    const names = new Set<string>()
    const record = {
      get(_target: object, name: string) {
        names.add(name)
        // Some names are read only in production, or only if their feature is enabled.
        return name === 'NODE_ENV' ? 'production' : name.startsWith('ENABLE_') ? '1' : undefined
      },
    }
    readConfig(new Proxy({}, record), 1)
    expect(names.size).toBeGreaterThan(60)
    const page = readFileSync(join(import.meta.dirname, '../../docs/configuration.md'), 'utf8')
    const listed = new Set([...page.matchAll(/\b[A-Z][A-Z0-9_]+\b/g)].map(([name]) => name))
    expect([...names].filter((name) => !listed.has(name))).toEqual([])
  })

  // Regression: the time to receive a request was 10 s whatever the deadline of requests was.
  it.each([
    ['150', 150],
    ['10000', 10_000],
    ['60000', 10_000],
  ])('gives a request no more time to arrive than REQUEST_DEADLINE_MS=%s', (deadline, receiveTimeoutMs) => {
    expect(readConfig({ REQUEST_DEADLINE_MS: deadline }, 1).limits.receiveTimeoutMs).toBe(receiveTimeoutMs)
  })

  // Regression: a batch that MAX_BATCH_BYTES allowed was told to try again for ever.
  it.each([
    [{}, 32],
    [{ MAX_BATCH_BYTES: String(48 * 1_048_576) }, 48],
    [{ MAX_BODY_BYTES: String(32 * 1_048_576) }, 66],
  ])('gives one client room for its largest request: %j', (env, mebibytes) => {
    expect(readConfig(env, 1).limits.maxClientBodyBytes).toBe(mebibytes * 1_048_576)
    const tooFew = String(Math.min(mebibytes, 8) * 1_048_576 - 1)
    expect(() => readConfig({ ...env, MAX_CLIENT_BODY_BYTES: tooFew }, 1)).toThrow(/MAX_CLIENT_BODY_BYTES/)
  })

  // Without room for it in the memory of all bodies, the largest body was told to try again for ever.
  it.each([
    [{ MAX_BATCH_BYTES: '2000000' }, 2_000_000],
    [{ MAX_BODY_BYTES: '9000000' }, 9_000_000],
  ])('demands room for the largest body: %j', (env, bytes) => {
    const withRoom = (room: number) => readConfig({ ...env, MAX_IN_FLIGHT_BYTES: String(room) }, 1).limits
    expect(withRoom(bytes).maxInFlightBytes).toBe(bytes)
    expect(() => withRoom(bytes - 1)).toThrow(/MAX_IN_FLIGHT_BYTES/)
  })

  it('has more memory for bodies by default if the largest one needs it', () => {
    const bytes = 100 * 1_048_576
    expect(readConfig({ MAX_BATCH_BYTES: String(bytes) }, 1).limits.maxInFlightBytes).toBe(bytes)
  })

  it.each([
    'postgres://trigpoint:a/b@127.0.0.1/trigpoint',
    'postgres://trigpoint:12/b@127.0.0.1/trigpoint',
    'postgres://trigpoint:12?b@127.0.0.1/trigpoint',
    'postgres://trigpoint:12#b@127.0.0.1/trigpoint',
    'postgres://trigpoint:a@/b@127.0.0.1/trigpoint',
    'postgres://trigpoint:50%@127.0.0.1/trigpoint',
    'postgres://trigpoint:a%zz@127.0.0.1/trigpoint',
    'postgres://trigpoint:a%e9z@127.0.0.1/trigpoint',
    'postgres://trigpoint:a b@127.0.0.1/trigpoint',
  ])('rejects %s, says how to encode a password, and repeats none of it', (url) => {
    const read = () => readConfig({ DATABASE_URL: url }, 1)
    expect(read).toThrow(/^DATABASE_URL: .*percent-encode it: % as %25, \/ as %2F/)
    expect(read).not.toThrow('127.0.0.1')
  })

  it.each([
    'postgres://trigpoint:a%2Fb%25%3F%23%20@127.0.0.1/trigpoint',
    'postgres://trigpoint:a@b:c@[::1]:5432/trigpoint',
    'postgresql://trigpoint@db.example/trigpoint?sslmode=verify-full&sslrootcert=/etc/ssl/ca.pem',
    'postgres://trigpoint:secret@/trigpoint?host=/var/run/postgresql',
    'postgres:///trigpoint?host=/var/run/postgresql',
    'postgres://127.0.0.1:9/x',
  ])('accepts the address of a database %s', (url) => {
    expect(readConfig({ DATABASE_URL: url }, 1).databaseUrl).toBe(url)
  })

  it('reads chains by their number', () => {
    const { chains } = readConfig(
      { RPC_URL_84532: 'http://a, https://b', EAS_PROFILE_31337: 'v2', EAS_ADDRESS_31337: `0x${'1'.repeat(40)}` },
      1,
    )
    expect(chains.get(84532)?.rpcUrls).toEqual(['http://a', 'https://b'])
    expect(chains.get(31337)).toMatchObject({ profile: 'v2', rpcUrls: [] })
  })

  it.each([
    ['PORT', '70000'],
    ['ROLE', 'worker'],
    ['ROLE', 'api'], // without DATABASE_URL
    ['SHARED_LIMIT_WAIT_MS', '9'],
    ['SHARED_LIMIT_EXCESS_PERCENT', '-1'],
    ['PORT', 'abc'],
    ['COMPUTE_THREADS', '1.5'],
    ['PROCESSES', '0'],
    ['PROCESSES', 'all'],
    ['HTTP_ADAPTER', 'fastify'],
    ['ALLOW_ANY_SCHEMA', 'yes'],
    ['PUBLIC_URL', 'example.org'],
    ['RPC_URL_1', 'localhost:8545'],
    ['EAS_PROFILE_1', 'v3'],
    ['EAS_ADDRESS_1', '0x12'],
    ['NUMERIC_SCHEMA_UID', '0x12'],
    ['MAX_BODY_BYTES', '1'],
    ['WITNESSES', '0x12'],
    ['RETIRED_ATTESTERS', '0x12'],
    ['EVALUATION_MODE', 'remote'],
    ['EVALUATION_METHOD', 'x'.repeat(65)],
    ['EVALUATION_METHOD', 'a\u0007b'],
    ['EVALUATION_METHOD', ' '],
  ])('rejects %s=%s with the name of the setting', (name, value) => {
    expect(() => readConfig({ [name]: value }, 1)).toThrow(ConfigError)
    expect(() => readConfig({ [name]: value }, 1)).toThrow(name)
  })

  it('names all invalid settings in one error, each once', () => {
    // The default of a cost limit follows from RATE_LIMIT_PUBLIC, so two rows read it.
    const env = {
      PORT: 'abc',
      RATE_LIMIT_PUBLIC: '0',
      EAS_ADDRESS_1: '0x12',
      MAX_VERTICES: '1',
      JWT_ISSUER: 'https://a.b',
    }
    const faults = [
      /^PORT="abc": must be /,
      /^JWT_ISSUER="https:\/\/a\.b": must be set together with JWT_AUDIENCE, .*, and JWT_JWKS, /,
      /^RATE_LIMIT_PUBLIC="0": must be /,
      /^MAX_VERTICES="1": must be /,
      /^EAS_ADDRESS_1="0x12": must be /,
    ]
    expect(() => readConfig(env, 1)).toThrow(
      expect.objectContaining({ faults: faults.map((fault) => expect.stringMatching(fault)) }),
    )
    expect(() => readConfig(env, 1)).toThrow(
      /^5 settings are missing or wrong: \(1\) PORT="abc": must .*; \(2\) JWT_ISSUER/,
    )
    expect(() => readConfig({ PORT: 'abc' }, 1)).toThrow(/^PORT="abc": must be /)
  })

  it.each([
    ['RATE_LIMIT_PUBLIC', '1e3', 'a whole number from 1 to 1000000000 in decimal digits, such as 1000'],
    ['RATE_LIMIT_PUBLIC', '0x10', 'a whole number from 1 to 1000000000 in decimal digits'],
    ['MAX_WORK', '999', 'a whole number from 1000 to 1000000000 in decimal digits'],
    ['MAX_VERTICES', '10,000', 'a whole number from 4 to 5000000 in decimal digits'],
    ['MAX_VERTICES', '10_000', 'a whole number from 4 to 5000000 in decimal digits'],
    ['PORT', '30 00', 'a whole number from 0 to 65535 in decimal digits'],
    ['PORT', '3000.0', 'a whole number from 0 to 65535 in decimal digits'],
    ['START_BLOCK_84532', '1e6', 'a whole number from 0 to 999999999999 in decimal digits'],
    ['LOG_SAMPLE_RATIO', '1e-2', 'a number from 0 to 1 in decimal digits, such as 1 or 0.5'],
  ])('accepts numbers only in decimal digits: %s=%s is rejected with the accepted form', (name, value, form) => {
    expect(() => readConfig({ [name]: value }, 1)).toThrow(`${name}=${JSON.stringify(value)}: must be ${form}`)
  })

  it('accepts numbers with white space around them, as settings files may leave it', () => {
    expect(readConfig({ PORT: ' 3000\r' }, 1).port).toBe(3000)
  })

  it('reads fractions for settings that allow them', () => {
    expect(readConfig({ LOG_SAMPLE_RATIO: '0.25' }, 1).logSampleRatio).toBe(0.25)
  })

  it('never repeats an API key in its message', () => {
    const message = (() => {
      try {
        readConfig({ API_KEYS: '{"tp_secret": {"tier": "king"}}' }, 1)
      } catch (error) {
        return (error as Error).message
      }
      return ''
    })()
    expect(message).toContain('API_KEYS')
    expect(message).not.toContain('tp_secret')
  })

  it('prefers a flag to the environment and rejects an unknown flag', () => {
    const { env } = readCommandLine(['--port', '4000', '--allow-dev-key'], { PORT: '5000', NODE_ENV: 'production' })
    expect(readConfig(env, 1)).toMatchObject({ port: 4000, isPortSet: true, allowDevelopmentKey: true })
    expect(() => readCommandLine(['--prot', '1'], {})).toThrow(ConfigError)
  })
})

it('names an invalid RPC URL by its number, because the URL may contain a key', () => {
  const env = { RPC_URL_1: 'https://a.example/v2/one, wss://b.example/v2/secret' }
  expect(() => readConfig(env, 2)).toThrow(
    'RPC_URL_1: URL 2 must begin with http:// or https://; separate several URLs with commas',
  )
  expect(() => readConfig(env, 2)).not.toThrow(/secret/)
})

it('keeps submissions at least as long as the jobs that they belong to', () => {
  const retentionDays = (hours: string) => {
    const { submission } = readConfig({ ENABLE_ONCHAIN_SUBMIT: '1', JOB_KEEP_HOURS: hours }, 1)
    return submission!.retentionMs / 86_400_000
  }
  expect([retentionDays('72'), retentionDays('2400')]).toEqual([30, 100])
})
