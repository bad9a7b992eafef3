import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { encodeAbiParameters, keccak256, parseAbiParameters, toHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { chainTable } from '../../src/attest/chains.ts'
import { decodeLocation } from '../../src/attest/data.ts'
import { SCHEMA_STRINGS, schemaUids } from '../../src/attest/schemas.ts'
import { readConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/setting.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Keccak } from '../../src/crypto/primitives.ts'
import { ChainAccess } from '../../src/sync/chain-access.ts'
import { HttpRpc } from '../../src/sync/rpc.ts'
import type { ChainState, Hex } from '../../src/wire/values.ts'
import { EAS_CHAINS, EAS_VERSIONS, type EasVersion, type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const uids = schemaUids(readConfig({}, 1))
const ATTESTER: Hex = '0x00112233445566778899aabbccddeeff00112233'
const UNKNOWN: Hex = `0x${'ab'.repeat(32)}`
const DEAD = 'http://127.0.0.1:1'

const LOCATION = encodeAbiParameters(parseAbiParameters(SCHEMA_STRINGS.location), [
  1_700_000_000n,
  'EPSG:4326',
  'geojson-point',
  '{"type":"Point","coordinates":[2.2945,48.8584]}',
  ['gps', 'ünïcödé'],
  ['0x', '0x010203'],
  ['image/jpeg'],
  [''],
  '',
])

describe.skipIf(skipReason())('chain access', () => {
  const locals = new Map<EasVersion, LocalChain>()
  let keccak: Keccak
  let local: LocalChain
  let states: ChainState[]
  const servers: Server[] = []

  beforeAll(async () => {
    keccak = await createKeccak()
    for (const version of EAS_VERSIONS) locals.set(version, await startLocalChain(version))
    local = locals.get('1.2.0')!
  })
  afterEach(() => {
    for (const server of servers.splice(0)) server.closeAllConnections()
  })
  afterAll(() => Promise.all([...locals.values()].map((chain) => chain.stop())))

  function access(environment: Environment, chainId: number, options: { timeoutMs?: number } = {}): ChainAccess {
    states = []
    const chain = chainTable(readConfig(environment, 1)).get(chainId)!
    return new ChainAccess({
      chain,
      rpcs: chain.rpcUrls.map(
        (url) => new HttpRpc({ url, timeoutMs: options.timeoutMs ?? 2000, maxResponseBytes: 100_000 }),
      ),
      keccak,
      nowSeconds: () => Math.floor(Date.now() / 1000),
      maxHeadAheadSeconds: 300,
      onState: (state) => states.push(state),
    })
  }

  /** Starts a node that lies: `change` receives each request and the true response. */
  async function startLyingEndpoint(
    change: (method: string, params: unknown[], result: unknown) => unknown,
  ): Promise<string> {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', async () => {
        const { method, params } = JSON.parse(body)
        const truth = await fetch(local.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        const reply = (await truth.json()) as { result?: unknown }
        response.end(JSON.stringify({ ...reply, result: change(method, params, reply.result) }))
      })
    })
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  const selector = (signature: string) => keccak256(toHex(signature)).slice(0, 10)
  const isCall = (params: unknown[], signature: string) =>
    (params[0] as { data?: string } | undefined)?.data?.startsWith(selector(signature)) === true

  it.each(EAS_VERSIONS)('accepts EAS %s under its own profile and rejects it under every other', async (version) => {
    const chainId = EAS_CHAINS[version]
    const { environment } = locals.get(version)!
    for (const claimed of ['0.26', '1.0.1', '1.2.0', '1.3.0', '1.4.0']) {
      const chain = access({ ...environment, [`EAS_VERSION_${chainId}`]: claimed }, chainId)
      await chain.check()
      expect([claimed, chain.state.state]).toEqual([claimed, claimed === version ? 'ok' : 'refused'])
      expect((await chain.nonce(ATTESTER)).ok).toBe(claimed === version)
    }
  })

  it('reports which layout or domain differs, and reads nothing', async () => {
    const layout = access({ ...local.environment, EAS_VERSION_84532: '1.3.0' }, 84532)
    expect(await layout.nonce(ATTESTER)).toEqual({ ok: false, refusalReason: expect.stringContaining('profile v2') })
    const domain = access({ ...local.environment, EAS_VERSION_84532: '1.2.1' }, 84532)
    await expect(domain.attestation(UNKNOWN)).rejects.toThrow(/version 1\.2\.1/)
    expect(states).toEqual([{ state: 'refused', reason: expect.stringContaining('EIP-712 domain') }])
  })

  it('rejects an RPC of another chain, and an address without the contract', async () => {
    const wrongChain = access({ RPC_URL_84532: locals.get('1.3.0')!.url }, 84532)
    expect(await wrongChain.nonce(ATTESTER)).toEqual({
      ok: false,
      refusalReason: expect.stringContaining('serves chain 42220'),
    })
    const noContract = access({ ...local.environment, EAS_ADDRESS_84532: ATTESTER }, 84532)
    expect(await noContract.nonce(ATTESTER)).toEqual({
      ok: false,
      refusalReason: expect.stringContaining('no contract'),
    })
    // The registry is a contract, but not EAS.
    const registry = access({ ...local.environment, EAS_ADDRESS_84532: local.chain.schemaRegistryAddress }, 84532)
    expect((await registry.nonce(ATTESTER)).ok).toBe(false)
    expect(registry.state.state).toBe('refused')
  })

  it('rejects the chain when any of its endpoints serves another chain', async () => {
    const chain = access({ RPC_URL_84532: `${local.url},${locals.get('0.26')!.url}` }, 84532)
    await chain.check()
    expect(chain.state).toMatchObject({ state: 'refused' })
  })

  it('uses the next endpoint when one is down, and remembers which one answered', async () => {
    const chain = access({ RPC_URL_84532: `${DEAD},${local.url}` }, 84532)
    expect(await chain.nonce(ATTESTER)).toEqual({ ok: true, nonce: 0 })
    expect(chain.state).toEqual({ state: 'ok' })
    expect(states.at(-1)).toEqual({ state: 'ok' })
  })

  it('stays unverified, not rejected, while no endpoint answers, and recovers', async () => {
    let isDown = true
    const url = await startLyingEndpoint((_method, _params, result) => (isDown ? undefined : result))
    const chain = access({ RPC_URL_84532: url }, 84532)
    await chain.check()
    expect(chain.state.state).toBe('unverified')
    expect(await chain.nonce(ATTESTER)).toEqual({ ok: false, refusalReason: undefined })
    isDown = false
    expect(await chain.nonce(ATTESTER)).toEqual({ ok: true, nonce: 0 })
    expect(chain.state.state).toBe('ok')
  })

  it('gives up on an endpoint that does not answer in time or sends too much', async () => {
    const silent = createServer(() => {})
    const flood = createServer((_request, response) => {
      response.write(`{"jsonrpc":"2.0","id":1,"result":"0x${'00'.repeat(200_000)}`)
    })
    servers.push(silent, flood)
    for (const server of [silent, flood]) {
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/key-of-the-operator`
      const rpc = new HttpRpc({ url, timeoutMs: 200, maxResponseBytes: 100_000 })
      const error = await rpc.request('eth_chainId', []).catch((reason: Error) => reason)
      expect(String(error)).toMatch(server === silent ? /no response within 200 ms/ : /exceeds 100000 bytes/)
      expect(String(error)).not.toContain('key-of-the-operator')
    }
  })

  it('reads a location attestation, revoked or not, and distinguishes an unknown UID from an unreachable chain', async () => {
    for (const version of EAS_VERSIONS) {
      const one = locals.get(version)!
      const chain = access(one.environment, one.chain.id)
      const uid = await one.attest(uids.location, LOCATION)
      const found = await chain.attestation(uid)
      expect(found).toMatchObject({
        uid,
        schema: uids.location,
        revocationTimeSeconds: 0,
        attester: one.submitter.toLowerCase(),
      })
      const location = decodeLocation(found!.data, 'nine-fields')
      expect(location.ok && location.value).toMatchObject({
        location: '{"type":"Point","coordinates":[2.2945,48.8584]}',
        recipeType: ['gps', 'ünïcödé'],
        recipePayload: ['0x', '0x010203'],
      })
      await one.revoke(uids.location, uid)
      expect((await chain.attestation(uid))!.revocationTimeSeconds).toBeGreaterThan(1_700_000_000)
      expect(await chain.attestation(UNKNOWN)).toBeUndefined()
    }
    await expect(access({ RPC_URL_84532: DEAD }, 84532).attestation(UNKNOWN)).rejects.toThrow('no connection')
  })

  it('reads the string of a schema, and nothing for an unregistered one', async () => {
    const chain = access(local.environment, 84532)
    expect(await chain.schemaString(uids.numeric)).toBe(SCHEMA_STRINGS.numeric)
    expect(await chain.schemaString(UNKNOWN)).toBeUndefined()
  })

  it('rejects an attestation or schema whose fields do not hash to the requested UID', async () => {
    const uid = await local.attest(uids.location, LOCATION)
    const flipAt = (position: number) =>
      startLyingEndpoint((_method, params, result) => {
        const isRead = isCall(params, 'getAttestation(bytes32)') || isCall(params, 'getSchema(bytes32)')
        if (!isRead || typeof result !== 'string') return result
        const at = position < 0 ? result.length + position : position
        return `${result.slice(0, at)}${((Number.parseInt(result[at]!, 16) + 1) % 16).toString(16)}${result.slice(at + 1)}`
      })
    // The last digit of each of the words uid, schema, time, expiration, refUID, recipient, attester, and of the data.
    for (const word of [1, 2, 3, 4, 6, 7, 8, 12, 14, 25]) {
      const chain = access({ RPC_URL_84532: await flipAt(2 + word * 64 + 63) }, 84532)
      await expect(chain.attestation(uid), `word ${word}`).rejects.toThrow()
    }
    const registry = access({ RPC_URL_84532: await flipAt(2 + 6 * 64 + 9) }, 84532)
    await expect(registry.schemaString(uids.numeric)).rejects.toThrow(/not the requested schema/)
  })

  it('rejects an impossible nonce', async () => {
    const url = await startLyingEndpoint((_method, params, result) =>
      isCall(params, 'getNonce(address)') ? `0x${'f'.repeat(64)}` : result,
    )
    expect(await access({ RPC_URL_84532: url }, 84532).nonce(ATTESTER)).toEqual({
      ok: false,
      refusalReason: undefined,
    })
  })

  it('rejects a chain whose head is more than five minutes ahead of our clock', async () => {
    const url = await startLyingEndpoint((method, _params, result) => {
      if (method !== 'eth_getBlockByNumber') return result
      return { ...(result as object), timestamp: toHex(Math.floor(Date.now() / 1000) + 310) }
    })
    const chain = access({ RPC_URL_84532: url }, 84532)
    expect(await chain.nonce(ATTESTER)).toEqual({
      ok: false,
      refusalReason: expect.stringContaining('ahead of the clock'),
    })
    // A head in the past is harmless: a quiet chain has an old head.
    const laggingUrl = await startLyingEndpoint((method, _params, result) =>
      method === 'eth_getBlockByNumber' ? { ...(result as object), timestamp: '0x1' } : result,
    )
    expect((await access({ RPC_URL_84532: laggingUrl }, 84532).nonce(ATTESTER)).ok).toBe(true)
  })
})
