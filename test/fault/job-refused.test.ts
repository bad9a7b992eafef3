import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { makeStore, POSTGRES, type StoreFiles } from '../../bench/store-engines.ts'
import type { Database } from '../../src/store/database.ts'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'

/** Three chunks. */
const OPERATIONS = 10_000
const point = '{"type":"Point","coordinates":[1,2]}'
const line = (id: number) => `{"op":"distance","id":${id},"from":${point},"to":${point}}\n`

describe.skipIf(POSTGRES === undefined)('a job of which the store refuses some results', () => {
  let files: StoreFiles
  let database: Database
  let service: TestService
  beforeAll(async () => {
    files = await makeStore('postgres')
    database = await files.open()
    await database.maintain(
      `alter table job_chunk add check (coalesce(stored_result, '') = '' or 5000 < first or first + operations <= 5000)`,
    )
    service = await startTestService({ ...files.environment, RECORDS: '1', JOB_POLL_MS: '20' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
  })
  afterAll(async () => {
    await service?.stop()
    await database?.close()
    await files?.remove()
  })

  it('ends: each operation of the refused part has an error, and the others have results', async () => {
    const headers = { 'x-api-key': service.developerKey, 'content-type': 'application/x-ndjson' }
    const path = `${service.url}/compute/v0/jobs`
    const body = Array.from({ length: OPERATIONS }, (_, id) => line(id)).join('')
    const created = await fetch(`${path}?chainId=84532&attest=none`, { method: 'POST', headers, body })
    const { id } = (await created.json()) as { id: string }
    const job = await eventually(async () => {
      const state = (await (await fetch(`${path}/${id}`, { headers })).json()) as Record<string, number>
      expect(state).toMatchObject({ state: 'done', done: OPERATIONS })
      return state
    })
    const lines = async (from: number) => {
      const text = await (await fetch(`${path}/${id}/results?from=${from}`, { headers })).text()
      return text
        .trim()
        .split('\n')
        .map((json) => JSON.parse(json))
    }
    const results = await lines(0)
    expect(results).toHaveLength(OPERATIONS)
    const refused = results.flatMap(({ error }, index) => (error === undefined ? [] : [index]))
    expect(refused).toContain(5000)
    expect(job).toMatchObject({ failed: refused.length, errors: { internal: refused.length } })
    // The refused chunk begins and ends within the job.
    expect([refused[0]! > 0, refused.at(-1)! < OPERATIONS - 1]).toEqual([true, true])
    expect(results[5000].error).toMatchObject({ status: 500, detail: expect.stringContaining('refused the results') })
    expect(results[OPERATIONS - 1]).toMatchObject({ id: OPERATIONS - 1, result: 0 })
    expect(await lines(5000)).toEqual(results.slice(5000))
    expect(service.lines.join('\n')).toContain('a chunk of a job is given up')
  })
})
