import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { startTestService, type TestService } from '../service.ts'

const CHAIN = 84532
const OTHER = 8453
const distance = {
  from: { type: 'Point', coordinates: [2.2945, 48.8584] },
  to: { type: 'Point', coordinates: [12.4964, 41.9028] },
}
const item = { op: 'distance', ...distance }

const ANSWERS: Readonly<Record<string, unknown>> = {
  eth_chainId: `0x${CHAIN.toString(16)}`,
  eth_getBlockByNumber: { timestamp: '0x1' },
}
/** An endpoint of the right chain whose contracts are others: every call gives a hash that is none of ours. */
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
    const asked = JSON.parse(body)
    response.end(JSON.stringify(Array.isArray(asked) ? asked.map(one) : one(asked)))
  })
})

describe('a chain whose contracts turn out to be others', () => {
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

  it('refuses each item of a batch for it in its place, and holds up no other batch', async () => {
    for (let count = 0; count < 6; count++) {
      const refused = await batch({ items: [item, item] })
      expect(refused.map(({ error }) => error?.errors[0]?.pointer)).toEqual(['#/items/0/chainId', '#/items/1/chainId'])
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
