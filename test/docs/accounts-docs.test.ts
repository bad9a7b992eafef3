import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
    const { internalKey, developerKey } = service
    writeFileSync(keyFile(), JSON.stringify({ internal: internalKey, developer: developerKey }))
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true })
  })

  const keyFile = () => join(folder, 'dev-keys.json')
  const atService = (code: string) =>
    code.replaceAll('http://127.0.0.1:3000', service.url).replaceAll('./.data/dev-keys.json', keyFile())
  const blocks = (language: string) =>
    blocksOf(PAGE).filter(
      (block) => block.language === language && !SETTINGS.some((name) => block.code.startsWith(name)),
    )

  const sampleOf = (member: string) => JSON.parse(blocks('json').find(({ code }) => code.includes(member))!.code)

  it('has a program that does what its comments say', async () => {
    const code = blocks('js')
      .map((block) => atService(block.code))
      .join('\n')
    expect(promisesOf(code)).toHaveLength(4)
    expect((await runModule(code)).trimEnd().split('\n')).toEqual(promisesOf(code))
  })

  it('has commands that lead from nothing to the usage of a key', () => {
    const environment = { PATH: process.env['PATH'], HOME: folder }
    const commands = blocks('sh')
      // The key that the page shows is not one; the commands before have made one.
      .map(({ code }) => atService(code).replace(' TRIGPOINT_API_KEY=tp_dev_…\n', '\n'))
    expect(commands.length).toBe(6)
    const { status, stdout, stderr } = spawnSync('bash', ['-euo', 'pipefail', '-c', commands.join('\n')], {
      cwd: root,
      encoding: 'utf8',
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    expect(status, stderr).toBe(0)
    const account = stdout.split(/(?=\{)|(?<=\})/).find((text) => text.startsWith('{"account":'))
    expect(account, stdout).toBeDefined()
    const changing = { account: expect.any(String), address: expect.any(String), expiresAt: expect.any(String) }
    expect({ ...JSON.parse(account!), ...changing }).toEqual({ ...sampleOf('"account":'), ...changing })
    expect(stdout).toContain('"result":4238.77')
    expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +distance +1 +1 /m)
    expect(stdout).toContain('"completeUntil"')
    // Twice as CSV: from the route, and from the command of the operator.
    expect(stdout.match(/day,kind,requests,/g)).toHaveLength(2)
    expect(stdout).not.toContain('/errors/')
  })
})
