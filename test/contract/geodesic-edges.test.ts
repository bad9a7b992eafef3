import { beforeAll, describe, expect, it } from 'vitest'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Point, Polygon } from '../../src/types/generated.ts'
import { EAST, EIFFEL_TOWER, ROME, SQUARE } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const CHAIN = 84532
/** Its north edge follows the parallel of 50°; the geodesic between the same corners runs up to 12 km north of it. */
const BOX: Polygon = {
  type: 'Polygon',
  coordinates: [
    [
      [0, 49],
      [10, 49],
      [10, 50],
      [0, 50],
      [0, 49],
    ],
  ],
}
const BETWEEN: Point = { type: 'Point', coordinates: [5, 50.05] }
/** In the middle of the geodesic along the south edge of `SQUARE`, to within a nanometre. */
const ON_EDGE: Point = { type: 'Point', coordinates: [2.5, 48.00108814025104] }
const recompute = createRecompute()

describe.each(ADAPTERS)('geodesic edges over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })
  const post = (operation: string, members: object) =>
    service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })

  it('change the answer and the signed name of contains and intersects', async () => {
    const contained = { container: BOX, containee: BETWEEN }
    const met = { geometry1: BOX, geometry2: BETWEEN }
    for (const [operation, members] of [
      ['contains', contained],
      ['intersects', met],
    ] as const) {
      const planar = await post(operation, members)
      expect(planar.body).toMatchObject({ result: false, operation })
      expect(planar.body.notes).toEqual([{ code: 'planar-deviation', meters: 12508 }])
      const { body } = await post(operation, { ...members, edges: 'geodesic' })
      expect(body).toMatchObject({ result: true, operation: `${operation}:geodesic` })
      expect(body).not.toHaveProperty('notes')
      const expectations = { attester: service.attester, chainId: CHAIN, inputs: [BOX, BETWEEN], recompute }
      const verdict = await verifyResult(body, expectations)
      expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
      expect(verdict.checks.find(({ id }) => id === 'recomputed')?.status).toBe('pass')
      expect(verdict.statement).toMatch(/ (contains|intersect).*, with geodesic edges, computed /)
      // Neither reading passes for the other.
      for (const [response, claimed] of [
        [body, operation],
        [planar.body, `${operation}:geodesic`],
      ])
        expect((await verifyResult({ ...response, operation: claimed }, expectations)).ok).toBe(false)
    }
  })

  it('are a problem with the margin where the answer is not certain', async () => {
    const { status, body } = await post('contains', { container: SQUARE, containee: ON_EDGE, edges: 'geodesic' })
    expect(status).toBe(422)
    expect(body).toMatchObject({ title: 'Undecided', status: 422 })
    expect(body.type).toMatch(/\/errors\/undecided$/)
    expect(body.detail).toContain('within the margin of 0.000001 m')
    expect(body.errors[0]).toMatchObject({ code: 'within-margin', hint: expect.stringContaining('vertex') as string })
  })

  it('are rejected where they have no meaning', async () => {
    const unknown = await post('contains', { container: BOX, containee: BETWEEN, edges: 'rhumb' })
    expect([unknown.status, unknown.body.errors[0].pointer]).toEqual([400, '#/edges'])
    const covers = await post('covers', { geometry1: BOX, geometry2: BETWEEN, edges: 'geodesic' })
    expect(covers.status).toBe(400)
    expect(covers.body.errors[0]).toMatchObject({ pointer: '#/edges', code: 'edges-not-supported' })
    // Distances are geodesic anyway.
    expect((await post('distance', { from: BOX, to: BETWEEN, edges: 'geodesic' })).body.result).toBe(0)
    const world = [
      [-180, -60],
      [180, -60],
      [180, 60],
      [-180, 60],
      [-180, -60],
    ]
    const band = { type: 'Polygon', coordinates: [world] }
    const parallel = await post('contains', { container: band, containee: BETWEEN, edges: 'geodesic' })
    expect([parallel.status, parallel.body.errors[0].code]).toEqual([400, 'whole-parallel'])
  })

  it('note nothing where straight edges are within a metre of geodesics', async () => {
    const small = {
      type: 'Polygon',
      coordinates: [
        [
          [2, 48],
          [2.01, 48],
          [2.01, 48.01],
          [2, 48],
        ],
      ],
    }
    expect((await post('contains', { container: small, containee: ROME })).body).not.toHaveProperty('notes')
    expect((await post('covers', { geometry1: SQUARE, geometry2: ROME })).body).not.toHaveProperty('notes')
  })

  const items = [
    { op: 'contains', id: 'a', container: BOX, containee: BETWEEN, edges: 'geodesic' },
    { op: 'contains', id: 'b', container: BOX, containee: BETWEEN },
    { op: 'intersects', id: 'c', geometry1: SQUARE, geometry2: EAST, edges: 'geodesic' },
    { op: 'contains', id: 'd', container: SQUARE, containee: ON_EDGE, edges: 'geodesic' },
  ]
  const operations = ['contains:geodesic', 'contains', 'intersects:geodesic', undefined]
  const statuses = [undefined, undefined, undefined, 422]
  type Result = { result?: boolean; operation?: string; error?: { status: number } }
  const checkResults = (results: readonly Result[]) => {
    expect(results.map(({ operation }) => operation)).toEqual(operations)
    expect(results.map(({ result }) => result)).toEqual([true, false, true, undefined])
    expect(results.map(({ error }) => error?.status)).toEqual(statuses)
  }

  it.each(['each', 'merkle', 'none'])('are in the items of a batch with attest %s', async (attest) => {
    const { body } = await service.post('/compute/v0/batch', { chainId: CHAIN, attest, items })
    checkResults(body.results)
    if (attest !== 'merkle') return
    const keccak = await createKeccak()
    for (const result of body.results.slice(0, 3))
      expect(verifyMerkleProof(result, result.proof, body.merkle.root, keccak)).toBe(true)
  })

  it('are in the lines of a stream', async () => {
    const response = await fetch(`${service.url}/compute/v0/batch?chainId=${CHAIN}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: items.map((item) => `${JSON.stringify(item)}\n`).join(''),
    })
    const lines = (await response.text()).trimEnd().split('\n')
    checkResults(lines.map((line) => JSON.parse(line)))
  })

  it('are an option of the client, also where it joins calls', async () => {
    for (const batching of [undefined, {}]) {
      const { compute } = createClient({ baseUrl: service.url, chainId: CHAIN, ...(batching ? { batching } : {}) })
      const [geodesic, planar, met] = await Promise.all([
        compute.contains(BOX, BETWEEN, { edges: 'geodesic' }),
        compute.contains(BOX, BETWEEN),
        compute.intersects(BOX, EIFFEL_TOWER, { edges: 'geodesic' }),
      ])
      expect([geodesic.result, planar.result, met.operation]).toEqual([true, false, 'intersects:geodesic'])
      await expect(compute.contains(SQUARE, ON_EDGE, { edges: 'geodesic' })).rejects.toMatchObject({ status: 422 })
    }
  })
})
