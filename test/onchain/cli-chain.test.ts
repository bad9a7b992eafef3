import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ChainService, startChainService } from '../local-chain-service.ts'
import { skipReason } from './anvil.ts'

const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'trigpoint-cli-chain-'))
/** The first account of anvil. It has funds, and its key is public. */
const PAYER = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'

describe.skipIf(skipReason() !== undefined)('the command line on a chain with EAS', () => {
  let service: ChainService
  beforeAll(async () => {
    service = await startChainService(folder)
  })
  afterAll(async () => {
    await service?.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  function cli(argv: readonly string[], input = '', env: Record<string, string> = {}) {
    const program = join(root, 'scripts/trigpoint.mjs')
    const run = spawnSync(process.execPath, [program, ...argv], {
      cwd: folder,
      input,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TRIGPOINT_URL: service.facts['url'], DATA_DIR: folder, PORT: '0', ...env },
    })
    return { code: run.status, out: run.stdout, err: run.stderr }
  }
  const rpc = () => String(service.facts['rpcUrl'])

  it('registers a schema once, and prints its UID', () => {
    const key = join(folder, 'payer.key')
    writeFileSync(key, PAYER)
    const register = ['schema', 'register', 'uint256 height,string place', '--rpc', rpc(), '--key', key]
    const { out: uid } = cli(['schema', 'uid', 'uint256 height,string place'])
    const first = cli([...register, '--json'])
    expect([first.code, JSON.parse(first.out)]).toMatchObject([
      0,
      { uid: uid.trim(), chainId: 31337, block: expect.any(Number) },
    ])
    const second = cli(register)
    expect([second.code, second.err]).toEqual([1, expect.stringContaining('is already registered on chain 31337')])
    const unfunded = cli(['schema', 'register', 'bool poor', '--rpc', rpc(), '--key', `0x${'7'.repeat(64)}`])
    expect([unfunded.code, unfunded.err]).toEqual([3, expect.stringMatching(/not registered: .*(funds|balance|gas)/i)])
  })

  it('verifies a response against the chain until its nonce is used', async () => {
    const answer = cli(['compute', 'distance', '2,48', '3,48', '--chain-id', '31337', '--json'])
    expect([answer.code, answer.err]).toEqual([0, ''])
    const verify = ['verify', '-', '--issuer', String(service.facts['url']), '--rpc', rpc()]
    const freshVerdict = cli(verify, answer.out)
    expect([freshVerdict.code, freshVerdict.out]).toEqual([0, expect.stringContaining('✓ simulation')])
    const { attestation, delegatedAttestation } = JSON.parse(answer.out)
    const { signature, attester, deadline } = delegatedAttestation
    const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)]
    const { schema, recipient, data, refUID } = attestation
    const inner = { recipient, expirationTime: 0n, revocable: true, refUID, data, value: 0n }
    const account = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
    const request = { schema, data: inner, signature: { v, r, s }, attester, deadline: BigInt(deadline) }
    await service.send(account, 'attestByDelegation', [request])
    const used = cli(verify, answer.out)
    expect([used.code, used.out]).toEqual([1, expect.stringContaining('✗ nonce')])
  })

  it('computes with a location attestation, by its UID', async () => {
    const uid = await service.attest('0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', 2, 48)
    const run = cli(['compute', 'distance', uid, '2,49', '--chain-id', '31337', '--json'])
    expect([run.code, JSON.parse(run.out).inputRefs[0]]).toEqual([0, uid])
  })

  it('reads the chain to its head and reports progress', () => {
    const run = cli(['sync', 'local'])
    expect([run.code, run.out]).toEqual([
      0,
      expect.stringMatching(/^local +block \d+ of \d+ \(0 behind\), \d+ records\n/),
    ])
    expect(run.err).toMatch(/█/)
    const status = JSON.parse(cli(['sync', '--status', '--json']).out)
    expect(status.chains.local.lagBlocks).toBe(0)
    expect(cli(['sync', 'nowhere'])).toMatchObject({ code: 2, err: expect.stringContaining('chain') })
    expect(cli(['sync', '--revocations']).code).toBe(0)
    expect(cli(['sync', '--worker', 'stop']).code).toBe(0)
    expect(cli(['sync', '--worker', 'start', '--json'])).toMatchObject({
      code: 0,
      out: expect.stringContaining('"status":"success"'),
    })
  })

  it('passes contracts, schemas and clock in the doctor, and fails a wrong contract', () => {
    const env = { RPC_URL_31337: rpc() }
    const { checks } = JSON.parse(cli(['doctor', '--json'], '', env).out)
    const of = (id: string) => checks.find((check: { id: string }) => check.id === id)
    for (const id of ['rpc', 'contracts', 'schemas', 'clock']) expect(of(id)).toMatchObject({ id, status: 'ok' })
    expect(of('contracts').detail).toMatch(/EAS 1\.2\.0 \(v1\) at 0x4200000000000000000000000000000000000021, nonce \d/)
    const wrong = cli(['doctor'], '', { ...env, EAS_VERSION_31337: '1.3.0' })
    expect([wrong.code, wrong.out]).toEqual([
      1,
      expect.stringMatching(/FAIL contracts .*is not EAS 1\.3\.0\n *→ set EAS_ADDRESS_31337/),
    ])
    const other = cli(['doctor'], '', { RPC_URL_84532: rpc() })
    expect([other.code, other.out]).toEqual([1, expect.stringContaining('serves chain 31337, not 84532')])
  })
})
