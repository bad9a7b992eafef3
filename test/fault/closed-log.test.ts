import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { endsWithFile } from '../children.ts'
import { nodeFlags } from '../node-flags.ts'

const root = resolve(import.meta.dirname, '../..')

describe('a service whose log nobody reads any more', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-closed-log-'))
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

  /** Starts a service and closes the pipe of its log when it is ready. */
  async function start(settings: Record<string, string>) {
    const child = spawn(process.execPath, [...nodeFlags(root), 'scripts/trigpoint.mjs', 'serve'], {
      cwd: root,
      env: { PATH: process.env['PATH'], PORT: '0', DATA_DIR: dataDir, LOG_FORMAT: 'json', RECORDS: '0', ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    endsWithFile(child)
    const exited = new Promise((done) => child.on('exit', (code, signal) => done(code ?? signal)))
    let text = ''
    for await (const piece of child.stderr) {
      text += piece
      const url = /"event":"ready".*"url":"([^"]+)"/.exec(text)?.[1]
      if (url === undefined) continue
      child.stdout.destroy()
      child.stderr.destroy()
      return { child, url, exited }
    }
    throw new Error(`the service ended: ${text}`)
  }

  it.each([
    ['one process', {}],
    ['several processes', { PROCESSES: '2' }],
  ])('goes on, and stops in order: %s', async (_, settings) => {
    const { child, url, exited } = await start(settings)
    // Each signal is logged: one process ignores the first, and several are replaced one after the other.
    child.kill('SIGHUP')
    const from = { type: 'Point', coordinates: [2.2945, 48.8584] }
    const body = JSON.stringify({ chainId: 84532, from, to: from })
    const response = await fetch(`${url}/compute/v0/distance`, { method: 'POST', body })
    expect(response.status).toBe(200)
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })
})
