import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { eventually } from '../eventually.ts'
import { type Block, blocksOf, PAGES } from '../markdown-pages.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const TIMEOUT_MS = 600_000

/** Blocks that are not run here: page, beginning of the block, reason. */
const EXEMPT: readonly (readonly [page: string, beginning: string, reason: string])[] = [
  ['README.md', 'npm start', 'starts the service: scripts/smoke.mjs does that from a clean tree'],
  ['CONTRIBUTING.md', '', 'installs, starts and tests a clone: scripts/smoke.mjs starts the service from a clean tree'],
  ['docs/start.md', 'npm start', 'starts the service: scripts/smoke.mjs does that from a clean tree'],
  [
    'docs/attestations.md',
    '// import { Signature }',
    'needs a chain: test/onchain/eas-sdk.test.ts makes the same calls',
  ],
  ['docs/local-chain.md', '', 'needs a chain: test/onchain/local-chain-docs.test.ts runs the page'],
  ['docs/ogc.md', '', 'needs GDAL: test/docs/ogc-page.test.ts runs the page where GDAL is installed'],
  ['docs/client.md', '', 'test/docs/client-docs.test.ts runs the page, and the client without Node.js'],
  ['docs/library.md', '', 'test/docs/library-docs.test.ts runs the page, also without the globals of Node.js'],
  ['docs/accounts.md', 'PUBLIC_URL', 'starts the service: test/contract/sign-in.test.ts starts it with such settings'],
  ['docs/accounts.md', 'WALLET_TIER_TOKEN', 'settings: test/onchain/wallet-tier.test.ts starts services with each'],
  ['docs/accounts.md', '', 'test/docs/accounts-docs.test.ts runs the page in order'],
  ['docs/tokens.md', '', 'needs an issuer: test/contract/tokens.test.ts starts one, with the same settings'],
  ['docs/solidity.md', '', 'test/onchain/solidity-docs.test.ts compiles and runs the page on a chain'],
  ['docs/verification.md', '', 'test/unit/verification-docs.test.ts recomputes each block'],
  [
    'docs/writing-a-plugin.md',
    '',
    'test/unit/plugin-docs.test.ts compares it with the module that test/program/added-plugin runs',
  ],
  [
    'docs/stored.md',
    '',
    'the service of this test treats this machine like others: test/docs/stored-docs.test.ts runs the page in order',
  ],
  ['docs/private-inputs.md', 'trigpoint compute', 'test/docs/cli-docs.test.ts runs it'],
  ['docs/private-inputs.md', 'trigpoint verify', 'test/docs/cli-docs.test.ts runs it'],
  ['docs/compute/buffer.md', 'trigpoint compute', 'test/docs/cli-docs.test.ts runs it'],
  ['docs/compute/repair.md', 'trigpoint compute', 'test/docs/cli-docs.test.ts runs it'],
  ['docs/records.md', 'npm start', 'stops and starts the service: test/store/store-backup.test.ts does the same'],
  ['docs/operations.md', 'npm start', 'stops and starts the service: test/store/store-backup.test.ts does the same'],
  ['docs/operations.md', 'trigpoint store', 'test/docs/recovery-docs.test.ts runs it on a damaged store'],
  [
    'docs/operations.md',
    'systemctl stop',
    'needs root and systemd: the commands of the upgrade in the other direction',
  ],
  ['docs/operations.md', 'du -sh', 'test/docs/recovery-docs.test.ts runs it in a data folder'],
  [
    'docs/operations.md',
    'docker run',
    'needs a container engine: test/program/container.test.ts starts the same command line with the same environment',
  ],
  [
    'docs/operations.md',
    '(umask 077; echo "DATABASE_PASSWORD',
    'needs a container engine: test/program/container.test.ts runs the same command lines with the same environment',
  ],
  [
    'docs/operations.md',
    'useradd',
    'needs root: test/docs/restore-docs.test.ts runs keygen and the service with such an environment',
  ],
  ['docs/operations.md', 'cd /opt/trigpoint-new', 'needs root and systemd: its first line is that of the installation'],
  [
    'docs/operations.md',
    'SIGNER_KEYSTORE',
    'needs root: test/unit/operations-docs.test.ts runs keygen with these names',
  ],
  ['docs/operations.md', 'umask 077', 'writes below /etc: test/fault/proxy-files.test.ts runs it in a folder'],
  ['docs/operations.md', 'client', 'needs a proxy: test/fault/proxy-files.test.ts runs it behind each'],
  ['docs/operations.md', 'psql', 'needs a server: test/docs/postgres-restore-docs.test.ts runs it on one'],
  ['docs/operations.md', 'pg_dump', 'needs a server: test/docs/postgres-restore-docs.test.ts runs it on one'],
  ['docs/operations.md', 'createuser', 'needs a server: test/docs/postgres-restore-docs.test.ts runs it on one'],
  ['docs/operations.md', 'trigpoint() {', 'needs systemd: test/docs/restore-docs.test.ts runs it with a replacement'],
  [
    'docs/jobs.md',
    'cat',
    'the service of this test treats this machine like others: test/contract/jobs.test.ts creates jobs',
  ],
  ['docs/jobs.md', 'job=', 'needs the job of the block above it: test/contract/jobs.test.ts verifies such files'],
  ['docs/jobs.md', 'curl', 'needs a funded account: test/onchain/job-submission.test.ts does the same'],
  ['docs/scaling.md', 'npm start', 'does not end: test/fault/processes.test.ts starts several processes'],
  ['docs/command-line.md', '', 'test/docs/cli-docs.test.ts runs the page in order'],
  ['docs/sync.md', 'RPC_URL_', 'needs RPCs of a public chain'],
  ['docs/submission.md', 'curl', 'needs a funded account: test/onchain/submission.test.ts does the same'],
  ['docs/submission.md', 'import', 'needs a funded account: test/onchain/result-submission.test.ts runs it'],
  ['docs/submission.md', '"submission"', 'one member of a response, shortened'],
  ['docs/attestations.md', '{ "chainId"', 'shortened: test/unit/resign.test.ts sends complete ones'],
  ['docs/attestations.md', '"resultSignature"', 'one member of a response, shortened'],
  ['docs/mcp.md', '{', 'the configuration of an MCP client: test/contract/mcp.test.ts starts the same command'],
]

