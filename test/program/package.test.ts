import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundleForBrowser, startApplication } from '../browser/application.ts'
import { openBrowser, WHY_NOT } from '../browser/chromium.ts'
import { endsWithFile } from '../children.ts'

if (WHY_NOT !== undefined) console.log(WHY_NOT)

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-package-'))
/** What the package exports, by the name of its bundle. */
const MODULES = { client: 'trigpoint/client', recompute: 'trigpoint/client/recompute' }
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

beforeAll(() => {
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder], root).trim()
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  // Without the optional packages, which are large; the service has to run without them.
  run('npm', ['install', '--ignore-scripts', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund', tarball])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the installed program. Returns its address, and what stops it. */
async function serve(): Promise<{ url: string; stop(): void }> {
  const started = spawn('npx', ['--no-install', 'trigpoint', 'serve', '--log-format', 'json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, PORT: '0' },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const child = endsWithFile(started)
  let output = ''
  const url = await new Promise<string>((done, fail) => {
    child.on('exit', (code) => fail(new Error(`exited with ${code}: ${output}`)))
    started.stderr.on('data', (data) => {
      output += data
      const ready = /^.*"event":"ready".*$/m.exec(output)?.[0]
      if (ready !== undefined) done(JSON.parse(ready).url)
    })
  })
  return { url, stop: () => void process.kill(-started.pid!, 'SIGTERM') }
}

/** A program that computes a distance, verifies the response, and prints `4238.77 true`. */
const ask = (url: string) => `
  import { createClient, verifyResult } from 'trigpoint/client'
  const client = createClient({ baseUrl: '${url}', chainId: 84532 })
  const inputs = [{ type: 'Point', coordinates: [2.2945, 48.8584] }, { type: 'Point', coordinates: [2.3522, 48.8566] }]
  const answer = await client.compute.distance(...inputs)
  console.log(answer.result, (await verifyResult(answer, { inputs, issuer: await client.issuer() })).ok)`

describe('the package, installed in an empty folder', () => {
  let url: string
  let stop: () => void
  beforeAll(async () => {
    ;({ url, stop } = await serve())
  })
  afterAll(() => stop())

  it('has what runs, and no sources, tests or tools', () => {
    const installed = join(folder, 'node_modules/trigpoint')
    for (const path of ['dist/src/main.js', 'dist/web/explore/index.html', 'dist/web/docs/index.html', 'LICENSE']) {
      expect(existsSync(join(installed, path)), path).toBe(true)
    }
    for (const path of ['src', 'test', 'dist/bench', 'dist/test', 'dist/src/main.js.map', 'scripts/start.mjs']) {
      expect(existsSync(join(installed, path)), path).toBe(false)
    }
    for (const name of ['vite', 'maplibre-gl', 'assemblyscript', '@foundry-rs']) {
      expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false)
    }
  })

  it('serves signed results and the pages, and keeps its data in the current folder', async () => {
    for (const page of ['/explore', '/docs']) expect((await fetch(url + page)).status, page).toBe(200)
    writeFileSync(join(folder, 'ask.js'), ask(url))
    expect(run(process.execPath, ['ask.js'])).toBe('4238.77 true\n')
    expect(JSON.parse(readFileSync(join(folder, '.data/dev-signer.json'), 'utf8'))).toHaveProperty('address')
  })

  it('has the types of the client', () => {
    writeFileSync(
      join(folder, 'types.ts'),
      "import { createClient } from 'trigpoint/client'\nexport const client = createClient({ baseUrl: 'http://127.0.0.1', chainId: 1 })\n",
    )
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', 'types.ts']
    expect(run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...flags])).toBe('')
  })

  it('has a client that bundles to the sizes that docs/client.md names', async () => {
    const actual = [await bundle('client'), await bundle('client', 'recompute')].map(sizesOf)
    const page = readFileSync(join(root, 'docs/client.md'), 'utf8')
    const documented = [...page.matchAll(/(\d+) kB\s\((\d+) kB with gzip\)/g)].map(([, plain, gzipped]) => ({
      plain: Number(plain),
      gzipped: Number(gzipped),
    }))
    console.log('sizes in kB of the client, and of the client with recompute:', JSON.stringify(actual))
    expect(documented).toHaveLength(2)
    for (const [index, { plain, gzipped }] of documented.entries()) {
      expect(Math.abs(actual[index]!.plain / plain - 1), `${plain} kB`).toBeLessThan(0.1)
      expect(Math.abs(actual[index]!.gzipped / gzipped - 1), `${gzipped} kB`).toBeLessThan(0.1)
    }
  })

  it.skipIf(WHY_NOT !== undefined)('has a client that works in a browser, on a page of another origin', async () => {
    const browser = await openBrowser()
    const application = await startApplication(browser, await bundle('client'))
    try {
      expect(await application.run(ask(url))).toEqual(['4238.77 true', 'the end'])
    } finally {
      application.close()
      await browser.close()
    }
  })
})

/** Bundles modules of the installed package. */
async function bundle(...names: (keyof typeof MODULES)[]): Promise<Map<string, string>> {
  for (const name of names) writeFileSync(join(folder, `${name}.js`), `export * from '${MODULES[name]}'\n`)
  return bundleForBrowser(folder, Object.fromEntries(names.map((name) => [name, `${name}.js`])))
}

/** Returns the size of all files in kB (1000 bytes), as they are and with gzip. */
function sizesOf(files: ReadonlyMap<string, string>): { plain: number; gzipped: number } {
  const sum = (size: (code: string) => number) =>
    Math.round([...files.values()].reduce((total, code) => total + size(code), 0) / 1000)
  return { plain: sum(Buffer.byteLength), gzipped: sum((code) => gzipSync(code).byteLength) }
}
