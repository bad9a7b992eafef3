/** `deploy/cluster/haproxy.cfg` in front of nodes that run the service, on each transport. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { PROXIES } from '../proxies.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { startTestService, type TestService } from '../service.ts'

const text = readFileSync(resolve(import.meta.dirname, '../../deploy/cluster/haproxy.cfg'), 'utf8')

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

describe.runIf(PROXIES.includes('haproxy')).each(ADAPTERS)('deploy/cluster/haproxy.cfg with %s', (adapter) => {
  let nodes: TestService[]
  let folder: string
  let haproxy: ChildProcess
  let exited: Promise<unknown>
  let port: number

  beforeAll(async () => {
    // The third node never becomes ready: its database cannot be reached.
    const databases = [{}, {}, { RECORDS: '1', DATABASE_URL: `postgres://nobody@127.0.0.1:${await freePort()}/none` }]
    nodes = await Promise.all(databases.map((more) => startTestService({ HTTP_ADAPTER: adapter, ...more })))
    port = await freePort()
    const config = nodes.reduce(
      (changed, { url }, index) => changed.replace(`node-${index + 1}:3000`, new URL(url).host),
      text.replace('bind :8080', `bind 127.0.0.1:${port}`).replace('maxconn 8000', 'maxconn 100'),
    )
    folder = mkdtempSync(join(tmpdir(), 'trigpoint-cluster-'))
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    haproxy = spawn('/usr/sbin/haproxy', ['-db', '-f', join(folder, 'haproxy.cfg')], { stdio: 'ignore' })
    exited = new Promise((done) => haproxy.on('exit', done))
  })
  afterAll(async () => {
    haproxy?.kill('SIGKILL')
    await exited
    await Promise.all((nodes ?? []).map((node) => node.stop()))
    if (folder !== undefined) rmSync(folder, { recursive: true })
  })

  /** Attesters of the nodes that answer requests through the proxy; each node has a key of its own here. */
  async function answering(requests: number): Promise<Set<string>> {
    const attesters = new Set<string>()
    for (let count = 0; count < requests; count++) {
      const response = await fetch(`http://127.0.0.1:${port}/.well-known/attester.json`)
      expect(response.status).toBe(200)
      attesters.add(((await response.json()) as { address: string }).address)
    }
    return attesters
  }

  it('sends requests to the nodes that are ready, and to no other', async () => {
    expect(nodes.map((node) => node.adapter)).toEqual(nodes.map(() => adapter))
    const ready = nodes.slice(0, 2).map((node) => node.attester)
    // HAProxy counts a node as up until two checks have failed.
    await eventually(async () => expect(await answering(12)).toEqual(new Set(ready)))
    for (const node of nodes) expect((await fetch(`${node.url}/ready`)).status).toBe(node === nodes[2] ? 503 : 200)
  })
})
