import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chainTable } from '../../src/attest/chains.ts'
import { attestTypeHash, domainSeparator } from '../../src/attest/typed-data.ts'
import { readConfig } from '../../src/config/config.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { eventually } from '../eventually.ts'
import { EIFFEL_TOWER, ROME } from '../fixtures.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN = 84532
const OTHER = 8453
const distance = {
  from: EIFFEL_TOWER,
  to: ROME,
}
const item = { op: 'distance', ...distance }

const ANSWERS: Readonly<Record<string, unknown>> = {
  eth_chainId: `0x${CHAIN.toString(16)}`,
  eth_getBlockByNumber: { timestamp: '0x1' },
}
/** An endpoint of the right chain with other contracts: every call returns a hash that is not ours. */
const endpoint = createServer((request, response) => {
  let body = ''
  request.on('data', (piece) => {
    body += piece
  })
  request.on('end', () => {
    const one = ({ id, method }: { id: number; method: string }) => ({
      jsonrpc: '2.0',
      id,
      result: ANSWERS[method] ?? `0x${'ee'.repeat(32)}`,
    })
    const call = JSON.parse(body)
    response.end(JSON.stringify(Array.isArray(call) ? call.map(one) : one(call)))
  })
})

describe('a chain whose contracts turn out to be different', () => {
  let service: TestService
  const batch = async (body: object) => {
    const { status, body: answer } = await service.post('/compute/v0/batch', { chainId: CHAIN, ...body })
    expect(status).toBe(200)
    return answer.results as { result?: number; error?: { detail: string; errors: { pointer: string }[] } }[]
  }
  beforeAll(async () => {
    await new Promise<void>((done) => endpoint.listen(0, '127.0.0.1', done))
    const { port } = endpoint.address() as AddressInfo
    service = await startTestService({ [`RPC_URL_${CHAIN}`]: `http://127.0.0.1:${port}` })
    await eventually(async () => {
      const { status, body } = await service.post('/compute/v0/distance', { chainId: CHAIN, ...distance })
      expect([status, body.detail]).toEqual([400, expect.stringContaining('refused')])
    })
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    endpoint.close()
    endpoint.closeAllConnections()
  })

  it("rejects each of its items in a batch at the item's index, and delays no other batch", async () => {
    for (let count = 0; count < 6; count++) {
      const rejected = await batch({ items: [item, item] })
      expect(rejected.map(({ error }) => error?.errors[0]?.pointer)).toEqual(['#/items/0/chainId', '#/items/1/chainId'])
    }
    const mixed = await batch({
      items: Array.from({ length: 600 }, (_, id) => (id % 2 ? { ...item, chainId: OTHER } : item)),
    })
    for (const [id, { result, error }] of mixed.entries()) {
      expect(result === undefined, String(id)).toBe(id % 2 === 0)
      expect(error?.detail ?? 'refused').toContain('refused')
    }
    expect((await batch({ chainId: OTHER, items: [item] }))[0]!.error).toBeUndefined()
  })
})

describe('an RPC whose responses cannot be true', () => {
  it('is reported as wrong, not as unreachable', async () => {
    const keccak = await createKeccak()
    const chain = chainTable(readConfig({}, 1)).get(CHAIN)!
    const toHex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
    // The right chain and the right contracts, but invalid data under every UID.
    const results = new Map([
      ['0xed24911d', toHex(domainSeparator(chain, keccak))],
      ['0x12b11a17', toHex(attestTypeHash(chain.profile, keccak))],
    ])
    const lyingEndpoint = createServer(async (request, response) => {
      let body = ''
      for await (const piece of request) body += piece
      const { id, method, params } = JSON.parse(body)
      const nowSeconds = Math.floor(Date.now() / 1000)
      const result =
        method === 'eth_chainId'
          ? ANSWERS['eth_chainId']
          : method === 'eth_getBlockByNumber'
            ? { timestamp: `0x${nowSeconds.toString(16)}` }
            : (results.get(params[0].data) ?? `0x${'ee'.repeat(32)}`)
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    await new Promise<void>((done) => lyingEndpoint.listen(0, '127.0.0.1', done))
    const { port } = lyingEndpoint.address() as AddressInfo
    const service = await startTestService({
      [`RPC_URL_${CHAIN}`]: `http://127.0.0.1:${port}`,
      RPC_TIMEOUT_MS: '10000',
    })
    try {
      const body = { chainId: CHAIN, ...distance, from: { uid: `0x${'ab'.repeat(32)}` } }
      const { status, body: problem } = await service.post('/compute/v0/distance', body)
      expect([status, problem.detail]).toEqual([
        500,
        expect.stringMatching(/^the RPC of chain 84532 gives wrong answers \(getAttestation: .*could not be read$/),
      ])
    } finally {
      await service.stop()
      lyingEndpoint.close()
      lyingEndpoint.closeAllConnections()
    }
  })
})
