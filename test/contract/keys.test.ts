import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { type Answer, startTestService, type TestService } from '../service.ts'

const DISTANCE = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }

async function send(service: TestService, method: string, path: string, key?: string, body?: unknown) {
  const response = await fetch(`${service.url}${path}`, {
    method,
    ...(key === undefined ? {} : { headers: { 'X-API-Key': key } }),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: a response may have any members; the tests check them
  return { status: response.status, headers: response.headers, body: (await response.json()) as any } satisfies Answer
}

const compute = (service: TestService, key: string) => send(service, 'POST', '/compute/v0/distance', key, DISTANCE)
const statusOf = async (answer: Promise<Answer>) => (await answer).status
/** Changes reach other processes within a second; this waits for them longer, because the machine may be busy. */
const untilStatus = (status: number, ask: () => Promise<Answer>) =>
  eventually(async () => expect(await statusOf(ask())).toBe(status))

describe('keys of one node, in its key file', () => {
  let service: TestService
  beforeAll(async () => {
    // A key that a route refuses is still a key: it gets the reason, not the demand for one.
    service = await startTestService({ REQUIRE_API_KEY: '1' })
  })
  afterAll(() => service.stop())
  const admin = (method: string, path: string, body?: unknown) =>
    send(service, method, `/admin/keys${path}`, service.internalKey, body)

  it('are added, listed, rotated and revoked by a key with the scope admin', async () => {
    const added = await admin('POST', '', { tier: 'developer', label: 'shop', requestsPerHour: 7 })
    expect(added).toMatchObject({
      status: 201,
      body: {
        key: expect.stringMatching(/^tp_dev_/),
        properties: {
          tier: 'developer',
          label: 'shop',
          requestsPerHour: 7,
          scopes: ['compute', 'verify', 'records', 'jobs'],
        },
      },
    })
    const { key, properties } = added.body
    await untilStatus(200, () => compute(service, key))
    const { headers } = await compute(service, key)
    expect(headers.get('x-ratelimit-limit')).toBe('7')
    expect(headers.get('ratelimit-policy')).toMatch(/^"requests";q=7;w=3600, /)

    const listed = await admin('GET', '')
    expect(listed.body.keys).toEqual([properties])
    expect(JSON.stringify(listed.body)).not.toContain(key)

    const rotated = await admin('POST', `/${properties.id}/rotate?overlapSeconds=3600`)
    expect(rotated).toMatchObject({ status: 201, body: { properties: { label: 'shop', requestsPerHour: 7 } } })
    await untilStatus(200, () => compute(service, rotated.body.key))
    expect(await statusOf(compute(service, key))).toBe(200)

    expect(await admin('DELETE', `/${properties.id}`)).toMatchObject({ status: 200, body: { revoked: properties.id } })
    await untilStatus(401, () => compute(service, key))
    expect(await admin('DELETE', `/${properties.id}`)).toMatchObject({ status: 404 })
    expect(await statusOf(compute(service, rotated.body.key))).toBe(200)
  })

  it('open nothing else than their scopes name', async () => {
    const onlyAdmin = (await admin('POST', '', { tier: 'internal', scopes: ['admin'] })).body.key
    const onlyJobs = (await admin('POST', '', { tier: 'internal', scopes: ['jobs'] })).body.key
    await untilStatus(200, () => send(service, 'GET', '/admin/keys', onlyAdmin))
    expect(await compute(service, onlyAdmin)).toMatchObject({
      status: 403,
      body: { detail: 'the API key is not for this route: it needs the scope compute and has admin' },
    })
    await untilStatus(403, () => compute(service, onlyJobs))
    for (const path of ['/api/v0/location-records', '/ogc/collections'])
      expect(await statusOf(send(service, 'GET', path, onlyJobs)), path).toBe(403)
    // Pages need no scope, and the routes of the operator accept no key.
    expect(await statusOf(send(service, 'GET', '/health', onlyJobs))).toBe(200)
  })

  it('are not used up by requests that they refuse, which count against the address', async () => {
    const { key } = (await admin('POST', '', { tier: 'developer', requestsPerHour: 3, origins: ['https://a.example'] }))
      .body
    await untilStatus(403, () => compute(service, key))
    const refused = []
    for (let request = 0; request < 4; request++) refused.push(await compute(service, key))
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403])
    const [first, last] = [refused[0]!, refused[3]!].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')))
    expect(first! - last!).toBe(3)
    const response = await fetch(`${service.url}/compute/v0/distance`, {
      method: 'POST',
      headers: { 'X-API-Key': key, Origin: 'https://a.example' },
      body: JSON.stringify(DISTANCE),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-ratelimit-remaining')).toBe('2')
  })

  it('need a key with the scope admin', async () => {
    expect(await send(service, 'GET', '/admin/keys')).toMatchObject({ status: 401 })
    expect(await send(service, 'GET', '/admin/keys', 'tp_int_wrong')).toMatchObject({ status: 401 })
    expect(await send(service, 'GET', '/admin/keys', service.developerKey)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('needs the scope admin') },
    })
  })

  it.each([
    [{}, '#', 'missing-member'],
    [{ tier: 'public' }, '#/tier', undefined],
    [{ tier: 'developer', label: '' }, '#/label', 'empty'],
    [{ tier: 'developer', scopes: ['all'] }, '#/scopes/0', undefined],
    [{ tier: 'developer', expiresAt: 'tomorrow' }, '#/expiresAt', 'time'],
    [{ tier: 'developer', expiresAt: '2020-01-01' }, '#/expiresAt', 'time'],
    [{ tier: 'developer', origins: ['https://a.example/path'] }, '#/origins/0', 'origin'],
    [{ tier: 'developer', origins: ['https://a.example', 'file:///'] }, '#/origins/1', 'origin'],
    [{ tier: 'developer', addresses: ['192.0.2.0/33'] }, '#/addresses/0', 'address'],
    [{ tier: 'developer', addresses: ['example.org'] }, '#/addresses/0', 'address'],
    [{ tier: 'developer', addresses: ['::ffff:192.0.2.0/120'] }, '#/addresses/0', 'address'],
    [{ tier: 'developer', requestsPerHour: 0 }, '#/requestsPerHour', undefined],
    [{ tier: 'developer', requestPerHour: 5 }, '#', undefined],
  ])('are rejected with %j', async (body, pointer, code) => {
    const { status, body: problem } = await admin('POST', '', body)
    expect(status).toBe(400)
    expect(problem.errors[0].pointer.startsWith(pointer)).toBe(true)
    if (code !== undefined) expect(problem.errors[0].code).toBe(code)
  })

  it('are rotated only with a sensible overlap', async () => {
    for (const overlap of ['-1', 'x', '99999999', '1.5'])
      expect(await admin('POST', `/000000000000/rotate?overlapSeconds=${overlap}`)).toMatchObject({ status: 400 })
  })
})

