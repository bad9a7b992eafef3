import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { POSTGRES, type PostgresCluster, startCluster } from '../../bench/store-engines.ts'
import { eventually } from '../eventually.ts'
import { comparable, faultyOf, pieces } from '../job-operations.ts'
import { startTestService, type TestService } from '../service.ts'

/** Enough for several chunks to be open at each fault. */
const LINES = 40_000
const PATH = '/compute/v0/jobs'
const KEY = 'a-key-that-all-nodes-have'
const HEADERS = { 'x-api-key': KEY, 'content-type': 'application/x-ndjson' }
const PAUSE_MS = 30_000

describe.skipIf(POSTGRES === undefined)('a job on several nodes', () => {
  let cluster: PostgresCluster
  const nodes: TestService[] = []
  const start = async (settings: Record<string, string> = {}) => {
    const node = await startTestService({
      RECORDS: '1',
      DATABASE_URL: cluster.url,
      PUBLIC_URL: 'http://127.0.0.1:3000', // in errors, whatever the port of each node is
      API_KEYS: JSON.stringify({ [KEY]: { tier: 'internal', label: 'test' } }),
      RATE_LIMIT_INTERNAL: '1000000000',
      COST_LIMIT_INTERNAL: 'cpu-ms=999999999999',
      JOB_POLL_MS: '50',
      ...settings,
    })
    nodes.push(node)
    await eventually(() => expect(node.lines.join('\n')).toContain('"store open"'))
    return node
  }
  beforeAll(async () => {
    cluster = await startCluster({ fsync: 'off' })
  })
  afterAll(async () => {
    for (const node of nodes) await node.stop()
    await cluster?.remove()
  })

  const kill = (node: TestService) => process.kill(node.pid, 'SIGKILL')
  // biome-ignore lint/suspicious/noExplicitAny: a response may have any members
  const json = async (node: TestService, path: string, init: RequestInit = {}): Promise<any> => {
    const response = await fetch(`${node.url}${path}`, { headers: HEADERS, ...init })
    const body = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(body))
    return body
  }
  const untilDone = (node: TestService, id: string) =>
    eventually(
      async () => {
        const job = await json(node, `${PATH}/${id}`)
        expect(job).toMatchObject({ state: 'done', done: LINES, total: LINES, failed: faultyOf(LINES) })
      },
      { timeout: 400_000 },
    )
  const stream = async (node: TestService) => {
    const response = await fetch(`${node.url}/compute/v0/batch?chainId=84532&attest=none`, {
      method: 'POST',
      headers: HEADERS,
      body: [...pieces(0, LINES)].join(''),
    })
    return (await response.text()).trim().split('\n').map(comparable)
  }

  /** The message of a failure would have all lines. */
  function expectSame(actual: readonly string[], expected: readonly string[]): void {
    const different = expected.findIndex((line, index) => line !== actual[index])
    expect([actual.length, different, actual[different]]).toEqual([LINES, -1, undefined])
  }

  /** Reads results until `stop` says so or the response ends. @returns the complete lines */
  async function read(node: TestService, path: string, stop: (lines: number) => boolean): Promise<string[]> {
    const response = await fetch(`${node.url}${path}`, { headers: HEADERS })
    expect(response.status).toBe(200)
    let text = ''
    let lines = 0
    try {
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
        const added = Buffer.from(piece).toString('latin1') // results are ASCII
        text += added
        lines += added.split('\n').length - 1
        if (stop(lines)) break
      }
    } catch {
      // The node has ended.
    }
    return text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .filter((line) => line !== '')
  }

  it('is continued elsewhere when a node ends in the middle of its upload, and one in the middle of a download', async () => {
    const [first, second, third] = [await start(), await start(), await start()]
    const broken = request(`${first.url}${PATH}?chainId=84532&attest=none`, { method: 'POST', headers: HEADERS })
    broken.on('error', () => {})
    for (const piece of pieces(0, LINES / 2)) broken.write(piece)
    const job = await eventually(async () => {
      const [newest] = (await json(second, PATH)).jobs
      expect(newest?.received).toBeGreaterThan(4096)
      return newest
    })
    kill(first)
    // The last chunk that the node stored may become visible after its end.
    await eventually(async () => {
      const { received } = await json(second, `${PATH}/${job.id}`)
      const body = [...pieces(received, LINES)].join('')
      const put = await json(second, `${PATH}/${job.id}/input?from=${received}`, { method: 'PUT', body })
      expect(put).toMatchObject({ received: LINES, total: LINES })
    })

    let isKilled = false
    const begun = await read(third, `${PATH}/${job.id}/results?follow=true`, (lines) => {
      if (lines < 5000 || isKilled) return false
      kill(third)
      isKilled = true
      return false
    })
    expect(isKilled).toBe(true)
    const rest = await read(second, `${PATH}/${job.id}/results?follow=true&from=${begun.length}`, () => false)
    expectSame([...begun, ...rest].map(comparable), await stream(second))
    await untilDone(second, job.id)
  }, 900_000)

  it('survives a restart of PostgreSQL, and a pause of 30 seconds', async () => {
    const node = await start()
    const other = await start()
    const body = [...pieces(0, LINES)].join('')
    const create = async () => json(node, `${PATH}?chainId=84532&attest=none`, { method: 'POST', body })
    const expected = await stream(node)
    for (const fault of ['restart', 'pause'] as const) {
      const { id } = await create()
      // The results are read at the other node while the server is away: they arrive, or the client continues.
      if (fault === 'restart') {
        await cluster.stop('immediate')
        await cluster.start()
      } else {
        cluster.pause()
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
        cluster.resume()
      }
      const results = await eventually(
        async () => {
          const lines = await read(other, `${PATH}/${id}/results?follow=true`, () => false)
          expect(lines).toHaveLength(LINES)
          return lines
        },
        { timeout: 400_000 },
      )
      expectSame(results.map(comparable), expected)
      await untilDone(other, id)
      // Nothing was given up because of the fault.
      expect([...node.lines, ...other.lines].join('\n')).not.toContain('is given up')
    }
  }, 1_800_000)
})
