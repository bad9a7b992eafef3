import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, LOUVRE } from '../fixtures.ts'
import { type ChainService, startChainService } from '../local-chain-service.ts'
import { skipReason } from './anvil.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readFileSync(join(root, 'docs/local-chain.md'), 'utf8')
const run = promisify(execFile)

/** Returns the code blocks of one language, in order. */
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].filter((match) => match[1] === language).map((match) => match[2]!)

describe.skipIf(skipReason())('the page about the local chain', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-docs-'))
  let service: ChainService

  beforeAll(async () => {
    service = await startChainService(dataDir)
    const path = '/api/v0/location-records?chain=local'
    await eventually(async () => expect((await service.get(path)).data).toHaveLength(36))
  })
  afterAll(async () => {
    await service?.end('SIGTERM')
    rmSync(dataDir, { recursive: true, force: true })
  })

  it('starts the service as package.json does', () => {
    expect(blocks('sh')[0]).toBe('npm start -- --chain\n')
  })

  it('shows the addresses of the banner', () => {
    for (const name of ['easAddress', 'schemaRegistryAddress']) expect(page).toContain(service.facts[name])
    for (const account of service.facts['fundedAccounts']!.split(',').slice(0, 2)) expect(page).toContain(account)
  })

  it('lists records with the shown command', async () => {
    const { host } = new URL(service.facts['url']!)
    const list = blocks('sh').find((block) => block.includes('limit=2'))!
    const { stdout } = await run('sh', ['-c', list.replace('127.0.0.1:3000', host)])
    expect(JSON.parse(stdout).data.map(({ chain }: { chain: string }) => chain)).toEqual(['local', 'local'])
  })

  it('completes a round trip with the shown script', async () => {
    const env = { PATH: process.env['PATH'], API: service.facts['url'], RPC: service.facts['rpcUrl'] }
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', blocks('js')[0]!], { cwd: root, env })
    const [record, meters, forged, onChain] = stdout.trim().split('\n')
    expect(record).toMatch(/^record 0x[0-9a-f]{64} /)
    const plain = await service.post('/compute/v0/distance', {
      chainId: 31337,
      from: EIFFEL_TOWER,
      to: LOUVRE,
    })
    expect(meters).toBe(`meters ${plain.result}`)
    expect(forged).toBe('forged InvalidSignature')
    expect(onChain).toMatch(/^on chain 0x[0-9a-f]{64}$/)
  })

  it('revokes, reverts and reorganises with the shown commands', async () => {
    const env = { PATH: process.env['PATH'], API: service.facts['url'], RPC: service.facts['rpcUrl'] }
    const { stdout } = await run('sh', ['-c', blocks('sh').find((block) => block.includes('anvil_reorg'))!], { env })
    expect(stdout.match(/"revoked":\w+|"reorgs":\d+/g)).toEqual(['"revoked":true', '"revoked":false', '"reorgs":2'])
  })

  it('submits the proof of another page once', async () => {
    const env = { PATH: process.env['PATH'], API: service.facts['url'], KEY: service.facts['developerKey'] }
    const again = await Promise.all(
      [1, 2].map(() => run(process.execPath, ['--input-type=module', '-e', blocks('js')[1]!], { cwd: root, env })),
    )
    const uids = again.map(({ stdout }) => /uid: '(0x[0-9a-f]{64})'/.exec(stdout)?.[1])
    expect(again[0]!.stdout).toContain("status: 'mined'")
    expect(new Set(uids).size).toBe(1)
  })
})
