import { beforeAll, describe, expect, it } from 'vitest'
import { verifyMerkleProof } from '../../src/attest/merkle-proof.ts'
import { createClient, verifyResult } from '../../src/client/client.ts'
import { createRecompute } from '../../src/client/recompute.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import { EIFFEL_TOWER } from '../fixtures.ts'
import { ADAPTERS } from '../running-http-server.ts'
import { type SharedService, sharedService } from '../service.ts'

const CHAIN = 84532
const NOTES = [{ code: 'full-parallel' }]
const box = (south: number, north: number) => ({
  type: 'Polygon' as const,
  coordinates: [
    [
      [-180, south],
      [180, south],
      [180, north],
      [-180, north],
      [-180, south],
    ] as [number, number][],
  ],
})
const square = {
  type: 'Polygon',
  coordinates: [
    [
      [2, 48],
      [3, 48],
      [3, 49],
      [2, 48],
    ],
  ],
}

describe.each(ADAPTERS)('notes in responses over %s', (adapter) => {
  let service: SharedService
  beforeAll(async () => {
    service = await sharedService(adapter)
  })
  const post = (operation: string, members: object) =>
    service.post(`/compute/v0/${operation}`, { chainId: CHAIN, ...members })

  it('report that an edge was read as a whole parallel, and are otherwise absent', async () => {
    const world = await post('area', { geometry: box(-90, 90) })
    expect(world.status).toBe(200)
    expect(world.body).toMatchObject({ result: 510_065_621_724_088.5, notes: NOTES })
    const far = await post('distance', { from: EIFFEL_TOWER, to: box(-60, 40) })
    // The meridian from 48.8584 to 40 by geographiclib-geodesic 2.2.0: 984,351.49728 m.
    expect(far.body).toMatchObject({ result: 984_351.5, notes: NOTES })
    for (const [container, containee, result] of [
      [box(40, 90), EIFFEL_TOWER, true],
      [EIFFEL_TOWER, box(40, 90), false],
      [box(40, 90), box(45, 50), true],
    ]) {
      const containment = await post('contains', { container, containee })
      expect(containment.body).toMatchObject({ result, notes: NOTES })
      const intersection = await post('intersects', { geometry1: container, geometry2: containee })
      expect(intersection.body).toMatchObject({ result: true, notes: NOTES })
    }
    expect((await post('area', { geometry: square })).body).not.toHaveProperty('notes')
  })

  it('are not part of the signed data', async () => {
    const plain = await post('area', { geometry: square })
    const noted = await post('area', { geometry: box(-90, 90) })
    expect(noted.body.attestation.data.length).toBe(plain.body.attestation.data.length)
  })

  it('are an error with a hint for an operation that rejects a whole parallel', async () => {
    const { status, body } = await post('within', { geometry: EIFFEL_TOWER, target: box(40, 90), radius: 5 })
    expect(status).toBe(400)
    expect(body.errors[0]).toMatchObject({
      pointer: '#/target/coordinates/0/0',
      code: 'whole-parallel',
      hint: expect.stringContaining('put vertices along the parallel') as string,
    })
  })

  const items = [
    { op: 'area', id: 'a', geometry: box(-90, 90) },
    { op: 'area', id: 'b', geometry: square },
    { op: 'contains', id: 'c', container: box(-90, 0), containee: EIFFEL_TOWER },
  ]
  const expected = [NOTES, undefined, NOTES]
  const readNotes = (results: { notes?: object }[]) => results.map(({ notes }) => notes)

  it.each([{ attest: 'each' }, { attest: 'merkle' }, { attest: 'none' }, { sequence: 'consecutive' }])(
    'are in the items of a batch with %o',
    async (options) => {
      const { body } = await service.post('/compute/v0/batch', { chainId: CHAIN, ...options, items })
      expect(readNotes(body.results)).toEqual(expected)
      if (options.attest !== 'merkle') return
      const keccak = await createKeccak()
      for (const result of body.results) {
        expect(verifyMerkleProof(result, result.proof, body.merkle.root, keccak)).toBe(true)
        const { notes: _, ...rest } = result
        expect(verifyMerkleProof(rest, result.proof, body.merkle.root, keccak)).toBe(true)
      }
    },
  )

  it.each(['each', 'none'])('are in the lines of a stream with attest=%s', async (attest) => {
    const response = await fetch(`${service.url}/compute/v0/batch?chainId=${CHAIN}&attest=${attest}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
      body: items.map((item) => `${JSON.stringify(item)}\n`).join(''),
    })
    const lines = (await response.text()).trimEnd().split('\n')
    expect(readNotes(lines.map((line) => JSON.parse(line)))).toEqual(expected)
  })

  it("pass the client's check of the signed data", async () => {
    const client = createClient({ baseUrl: service.url, chainId: CHAIN })
    const geometry = box(-90, 90)
    const areaResponse = await client.compute.area(geometry)
    expect(areaResponse.notes).toEqual(NOTES)
    const expectations = { attester: service.attester as `0x${string}`, chainId: CHAIN, inputs: [geometry] }
    const verdict = await verifyResult(areaResponse, { ...expectations, recompute: createRecompute() })
    expect(verdict.checks.filter(({ status }) => status === 'fail')).toEqual([])
  })
})
