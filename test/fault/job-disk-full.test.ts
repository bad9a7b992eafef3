import { afterAll, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { faultyOf, pieces } from '../job-operations.ts'
import { startTestService, type TestService } from '../service.ts'
import { MIB, mountSmallDisk } from '../small-disk.ts'

const HALF = 6000
const PATH = '/compute/v0/jobs'
const disk = mountSmallDisk()

let service: TestService | undefined
afterAll(async () => {
  await service?.stop()
  disk.remove()
})

it.runIf(disk.isMounted)(
  'a job on a full disk takes nothing more, and goes on when there is room',
  async () => {
    service = await startTestService({ DATA_DIR: disk.folder, RECORDS: '1', JOB_POLL_MS: '50' })
    const { url, developerKey } = service
    await eventually(() => expect(service!.lines.join('\n')).toContain('"store open"'))
    const headers = { 'x-api-key': developerKey, 'content-type': 'application/x-ndjson' }
    const send = async (method: string, path: string, from: number, to: number) => {
      const response = await fetch(`${url}${PATH}${path}`, { method, headers, body: [...pieces(from, to)].join('') })
      // biome-ignore lint/suspicious/noExplicitAny: a response may have any members
      return { status: response.status, body: (await response.json()) as any }
    }
    const state = async (id: string) => (await fetch(`${url}${PATH}/${id}`, { headers })).json()
    const created = await send('POST', '?chainId=84532&attest=none&more=true', 0, HALF)
    expect(created).toMatchObject({ status: 202, body: { received: HALF } })
    const { id } = created.body
    // What is being written when the disk becomes full still has room.
    disk.fill(32 * MIB)
    await eventually(async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      expect(metrics).toContain('store_state{state="full"} 1')
    })
    disk.fill(MIB)
    // What was acknowledged is there, and nothing else is.
    const refused = await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/full|room/) } })
    expect(await state(id)).toMatchObject({ state: 'receiving', received: HALF })

    disk.makeRoom()
    await eventually(async () => {
      const continued = await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)
      expect(continued).toMatchObject({ status: 202, body: { received: 2 * HALF, total: 2 * HALF } })
    })
    await eventually(async () =>
      expect(await state(id)).toMatchObject({ state: 'done', done: 2 * HALF, failed: faultyOf(2 * HALF) }),
    )
    const results = await (await fetch(`${url}${PATH}/${id}/results`, { headers })).text()
    const ids = results
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id)
    expect(ids).toEqual(Array.from({ length: 2 * HALF }, (_, index) => index))
  },
  400_000,
)
