import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { BatchOperation } from '../../src/client/batch.ts'
import { ApiError, type Client, createClient, type Verdict, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import type { EvidenceProof, LocationStamp } from '../../src/types/generated.ts'
import { eventually } from '../eventually.ts'
import { proofOf, stampOf } from '../evidence.ts'
import { EIFFEL_TOWER, SQUARE, TOWN_HALL } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { startTestService, type TestService } from '../service.ts'

const LINE = { type: 'LineString', coordinates: [EIFFEL_TOWER.coordinates, TOWN_HALL.coordinates] } as never
const NOTHING = { type: 'GeometryCollection', geometries: [] } as never
const recompute = createRecompute()
const catchError = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('was not refused'),
    (error: unknown) => {
      if (error instanceof ApiError) return error
      throw error
    },
  )
const failures = ({ checks }: Verdict) => checks.filter(({ status }) => status === 'fail')

describe.each(ADAPTERS)('the client over %s', (adapter) => {
  let service: TestService
  let client: Client
  beforeAll(async () => {
    service = await startTestService({
      HTTP_ADAPTER: adapter,
      RECORDS: '1',
      SAMPLE_RECORDS: '1',
      RATE_LIMIT_DEVELOPER: '1000000',
    })
    client = createClient({ baseUrl: `${service.url}/`, chainId: 84532, apiKey: service.developerKey })
    // The store opens after the service starts to listen. Until then it answers 503 with Retry-After, and the client waits.
    expect(await client.ready({ maxRetries: 50 })).toMatchObject({ status: 'ready' })
    // The sample records are stored after that too.
    await eventually(async () => expect((await client.records.stats()).total).toBe(5000))
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
  })

  it('requests each operation, and each response verifies, recomputed', async () => {
    const issuer = await client.issuer()
    expect(issuer.address).toBe(service.attester)
    const feature = { type: 'Feature', properties: null, geometry: EIFFEL_TOWER } as never
    const { compute } = client
    const requests = [
      [await compute.distance(feature, TOWN_HALL), [feature, TOWN_HALL], 4238.77],
      [await compute.area(SQUARE), [SQUARE], expect.any(Number)],
      [await compute.length(LINE), [LINE], 4238.77],
      [await compute.contains(SQUARE, EIFFEL_TOWER), [SQUARE, EIFFEL_TOWER], true],
      [await compute.within(EIFFEL_TOWER, TOWN_HALL, 4238.76), [EIFFEL_TOWER, TOWN_HALL], false],
      [await compute.intersects(SQUARE, LINE, { resultSignature: true }), [SQUARE, LINE], true],
      [await compute.relate(SQUARE, LINE, 'T********'), [SQUARE, LINE], true],
      [await compute.equals(LINE, LINE), [LINE, LINE], true],
      [await compute.disjoint(SQUARE, NOTHING), [SQUARE, NOTHING], true],
      [await compute.touches(SQUARE, LINE), [SQUARE, LINE], false],
      [await compute.crosses(LINE, SQUARE), [LINE, SQUARE], false],
      [await compute.overlaps(SQUARE, SQUARE), [SQUARE, SQUARE], false],
      [await compute.covers(SQUARE, LINE), [SQUARE, LINE], true],
      [await compute.coveredBy(LINE, SQUARE), [LINE, SQUARE], true],
    ] as const
    for (const [response, inputs, result] of requests) {
      expect(response.result).toEqual(result)
      const verdict = await verifyResult(response, { issuer, chainId: 84532, inputs: [...inputs], recompute })
      expect(failures(verdict)).toEqual([])
      expect(verdict).toMatchObject({ ok: true, signer: service.attester })
      expect(verdict.checks.find(({ id }) => id === 'recomputed')?.status).toBe('pass')
    }
    expect(requests[5][0].resultSignature).toBeDefined()
  })

  it('gets a matrix, which is not signed', async () => {
    const response = await client.compute.matrix(SQUARE, LINE)
    expect(response).toMatchObject({ matrix: '102FF1FF2', operation: 'relate', inputRefs: { length: 2 } })
    expect(response).not.toHaveProperty('attestation')
  })

  it('has a response signed again', async () => {
    const response = await client.compute.distance(EIFFEL_TOWER, TOWN_HALL)
    const again = await client.compute.resign(response)
    expect((await verifyResult({ ...response, ...again }, { attester: service.attester })).ok).toBe(true)
  })

  it('throws the problem of an error response', async () => {
    const error = await catchError(client.compute.area(EIFFEL_TOWER))
    expect(error.status).toBe(400)
    expect(error.problem).toMatchObject({
      title: 'Invalid Input',
      errors: [{ pointer: '#/geometry', code: 'wrong-geometry-type' }],
    })
    const uid = `0x${'1'.repeat(64)}`
    expect((await catchError(client.compute.distance(uid, EIFFEL_TOWER))).problem.detail).toContain('from')
    expect((await catchError(client.records.get(uid))).problem).toMatchObject({
      title: 'Location record not found',
      status: 404,
    })
    const stranger = createClient({ baseUrl: service.url, apiKey: 'wrong', chainId: 84532 })
    expect((await catchError(stranger.compute.distance(EIFFEL_TOWER, EIFFEL_TOWER))).problem.detail).toBe(
      'Invalid API key',
    )
    expect((await catchError(client.verify.submission('0'.repeat(32)))).status).toBeGreaterThanOrEqual(400)
    expect((await catchError(client.verify.submissionStates('0'.repeat(32)).next())).status).toBe(404)
  })

  it('rejects an impossible request before it is sent', async () => {
    await expect(client.compute.distance('Paris', EIFFEL_TOWER)).rejects.toThrow(/64 hex digits/)
    await expect(client.compute.area({ type: 'FeatureCollection', features: [] } as never)).rejects.toThrow(/one of/)
    await expect(client.compute.area({ type: 'Feature', geometry: null } as never)).rejects.toThrow(/no geometry/)
    await expect(createClient({ baseUrl: service.url }).compute.area(SQUARE)).rejects.toThrow(/chainId/)
    expect(() => createClient({ baseUrl: 'localhost:3000' })).toThrow(/http/)
  })

  it('has stamps and proofs verified, and the signed responses verify', async () => {
    const stamp = stampOf('gpsd') as LocationStamp
    expect(await client.verify.stamp(stamp)).toMatchObject({ valid: true })
    const proof = proofOf([stamp]) as EvidenceProof
    expect(await client.verify.proof(proof)).not.toHaveProperty('attestation')
    const response = await client.verify.proof(proof, { chainId: 84532 })
    const verdict = await verifyResult(JSON.stringify(response), { attester: service.attester })
    expect(failures(verdict)).toEqual([])
    expect(verdict.ok).toBe(true)
    const distance = await client.compute.distance({ verifiedProof: response as never }, TOWN_HALL)
    const inputs = [{ verifiedProof: response as never }, TOWN_HALL]
    const chained = await verifyResult(distance, { attester: service.attester, inputs, recompute })
    expect(failures(chained)).toEqual([])
    expect((await client.verify.plugins()).plugins.map(({ name }) => name)).toContain('gpsd')
  })

  it.each(['each', 'merkle', 'none'] as const)('runs a batch signed %s', async (attest) => {
    const response = await client.batch.run(
      [
        { op: 'distance', id: 'a', from: EIFFEL_TOWER, to: TOWN_HALL },
        { op: 'area', geometry: EIFFEL_TOWER },
        { op: 'contains', container: SQUARE, containee: EIFFEL_TOWER },
      ],
      { attest },
    )
    expect(response).toMatchObject({
      count: 3,
      failed: 1,
      results: [{ id: 'a', result: 4238.77 }, {}, { result: true }],
    })
    const verdict = await verifyResult(response, { attester: service.attester })
    expect(verdict.ok).toBe(attest !== 'none')
    if (attest !== 'merkle') return
    const inputs = [EIFFEL_TOWER, TOWN_HALL]
    const item = await verifyResult(response.results[0], { merkle: response.merkle, inputs, recompute })
    expect(failures(item)).toEqual([])
    expect(item).toMatchObject({ ok: true, signer: service.attester })
  })

  it('streams 10,000 items in order and holds only a few hundred of them', async () => {
    const [count, chunkItems, concurrency] = [10_000, 100, 2]
    let madeCount = 0
    let ahead = 0
    function* items(): Generator<BatchOperation> {
      for (; madeCount < count; ) {
        madeCount++
        yield {
          op: 'distance',
          id: madeCount,
          from: EIFFEL_TOWER,
          to: { type: 'Point', coordinates: [0, madeCount / 1000] },
        }
      }
    }
    let takenCount = 0
    for await (const result of client.batch.stream(items(), { attest: 'none', chunkItems, concurrency })) {
      takenCount++
      if (result.id !== takenCount || typeof result.result !== 'number') throw new Error(JSON.stringify(result))
      ahead = Math.max(ahead, madeCount - takenCount)
    }
    expect(takenCount).toBe(count)
    expect(ahead).toBeLessThanOrEqual(chunkItems * concurrency)
    expect(ahead).toBeGreaterThan(0)
  })

  it('cancels a stream when its reader stops', async () => {
    let madeCount = 0
    async function* endless(): AsyncGenerator<BatchOperation> {
      while (true) yield { op: 'length', id: madeCount++, geometry: LINE }
    }
    for await (const { id } of client.batch.stream(endless(), { attest: 'none', chunkItems: 10 })) {
      if (id === 25) break
    }
    expect(madeCount).toBeLessThan(100)
  })

  it('reads records: a page, one, all, the statistics, and by GraphQL', async () => {
    const { records } = client
    const page = await records.list({ bbox: [-20, 30, 40, 60], limit: 3, offset: 1 })
    expect(page.data).toHaveLength(3)
    const [first] = page.data
    expect(await records.get(first!.uid)).toEqual(first)
    const { total } = await records.stats()
    let count = 0
    for await (const record of records.export({ chain: first!.chain })) {
      expect(record.chain).toBe(first!.chain)
      count++
    }
    expect((await records.list({ chain: first!.chain })).count).toBe(count)
    expect(count).toBeLessThan(total)
    expect((await records.config()).version).toBe('v0')
    const { data } = await records.graphql<{ locationRecords: { count: number } }>(
      'query ($chain: String) { locationRecords(chain: $chain) { count } }',
      { chain: first!.chain },
    )
    expect(data?.locationRecords.count).toBe(count)
  })

  it('waits for changes until its signal is aborted', async () => {
    const controller = new AbortController()
    const changes = client.records.changes({ chain: 'celo' }, { signal: controller.signal })
    const next = changes.next()
    await eventually(async () => {
      const metrics = await (await fetch(`${service.url}/metrics`)).text()
      // The stream, and the request that reads this number.
      expect(metrics).toMatch(/^http_in_flight 2$/m)
    })
    controller.abort(new Error('enough'))
    await expect(next).rejects.toThrow('enough')
  })

  it('reports the state of the service', async () => {
    expect(await client.health()).toMatchObject({ status: 'ok' })
    expect(await client.info()).toMatchObject({ version: 'v0', attester: service.attester })
    expect(await client.ready()).toMatchObject({ status: 'ready' })
    expect((await client.sync.status().catch((error: ApiError) => error.problem)).status).toBeDefined()
  })
})
