import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { cliFolder, runCli } from '../cli-runner.ts'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'

/** They take long enough for an interruption. */
const ITEMS = 30_000
/** Items that are not operations are not sent, and those that the service rejects are errors. */
const line = (index: number) => {
  if (index % 1000 === 3) return '{"geometry":\n'
  const north = index % 1000 === 5 ? 95 : (index + 1) / ITEMS
  return `{"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,${north}],[0,0]]]}}\n`
}

let service: TestService
let folder: ReturnType<typeof cliFolder>
beforeAll(async () => {
  folder = cliFolder()
  service = await startTestService({ RECORDS: '1', JOB_POLL_MS: '20', RATE_LIMIT_DEVELOPER: '1000000' })
  await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
})
afterAll(async () => {
  await service?.stop()
  folder.remove()
})

it('computes a file as a job, continues it after an interruption, and gives the results of a batch', async () => {
  const path = (name: string) => join(folder.path, name)
  writeFileSync(path('in.ndjson'), Array.from({ length: ITEMS }, (_, index) => line(index)).join(''))
  const run = (output: string, more: readonly string[], signal?: AbortSignal) => {
    const server = ['--url', service.url, '--api-key', service.developerKey]
    const argv = ['batch', 'area', path('in.ndjson'), '-o', path(output), '--attest', 'none', ...server, ...more]
    return runCli(argv, signal === undefined ? {} : { signal })
  }
  const jobs = async () => {
    const headers = { 'x-api-key': service.developerKey }
    const response = await fetch(`${service.url}/compute/v0/jobs`, { headers })
    return ((await response.json()) as { jobs: { id: string; received: number }[] }).jobs
  }
  const aborter = new AbortController()
  const interrupted = run('job.ndjson', ['--job'], aborter.signal)
  await eventually(async () => expect(await jobs()).toHaveLength(1), { interval: 5 })
  aborter.abort(new Error('ended'))
  expect(await interrupted).toMatchObject({ exitCode: 130 })

  // Regression: results that were read and not written yet were kept, and the resumed run gave later items the results of earlier ones.
  const reader = new AbortController()
  const interruptedAgain = run('job.ndjson', ['--job'], reader.signal)
  await eventually(() => expect(statSync(path('job.ndjson')).size).toBeGreaterThan(100_000), { interval: 1 })
  reader.abort(new Error('ended'))
  expect(await interruptedAgain).toMatchObject({ exitCode: 130 })

  const finished = await run('job.ndjson', ['--job'])
  expect(finished).toMatchObject({ exitCode: 1, out: expect.stringContaining('60 rejected') })
  const [job, ...others] = await jobs()
  expect([job!.received, others]).toEqual([ITEMS - 30, []])
  expect(finished.err).toContain(`job ${job!.id} has`)

  expect((await run('batch.ndjson', [])).exitCode).toBe(1)
  const results = (name: string) =>
    readFileSync(path(name), 'utf8')
      .trim()
      .split('\n')
      .map((json) => ({ ...JSON.parse(json), timestamp: 0 }))
  expect(results('job.ndjson')).toEqual(results('batch.ndjson'))

  expect((await run('job.ndjson', ['--job', '--restart'])).exitCode).toBe(1)
  expect(await jobs()).toHaveLength(2)
})

it('needs a service and a file', async () => {
  const run = (...argv: string[]) => runCli(['batch', 'area', ...argv, '--job'])
  expect((await run('-')).err).toContain('--job needs a file')
  expect((await run('-', '--local')).err).toContain('leave out --local')
})

it('submits only signed results of a job', async () => {
  writeFileSync(join(folder.path, 'points.csv'), 'lon,lat\n2,48\n')
  const run = (...argv: string[]) =>
    runCli(['batch', 'distance', join(folder.path, 'points.csv'), '--with', 'to=2,49', '--submit', ...argv])
  expect((await run()).err).toContain('--submit needs --job')
  expect((await run('--job')).err).toContain('choose no table')
  expect((await run('--job', '--attest', 'none', '--output-format', 'ndjson')).err).toContain('--attest none')
  // This service submits nothing.
  const server = ['--url', service.url, '--api-key', service.developerKey]
  const refused = await run('--job', '--output-format', 'ndjson', ...server)
  expect(refused).toMatchObject({ exitCode: 2, err: expect.stringContaining('does not submit') })
  // The same command would fail again, and the results of such a job have no delegated attestation.
  expect(refused.err).not.toMatch(/again|attestation of the response/)
  expect(refused.err).toContain('use attest=merkle, leave out submitOnchain (--submit)')
})

it('checks the results of a job that signs each of them', async () => {
  const path = (name: string) => join(folder.path, name)
  writeFileSync(path('signed-in.ndjson'), [0, 1, 2].map(line).join(''))
  const server = ['--url', service.url, '--api-key', service.developerKey]
  const chain = ['--chain-id', '84532']
  const run = await runCli([
    'batch',
    'area',
    path('signed-in.ndjson'),
    '-o',
    path('signed.ndjson'),
    '--job',
    ...chain,
    ...server,
  ])
  expect(run.exitCode).toBe(0)
  const verified = await runCli(['verify', path('signed.ndjson'), '--attester', service.attester], {
    nowMs: Date.now(),
  })
  expect(verified).toMatchObject({ exitCode: 0, out: expect.stringContaining('3 results: 3 are valid') })
  const changed = readFileSync(path('signed.ndjson'), 'utf8').replace(/"result":/, '"result":1')
  writeFileSync(path('changed.ndjson'), changed)
  expect(await runCli(['verify', path('changed.ndjson')], { nowMs: Date.now() })).toMatchObject({
    exitCode: 1,
    out: expect.stringContaining('1 is not'),
  })
})
