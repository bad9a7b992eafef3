import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { comparable, faultyOf, pieces } from '../job-operations.ts'
import { startTestService, type TestService } from '../service.ts'

/** Enough for several chunks to be open at each kill. `JOB_LINES=1000000` is the large run. */
const LINES = Number(process.env['JOB_LINES'] ?? 60_000)
const KILLS = 4

describe('jobs and kill -9', () => {
  let dataDir: string
  let services: TestService[]
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-jobs-'))
    services = []
  })
  afterEach(async () => {
    for (const service of services) await service.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })

  const start = async () => {
    const service = await startTestService({
      RECORDS: '1',
      DATA_DIR: dataDir,
      PUBLIC_URL: 'http://127.0.0.1:3000', // in errors, whatever the port of each start is
      JOB_POLL_MS: '20',
      RATE_LIMIT_DEVELOPER: '1000000000',
      COST_LIMIT_DEVELOPER: 'cpu-ms=999999999999',
    })
    services.push(service)
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    return service
  }
  const path = '/compute/v0/jobs'
  const json = async (service: TestService, url: string, init: RequestInit = {}) => {
    const headers = { 'x-api-key': service.developerKey, ...(init.headers as Record<string, string>) }
    const response = await fetch(`${service.url}${url}`, { ...init, headers })
    // biome-ignore lint/suspicious/noExplicitAny: a response may have any members
    const body = (await response.json()) as any
    if (!response.ok) throw new Error(JSON.stringify(body))
    return body
  }
  const readResults = async (service: TestService, url: string) => {
    const response = await fetch(`${service.url}${url}`, { headers: { 'x-api-key': service.developerKey } })
    return (await response.text()).split('\n').slice(0, -1)
  }
  const kill = (service: TestService) => process.kill(service.pid, 'SIGKILL')

  it(`computes ${LINES} operations once each, through ${KILLS} kills and a broken upload`, async () => {
    let service = await start()
    // The first upload breaks off in the middle of a line.
    const half = Math.floor(LINES / 2)
    const broken = request(`${service.url}${path}?chainId=84532&attest=none`, {
      method: 'POST',
      headers: {
        'x-api-key': service.developerKey,
        'content-type': 'application/x-ndjson',
        'idempotency-key': 'the-job',
      },
    })
    broken.on('error', () => {})
    for (const piece of pieces(0, half)) broken.write(piece)
    broken.write('{"op":"dis')
    await eventually(async () => {
      const [job] = (await json(service, path)).jobs
      expect(job?.received).toBeGreaterThan(4096)
    })
    broken.destroy()
    const { id } = (await json(service, path)).jobs[0]
    const received = await eventually(async () => {
      const { received: count, state } = await json(service, `${path}/${id}`)
      expect(state).toBe('receiving')
      expect(count).toBeGreaterThan(4096)
      return count as number
    })

    // It continues after a kill. Operations that are sent twice are taken once.
    kill(service)
    service = await start()
    const from = Math.max(0, received - 1000)
    const continued = await eventually(() =>
      json(service, `${path}/${id}/input?from=${from}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/x-ndjson' },
        body: [...pieces(from, LINES)].join(''),
      }),
    )
    expect(continued).toMatchObject({ id, received: LINES, total: LINES })

    // Each kill waits for the first chunk without results, so that none is interrupted three times. The service would give it up.
    for (let number = 1; number < KILLS; number++) {
      const finished = (await readResults(service, `${path}/${id}/results`)).length
      await eventually(
        async () => {
          const { state } = await json(service, `${path}/${id}`)
          const further = await readResults(service, `${path}/${id}/results?from=${finished}`)
          expect(state === 'done' || further.length > 0).toBe(true)
        },
        { interval: 5 },
      )
      kill(service)
      service = await start()
      await eventually(() => json(service, `${path}/${id}`))
    }
    const job = await eventually(async () => {
      const state = await json(service, `${path}/${id}`)
      expect(state.state).toBe('done')
      return state
    })
    const faulty = faultyOf(LINES)
    expect(job).toMatchObject({ done: LINES, failed: faulty, errors: { 'invalid-input': faulty }, total: LINES })

    const results = await readResults(service, `${path}/${id}/results`)
    const stream = await fetch(`${service.url}/compute/v0/batch?chainId=84532&attest=none`, {
      method: 'POST',
      headers: { 'x-api-key': service.developerKey, 'content-type': 'application/x-ndjson' },
      body: [...pieces(0, LINES)].join(''),
    })
    const expected = (await stream.text()).split('\n').slice(0, -1)
    expect(results).toHaveLength(LINES)
    expect(results.map(comparable)).toEqual(expected.map(comparable))
  }, 300_000)
})
