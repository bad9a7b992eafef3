// Runs the command lines of docs/operations.md with the environment of the image and of compose.yaml. There is no container engine
// here, so a folder stands for the volume /data.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'
import { COMPOSE_FILE, ENTRYPOINT, findInstructions, IMAGE_ENVIRONMENT, interpolate } from '../container-files.ts'
import { eventually } from '../eventually.ts'

const root = resolve(import.meta.dirname, '../..')
const data = mkdtempSync(join(tmpdir(), 'trigpoint-volume-'))
afterAll(() => rmSync(data, { recursive: true, force: true }))

/** Without a PostgreSQL server, the tests keep the records in the volume. */
const WITHOUT_POSTGRES = { DATABASE_URL: '', EMBEDDED_DB: '1' }
const inVolume = (value: string) => value.replace(/^\/data\b/, data)
const composeEnvironment = Object.fromEntries(
  Object.entries(COMPOSE_FILE.services.trigpoint.environment).map(([name, value]) => [
    name,
    interpolate(value, { DATABASE_PASSWORD: 'secret' }),
  ]),
)

/** Runs the image's command line. Returns its output, also while it runs, and its exit code. */
function runInContainer(args: readonly string[], settings: Readonly<Record<string, string>>) {
  const environment = { ...IMAGE_ENVIRONMENT, ...settings, HOST: '127.0.0.1', PORT: '0' }
  const [, ...flags] = ENTRYPOINT
  const child = spawn(process.execPath, [...flags, ...args], {
    cwd: root,
    env: {
      PATH: process.env['PATH'],
      ...Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, inVolume(value)])),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endsWithFile(child)
  const output = { out: '', err: '' }
  child.stdout.on('data', (piece) => (output.out += piece))
  child.stderr.on('data', (piece) => (output.err += piece))
  const exited = new Promise<number | null>((done) => child.on('close', done))
  const ready = new Promise<{ url: string; attester: string }>((done, fail) => {
    child.stderr.on('data', () => {
      const line = /^.*"event":"ready".*$/m.exec(output.err)?.[0]
      if (line !== undefined) done(JSON.parse(line))
    })
    void exited.then(() => fail(new Error(output.err)))
  })
  ready.catch(() => {}) // a command such as `keygen` is never ready
  return { child, output, exited, ready }
}

it('starts with compose.yaml only after keygen, and says so', async () => {
  const { exited, output } = runInContainer(['serve'], { ...composeEnvironment, ...WITHOUT_POSTGRES })
  expect([await exited, output.err]).toEqual([78, expect.stringContaining('trigpoint keygen')])
})

it('makes its own key in the volume, signs with it, and never replaces it', async () => {
  const keygen = runInContainer(['keygen'], composeEnvironment)
  expect([await keygen.exited, keygen.output.out]).toEqual([0, expect.stringMatching(/^0x[0-9a-fA-F]{40}\n$/)])
  const files = ['signer_keystore', 'signer_password'].map((name) => join(data, name))
  for (const file of files) expect(statSync(file).mode & 0o777, file).toBe(0o600)
  const content = files.map((file) => readFileSync(file, 'utf8'))
  // The password protects the keystore only if it cannot be guessed.
  expect(content[1]).toMatch(/^[0-9a-f]{48}\n$/)

  const again = runInContainer(['keygen'], composeEnvironment)
  expect([await again.exited, again.output.err]).toEqual([2, expect.stringContaining('keys are never overwritten')])
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(content)

  const service = runInContainer(['serve'], { ...composeEnvironment, ...WITHOUT_POSTGRES })
  const { url, attester } = await service.ready
  expect(attester).toBe(keygen.output.out.trim())
  const [, ...probe] = JSON.parse(/CMD (\[.*\])$/.exec(findInstructions('final', 'HEALTHCHECK')[0]!.argumentText)![1]!)
  const health = spawn(process.execPath, probe, { env: { PORT: new URL(url).port }, stdio: 'ignore' })
  expect(await new Promise((done) => health.on('exit', done))).toBe(0)
  service.child.kill('SIGTERM')
  expect(await service.exited).toBe(0)
})

it('runs as the one-line command of the page says, with its data in the volume', async () => {
  const page = readFileSync(join(root, 'docs/operations.md'), 'utf8')
  const command = /^docker run .*$/m.exec(page)![0]
  const settings = Object.fromEntries(
    [...command.matchAll(/ -e (\w+)=(\S+)/g)].map(([, name, value]) => [name!, value!]),
  )
  expect(Object.keys(settings).length).toBeGreaterThan(0)
  const [, port] = / -p 127\.0\.0\.1:3000:(\d+) /.exec(command)!
  expect(port).toBe(IMAGE_ENVIRONMENT['PORT'])
  const [, volume] = / -v [\w-]+:(\S+) /.exec(command)!
  expect(volume).toBe(IMAGE_ENVIRONMENT['DATA_DIR'])
  const args = JSON.parse(findInstructions('final', 'CMD')[0]!.argumentText) as string[]
  const service = runInContainer(args, settings)
  const { url } = await service.ready
  expect((await fetch(`${url}/health`)).status).toBe(200)
  expect(existsSync(join(data, 'dev-signer.json'))).toBe(true)
  // The database is created after the service starts to listen.
  await eventually(() => expect(readdirSync(data)).toContain('store'))
  service.child.kill('SIGTERM')
  expect(await service.exited).toBe(0)
})
