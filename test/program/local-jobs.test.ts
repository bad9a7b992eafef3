import { describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { line } from '../job-lines.ts'
import { startTestService } from '../service.ts'

describe('jobs of this machine in development', () => {
  it('need no key, and are not those of a key', async () => {
    const service = await startTestService({ RECORDS: '1', RATE_LIMIT_PUBLIC: '100' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    const body = JSON.stringify({ chainId: 84532, attest: 'none', items: [JSON.parse(line(0))] })
    const created = await service.post('/compute/v0/jobs', body)
    expect(created.status).toBe(202)
    const url = `${service.url}/compute/v0/jobs/${created.body.id}`
    expect((await fetch(url)).status).toBe(200)
    expect((await fetch(url, { headers: { 'x-api-key': service.developerKey } })).status).toBe(404)
    await service.stop()
  })
})
