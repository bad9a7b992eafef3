import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { AttestationReader } from '../../src/sync/eas-attestations.ts'
import { HttpRpc, type RpcClient, RpcError } from '../../src/sync/rpc.ts'
import type { Hex } from '../../src/wire/values.ts'

interface Asked {
  readonly id: number
  readonly method: string
}

describe('an endpoint', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.close()
      server.closeAllConnections()
    }
  })

  /** @param answer returns the response body for a request; with undefined the endpoint never answers */
  async function endpoint(
    answer: (message: Asked | Asked[]) => unknown,
    { maxResponseBytes = 10_000, timeoutMs = 60_000 } = {},
  ): Promise<RpcClient> {
    const server = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk) => {
        body += chunk
      })
      request.on('end', () => {
        const reply = answer(JSON.parse(body))
        if (reply !== undefined) response.end(typeof reply === 'string' ? reply : JSON.stringify(reply))
      })
    })
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    return new HttpRpc({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key`,
      timeoutMs,
      maxResponseBytes,
    })
  }
  const calls = Array.from({ length: 30 }, (_, index) => ({ method: 'eth_call', params: [index] }))
  const reply = ({ id }: Asked) => ({ jsonrpc: '2.0', id, result: `r${id}` })

  it('may answer a batch of calls in any order, some with errors', async () => {
    const rpc = await endpoint((message) =>
      (message as Asked[])
        .map((call) =>
          call.id % 7 === 0 ? { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'no' } } : reply(call),
        )
        .reverse(),
    )
    const results = await rpc.requestAll(calls)
    expect(results.map((result) => (result.ok ? result.value : result.error.code))).toEqual(
      calls.map((_, index) => ((index + 1) % 7 === 0 ? -32000 : `r${index + 1}`)),
    )
  })

  it('that limits our rate does not get the calls one by one instead', async () => {
    let isLimited = true
    let messages = 0
    const rpc = await endpoint((message) => {
      messages++
      if (isLimited)
        return { jsonrpc: '2.0', id: null, error: { code: -32005, message: 'Too Many Requests, rate limit' } }
      return (message as Asked[]).map(reply)
    })
    await expect(rpc.requestAll(calls)).rejects.toMatchObject({ failure: 'status' })
    isLimited = false
    expect(await rpc.requestAll(calls)).toHaveLength(30)
    expect(messages).toBe(2)
  })

  it('may have a name and a password in its address, which errors never show', async () => {
    const authorizations: unknown[] = []
    const server = createServer((request, response) => {
      authorizations.push(request.headers.authorization)
      response.writeHead(authorizations.length > 1 ? 302 : 200, { location: 'http://127.0.0.1:9/elsewhere' })
      response.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    })
    servers.push(server)
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const rpc = new HttpRpc({
      url: `http://m%e:p%40ss@127.0.0.1:${port}/key`,
      timeoutMs: 60_000,
      maxResponseBytes: 1000,
    })
    expect(await rpc.request('eth_chainId', [])).toBe('0x1')
    expect(authorizations).toEqual([`Basic ${Buffer.from('m%e:p@ss').toString('base64')}`])
    // A redirect is not followed: it could lead into our own network, with the password.
    const failure = await rpc.request('eth_chainId', []).catch((error: RpcError) => error)
    expect(failure).toMatchObject({ failure: 'silent', message: 'eth_chainId: no connection' })
    expect(authorizations).toHaveLength(2)
  })

  it('that rejects batches gets the calls one by one', async () => {
    const rpc = await endpoint((message) =>
      Array.isArray(message)
        ? { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'no batches' } }
        : reply(message),
    )
    expect((await rpc.requestAll(calls)).every(({ ok }) => ok)).toBe(true)
  })

  it.each<[string, (message: Asked | Asked[]) => unknown, string]>([
    ['answers only some of the calls', (message) => (message as Asked[]).slice(1).map(reply), 'malformed'],
    ['answers something else', () => '<html>busy</html>', 'malformed'],
    [
      'sends an endless response',
      (message) => (message as Asked[]).map(({ id }) => ({ id, result: 'x'.repeat(1000) })),
      'too-large',
    ],
    ['hangs', () => undefined, 'late'],
  ])('that %s gives an error that does not show its address', async (_, answer, failure) => {
    // An endpoint that never answers is late whatever the limit is.
    const rpc = await endpoint(answer, failure === 'late' ? { timeoutMs: 50 } : {})
    const error = await rpc.requestAll(calls).catch((reason: RpcError) => reason)
    expect(error).toBeInstanceOf(RpcError)
    expect((error as RpcError).failure).toBe(failure)
    expect(JSON.stringify({ ...(error as RpcError), message: (error as RpcError).message })).not.toMatch(
      /secret-key|127\.0\.0\.1/,
    )
  })

  it('with one attestation too large for a response returns the others', async () => {
    const large = 13
    const uids = calls.map((_, index): Hex => `0x${index.toString(16).padStart(64, '0')}`)
    const rpc = await endpoint(answerAttestations)
    function answerAttestations(message: unknown): unknown {
      const one = (call: { id: number; method: string; params: { data: string }[] }) => ({
        jsonrpc: '2.0',
        id: call.id,
        result:
          call.method === 'eth_getCode'
            ? '0x'
            : Number(`0x${call.params[0]!.data.slice(10)}`) === large
              ? `0x${'0'.repeat(20_000)}`
              : `0x${[32, ...Array(9).fill(0), 320, 0].map((word) => word.toString(16).padStart(64, '0')).join('')}`,
      })
      return Array.isArray(message) ? message.map(one) : one(message as never)
    }
    const reader = new AttestationReader({
      source: {
        easAddress: `0x${'42'.repeat(20)}`,
        schemas: new Map([[`0x${'11'.repeat(32)}` as const, 'nine-fields' as const]]),
      },
      keccak: await createKeccak(),
      maxBumps: 4,
    })
    const states = (await reader.read(rpc, uids)).map(({ uid, state }) => [Number(uid), state])
    expect(states).toEqual(uids.map((_, index) => [index, index === large ? 'too-large' : 'missing']))
  })
})
