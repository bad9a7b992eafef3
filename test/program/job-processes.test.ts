import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { lines } from '../job-lines.ts'
import { NO_LOCAL_CALLERS, startTestService } from '../service.ts'

/** More than two chunks. */
const OPERATIONS = 9000

describe('jobs of several processes on one machine', () => {
  it('are uploaded, computed and read by any of them', async () => {
    const service = await startTestService({ ...NO_LOCAL_CALLERS, RECORDS: '1', PROCESSES: '2', JOB_POLL_MS: '20' })
    const headers = { 'x-api-key': service.developerKey, 'content-type': 'application/x-ndjson', connection: 'close' }
    const url = `${service.url}/compute/v0/jobs`
    const { id } = await eventually(async () => {
      const created = await fetch(`${url}?chainId=84532&attest=none`, {
        method: 'POST',
        headers,
        body: lines(0, OPERATIONS),
      })
      expect(created.status).toBe(202)
      return (await created.json()) as { id: string }
    })
    // Each connection may reach another process.
    for (let connection = 0; connection < 8; connection++) {
      const results = await (await fetch(`${url}/${id}/results?follow=true`, { headers })).text()
      expect(results.split('\n').filter((text) => text !== '')).toHaveLength(OPERATIONS)
      expect(await (await fetch(`${url}/${id}`, { headers })).json()).toMatchObject({ state: 'done', done: OPERATIONS })
    }
    // Both compute, and one process counts what the store has.
    await eventually(async () => {
      const metrics = await (await fetch(`${service.url}/metrics`, { headers })).text()
      expect(metrics).toMatch(/^jobs\{process="[^"]+",state="done"\} 1$/m)
      const computed = [...metrics.matchAll(/^job_operations_total\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
      expect(computed.reduce((sum, count) => sum + count, 0)).toBe(OPERATIONS)
    })
    await service.stop()
  })
})
