import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { recoverTypedDataAddress } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { encodeBoolean } from '../../src/attest/encode.ts'
import { schemaUids } from '../../src/attest/schemas.ts'
import { createLog } from '../../src/base/log.ts'
import { readConfig } from '../../src/config/config.ts'
import { ConfigError, type Environment } from '../../src/config/setting.ts'
import { type SignerClient, startSigner } from '../../src/threads/signer-client.ts'
import type { Answer, Call } from '../../src/wire/request-port.ts'
import type { AttestationPayload } from '../../src/wire/signing-messages.ts'
import type { Hex } from '../../src/wire/values.ts'

// The first account of "test test … junk", which every development chain has.
const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const MNEMONIC = 'test test test test test test test test test test test junk'

const payload: AttestationPayload = {
  kind: 'boolean',
  chainId: 84532,
  schema: schemaUids(readConfig({}, 2)).boolean,
  recipient: `0x${'0'.repeat(40)}`,
  data: encodeBoolean(true, [], 1_700_000_000, 'contains'),
}

let dataDir: string
let lines: string[]
let clients: SignerClient[]
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'trigpoint-signer-'))
  lines = []
  clients = []
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()))
  rmSync(dataDir, { recursive: true, force: true })
  for (const name of ['SIGNER_PRIVATE_KEY', 'SIGNER_MNEMONIC']) delete process.env[name]
})

async function start(environment: Environment = {}): Promise<SignerClient> {
  const config = readConfig({ DATA_DIR: dataDir, ...environment }, 2)
  const client = await startSigner(
    config,
    createLog('json', (line) => lines.push(line)),
  )
  clients.push(client)
  return client
}

async function recover(signature: Hex, nonce: number, deadlineSeconds: number): Promise<string> {
  const type = (text: string) =>
    text.split(',').map((field) => ({ type: field.split(' ')[0]!, name: field.split(' ')[1]! }))
  return recoverTypedDataAddress({
    domain: {
      name: 'EAS',
      version: '1.2.0',
      chainId: 84532,
      verifyingContract: '0x4200000000000000000000000000000000000021',
    },
    types: {
      Attest: type(
        'bytes32 schema,address recipient,uint64 expirationTime,bool revocable,bytes32 refUID,bytes data,uint256 value,uint256 nonce,uint64 deadline',
      ),
    },
    primaryType: 'Attest',
    message: {
      ...payload,
      expirationTime: 0n,
      revocable: true,
      refUID: `0x${'0'.repeat(64)}`,
      value: 0n,
      nonce: BigInt(nonce),
      deadline: BigInt(deadlineSeconds),
    },
    signature,
  })
}

