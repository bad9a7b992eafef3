import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { faultyOf, pieces } from '../job-operations.ts'
import { startTestService, type TestService } from '../service.ts'

const MIB = 1_048_576
const HALF = 6000
const PATH = '/compute/v0/jobs'
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-full-'))
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'tmpfs', folder], { encoding: 'utf8' })
const isMounted = mounted.status === 0
if (!isMounted) console.warn(`skipped: a small file system cannot be mounted here (${mounted.stderr?.trim()})`)
const ballast = join(folder, 'ballast')

/**
 * Fills the disk with another file, up to the given free space. It writes small pieces and looks again after each,
 * because the service writes to the same disk meanwhile.
 */
function fillDisk(leaveBytes: number): void {
  const piece = Buffer.alloc(MIB / 4)
  for (;;) {
    const { bavail, bsize } = statfsSync(folder)
    const roomBytes = bavail * bsize - leaveBytes
    if (roomBytes <= 0) return
    appendFileSync(ballast, piece.subarray(0, roomBytes))
  }
}

let service: TestService | undefined
afterAll(async () => {
  await service?.stop()
  // Lazily, because a test that failed may still have files open.
  if (isMounted) spawnSync('umount', ['--lazy', folder])
  rmSync(folder, { recursive: true, force: true })
})

it.runIf(isMounted)(
  'a job on a full disk takes nothing more, and goes on when there is room',
  async () => {
    service = await startTestService({ DATA_DIR: folder, RECORDS: '1', JOB_POLL_MS: '50' })
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
    writeFileSync(ballast, '')
    fillDisk(MIB)
    await eventually(async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      expect(metrics).toContain('store_state{state="full"} 1')
    })
    // What was acknowledged is there, and nothing else is.
    const refused = await send('PUT', `/${id}/input?from=${HALF}`, HALF, 2 * HALF)
    expect(refused).toMatchObject({ status: 503, body: { detail: expect.stringMatching(/full|room/) } })
    expect(await state(id)).toMatchObject({ state: 'receiving', received: HALF })

    truncateSync(ballast, 0)
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
