import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { blocksOf } from '../markdown-pages.ts'
import { promisesOf, runModule } from '../page-programs.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const PAGE = 'docs/accounts.md'
/** Settings of the service, which this test starts itself. */
const SETTINGS = ['PUBLIC_URL', 'WALLET_TIER_TOKEN']

describe(PAGE, () => {
  let service: TestService
  let folder: string
  beforeAll(async () => {
    // With the default, a busy machine could take longer than the pause of the page. A service of one process accepts new keys at once.
    service = await startTestService({ RECORDS: '1', USAGE_FLUSH_MS: '50' })
    await eventually(() => expect(service.lines.join('\n')).toContain('"store open"'))
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-accounts-'))
    symlinkSync(join(root, 'scripts/trigpoint.mjs'), join(folder, 'trigpoint'))
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const atService = (code: string) =>
    code.replaceAll('http://127.0.0.1:3000', service.url).replaceAll('127.0.0.1:3000', new URL(service.url).host)
  const blocks = (language: string) =>
    blocksOf(PAGE).filter(
      (block) => block.language === language && !SETTINGS.some((name) => block.code.startsWith(name)),
    )

  it('has a program that does what its comments say', async () => {
    const code = blocks('js')
      .map((block) => atService(block.code))
      .join('\n')
    expect(promisesOf(code)).toHaveLength(4)
    expect((await runModule(code)).trimEnd().split('\n')).toEqual(promisesOf(code))
  })

  it('has commands that lead from nothing to the usage of a key', () => {
    const environment = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, TRIGPOINT_URL: service.url }
    const commands = blocks('sh')
      // test/store/usage-routes.test.ts asks as an operator.
      .filter(({ code }) => !code.includes('$admin'))
      // The key that the page shows is not one; the commands before have made one.
      .map(({ code }) => atService(code).replace('export TRIGPOINT_API_KEY=tp_dev_…\n', ''))
    expect(commands.length).toBe(3)
    const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      cwd: root,
      encoding: 'utf8',
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(status, stderr).toBe(0)
    expect(stdout).toMatch(/"address":"0x[0-9a-fA-F]{40}","chainId":null,"tier":"developer","requestsPerHour":1000/)
    expect(stdout).toContain('"result":4238.77')
    expect(stdout).toMatch(/"kind":"distance","requests":1,"operations":1,/)
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +distance +1 +1 /m)
    expect(stdout).not.toContain('/errors/')
  })
})
