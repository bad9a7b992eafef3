import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { type Block, blocksOf, PAGES } from '../markdown-pages.ts'
import { untilReadable } from '../record-service.ts'
import { startTestService, type TestService } from '../service.ts'

const root = resolve(import.meta.dirname, '../..')
const TIMEOUT_MS = 600_000

/** What is not run here: page, how the block begins, why. */
const EXEMPT: readonly (readonly [page: string, beginning: string, reason: string])[] = [
  ['README.md', 'npm start', 'starts the service: scripts/smoke.mjs does that from a clean tree'],
  ['docs/start.md', 'npm start', 'starts the service: scripts/smoke.mjs does that from a clean tree'],
  ['docs/local-chain.md', '', 'needs a chain: test/onchain/local-chain-docs.test.ts runs the page'],
  ['docs/ogc.md', '', 'needs GDAL: test/docs/ogc-page.test.ts runs the page where it is'],
  ['docs/client.md', '', 'test/docs/client-docs.test.ts runs the page, in a browser without Node.js as well'],
  ['docs/solidity.md', '', 'test/onchain/solidity-docs.test.ts compiles and runs the page on a chain'],
  ['docs/verification.md', '', 'test/unit/verification-docs.test.ts computes each block anew'],
  [
    'docs/writing-a-plugin.md',
    '',
    'test/unit/plugin-docs.test.ts compares it with the module that test/program/added-plugin runs',
  ],
  ['docs/records.md', 'npm start', 'stops and starts the service: test/store/store-backup.test.ts does the same'],
  ['docs/operations.md', 'npm start', 'stops and starts the service: test/store/store-backup.test.ts does the same'],
  ['docs/operations.md', 'mkdir', 'needs a container engine: test/unit/deploy-files.test.ts reads what is started'],
  ['docs/command-line.md', '', 'test/docs/cli-docs.test.ts runs the page in its order'],
  ['docs/sync.md', 'RPC_URL_', 'needs RPCs of a public chain'],
  ['docs/submission.md', 'curl', 'needs a funded account: test/onchain/submission.test.ts does the same'],
  ['docs/submission.md', '"submission"', 'one member of an answer, shortened'],
  ['docs/attestations.md', '{ "chainId"', 'shortened: test/unit/resign.test.ts sends whole ones'],
  ['docs/attestations.md', '"resultSignature"', 'one member of an answer, shortened'],
  ['docs/mcp.md', '{', 'the configuration of an MCP client: test/contract/mcp.test.ts starts the same command'],
]

/** Members that differ from one answer to the next. */
const CHANGING = ['timestamp', 'deadline', 'signature', 'attester', 'nonce', 'requestId']

const blocks = PAGES.flatMap(blocksOf)
const exemptionOf = ({ page, code }: Block) =>
  EXEMPT.find(([name, beginning]) => name === page && code.startsWith(beginning))
const LANGUAGES = ['sh', 'js', 'ts', 'json']
const judged = blocks.filter((block) => LANGUAGES.includes(block.language) && exemptionOf(block) === undefined)
const commands = judged.filter(({ language }) => language === 'sh')
const programs = [...new Set(judged.filter(({ language }) => /^(js|ts)$/.test(language)).map(({ page }) => page))]

/** The answer that a page shows directly below a command. */
function answerBelow(command: Block): Block | undefined {
  return blocks.find(
    ({ page, index, language, follows }) =>
      page === command.page && index === command.index + 1 && language === 'json' && follows,
  )
}

describe('the blocks of the pages', () => {
  let service: TestService
  let folder: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-snippets-'))
    service = await startTestService({ RECORDS: '1', SAMPLE_RECORDS: '1' })
    await untilReadable(service.url)
    // A new store is filled behind the listener.
    const isFilled = async () =>
      ((await (await fetch(`${service.url}/api/v0/location-records/stats`)).json()) as { total: number }).total > 0
    await eventually(async () => expect(await isFilled()).toBe(true))
  })
  afterAll(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
    const exempt = blocks.filter((block) => LANGUAGES.includes(block.language) && exemptionOf(block) !== undefined)
    console.log(
      `${judged.length} blocks run or read here, ${exempt.length} elsewhere or not at all:\n` +
        EXEMPT.map(
          ([page, beginning, reason]) => `  ${page}${beginning === '' ? '' : ` (${beginning} …)`}: ${reason}`,
        ).join('\n'),
    )
  })

  it('are exempt for a reason that still has a block', () => {
    expect(
      EXEMPT.filter(([page]) => PAGES.includes(page)).filter(
        ([page, beginning]) => !blocks.some((block) => block.page === page && block.code.startsWith(beginning)),
      ),
    ).toEqual([])
  })

  it('are JSON where they say so', () => {
    for (const { page, line, code } of judged.filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow()
    }
  })

  it.each(commands.map((command) => ({ title: `${command.page}:${command.line}`, command })))(
    'are commands that work, with the answer shown below: $title',
    async ({ command }) => {
      const said = await run('bash', ['-euo', 'pipefail', '-c', atService(command.code)], folder)
      const answer = answerBelow(command)
      if (answer === undefined) {
        // Only a page that shows a mistake has one.
        expect(said).not.toMatch(/^\{"(?:type":"[^"]*\/errors\/|status":"error")/m)
        expect(said + readdirSync(folder).join()).not.toBe('')
      } else expect(differences(JSON.parse(answer.code), JSON.parse(said))).toEqual([])
    },
    TIMEOUT_MS,
  )

  it.each(programs)(
    'are a program that says what its comments promise: %s',
    async (page) => {
      const code = blocksOf(page)
        .filter(({ language }) => /^(js|ts)$/.test(language))
        .map((block) => block.code)
        .join('\n')
      const said = (await run(process.execPath, ['--input-type=module', '-e', atService(code)], root))
        .trimEnd()
        .split('\n')
      const promised = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, text]) => text!)
      expect(promised.length).toBeGreaterThan(0)
      expect(said).toEqual(promised)
    },
    TIMEOUT_MS,
  )

  function atService(code: string): string {
    return code.replaceAll('http://127.0.0.1:3000', service.url).replaceAll('127.0.0.1:3000', new URL(service.url).host)
  }
})

/** Standard output; fails with what was written to the other one. */
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

/** What a page shows and the answer has not. A page may leave members out, and the middle of a text (…). */
function differences(shown: unknown, found: unknown, place = ''): string[] {
  if (Array.isArray(shown)) {
    if (!Array.isArray(found) || found.length !== shown.length) return [`${place} has another length`]
    return shown.flatMap((member, index) => differences(member, found[index], `${place}[${index}]`))
  }
  if (typeof shown === 'object' && shown !== null) {
    if (typeof found !== 'object' || found === null) return [`${place} is no object`]
    return Object.entries(shown).flatMap(([key, member]) =>
      CHANGING.includes(key)
        ? typeof member === typeof (found as Record<string, unknown>)[key]
          ? []
          : [`${place}.${key} is of another type`]
        : differences(member, (found as Record<string, unknown>)[key], `${place}.${key}`),
    )
  }
  if (typeof shown === 'string' && typeof found === 'string' && shown.includes('…')) {
    const [head, tail] = shown.split('…') as [string, string]
    return found.startsWith(head) && found.endsWith(tail) ? [] : [`${place}: ${found} is not ${shown}`]
  }
  return shown === found ? [] : [`${place}: ${JSON.stringify(found)} is not ${JSON.stringify(shown)}`]
}
