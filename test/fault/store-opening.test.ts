import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const LIST = '/api/v0/location-records?limit=1'

let dataDir: string
let service: TestService | undefined
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-opening-'))
})
afterEach(async () => {
  await service?.stop()
  service = undefined
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(environment: Record<string, string> = {}): Promise<void> {
  service = await startTestService({ DATA_DIR: dataDir, RECORDS: '1', ...environment })
}

async function get(path: string) {
  const response = await fetch(service!.url + path)
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  }
}

describe('records while the store opens', () => {
  it('are awaited', async () => {
    await start({ STORE_WAIT_MS: '60000', REQUEST_DEADLINE_MS: '60000' })
    const answers = await Promise.all(
      [LIST, '/api/v0/location-proofs?limit=1', '/api/v0/location-proofs/stats'].map(get),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })

  it('are answered with 503, Retry-After and the reason when the wait is over', async () => {
    await start({ STORE_WAIT_MS: '0' })
    const { status, headers, body } = await get(LIST)
    expect([status, body['detail']]).toEqual([503, 'the store is opening; try again in a few seconds'])
    expect(headers.get('retry-after')).toBe('2')
  })

  it('wait in a queue of limited size', async () => {
    await start({ STORE_WAIT_MS: '60000', REQUEST_DEADLINE_MS: '60000', MAX_STORE_QUEUE: '2' })
    const statuses = (await Promise.all(Array.from({ length: 6 }, () => get(LIST)))).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 200, 503, 503, 503, 503])
  })
})

describe('a damaged store', () => {
  const closed = mkdtempSync(join(tmpdir(), 'trigpoint-closed-'))
  beforeAll(async () => {
    const maker = await startTestService({ DATA_DIR: closed, RECORDS: '1' })
    await untilReadable(maker.url)
    await maker.stop()
  })
  afterAll(() => rmSync(closed, { recursive: true, force: true }))
  beforeEach(() => cpSync(closed, dataDir, { recursive: true }))

  const files = () => join(dataDir, 'store', 'files')
  const firstLog = () => readdirSync(join(files(), 'pg_wal')).find((name) => /^[0-9A-F]{24}$/.test(name))!

  it.each([
    ['an empty control file', () => truncateSync(join(files(), 'global', 'pg_control'), 0)],
    ['no write-ahead log', () => rmSync(join(files(), 'pg_wal', firstLog()))],
    ['no tables', () => rmSync(join(files(), 'base'), { recursive: true })],
    ['no version file', () => rmSync(join(files(), 'PG_VERSION'))],
  ])('is named as damaged, with the way to mend it: %s', async (_what, damage) => {
    damage()
    await start()
    await eventually(
      async () =>
        expect((await get('/ready')).body).toMatchObject({
          status: 'not ready',
          checks: {
            database: { detail: expect.stringMatching(/is damaged.*trigpoint store check.*trigpoint store rebuild/) },
          },
        }),
      { timeout: 50_000 },
    )
    const { status, headers, body } = await get(LIST)
    expect(status).toBe(503)
    expect(body['detail']).toBe(
      'the store is damaged: its operator has to run `npx --no-install trigpoint store check`, then `npx --no-install trigpoint store rebuild`',
    )
    expect((await get('/health')).body).toMatchObject({
      database: 'disconnected',
      detail:
        'the store is damaged: run `npx --no-install trigpoint store check`, then `npx --no-install trigpoint store rebuild`',
    })
    expect(await (await fetch(`${service!.url}/metrics`)).text()).toContain('store_state{state="damaged"} 1')
    expect(headers.get('retry-after')).toBe('60')
    expect(service!.lines.filter((line) => line.includes('store not open'))).toHaveLength(1)
  })

  it('is replaced once the operator has moved it away and restarted the service', async () => {
    truncateSync(join(files(), 'global', 'pg_control'), 0)
    renameSync(join(dataDir, 'store'), join(dataDir, 'damaged-store'))
    await start()
    await eventually(async () => expect((await get(LIST)).status).toBe(200), { timeout: 50_000 })
  })
})