/** Members that differ between responses. */
const CHANGING = ['timestamp', 'deadline', 'signature', 'attester', 'nonce', 'requestId']

const blocks = PAGES.flatMap(blocksOf)
const findExemption = ({ page, code }: Block) =>
  EXEMPT.find(([name, beginning]) => name === page && code.startsWith(beginning))
const LANGUAGES = ['sh', 'js', 'ts', 'json']
const tested = blocks.filter((block) => LANGUAGES.includes(block.language) && findExemption(block) === undefined)
const commands = tested.filter(({ language }) => language === 'sh')
const programs = [...new Set(tested.filter(({ language }) => /^(js|ts)$/.test(language)).map(({ page }) => page))]

/** Returns the response that a page shows directly below a command. */
function responseBelow(command: Block): Block | undefined {
  return blocks.find(
    ({ page, index, language, follows }) =>
      page === command.page && index === command.index + 1 && language === 'json' && follows,
  )
}

describe('the code blocks of the pages', () => {
  let service: TestService
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-snippets-'))
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    // Commands find the development keys where a service that runs in their folder stores them.
    const { developerKey: developer, internalKey: internal } = service
    mkdirSync(join(folder, '.data'))
    writeFileSync(join(folder, '.data', 'dev-keys.json'), JSON.stringify({ developer, internal }))
    await untilReadable(service.url)
    // The sample records are stored after the service starts to listen.
    const isFilled = async () =>
      ((await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { total: number }).total > 0
    await eventually(async () => expect(await isFilled()).toBe(true))
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
    const exempt = blocks.filter((block) => LANGUAGES.includes(block.language) && findExemption(block) !== undefined)
    console.log(
      `${tested.length} blocks run or read here, ${exempt.length} elsewhere or not at all:\n` +
        EXEMPT.map(
          ([page, beginning, reason]) => `  ${page}${beginning === '' ? '' : ` (${beginning} …)`}: ${reason}`,
        ).join('\n'),
    )
  })

  it('have only exemptions that still match a block', () => {
    expect(
      EXEMPT.filter(([page]) => PAGES.includes(page)).filter(
        ([page, beginning]) => !blocks.some((block) => block.page === page && block.code.startsWith(beginning)),
      ),
    ).toEqual([])
  })

  it('are valid JSON where marked as JSON', () => {
    for (const { page, line, code } of tested.filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow()
    }
  })

  it('are valid YAML where marked as YAML', () => {
    const written = blocks.filter(({ language }) => language === 'yaml')
    expect(written.length).toBeGreaterThan(0)
    for (const { page, line, code } of written) expect(() => parseYaml(code), `${page}:${line}`).not.toThrow()
  })

  it.each(commands.map((command) => ({ title: `${command.page}:${command.line}`, command })))(
    'are commands that work, with the response shown below: $title',
    async ({ command }) => {
      const output = await run('bash', ['-euo', 'pipefail', '-c', atService(command.code)], folder)
      const response = responseBelow(command)
      if (response === undefined) {
        // A problem is only expected where the page shows one.
        expect(output).not.toMatch(/^\{"(?:type":"[^"]*\/errors\/|status":"error")/m)
        expect(output + readdirSync(folder).join()).not.toBe('')
      } else expect(differences(JSON.parse(response.code), JSON.parse(output))).toEqual([])
    },
    TIMEOUT_MS,
  )

  it.each(programs)(
    'are a program that prints what its comments promise: %s',
    async (page) => {
      const code = blocksOf(page)
        .filter(({ language }) => /^(js|ts)$/.test(language))
        .map((block) => block.code)
        .join('\n')
      const output = (await run(process.execPath, ['--input-type=module', '-e', atService(code)], root))
        .trimEnd()
        .split('\n')
      const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
      expect(promised.length).toBeGreaterThan(0)
      expect(output).toEqual(promised)
    },
    TIMEOUT_MS,
  )

  function atService(code: string): string {
    return code.replaceAll('http://127.0.0.1:3000', service.url).replaceAll('127.0.0.1:3000', new URL(service.url).host)
  }
})

