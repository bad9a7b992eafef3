import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { type LocalChain, skipReason, startLocalChain } from './anvil.ts'

const ROUNDS = 20
const CONCURRENT = 50
const POINTS = { from: { type: 'Point', coordinates: [1, 2] }, to: { type: 'Point', coordinates: [3, 4] } }
const GET_NONCE = '0x2d0335ab'

/** Forwards requests to the chain after a delay, and counts those that read a nonce. */
async function startCountingProxy(target: string, delayMs: number) {
  const count = { nonceReads: 0 }
  const server: Server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (body.includes(GET_NONCE)) {
      count.nonceReads++
      await new Promise((done) => setTimeout(done, delayMs))
    }
    const answer = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return { count, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close: () => server.close() }
}

describe.skipIf(skipReason())('nonces with the default age', () => {
  let local: LocalChain
  let proxy: Awaited<ReturnType<typeof startCountingProxy>>
  let service: TestService

  beforeAll(async () => {
    local = await startLocalChain('1.2.0')
    proxy = await startCountingProxy(local.url, 20)
    service = await startTestService({ [`RPC_URL_${local.chain.id}`]: proxy.url, RPC_TIMEOUT_MS: '10000' })
  })
  afterAll(async () => {
    await service?.stop()
    proxy?.close()
    await local?.stop()
  })

  const compute = () => service.post('/compute/v0/distance', { chainId: local.chain.id, ...POINTS })

  async function submitOneAfterAnother(): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const { status, headers, body } = await compute()
      expect(status, JSON.stringify(body)).toBe(200)
      expect(headers.get('x-attester-nonce-source')).toBeNull()
      // `submitAnswer` waits for the receipt and throws when the contract rejects the response.
      expect(await local.submitAnswer(body)).toMatchObject({ data: body.attestation.data })
    }
  }

  it(
    `gets ${ROUNDS} of ${ROUNDS} results accepted when each is submitted before the next request`,
    submitOneAfterAnother,
  )

  it('gets them accepted after they were signed again', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [used, unused] = await Promise.all([compute(), compute()])
      await local.submitAnswer(used.body)
      const again = await service.post('/compute/v0/resign', { ...unused.body, chainId: local.chain.id })
      expect(again.status, JSON.stringify(again.body)).toBe(200)
      await local.submitAnswer(again.body)
    }
  })

  it('gets consecutive items of batches accepted, one batch after another', async () => {
    for (let round = 0; round < 5; round++) {
      const items = [
        { op: 'distance', ...POINTS },
        { op: 'distance', ...POINTS },
      ]
      const { status, body } = await service.post('/compute/v0/batch', {
        chainId: local.chain.id,
        sequence: 'consecutive',
        items,
      })
      expect(status, JSON.stringify(body)).toBe(200)
      expect(await local.submitGroups(body.multi)).toHaveLength(2)
    }
  })

  it(`shares reads among ${CONCURRENT} concurrent requests`, async () => {
    const before = proxy.count.nonceReads
    const answers = await Promise.all(Array.from({ length: CONCURRENT }, compute))
    expect(answers.map(({ headers }) => headers.get('x-attester-nonce-source'))).toEqual(Array(CONCURRENT).fill(null))
    expect(proxy.count.nonceReads - before).toBeLessThan(CONCURRENT / 4)
  })

  it(`gets ${ROUNDS} of ${ROUNDS} results accepted on a chain with a block every second`, async () => {
    await local.client.request({ method: 'evm_setIntervalMining', params: [1] } as never)
    await submitOneAfterAnother()
  })
})
