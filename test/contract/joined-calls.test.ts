import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  ApiError,
  type Client,
  type ClientOptions,
  ConnectionError,
  createClient,
  verifyResult,
} from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import type { ComputeResponse, EvidenceProof, LocationStamp } from '../../src/types/generated.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, RECIPIENT, ROAD, ROME, SQUARE, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { NO_LOCAL_CALLERS, type SharedService, sharedService, startTestService } from '../service.ts'

const CHAIN = 84532
const recompute = createRecompute()

/** A client that counts its requests, by path. */
function countingClient(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const paths: string[] = []
  const bodies: string[] = []
  const client = createClient({
    baseUrl,
    chainId: CHAIN,
    batching: {},
    fetch: (url, init) => {
      paths.push(new URL(String(url)).pathname)
      bodies.push(String(init?.body))
      return fetch(url, init)
    },
    ...options,
  })
  return { client, paths, bodies }
}

const BATCH = '/compute/v0/batch'

describe('a client that joins calls', () => {
  let service: SharedService
  let alone: Client
  beforeAll(async () => {
    service = await sharedService(ADAPTERS[0]!)
    alone = createClient({ baseUrl: service.url, chainId: CHAIN })
  })

  it('gives each call the response of its single request', async () => {
    const { client, paths } = countingClient(service.url)
    const stamp = stampOf('gpsd') as LocationStamp
    const evaluated = await client.verify.proof(proofOf([stamp]) as EvidenceProof, { chainId: CHAIN })
    const verifiedProof = { verifiedProof: evaluated as never }
    const wholeParallel = {
      type: 'Polygon' as const,
      coordinates: [
        [
          [-180, 80] as [number, number],
          [180, 80] as [number, number],
          [180, 85] as [number, number],
          [-180, 85] as [number, number],
          [-180, 80] as [number, number],
        ],
      ],
    }
    paths.length = 0
    const callAll = ({ compute }: Client): Promise<ComputeResponse>[] => [
      compute.distance(EIFFEL_TOWER, TOWN_HALL),
      compute.area(SQUARE, { recipient: RECIPIENT }),
      compute.length(ROAD, { chainId: 8453 }),
      compute.contains(SQUARE, EIFFEL_TOWER),
      compute.within(EIFFEL_TOWER, ROME, 500.25),
      compute.intersects(SQUARE, ROAD),
      compute.distance(verifiedProof, TOWN_HALL),
      compute.area(wholeParallel),
    ]
    const joined = await Promise.all(callAll(client))
    expect(paths).toEqual([BATCH])
    const single = await Promise.all(callAll(alone))
    expect(joined.map(withoutSignature)).toEqual(single.map(withoutSignature))
    expect(joined[6]).toHaveProperty('proofInputs')
    expect(joined[7]).toHaveProperty('notes')
    for (const [index, response] of joined.entries()) {
      const chainId = index === 2 ? 8453 : CHAIN
      const verdict = await verifyResult(response, { attester: service.attester, chainId, recompute })
      expect(verdict.ok, JSON.stringify(verdict.checks)).toBe(true)
    }
  })

  it('gives each call the error of its single request', async () => {
    const { client, paths } = countingClient(service.url)
    const huge = { type: 'Point' as const, coordinates: [2, 48] as [number, number], padding: 'x'.repeat(1_100_000) }
    const callAll = ({ compute }: Client) => [
      compute.area(EIFFEL_TOWER),
      compute.distance(EIFFEL_TOWER, { type: 'Point', coordinates: [48, 2000] }),
      compute.distance(`0x${'1'.repeat(64)}`, EIFFEL_TOWER),
      compute.length(ROAD, { chainId: 424242 }),
      compute.length(ROAD, { schema: '0x12' }),
      compute.length(ROAD, { recipient: '0x12' }),
      compute.within(EIFFEL_TOWER, ROME, -1),
      compute.contains(SQUARE, {} as never),
      compute.intersects(SQUARE, { verifiedProof: {} } as never),
      compute.distance(huge, ROME),
    ]
    const catchAll = (calls: readonly Promise<unknown>[]) =>
      Promise.all(calls.map((call, index) => call.then(() => `call ${index} was not refused`, toPlainError)))
    const [joined, accepted] = await Promise.all([catchAll(callAll(client)), client.compute.distance(ROME, ROME)])
    expect(accepted.result).toBe(0)
    // The body that is too large for a line is sent again as its own request.
    expect(paths).toEqual([BATCH, '/compute/v0/distance'])
    const single = await catchAll(callAll(alone))
    expect(joined).toEqual(single)
    expect(joined[0]).toMatchObject({ status: 400, problem: { instance: '/compute/v0/area' } })
    for (const [index, error] of joined.entries()) expect(error, String(index)).toHaveProperty('status')
  })

  it('joins a call with others only', async () => {
    const { client, paths } = countingClient(service.url)
    await client.compute.distance(EIFFEL_TOWER, TOWN_HALL)
    const signed = client.compute.distance(EIFFEL_TOWER, ROME, { resultSignature: true })
    const [first] = await Promise.all([signed, client.compute.distance(EIFFEL_TOWER, ROME)])
    expect(first.resultSignature).toBeDefined()
    await client.compute.resign(first)
    expect(paths).toEqual([...Array.from({ length: 3 }, () => '/compute/v0/distance'), '/compute/v0/resign'])
    await expect(client.compute.area('Paris')).rejects.toThrow(TypeError)
    expect(paths).toHaveLength(4)
  })

  it('sends at most maxItems calls together, and waits for waitMs', async () => {
    const { client, paths, bodies } = countingClient(service.url, { batching: { waitMs: 300, maxItems: 100 } })
    const count = 250
    const calls = Array.from({ length: count }, async (_, index) => {
      if (index === count - 1) await new Promise((done) => setTimeout(done, 50))
      return client.compute.distance(
        { type: 'Point', coordinates: [index / 10, 0] },
        { type: 'Point', coordinates: [0, 0] },
      )
    })
    const results = (await Promise.all(calls)).map(({ result }) => result)
    expect(paths).toEqual([BATCH, BATCH, BATCH])
    expect(bodies.map((body) => body.trimEnd().split('\n').length)).toEqual([100, 100, 50])
    expect(results).toEqual(results.toSorted((a, b) => a - b))
    expect(results[10]).toBe(111319.49)
  })

  it('throws the rejection of the whole request to each call', async () => {
    const { client, paths } = countingClient(service.url, { apiKey: 'wrong' })
    const errors = await Promise.all(
      [client.compute.area(SQUARE), client.compute.length(ROAD)].map((call) => call.catch((error: ApiError) => error)),
    )
    for (const error of errors) expect(error).toBeInstanceOf(ApiError)
    expect(errors).toMatchObject([
      { status: 401, problem: { detail: 'Invalid API key', instance: '/compute/v0/area' } },
      { status: 401, problem: { detail: 'Invalid API key', instance: '/compute/v0/length' } },
    ])
    expect(paths).toEqual([BATCH])
  })

  it('throws at once when the hourly limit is used up, with the time to wait', async () => {
    const limited = await startTestService({ ...NO_LOCAL_CALLERS, RATE_LIMIT_PUBLIC: '3' })
    const { client, paths } = countingClient(limited.url)
    const calls = Array.from({ length: 6 }, () => client.compute.length(ROAD))
    const settled = await Promise.allSettled(calls)
    expect(settled.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 3 }, () => 'fulfilled'),
      ...Array.from({ length: 3 }, () => 'rejected'),
    ])
    const { reason } = settled[5] as PromiseRejectedResult
    expect(reason).toMatchObject({ status: 429, problem: { title: 'Rate Limited', instance: '/compute/v0/length' } })
    expect(reason.retryAfterSeconds).toBeGreaterThan(3000)
    expect(paths).toEqual([BATCH, BATCH])
    const single = await createClient({ baseUrl: limited.url, chainId: CHAIN }).compute.length(ROAD).catch(toPlainError)
    expect(toPlainError(reason)).toEqual(single)
    await limited.stop()
  })

  it.each([{ maxItems: 0 }, { maxItems: 10_001 }, { maxItems: 1.5 }, { waitMs: -1 }, { waitMs: Number.NaN }])(
    'refuses %j',
    (batching) => {
      expect(() => createClient({ baseUrl: service.url, batching })).toThrow(RangeError)
    },
  )
})

