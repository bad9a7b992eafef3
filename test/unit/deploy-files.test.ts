import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { uwsFileName } from '../../src/http/transport/server.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const packageJson = JSON.parse(read('package.json'))
const settings = read('docs/configuration.md')

interface Instruction {
  readonly word: string
  readonly argumentText: string
}
/** The stages of the Dockerfile: the name of each, and the instructions after its FROM. */
const stages = read('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n\s*/g, '')
  .split(/^FROM /m)
  .slice(1)
  .map((text) => {
    const [first, ...lines] = text.trim().split('\n')
    const instructions = lines.map((line): Instruction => {
      const [, word, argumentText] = /^([A-Z]+) (.*)$/.exec(line)!
      return { word: word!, argumentText: argumentText! }
    })
    return { name: / AS (\w+)$/.exec(first!)?.[1] ?? 'final', instructions }
  })
const findStage = (name: string) => stages.find((stage) => stage.name === name)!.instructions
const findInstructions = (name: string, word: string) =>
  findStage(name).filter((instruction) => instruction.word === word)

const ignored = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((pattern) => {
    const expression = pattern
      .replaceAll('.', '\\.')
      .replaceAll('**/', '(?:.*/)?')
      .replaceAll(/(?<!\.)\*/g, '[^/]*')
    return new RegExp(`^${expression}(?:/|$)`)
  })
const isIgnored = (path: string) => ignored.some((pattern) => pattern.test(path))

describe('the Dockerfile', () => {
  it('copies only files that exist, or that an earlier stage made', () => {
    const commandsByPath: Readonly<Record<string, string>> = {
      '/app/node_modules': 'npm ci',
      '/app/dist': 'npm run build',
    }
    for (const { name, instructions } of stages) {
      for (const { argumentText } of instructions.filter(({ word }) => word === 'COPY')) {
        const words = argumentText.split(' ')
        const from = /^--from=(\w+)$/.exec(words[0]!)?.[1]
        const sources = words.slice(from === undefined ? 0 : 1, -1)
        for (const source of sources) {
          if (from === undefined) {
            expect(existsSync(join(root, source)), `${name}: ${source}`).toBe(true)
            expect(isIgnored(source), `${name}: ${source}`).toBe(false)
          } else {
            const runs = findInstructions(from, 'RUN').map((instruction) => instruction.argumentText)
            expect(
              runs.some((run) => run.startsWith(commandsByPath[source]!)),
              `${name}: ${source} of ${from}`,
            ).toBe(true)
          }
        }
      }
    }
  })

  it('runs only commands that package.json and the repository have', () => {
    const runs = stages.flatMap(({ instructions }) => instructions.filter(({ word }) => word === 'RUN'))
    expect(runs.length).toBe(6)
    for (const { argumentText } of runs) {
      const script = /^npm run (\S+)$/.exec(argumentText)?.[1]
      const file = /^node (\S+)/.exec(argumentText)?.[1]
      if (script !== undefined) expect(packageJson.scripts).toHaveProperty(script)
      else if (file !== undefined) expect(existsSync(join(root, file)), file).toBe(true)
      else if (argumentText.startsWith('apt-get update')) expect(argumentText).toContain("'^libsecp256k1-[0-9]+$'")
      // Install scripts are off everywhere. The final packages also leave out development dependencies.
      else
        expect(argumentText).toMatch(
          /^npm ci --ignore-scripts(?: --omit=dev)?$|^mkdir \/data && chown node:node \/data$/,
        )
    }
    expect(findInstructions('packages', 'RUN')[0]!.argumentText).toContain('--omit=dev')
  })

  it('starts the program of the package, not as root', () => {
    const words = findStage('final').map(({ word }) => word)
    expect(findInstructions('final', 'USER').at(-1)!.argumentText).toBe('node')
    expect(words.indexOf('USER')).toBeLessThan(words.indexOf('ENTRYPOINT'))
    const entry = JSON.parse(findInstructions('final', 'ENTRYPOINT')[0]!.argumentText) as string[]
    expect(entry.at(-1)).toBe(packageJson.bin.trigpoint)
    const flags = /^node (.*) \S+$/.exec(packageJson.scripts.start)![1]!.split(' ')
    expect(entry.slice(0, -1)).toEqual(['node', ...flags])
    expect(
      findStage('final').some(
        ({ word, argumentText }) => word === 'COPY' && argumentText.startsWith(packageJson.bin.trigpoint),
      ),
    ).toBe(true)
    expect(JSON.parse(findInstructions('final', 'CMD')[0]!.argumentText)).toEqual(['serve'])
  })

  it('uses glibc and a Node.js version that the native transport supports', () => {
    const image = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile'))![1]!
    expect(image).toMatch(/^node:20-(?:bookworm|trixie)-slim$/)
    for (const line of read('Dockerfile')
      .split('\n')
      .filter((text) => text.startsWith('FROM '))) {
      expect(line).toMatch(/^FROM \$\{NODE_IMAGE\}(?: AS \w+)?$/)
    }
  })

  it('sets only settings that exist', () => {
    const names = findInstructions('final', 'ENV').flatMap(({ argumentText }) =>
      [...argumentText.matchAll(/([A-Z_]+)=/g)].map(([, name]) => name!),
    )
    expect(names).toContain('DATA_DIR')
    for (const name of names) expect(settings).toContain(`\`${name}`)
  })

  const servers: Server[] = []
  afterAll(() => {
    for (const server of servers) server.close()
  })
  it.each([
    [200, 0],
    [503, 1],
    ['no response', 1],
  ])('has a health check that exits after %s with code %i', async (status, code) => {
    const [command, ...args] = JSON.parse(
      /CMD (\[.*\])$/.exec(findInstructions('final', 'HEALTHCHECK')[0]!.argumentText)![1]!,
    ) as string[]
    const requestedPaths: string[] = []
    const server = createServer((request, response) => {
      requestedPaths.push(request.url!)
      if (typeof status === 'number') response.writeHead(status).end('{}')
      else request.socket.destroy()
    })
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const { spawn } = await import('node:child_process')
    const child = spawn(command!, args, { env: { PATH: process.env['PATH'], PORT: String(port) }, stdio: 'ignore' })
    expect(await new Promise((done) => child.once('exit', done))).toBe(code)
    expect(requestedPaths).toEqual(['/health'])
  })
})

describe('the content of the image', () => {
  it('leaves out secrets, data and build results', () => {
    for (const path of ['.env', 'web/.env', '.data/dev-signer.json', 'deploy/secrets/signer_password', '.git/config']) {
      expect(isIgnored(path), path).toBe(true)
    }
    for (const path of ['node_modules/ajv', 'dist/src/main.js', 'src/wasm/generated/simd.ts', 'test/x.log']) {
      expect(isIgnored(path), path).toBe(true)
    }
  })

  it('has all files that the build reads', () => {
    const prepare = read('scripts/prepare.mjs')
    const sources = /const SOURCES = \[([\s\S]*?)\]/
      .exec(prepare)![1]!
      .match(/'[^']+'/g)!
      .map((name) => name.slice(1, -1))
    expect(sources.length).toBeGreaterThan(8)
    for (const path of [...sources, 'web', 'docs', 'package-lock.json', '.npmrc', 'src/wasm/assembly/index.ts']) {
      expect(isIgnored(path), path).toBe(false)
    }
  })

  it('keeps only the native transport that is loaded, and no development chain', () => {
    const folder = mkdtempSync(join(tmpdir(), 'native-'))
    const transport = join(folder, 'uWebSockets.js')
    const fileName = uwsFileName()
    mkdirSync(transport)
    mkdirSync(join(folder, '@foundry-rs', 'anvil-linux-amd64'), { recursive: true })
    for (const name of [fileName, 'uws_linux_x64_9999.node', 'uws_plan9_arm_115.node', 'uws.js', 'package.json']) {
      writeFileSync(join(transport, name), '')
    }
    const script = join(root, 'deploy/keep-native-binaries.mjs')
    const { status, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
    expect({ status, stderr }).toEqual({ status: 0, stderr: `kept ${fileName}, removed 2 others\n` })
    expect(readdirSync(transport).sort()).toEqual(['package.json', 'uws.js', fileName].sort())
    expect(existsSync(join(folder, '@foundry-rs'))).toBe(false)
    rmSync(transport, { recursive: true })
    expect(spawnSync(process.execPath, [script, folder], { encoding: 'utf8' }).stderr).toContain(
      'the service will use node:http instead',
    )
    expect(spawnSync(process.execPath, [script]).status).toBe(2)
    rmSync(folder, { recursive: true })
  })
})

describe('compose.yaml', () => {
  const text = read('compose.yaml')

  it('sets only settings that exist', () => {
    const service = text.slice(text.indexOf('\n  trigpoint:'), text.indexOf('\n  postgres:'))
    const names = [...service.slice(service.indexOf('environment:')).matchAll(/^ {6}([A-Z][A-Z0-9_]+):/gm)].map(
      ([, name]) => name!,
    )
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(settings).toContain(`\`${name.replace(/_\d+$/, '_<chainId>')}`)
  })

  it('keeps every secret in a folder that git and the image ignore', () => {
    const files = [...text.matchAll(/file: \.\/(\S+)/g)].map(([, file]) => file!)
    expect(files).toHaveLength(2)
    for (const file of files) {
      expect(isIgnored(file)).toBe(true)
      expect(spawnSync('git', ['check-ignore', '-q', file], { cwd: root }).status, file).toBe(0)
    }
    expect(spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: root }).status).toBe(0)
    // The file itself contains no password.
    expect(text).not.toMatch(/PASSWORD: (?!\$\{)/)
    for (const [, value] of text.matchAll(/postgres:\/\/\w+:([^@]+)@/g)) expect(value).toMatch(/^\$\{\w+:\?/)
  })

  it('opens no port for other machines', () => {
    const ports = [...text.matchAll(/ports:\n((?: {6}- .*\n)+)/g)].flatMap(([, lines]) => lines!.trim().split('\n'))
    expect(ports).toHaveLength(1)
    for (const port of ports) expect(port).toMatch(/^- 127\.0\.0\.1:/)
  })

  it('allows more time to stop than the service needs', () => {
    const [, grace] = /stop_grace_period: (\d+)s/.exec(text)!
    const [, drainMs] = /`DRAIN_TIMEOUT_MS` \| ([\d,]+), ([\d,]+)/.exec(settings)!.slice(1)
    expect(Number(grace) * 1000).toBeGreaterThan(Number(drainMs!.replace(',', '')))
  })
})
