import { afterEach, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, TOWN_HALL } from '../fixtures.ts'
import { faultyOf, pieces } from '../job-operations.ts'
import { startTestService, type TestService } from '../service.ts'
import { MIB, mountSmallDisk, type SmallDisk } from '../small-disk.ts'

const HALF = 6000
const PATH = '/compute/v0/jobs'
const DISTANCE = { chainId: 84532, from: EIFFEL_TOWER, to: TOWN_HALL }
/** More uploads than the disk has room for. */
const MOST_UPLOADS = 400

describe('jobs on a full disk', () => {
  let disk: SmallDisk | undefined
  let service: TestService | undefined
  let cluster: PostgresCluster | undefined
  afterEach(async () => {
    await service?.stop()
    await cluster?.remove()
    disk?.remove()
    disk = service = cluster = undefined
  })

  const start = async (settings: Record<string, string>) => {
    const started = await startTestService({
      RECORDS: '1',
      JOB_POLL_MS: '50',
      JOB_MAX_OPEN: '1000',
      COST_LIMIT_DEVELOPER: 'cpu-ms=999999999999',
      ...settings,
    })
    service = started
    await eventually(() => expect(started.lines.join('\n')).toContain('"store open"'))
    const headers = { 'x-api-key': started.developerKey, 'content-type': 'application/x-ndjson' }
    const url = started.url + PATH
    return {
      async send(method: string, path: string, from: number, to: number) {
        const response = await fetch(url + path, { method, headers, body: [...pieces(from, to)].join('') })
        // biome-ignore lint/suspicious/noExplicitAny: a response may have any members
        return { status: response.status, headers: response.headers, body: (await response.json()) as any }
      },
      state: async (id: string) => (await fetch(`${url}/${id}`, { headers })).json(),
      async ids(id: string) {
        const results = await (await fetch(`${url}/${id}/results`, { headers })).text()
        return results
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line).id)
      },
    }
  }
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)

  it('take nothing more, and go on when there is room', async ({ skip }) => {
    disk = mountSmallDisk()
    skip(!disk.isMounted, 'a small file system cannot be mounted here')
    const { send, state, ids } = await start({ DATA_DIR: disk.folder })
    const created = await send('POST', '?chainId=84532&attest=none&more=true', 0, HALF)
    expect(created).toMatchObject({ status: 202, body: { received: HALF } })
    const { id } = created.body
    // What is being written when the disk becomes full still has room.
    disk.fill(32 * MIB)
    await eventually(async () => {
      const metrics = await (await fetch(`${service!.url}/metrics`)).text()
      expect(metrics).toContain('store_state{state="full"} 1')
    })
    disk.fill(MIB)
    // What was acknowledged is there, and nothing else is.
    const refused = await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/full|room/) } })
    expect(await state(id)).toMatchObject({ state: 'receiving', received: HALF })
    // However often a call fails, its failures are one line, and their end is another with their number.
    expect(await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)).toMatchObject({ status: 503 })
    const logged = (event: string) =>
      service!.lines.filter((line) => line.includes(event)).map((line) => JSON.parse(line) as Record<string, unknown>)
    const failing = logged('the disk has no room for a store call').map(({ operation }) => operation)
    expect(failing).toContain('appendJob')
    expect(new Set(failing).size).toBe(failing.length)

    disk.makeRoom()
    await eventually(async () => {
      const continued = await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)
      expect(continued).toMatchObject({ status: 202, body: { received: 2 * HALF, total: 2 * HALF } })
    })
    await eventually(async () =>
      expect(await state(id)).toMatchObject({ state: 'done', done: 2 * HALF, failed: faultyOf(2 * HALF) }),
    )
    expect(await ids(id)).toEqual(upTo(2 * HALF))
    const ends = logged('the disk has room for the store call again').filter(
      ({ operation }) => operation === 'appendJob',
    )
    expect(ends).toMatchObject([{ failures: expect.any(Number) }])
    expect(ends[0]!['failures']).toBeGreaterThan(1)
  }, 400_000)

  it('of PostgreSQL lose nothing, and go on when there is room', async ({ skip }) => {
    skip(POSTGRES === undefined, 'PostgreSQL is not installed')
    disk = mountSmallDisk()
    skip(!disk.isMounted, 'a small file system cannot be mounted here')
    cluster = await startCluster({ max_wal_size: '64MB' }, disk.folder)
    const { send, state, ids } = await start({ DATABASE_URL: cluster.url })
    const acknowledged: string[] = []
    const upload = async () => {
      const answer = await send('POST', '?chainId=84532&attest=none', 0, HALF)
      if (answer.status === 202) acknowledged.push(answer.body.id)
      return answer
    }
    expect(await upload()).toMatchObject({ status: 202 })
    disk.fill(0)
    // The server still has room in the files that it has.
    let refused = await upload()
    for (let count = 0; refused.status === 202 && count < MOST_UPLOADS; count++) refused = await upload()
    expect(refused.status).toBe(503)
    expect(refused.headers.has('retry-after')).toBe(true)
    expect(await service!.post('/compute/v0/distance', DISTANCE)).toMatchObject({
      status: 200,
      body: { result: 4238.77 },
    })
    console.log(
      `${acknowledged.length} uploads acknowledged, then: ${refused.body.detail}; the server runs: ${cluster.isRunning()}`,
    )

    disk.makeRoom()
    // The server ends when it cannot write its log, and an operator starts it again.
    await eventually(async () => {
      if (!cluster!.isRunning()) await cluster!.start()
      expect(await upload()).toMatchObject({ status: 202 })
    })
    for (const id of acknowledged) {
      await eventually(async () =>
        expect(await state(id)).toMatchObject({ state: 'done', done: HALF, failed: faultyOf(HALF) }),
      )
      expect(await ids(id)).toEqual(upTo(HALF))
    }
  }, 400_000)
})