describe('a call that is aborted', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.closeAllConnections()
    server?.close()
  })

  /** A service that reads requests and answers them only when told to. */
  async function startSilentServer() {
    const answers: (() => void)[] = []
    const state = { answers, closed: 0, bodies: [] as string[] }
    server = createServer((request, response) => {
      response.on('close', () => {
        if (!response.writableEnded) state.closed++
      })
      let body = ''
      request.on('data', (piece: Buffer) => {
        body += piece.toString()
      })
      request.on('end', () => {
        state.bodies.push(body)
        const lines = body.trimEnd().split('\n')
        answers.push(() => response.end(lines.map(() => '{"result":1}\n').join('')))
      })
    })
    await new Promise<void>((listening) => server!.listen(0, '127.0.0.1', listening))
    return { state, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

  it('fails by itself; the other calls of the request are answered', async () => {
    const { state, baseUrl } = await startSilentServer()
    const { client } = countingClient(baseUrl)
    const controller = new AbortController()
    const aborted = client.compute.length(ROAD, { signal: controller.signal })
    const other = client.compute.area(SQUARE)
    await eventually(() => expect(state.answers).toHaveLength(1))
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    state.answers[0]!()
    expect(await other).toEqual({ result: 1 })
    expect(state.closed).toBe(0)
  })

  it('is not sent if it was aborted before', async () => {
    const { state, baseUrl } = await startSilentServer()
    const { client } = countingClient(baseUrl, { batching: { waitMs: 20 } })
    const controller = new AbortController()
    const aborted = client.compute.length(ROAD, { signal: controller.signal })
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await expect(client.compute.length(ROAD, { signal: controller.signal })).rejects.toThrow('enough')
    // The same wait goes on for calls that come now.
    const others = [client.compute.area(SQUARE), client.compute.area(SQUARE)]
    await eventually(() => expect(state.answers).toHaveLength(1))
    state.answers[0]!()
    expect(await Promise.all(others)).toEqual([{ result: 1 }, { result: 1 }])
    expect(state.bodies[0]).not.toContain('length')
  })

  it('ends the request when no call waits for it', async () => {
    const { state, baseUrl } = await startSilentServer()
    const { client } = countingClient(baseUrl)
    const controllers = [new AbortController(), new AbortController()]
    const calls = controllers.map(({ signal }) => client.compute.length(ROAD, { signal }))
    const rejections = calls.map((call) => expect(call).rejects.toThrow('enough'))
    await eventually(() => expect(state.answers).toHaveLength(1))
    for (const controller of controllers) controller.abort(new Error('enough'))
    await Promise.all(rejections)
    await eventually(() => expect(state.closed).toBe(1))
  })

  it('has a time limit of its own', async () => {
    const { state, baseUrl } = await startSilentServer()
    const { client } = countingClient(baseUrl)
    const limits = { timeoutMs: 100, maxRetries: 0 }
    const late = [client.compute.length(ROAD, limits), client.compute.length(ROAD, limits)]
    const rejections = late.map((call) => expect(call).rejects.toBeInstanceOf(ConnectionError))
    const others = [client.compute.area(SQUARE), client.compute.area(SQUARE)]
    await Promise.all(rejections)
    await eventually(() => expect(state.answers).toHaveLength(2))
    for (const answer of state.answers) answer()
    expect(await Promise.all(others)).toEqual([{ result: 1 }, { result: 1 }])
  })
})

/** The members that do not depend on the time of the request. */
function withoutSignature(response: ComputeResponse): object {
  const { timestamp, attestation, delegatedAttestation, ...members } = response
  const { data: _, signature: __, ...attested } = attestation
  expect(timestamp).toBeGreaterThan(0)
  expect(Object.keys(delegatedAttestation).sort()).toEqual(['attester', 'deadline', 'nonce', 'signature'])
  return { ...members, attested, nonce: delegatedAttestation.nonce }
}

function toPlainError(error: unknown) {
  if (!(error instanceof ApiError)) throw error
  const { requestId: _, ...problem } = error.problem
  return { status: error.status, problem, message: error.message }
}
