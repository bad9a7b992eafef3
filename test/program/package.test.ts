import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-package-'))
const run = (command: string, args: readonly string[], cwd = folder) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

beforeAll(() => {
  const tarball = run('npm', ['pack', '--silent', '--pack-destination', folder], root).trim()
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }')
  // Without the optional packages, which are large; the service has to run without them.
  run('npm', ['install', '--ignore-scripts', '--omit=optional', '--prefer-offline', '--no-audit', '--no-fund', tarball])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the package, installed in an empty folder', () => {
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
    try {
      for (const page of ['/explore', '/docs']) expect((await fetch(url + page)).status, page).toBe(200)
      writeFileSync(
        join(folder, 'ask.js'),
        `import { createClient, verifyResult } from 'trigpoint/client'
        const client = createClient({ baseUrl: '${url}', chainId: 84532 })
        const inputs = [{ type: 'Point', coordinates: [2.2945, 48.8584] }, { type: 'Point', coordinates: [2.3522, 48.8566] }]
        const answer = await client.compute.distance(...inputs)
        console.log(answer.result, (await verifyResult(answer, { inputs, issuer: await client.issuer() })).ok)`,
      )
      expect(run(process.execPath, ['ask.js'])).toBe('4238.77 true\n')
      expect(JSON.parse(readFileSync(join(folder, '.data/dev-signer.json'), 'utf8'))).toHaveProperty('address')
    } finally {
      process.kill(-started.pid!, 'SIGTERM')
    }
  })

  it('has the types of the client', () => {
    writeFileSync(
      join(folder, 'types.ts'),
      "import { createClient } from 'trigpoint/client'\nexport const client = createClient({ baseUrl: 'http://127.0.0.1', chainId: 1 })\n",
    )
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', 'types.ts']
    expect(run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...flags])).toBe('')
  })
})