/** Runs a command and returns its standard output. Throws an error with both outputs if it fails. */
async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = ['', '']
  for (const [index, stream] of [child.stdout, child.stderr].entries()) {
    stream.on('data', (piece: Buffer) => (texts[index] += piece.toString()))
  }
  const limit = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS - 1000)
  const status = await new Promise((done) => child.on('close', done))
  clearTimeout(limit)
  if (status !== 0) throw new Error(`ended with ${status}: ${texts[1]}${texts[0]}`)
  return texts[0]!
}

/** Lists what a page shows differently from the response. A page may omit members, and the middle of a string (…). */
function differences(documented: unknown, actual: unknown, pointer = ''): string[] {
  if (Array.isArray(documented)) {
    if (!Array.isArray(actual) || actual.length !== documented.length) return [`${pointer} has another length`]
    return documented.flatMap((member, index) => differences(member, actual[index], `${pointer}[${index}]`))
  }
  if (typeof documented === 'object' && documented !== null) {
    if (typeof actual !== 'object' || actual === null) return [`${pointer} is no object`]
    return Object.entries(documented).flatMap(([key, member]) =>
      CHANGING.includes(key)
        ? typeof member === typeof (actual as Record<string, unknown>)[key]
          ? []
          : [`${pointer}.${key} is of another type`]
        : differences(member, (actual as Record<string, unknown>)[key], `${pointer}.${key}`),
    )
  }
  if (typeof documented === 'string' && typeof actual === 'string' && documented.includes('…')) {
    const [head, tail] = documented.split('…') as [string, string]
    return actual.startsWith(head) && actual.endsWith(tail) ? [] : [`${pointer}: ${actual} is not ${documented}`]
  }
  return documented === actual ? [] : [`${pointer}: ${JSON.stringify(actual)} is not ${JSON.stringify(documented)}`]
}
