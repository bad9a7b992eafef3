/** Several processes on one port: what clients notice when one of them is killed or replaced, and where the key is. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { childrenOf } from '../children.ts'
import { eventually } from '../eventually.ts'
import { NO_LOCAL_CALLERS, startTestService, type TestService } from '../service.ts'
import { requestDistance, startLoad } from '../steady-load.ts'

const root = join(import.meta.dirname, '../..')
// A public test account of anvil, easy to search for.
const PRIVATE_KEY = '59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const events = (service: TestService, event: string) =>
  service.lines.filter((line) => line.includes(`"event":"${event}"`)).length

async function metric(service: TestService, name: string): Promise<(readonly [process: string, value: number])[]> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => [/process="(\w+)"/.exec(line)![1]!, Number(line.slice(line.lastIndexOf(' ')))])
}

describe('several processes on one port', () => {
  it.each(['uws', 'node'])(
    'are replaced at SIGHUP without a failed request over %s',
    async (adapter) => {
      const service = await startTestService({ PROCESSES: '2', HTTP_ADAPTER: adapter })
      try {
        const before = childrenOf(service.pid)
        const load = startLoad(service.url, 8)
        await eventually(() => expect(load.answered).toBeGreaterThan(100))
        process.kill(service.pid, 'SIGHUP')
        await eventually(() => expect(events(service, 'the HTTP processes are replaced')).toBe(1), { timeout: 60_000 })
        const answered = load.answered
        await eventually(() => expect(load.answered).toBeGreaterThan(answered + 100))
        await load.stop()
        expect(load.failures).toEqual([])
        // Three children before and after: the data process is the same, the two others are new.
        const after = childrenOf(service.pid)
        expect([before.length, after.length]).toEqual([3, 3])
        expect(after.filter((pid) => before.includes(pid))).toEqual([before[0]])
      } finally {
        expect(await service.stop()).toBe(0)
      }
    },
    120_000,
  )

  it('are replaced after the start by a SIGHUP that came during it', async () => {
    const starting = startTestService({ PROCESSES: '2' })
    // The processes of the service exist before it is ready.
    await eventually(() => expect(childrenOf(process.pid).flatMap(childrenOf).length).toBeGreaterThan(0), {
      timeout: 60_000,
    })
    for (const pid of childrenOf(process.pid)) if (childrenOf(pid).length > 0) process.kill(pid, 'SIGHUP')
    const service = await starting
    await eventually(() => expect(events(service, 'the HTTP processes are replaced')).toBe(1), { timeout: 60_000 })
    expect(await service.stop()).toBe(0)
  }, 120_000)

  // Regression: processes that were started after the signal kept the service running.
  it.each([1, 2, 3])('stop at a SIGTERM while %d of them exist', async (count) => {
    const folder = mkdtempSync(join(tmpdir(), 'trigpoint-stop-'))
    const env = { PATH: process.env['PATH'], PORT: '0', DATA_DIR: folder, RECORDS: '0', LOG_FORMAT: 'json' }
    const child = spawn(process.execPath, [join(root, 'scripts/trigpoint.mjs'), 'serve', '--processes', '2'], {
      env,
      stdio: 'ignore',
    })
    const ended = once(child, 'exit')
    await eventually(() => expect(childrenOf(child.pid!).length).toBeGreaterThanOrEqual(count), { timeout: 60_000 })
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    rmSync(folder, { recursive: true })
  })

  it('are one process, which logs SIGHUP and ignores it', async () => {
    const service = await startTestService({})
    process.kill(service.pid, 'SIGHUP')
    await eventually(() => expect(events(service, 'SIGHUP is ignored')).toBe(1))
    expect((await fetch(`${service.url}/ready`)).status).toBe(200)
    expect(await service.stop()).toBe(0)
  }, 120_000)

  it('answer on while one of them is killed, and start it again', async () => {
    const service = await startTestService({ PROCESSES: '2', RECORDS: '1', SAMPLE_RECORDS: '1' })
    const count = async () => {
      const response = await fetch(`${service.url}/api/v0/location-records?limit=1`)
      return response.status === 200 ? ((await response.json()) as { count: number }).count : response.status
    }
    const sum = async (name: string) => (await metric(service, name)).reduce((total, [, value]) => total + value, 0)
    const areReady = async () => {
      const { checks } = (await (await fetch(`${service.url}/ready`)).json()) as {
        checks: Record<string, { ok: boolean }>
      }
      expect(checks['processes']?.ok).toBe(true)
    }
    try {
      await eventually(() => expect(events(service, 'sample records stored')).toBe(1), { timeout: 60_000 })
      const stored = await count()
      const [data, first] = childrenOf(service.pid)
      const load = startLoad(service.url, 4)
      await eventually(() => expect(load.answered).toBeGreaterThan(50))

      process.kill(first!, 'SIGKILL')
      await eventually(async () => expect(await sum('process_restarts_total')).toBe(1), { timeout: 30_000 })
      await eventually(areReady, { timeout: 30_000 })
      // Only connections of the killed process break, with at most one request on each. A client may have had two: it may connect
      // again while the process still ends, and its connection is then never accepted.
      const failures = [...load.failures]
      expect(failures.filter((failure) => failure !== 'ECONNRESET')).toEqual([])
      expect(failures.length).toBeLessThanOrEqual(2 * 4)

      process.kill(data!, 'SIGKILL')
      await eventually(async () => expect(await sum('process_restarts_total')).toBe(2), { timeout: 30_000 })
      // The records are there again, and requests that need none of them never failed.
      await eventually(async () => expect(await count()).toBe(stored), { timeout: 60_000 })
      await load.stop()
      expect(load.failures).toEqual(failures)
    } finally {
      expect(await service.stop()).toBe(0)
    }
  }, 180_000)

  it('answer open requests and end when the supervisor is killed', async () => {
    const service = await startTestService({ PROCESSES: '2' })
    const running = childrenOf(service.pid)
    expect(running).toHaveLength(3)
    process.kill(service.pid, 'SIGKILL')
    const left = () =>
      running.filter((pid) => {
        try {
          process.kill(pid, 0)
          return true
        } catch {
          return false
        }
      })
    await eventually(() => expect(left()).toEqual([]), { timeout: 30_000 })
    await service.stop()
  }, 60_000)

  it('have the key in no environment, argument, log line or metric', async () => {
    const service = await startTestService({ PROCESSES: '2', SIGNER_PRIVATE_KEY: `0x${PRIVATE_KEY}` })
    try {
      expect(service.attester).toBe(ADDRESS)
      const point = { type: 'Point', coordinates: [0, 0] }
      const answer = await service.post('/compute/v0/distance', { chainId: 84532, from: point, to: point })
      expect([answer.status, answer.body.attestation.attester ?? ADDRESS]).toEqual([200, ADDRESS])
      const pids = [service.pid, ...childrenOf(service.pid)]
      expect(pids).toHaveLength(4)
      for (const pid of pids) {
        for (const file of ['environ', 'cmdline']) {
          const text = readFileSync(`/proc/${pid}/${file}`, 'latin1')
          expect(text.length).toBeGreaterThan(0)
          expect(text.toLowerCase().includes(PRIVATE_KEY)).toBe(false)
        }
      }
      // The name of the setting shows that the environment of the supervisor can be read.
      expect(readFileSync(`/proc/${service.pid}/environ`, 'latin1')).toContain('SIGNER_PRIVATE_KEY=')
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      for (const text of [service.lines.join('\n'), metrics]) {
        expect(text.toLowerCase().includes(PRIVATE_KEY)).toBe(false)
      }
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })

  it('count the requests of a client together', async () => {
    const limit = 200
    const settings = { ...NO_LOCAL_CALLERS, PROCESSES: '2', RATE_LIMIT_PUBLIC: String(limit) }
    const service = await startTestService(settings)
    try {
      const statuses: number[] = []
      // Each request has a connection of its own, so both processes answer some.
      for (let n = 0; n < limit + 40; n++) statuses.push(await requestDistance(service.url, new Agent()))
      const answered = statuses.filter((status) => status === 200).length
      expect(answered).toBeGreaterThanOrEqual(limit)
      // A hundredth of the limit for the second process, and one request that is answered during a report.
      expect(answered).toBeLessThanOrEqual(limit + limit / 100 + 1)
      const rejected = new Set(statuses.slice(limit + 10))
      expect([...rejected]).toEqual([429])
      const counts = await metric(service, 'http_requests_total')
      expect(new Set(counts.map(([name]) => name))).toEqual(new Set(['1', '2']))
      // What a process has counted outlives it.
      process.kill(service.pid, 'SIGHUP')
      await eventually(() => expect(events(service, 'the HTTP processes are replaced')).toBe(1), { timeout: 60_000 })
      await eventually(async () => expect(await requestDistance(service.url, new Agent())).toBe(429))
    } finally {
      expect(await service.stop()).toBe(0)
    }
  }, 90_000)

  it('report the metrics of all of them, whichever process answers', async () => {
    const service = await startTestService({ PROCESSES: '2' })
    try {
      for (let n = 0; n < 20; n++) expect(await requestDistance(service.url, new Agent())).toBe(200)
      const counts = await metric(service, 'http_requests_total')
      expect(counts.reduce((total, [, value]) => total + value, 0)).toBeGreaterThanOrEqual(20)
      const memory = await metric(service, 'process_resident_memory_bytes')
      expect(memory.map(([name]) => name).sort()).toEqual(['1', '2', 'data', 'supervisor'])
    } finally {
      expect(await service.stop()).toBe(0)
    }
  })
})