describe.runIf(ENGINES.includes('postgres'))('keys of several nodes, in their PostgreSQL database', () => {
  let cluster: PostgresCluster
  let nodes: TestService[]
  const env = () => ({ DATABASE_URL: cluster.url })
  const cli = (...argv: string[]) => runCli(['keys', ...argv], { env: env(), nowMs: Date.now() })

  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    nodes = [await startTestService({ ...env(), RECORDS: '1' }), await startTestService({ ...env(), RECORDS: '1' })]
  })
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await cluster.remove()
  })
  const everywhere = (status: number, key: string) =>
    Promise.all(nodes.map((node) => untilStatus(status, () => compute(node, key))))

  it('are valid on each node after the command line has added them, and invalid after it has revoked them', async () => {
    const key = (await cli('add', 'internal', '--label', 'from the command line')).out.trim()
    await everywhere(200, key)
    expect((await cli('list')).out).toContain('from the command line')
    expect((await cli('revoke', key)).exitCode).toBe(0)
    await everywhere(401, key)
    expect((await cli('revoke', key)).exitCode).toBe(1)
  })

  it('are those of a key file after it was imported, except for revoked ones, and the file is named for a key that is only there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-keys-'))
    try {
      const file = join(folder, 'api-keys.json')
      const addToFile = async () => JSON.parse((await cli('add', 'developer', '--json', '--file', file)).out)
      const [kept, revoked] = [await addToFile(), await addToFile()]
      const env = { DATABASE_URL: cluster.url, DATA_DIR: folder }
      const inFolder = (...argv: string[]) => runCli(['keys', ...argv], { env, nowMs: Date.now() })
      expect(await inFolder('revoke', kept.id)).toMatchObject({
        exitCode: 1,
        err: `no key ${kept.id} in the database, but in the file ${file}: add --file ${file}\n`,
      })
      await everywhere(401, kept.key)
      expect((await inFolder('import')).out).toBe(`2 keys of 2 keys in ${file} added to the database\n`)
      await everywhere(200, kept.key)
      await everywhere(200, revoked.key)
      // A second import neither restores what was revoked nor undoes what was changed in the database.
      expect((await inFolder('revoke', revoked.id)).exitCode).toBe(0)
      expect((await inFolder('rotate', kept.id)).exitCode).toBe(0)
      const listed = JSON.parse((await inFolder('list', '--json')).out)
      expect(listed).toContainEqual(expect.objectContaining({ id: kept.id, replacedBy: expect.anything() }))
      expect(JSON.parse((await inFolder('import', file, '--json')).out)).toEqual({ added: 0, revoked: 1, file })
      expect(JSON.parse((await inFolder('list', '--json')).out)).toEqual(listed)
      await everywhere(401, revoked.key)
      const withoutDatabase = await runCli(['keys', 'import', file], { env: { DATA_DIR: folder } })
      expect(withoutDatabase).toMatchObject({ exitCode: 2, err: expect.stringContaining('set DATABASE_URL') })
      expect(await inFolder('import', join(folder, 'none.json'))).toMatchObject({ exitCode: 2 })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('are valid on each node after one has added them, and both are valid while they are rotated', async () => {
    const [first] = nodes as [TestService]
    const added = await send(first, 'POST', '/admin/keys', first.internalKey, { tier: 'developer' })
    const { key, properties } = added.body
    // The node that changed the keys knows it at once.
    expect(await statusOf(compute(first, key))).toBe(200)
    await everywhere(200, key)
    const rotated = await cli('rotate', properties.id, '--overlap', '3600', '--json')
    await everywhere(200, JSON.parse(rotated.out).key)
    await everywhere(200, key)
    // Rotating it again would give a key that ends with it.
    expect((await cli('rotate', properties.id)).err).toContain('was replaced by')
    expect((await cli('rotate', JSON.parse(rotated.out).id, '--overlap', '0')).exitCode).toBe(0)
    await everywhere(401, JSON.parse(rotated.out).key)
    expect((await cli('revoke', properties.id)).exitCode).toBe(0)
    await everywhere(401, key)
  })

  it('stay valid while the database is away; then keys cannot be changed', async () => {
    const key = (await cli('add', 'internal')).out.trim()
    await everywhere(200, key)
    await cluster.stop('immediate')
    const [first] = nodes as [TestService]
    await untilStatus(503, () => send(first, 'GET', '/admin/keys', first.internalKey))
    for (const node of nodes) expect(await statusOf(compute(node, key))).toBe(200)
    const refused = await send(first, 'POST', '/admin/keys', first.internalKey, { tier: 'developer' })
    expect(refused).toMatchObject({ status: 503, headers: expect.anything() })
    expect(refused.headers.get('retry-after')).toBe('1')
    expect((await cli('add', 'internal')).exitCode).toBe(78)
    await cluster.start()
    await untilStatus(200, () => send(first, 'GET', '/admin/keys', first.internalKey))
    expect((await cli('revoke', key)).exitCode).toBe(0)
    await everywhere(401, key)
  })

  it('of a node that starts while the database is away are unknown for now, not wrong', async () => {
    const key = (await cli('add', 'internal')).out.trim()
    await everywhere(200, key)
    await cluster.stop('immediate')
    const late = await startTestService({ ...env(), RECORDS: '1' })
    try {
      expect(await statusOf(compute(late, key))).toBe(503)
      expect(await statusOf(compute(late, 'tp_int_0000000000000000000000_000000'))).toBe(401)
      await cluster.start()
      await untilStatus(200, () => compute(late, key))
    } finally {
      await late.stop()
    }
  })
})
