/** Nodes on one PostgreSQL server that each do a part of what a service does. */
import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'
import { WATCHED_ORIGINS } from '../watched-origins.ts'

/** Many, so that the nodes differ by more than the threads of Node.js. */
const COMPUTE_THREADS = 8
const ROLES = ['api', 'data', 'sync'] as const
const POINT = { type: 'Point', coordinates: [2.35, 48.85] }
const ITEM = { op: 'distance', from: POINT, to: { type: 'Point', coordinates: [13.4, 52.52] } }

describe.skipIf(POSTGRES === undefined)('nodes with a role', () => {
  let cluster: PostgresCluster
  const nodes = new Map<string, TestService>()
  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
    for (const role of ROLES) nodes.set(role, await start(role))
    // These answer 404 where the document describes what a service with all roles answers.
    for (const role of ['data', 'sync'] as const) WATCHED_ORIGINS.delete(new URL(node(role).url).origin)
    for (const { url } of nodes.values()) {
      await eventually(async () => expect((await fetch(`${url}/ready`)).status).toBe(200))
    }
  })
  afterAll(async () => {
    await Promise.all([...nodes.values()].map((node) => node.stop()))
    await cluster?.remove()
  })
  const start = (ROLE: string) =>
    startTestService({
      DATABASE_URL: cluster.url,
      RECORDS: '1',
      ROLE,
      API_KEYS: JSON.stringify(KEYS),
      COMPUTE_THREADS: String(COMPUTE_THREADS),
    })
  const node = (role: (typeof ROLES)[number]) => nodes.get(role)!

  it.each(ROLES)('%s answers what operators ask', async (role) => {
    for (const path of ['/health', '/ready', '/metrics', '/api/sync/status']) {
      expect((await fetch(`${node(role).url}${path}`)).status).toBe(200)
    }
  })

  it('only api answers clients', async () => {
    const request = { chainId: 84532, from: ITEM.from, to: ITEM.to }
    expect((await node('api').post('/compute/v0/distance', request)).status).toBe(200)
    for (const role of ['data', 'sync'] as const) {
      expect((await node(role).post('/compute/v0/distance', request)).status).toBe(404)
      expect((await fetch(`${node(role).url}/api/v0/location-records`)).status).toBe(404)
      expect((await fetch(`${node(role).url}/`)).status).toBe(404)
    }
  })

  it.runIf(process.platform === 'linux')('sync starts no compute threads', () => {
    const threads = (role: (typeof ROLES)[number]) => readdirSync(`/proc/${node(role).pid}/task`).length
    // Besides these, the threads of both nodes are the same; a few of them start when they are needed.
    expect(threads('data') - threads('sync')).toBeGreaterThanOrEqual(COMPUTE_THREADS)
  })

  it('a job that api takes is computed by data, and by no other', async () => {
    const headers = { 'x-api-key': SECRET }
    const create = async () => {
      const job = { chainId: 84532, attest: 'none', items: [ITEM, ITEM] }
      const { status, body } = await node('api').post('/compute/v0/jobs', job, headers)
      expect(status).toBe(202)
      return body.id as string
    }
    const state = async (id: string) => {
      const response = await fetch(`${node('api').url}/compute/v0/jobs/${id}`, { headers })
      return ((await response.json()) as { state: string }).state
    }
    const first = await create()
    await eventually(async () => expect(await state(first)).toBe('done'))
    await node('data').stop()
    const second = await create()
    // A node that computes jobs begins as soon as it has taken one.
    for (let poll = 0; poll < 50; poll++) expect(await state(second)).toBe('queued')
    nodes.set('data', await start('data'))
    await eventually(async () => expect(await state(second)).toBe('done'))
  })
})

const SECRET = 'a-key-of-this-test-0123456789abcdef'
const KEYS = { [SECRET]: { tier: 'developer', label: 'test' } }
