/** The backup of a service with PostgreSQL, and its move from the embedded database, with the commands of docs/operations.md. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { openPostgresForCommand } from '../../src/store/postgres.ts'
import { runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { blocksOf } from '../markdown-pages.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const DISTANCE = {
  chainId: 84532,
  from: { type: 'Point', coordinates: [2, 48] },
  to: { type: 'Point', coordinates: [3, 48] },
}

/** Returns the commands of the page whose block begins so, without those that need the user `postgres` or a terminal. */
function commands(beginning: string): string {
  const { code } = blocksOf('docs/operations.md').find(({ code }) => code.startsWith(beginning))!
  return code.replace(/^createuser .*$/m, '')
}

describe.runIf(ENGINES.includes('postgres'))('docs/operations.md with PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'trigpoint-dump-docs-'))
  const clusters: PostgresCluster[] = []
  const services: TestService[] = []

  beforeAll(async () => {
    for (let count = 0; count < 2; count++) clusters.push(await startCluster({ fsync: 'off' }))
    sh(clusters[0]!, 'createdb --owner trigpoint trigpoint')
  })
  afterAll(async () => {
    for (const service of services) await service.stop()
    for (const cluster of clusters) await cluster.remove()
    rmSync(folder, { recursive: true })
  })

  /** Runs commands as the user `postgres` of a server would. */
  function sh(cluster: PostgresCluster, script: string) {
    const { port, username } = new URL(cluster.url)
    const env = { PATH: process.env['PATH'], PGHOST: '127.0.0.1', PGPORT: port, PGUSER: username }
    return execFileSync('sh', ['-ec', script], { cwd: folder, env, stdio: 'pipe', encoding: 'utf8' })
  }
  const databaseUrl = (cluster: PostgresCluster, name = 'trigpoint') => cluster.url.replace(/[^/]+$/, name)

  async function start(url: string): Promise<TestService> {
    const service = await startTestService({
      RECORDS: '1',
      SAMPLE_RECORDS: '1',
      DATABASE_URL: url,
      USAGE_FLUSH_MS: '100',
      TRUSTED_PROXIES: '127.0.0.1',
    })
    services.push(service)
    return service
  }

  /** What a client with a key sees, and what the database has of it. */
  async function contents(service: TestService, url: string, key: string) {
    const client = { env: { TRIGPOINT_URL: service.url, TRIGPOINT_API_KEY: key } }
    const { status } = await service.post('/compute/v0/distance', DISTANCE, { 'x-api-key': key })
    const keys = JSON.parse((await runCli(['keys', 'list', '--json'], { env: { DATABASE_URL: url } })).out)
    const { out } = await runCli(['geometries', 'list', '--json'], client)
    const records = (await (await fetch(`${service.url}/api/v0/location-records?limit=1`)).json()) as { count: number }
    return { status, keys: keys.map(({ id }: { id: string }) => id), geometries: out, records: records.count }
  }

  async function query(url: string, statement: string) {
    const database = await openPostgresForCommand(url, 10_000, 10_000)
    try {
      return await database.reads.query(statement)
    } finally {
      await database.close()
    }
  }

  it('has commands that back up all but the addresses of clients, and restore it on another server', async () => {
    const [first, second] = clusters as [PostgresCluster, PostgresCluster]
    const url = databaseUrl(first)
    const service = await start(url)
    const added = await runCli(['keys', 'add', 'developer', '--json'], { env: { DATABASE_URL: url } })
    const { key } = JSON.parse(added.out)
    await eventually(async () =>
      expect((await service.post('/compute/v0/distance', DISTANCE, { 'x-api-key': key })).status).toBe(200),
    )
    writeFileSync(join(folder, 'place.geojson'), JSON.stringify(DISTANCE.from))
    const client = { env: { TRIGPOINT_URL: service.url, TRIGPOINT_API_KEY: key } }
    expect((await runCli(['geometries', 'put', join(folder, 'place.geojson')], client)).exitCode).toBe(0)
    const total = async () => (await contents(service, url, key)).records
    await eventually(async () => expect(await total()).toBe(5000))
    const before = await contents(service, url, key)
    expect(before).toMatchObject({ status: 200, records: 5000, geometries: expect.stringContaining('"ref') })
    expect(before.keys).toHaveLength(1)
    // A client without a key counts under its address, here the one that a proxy reports.
    for (const address of ['203.0.113.7', '7.0.113.203'])
      await service.post('/compute/v0/distance', DISTANCE, { 'x-forwarded-for': address })
    await eventually(async () => {
      const listed = sh(first, commands('psql')).match(/\d+\.\d+\.\d+\.\d+/g)
      expect(listed).toEqual(expect.arrayContaining(['203.0.113.7', '7.0.113.203']))
      const [usage] = await query(url, 'select count(*)::int as rows from usage_daily')
      expect(usage!['rows']).toBeGreaterThan(0)
    })
    sh(first, commands('pg_dump'))

    sh(second, commands('createuser'))
    const restoredUrl = databaseUrl(second)
    expect(await query(restoredUrl, 'select subject from client_hour')).toEqual([])
    const [usage] = await query(restoredUrl, 'select count(*)::int as rows from usage_daily')
    expect(usage!['rows']).toBeGreaterThan(0)
    const restored = await start(restoredUrl)
    await eventually(async () => expect(await contents(restored, restoredUrl, key)).toEqual(before))

    // A backup of the records has no API keys.
    const serve = (flag: string, databaseName: string) =>
      execFileSync(process.execPath, ['scripts/trigpoint.mjs', 'serve', flag, join(folder, 'records.gz')], {
        cwd: root,
        env: { PATH: process.env['PATH'], DATABASE_URL: databaseUrl(first, databaseName), DATA_DIR: folder },
        encoding: 'utf8',
      })
    expect(serve('--backup', 'trigpoint')).toContain('5,000 records written')
    sh(first, 'createdb records')
    expect(serve('--restore', 'records')).toContain('5,000 records restored')
    const keys = await runCli(['keys', 'list', '--json'], { env: { DATABASE_URL: databaseUrl(first, 'records') } })
    expect(JSON.parse(keys.out)).toEqual([])
  })
})