describe('the signer thread', () => {
  it('signs with a key from the environment and removes it from there', async () => {
    process.env['SIGNER_PRIVATE_KEY'] = KEY
    const client = await start()
    expect(process.env['SIGNER_PRIVATE_KEY']).toBeUndefined()
    expect(client).toMatchObject({ address: ADDRESS, keyKind: 'private-key', isReady: true })
    const before = Math.floor(Date.now() / 1000)
    const signed = await client.sign(payload)
    if (!signed.ok) throw new Error(signed.problem.detail)
    expect(signed).toMatchObject({ nonce: 0, nonceSource: 'default' })
    expect(signed.deadlineSeconds).toBeGreaterThanOrEqual(before + 3600)
    expect(signed.deadlineSeconds).toBeLessThanOrEqual(before + 3610)
    expect(await recover(signed.signature, signed.nonce, signed.deadlineSeconds)).toBe(ADDRESS)
  })

  it('derives the key of a mnemonic', async () => {
    process.env['SIGNER_MNEMONIC'] = MNEMONIC
    const client = await start()
    expect(client).toMatchObject({ address: ADDRESS, keyKind: 'mnemonic' })
    expect(process.env['SIGNER_MNEMONIC']).toBeUndefined()
  })

  it('creates a development key once, readable only by its owner, and reuses it', async () => {
    const first = await start()
    const file = join(dataDir, 'dev-signer.json')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const { purpose, privateKey } = JSON.parse(readFileSync(file, 'utf8'))
    expect(purpose).toBe('DEVELOPMENT ONLY')
    expect(privateKeyToAddress(privateKey)).toBe(first.address)
    const second = await start()
    expect(second).toMatchObject({ address: first.address, keyKind: 'development' })
  })

  it('refuses a generated key in production and names the settings to change', async () => {
    const failedStart = start({ NODE_ENV: 'production' })
    await expect(failedStart).rejects.toThrow(ConfigError)
    await expect(failedStart).rejects.toThrow(/SIGNER_PRIVATE_KEY.*ALLOW_DEV_KEY=1/)
    expect((await start({ NODE_ENV: 'production', ALLOW_DEV_KEY: '1' })).keyKind).toBe('development')
  })

  it('names the setting of an invalid key and never shows the key', async () => {
    const secret = `0x${'f'.repeat(64)}` // beyond the order of the group
    process.env['SIGNER_PRIVATE_KEY'] = secret
    const error = await start().catch((reason: Error) => reason)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toMatch(/SIGNER_PRIVATE_KEY/)
    expect(String(error)).not.toContain('ffff')
    process.env['SIGNER_MNEMONIC'] = 'word word word'
    const words = await start().catch((reason: Error) => reason)
    expect(String(words)).toMatch(/SIGNER_MNEMONIC/)
    expect(String(words)).not.toContain('word word')
  })

  it('signs a thousand concurrent payloads, each with its own signature', async () => {
    const client = await start()
    const results = await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        client.sign({ ...payload, data: encodeBoolean(true, [], 1_700_000_000 + index, 'contains') }),
      ),
    )
    expect(results.every(({ ok }) => ok)).toBe(true)
    expect(new Set(results.map((result) => result.ok && result.signature)).size).toBe(1000)
  })

  it('rejects payloads that it cannot vouch for and still signs the next one', async () => {
    const client = await start()
    const { numeric } = schemaUids(readConfig({}, 2))
    const [wrongSchema, wrongChain, wrongData, right] = await Promise.all([
      client.sign({ ...payload, schema: numeric }),
      client.sign({ ...payload, chainId: 1 }),
      client.sign({ ...payload, data: `${payload.data}00` }),
      client.sign(payload),
    ])
    expect(wrongSchema).toMatchObject({ ok: false, problem: { type: 'invalid-input' } })
    expect(wrongChain).toMatchObject({ ok: false, problem: { type: 'invalid-input' } })
    expect(wrongData).toMatchObject({ ok: false, problem: { type: 'internal' } })
    expect(right).toMatchObject({ ok: true })
  })

  it('reads nonces over its message port to the chain thread, without delaying other payloads', async () => {
    const client = await start({ RPC_URL_84532: 'http://127.0.0.1:1', RPC_TIMEOUT_MS: '60000' })
    const { port1, port2 } = new MessageChannel()
    client.connectNonces(() => port1)
    const nonceRequest = new Promise<Call>((resolve) => port2.once('message', resolve))
    const waiting = client.sign(payload)
    // Another chain has no RPC: its payload is signed while the first one still waits.
    expect(await client.sign({ ...payload, chainId: 8453 })).toMatchObject({ ok: true, nonceSource: 'default' })
    const { id, operation, argument } = await nonceRequest
    expect(operation).toBe('nonce')
    expect(argument).toEqual({ chainId: 84532, attester: client.address.toLowerCase() })
    port2.postMessage({ type: 'result', id, value: { ok: true, nonce: 7 } } satisfies Answer)
    const signed = await waiting
    if (!signed.ok) throw new Error(signed.problem.detail)
    expect(signed).toMatchObject({ nonce: 7, nonceSource: 'chain' })
    expect(await recover(signed.signature, 7, signed.deadlineSeconds)).toBe(client.address)
    port2.close()
  })

  it('signs with nonce 0 in bounded time when the chain thread does not reply', async () => {
    const client = await start({ RPC_URL_84532: 'http://127.0.0.1:1', RPC_TIMEOUT_MS: '100' })
    const { port1, port2 } = new MessageChannel()
    client.connectNonces(() => port1)
    expect(await client.sign(payload)).toMatchObject({ ok: true, nonce: 0, nonceSource: 'default' })
    port2.close()
  })
})
